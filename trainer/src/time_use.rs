//! What the processors' time goes into.

use selfplay::pace::WorkerProgress;
use serde::Serialize;
use std::fmt::{Display, Formatter, Result};
use std::time::Duration;

/// Seconds that workers have spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WorkerTime {
    /// In the net.
    pub net: f64,
    /// In everything else: rules, search, starts, writing.
    pub search: f64,
    /// Waiting for the trainer.
    pub waiting: f64,
}

impl WorkerTime {
    /// Sums over workers.
    pub fn of(workers: &[WorkerProgress]) -> WorkerTime {
        let sum = |part: fn(&WorkerProgress) -> f64| workers.iter().map(part).sum::<f64>();
        let (net, waiting) = (sum(|w| w.net_seconds), sum(|w| w.waiting_seconds));
        WorkerTime {
            net,
            search: (sum(|w| w.total_seconds) - net - waiting).max(0.0),
            waiting,
        }
    }

    /// The time since `before`.
    pub fn since(self, before: WorkerTime) -> WorkerTime {
        WorkerTime {
            net: (self.net - before.net).max(0.0),
            search: (self.search - before.search).max(0.0),
            waiting: (self.waiting - before.waiting).max(0.0),
        }
    }

    /// Shares of all of it: net, search, waiting; zeros if there is none.
    pub fn shares(self) -> [f64; 3] {
        let total = self.net + self.search + self.waiting;
        [self.net, self.search, self.waiting].map(|part| match total > 0.0 {
            true => part / total,
            false => 0.0,
        })
    }
}

impl Display for WorkerTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let [net, search, waiting] = self.shares().map(|share| 100.0 * share);
        write!(
            f,
            "workers: {net:.0}% in the net, {search:.0}% in search and rules, {waiting:.0}% waiting for the trainer"
        )
    }
}

/// Time that the trainer has spent; what is left of the whole goes into reading games, publishing and checkpoints.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrainerTime {
    /// In training steps.
    pub learning: Duration,
    /// Waiting for games.
    pub waiting: Duration,
    /// With a match being played in the background.
    pub rating: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let worker = |net, waiting, total| WorkerProgress {
            net_seconds: net,
            waiting_seconds: waiting,
            total_seconds: total,
            ..WorkerProgress::default()
        };
        let time = WorkerTime::of(&[worker(6.0, 1.0, 10.0), worker(0.0, 0.0, 2.0)]);
        let all = WorkerTime {
            net: 6.0,
            search: 5.0,
            waiting: 1.0,
        };
        assert_eq!(time, all);
        assert_eq!(time.shares(), [0.5, 5.0 / 12.0, 1.0 / 12.0]);
        assert_eq!(WorkerTime::default().shares(), [0.0; 3]);
        assert_eq!(time.since(time), WorkerTime::default());
    }
}
