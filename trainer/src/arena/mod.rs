//! Matches between players of different strength, and the Elo scale that they are measured on.
//!
//! 1. [`config`]: how matches are played.
//! 2. [`contestant`]: who plays; [`search`] with a net or without, [`greedy`] and [`random`] as fixed anchors, all by
//!    name through [`spec`].
//! 3. [`material`], [`openings`]: balanced openings, judged by a fixed table of material.
//! 4. [`play`]: the match, many colour-swapped pairs at once; [`adjudication`] ends games early, [`result`] is what comes out,
//!    [`pgn`] the games.
//! 5. [`external`]: the same with other programs at the board.
//! 6. [`pentanomial`], [`elo`], [`normal`]: from results to an Elo difference with its error; [`sprt`] ends a match when
//!    enough is known.
//! 7. [`ladder`]: from many matches to one scale; [`rating`] keeps a run's scale as it trains.

pub mod config;
pub mod contestant;
pub mod greedy;
pub mod random;
pub mod search;
pub mod spec;

pub mod material;
pub mod openings;

pub mod adjudication;
pub mod pgn;
pub mod play;
pub mod result;

pub mod external;

pub mod elo;
pub mod ladder;
pub mod normal;
pub mod pentanomial;
pub mod rating;
pub mod sprt;
