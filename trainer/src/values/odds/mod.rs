//! Piece values from matches with unequal armies (H. G. Muller's method).
//!
//! One net plays both sides of a game that starts from the array without some men of either side: a rook less against a
//! falcon less, a queen less against a falcon and a pawn less, and pawns less for the scale. Each pair of games has the armies
//! exchanged. How the score depends on who lacks what gives the values:
//!
//! ```text
//! E[score] = σ(Σ_r w_r·(own − enemy)_r + t·m)      σ(x) = 1/(1 + e^(−x))
//! ```
//!
//! with m = 1 for White and −1 for Black. The weights w have a normal posterior (Laplace's approximation), which also chooses the next match:
//! the one after which the ratios to the pawn will be known best. That is a bisection: handicaps at which the score
//! is near one half tell most, and the more is known, the closer they get to it. See D. V. Lindley, *On a measure of the information provided by an
//! experiment* (1956), and K. Chaloner and I. Verdinelli, *Bayesian experimental design: a review* (1995).
//!
//! Sources of the method: H. G. Muller's comments on chessvariants.com, July 2008 and later: unequal armies, equal engines, pawn
//! odds for calibration.
//!
//! 1. [`Handicap`]: who lacks what, and all that a variant's array allows.
//! 2. [`Posterior`]: what is known about the weights.
//! 3. [`Players`]: who plays the matches; [`NetPlayers`] with a net, the tests with planted values.
//! 4. [`measure`]: the loop of choosing, playing and learning.

mod handicap;
mod measure;
#[cfg(test)]
pub(crate) mod planted;
mod play;
mod posterior;
#[cfg(test)]
mod tests;

pub use handicap::Handicap;
pub use measure::{OddsConfig, OddsMatch, OddsProgress, OddsResult, measure, record};
pub use play::{NetPlayers, PairScores, Players};
pub use posterior::Posterior;
