//! Taking in the games that the workers have finished.

use super::publish::step_of_net;
use super::state::Pipeline;
use crate::run::Run;
use crate::time_use::WorkerTime;
use selfplay::games::GameStream;
use selfplay::pace::WorkerProgress;
use selfplay::record::GameRecord;
use std::time::{Duration, Instant};

/// Time between two looks at the workers' counters.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// New games and the workers' counters.
pub struct Intake {
    stream: GameStream,
    looked: Option<Instant>,
    evaluations: u64,
    worker_time: WorkerTime,
}

impl Intake {
    /// An intake that has taken in nothing yet.
    pub(super) fn new(run: &Run) -> Intake {
        Intake {
            stream: GameStream::of_holder(&run.storage),
            looked: None,
            evaluations: 0,
            worker_time: WorkerTime::default(),
        }
    }

    /// What all workers have spent their time on so far, as of a few seconds ago.
    pub(super) fn worker_time(&self) -> WorkerTime {
        self.worker_time
    }

    /// Positions that all workers have evaluated so far, as of a few seconds ago.
    pub(super) fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

impl Pipeline<'_> {
    /// Takes in all games that have come since the last time. Games that cannot be used are left out with a warning;
    /// unreadable files are set aside.
    pub(super) fn take_in_games(&mut self) -> anyhow::Result<()> {
        loop {
            let scan = self.intake.stream.poll()?;
            let mut left_out = Vec::new();
            for record in &scan.games {
                match self.replay.add(record) {
                    Ok(()) => self.reporter.games.add(record, net_step(record)),
                    Err(error) => left_out.push(error),
                }
            }
            if let Some(first) = left_out.first() {
                tracing::warn!(
                    "{} games are left out, the first because: {first}",
                    left_out.len()
                );
            }
            if !scan.more {
                break;
            }
            self.reporter.display.reading(self.replay.games());
        }
        self.lease.set_counters(self.counters());
        if self
            .intake
            .looked
            .is_none_or(|at| at.elapsed() >= LOOK_EVERY)
        {
            self.intake.looked = Some(Instant::now());
            let workers = WorkerProgress::read_all(&self.run.storage)?;
            self.intake.worker_time = WorkerTime::of(&workers);
            self.intake.evaluations = workers
                .iter()
                .map(|worker| worker.positions_evaluated)
                .sum();
        }
        Ok(())
    }
}

/// Training steps of the net that played a game's last ply.
pub(crate) fn net_step(record: &GameRecord) -> Option<u64> {
    step_of_net(&record.plies.last()?.net_id)
}
