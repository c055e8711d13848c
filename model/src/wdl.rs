//! Chances of a win, a draw and a loss.

use serde::{Deserialize, Serialize};

/// Probabilities of the three outcomes from the side to move's point of view; they sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wdl {
    /// The side to move wins.
    pub win: f32,
    /// The game is drawn.
    pub draw: f32,
    /// The side to move loses.
    pub loss: f32,
}

impl Wdl {
    /// What to believe when nothing is known: a draw on average.
    pub const UNKNOWN: Wdl = Wdl {
        win: 1.0 / 3.0,
        draw: 1.0 / 3.0,
        loss: 1.0 / 3.0,
    };

    /// Softmax of the net's three logits, in the order win, draw, loss.
    pub fn from_logits(logits: [f32; 3]) -> Wdl {
        let max = logits[0].max(logits[1]).max(logits[2]);
        let [win, draw, loss] = logits.map(|logit| (logit - max).exp());
        let sum = win + draw + loss;
        Wdl {
            win: win / sum,
            draw: draw / sum,
            loss: loss / sum,
        }
    }

    /// Expected result in −1 (loss) ..= 1 (win).
    pub fn q(self) -> f32 {
        self.win - self.loss
    }

    /// The same chances seen by the other side.
    #[must_use]
    pub fn flip(self) -> Wdl {
        Wdl {
            win: self.loss,
            draw: self.draw,
            loss: self.win,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_become_probabilities_without_overflow() {
        let wdl = Wdl::from_logits([1000.0, 999.0, -1000.0]);
        assert!((wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-6);
        assert!((wdl.win / wdl.draw - 1f32.exp()).abs() < 1e-4);
        assert_eq!(wdl.flip().q(), -wdl.q());
    }
}
