//! How far a search has come: when it is over, and when there is news.

use super::Job;
use super::think::{Settled, is_time_up};
use crate::engine::event::Report;
use crate::engine::time::Deadlines;
use rules::Move;
use selfplay::search::{Line, Search};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time between two reports.
const NEWS_INTERVAL: Duration = Duration::from_millis(100);

/// The time after which there is a report without anything new.
const SILENCE: Duration = Duration::from_secs(1);

/// The time between two looks at whether the search is settled.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// How much better than the most visited move another must look, in points of q, to make a search undecided.
const DOUBT: f32 = 0.02;

/// The state of one search as its driver sees it.
pub(super) struct Progress<'a> {
    job: &'a Job,
    begun: Instant,
    /// The longest batch of late.
    step: Duration,
    last_look: Duration,
    last_settled: Settled,
    last_news: Duration,
    shown: Option<(Move, usize)>,
}

impl<'a> Progress<'a> {
    pub fn new(job: &'a Job) -> Progress<'a> {
        Progress {
            job,
            begun: Instant::now(),
            step: Duration::ZERO,
            last_look: Duration::ZERO,
            last_settled: Settled::No,
            last_news: Duration::ZERO,
            shown: None,
        }
    }

    /// Notes how long a batch took.
    pub fn note_step(&mut self, step: Duration) {
        self.step = step.max(self.step.mul_f32(0.9));
    }

    /// Time until the latest moment to stop; without a limit there is always some.
    pub fn time_left(&self, limit: Option<Deadlines>) -> Duration {
        let elapsed = self.job.control.state().start.elapsed();
        limit.map_or(Duration::MAX, |limit| limit.latest.saturating_sub(elapsed))
    }

    /// Whether the search must end or need not go on. It has a result.
    pub fn is_over(&mut self, search: &Search, limit: Option<Deadlines>) -> bool {
        let state = self.job.control.state();
        if state.stop {
            return true;
        }
        let limits = &self.job.limits;
        if limits.infinite || state.ponder {
            return false;
        }
        if limits
            .nodes
            .is_some_and(|nodes| search.simulations() >= nodes)
        {
            return true;
        }
        if limits
            .depth
            .is_some_and(|depth| search.lines(1)[0].pv.len() >= depth as usize)
        {
            return true;
        }
        let Some(limit) = limit else {
            return false;
        };
        if limit.may_save && search.simulations() > 0 && search.root_moves() == 1 {
            return true;
        }
        let elapsed = state.start.elapsed();
        let step = self.step;
        is_time_up(elapsed, step, limit, || {
            self.settled(search, elapsed, limit)
        })
    }

    /// Looks again if the last look is old.
    fn settled(&mut self, search: &Search, elapsed: Duration, limit: Deadlines) -> Settled {
        if elapsed < self.last_look + LOOK_INTERVAL && self.last_look != Duration::ZERO {
            return self.last_settled;
        }
        self.last_look = elapsed;
        let spent = elapsed.as_secs_f64().max(1e-3);
        let left = limit.planned.as_secs_f64() - spent;
        let to_come = f64::from(search.simulations()) / spent * left;
        self.last_settled = settled(&search.lines(4), to_come);
        self.last_settled
    }

    /// A report, if the best move or the depth is new or it has been silent for long.
    pub fn news(&mut self, search: &Search) -> Option<Report> {
        let elapsed = self.begun.elapsed();
        if !search.has_result() || elapsed < self.last_news + NEWS_INTERVAL {
            return None;
        }
        let best = search.lines(1).remove(0);
        let now = (best.pv[0], best.pv.len());
        if self.shown == Some(now) && elapsed < self.last_news + SILENCE {
            return None;
        }
        self.last_news = elapsed;
        self.shown = Some(now);
        Some(self.report(search))
    }

    /// Where the search stands.
    pub fn report(&self, search: &Search) -> Report {
        Report {
            job: self.job.id,
            variant: Arc::clone(search.variant()),
            position: *self.job.game.position(),
            lines: search.lines(self.job.multipv),
            deepest: search.depth(),
            nodes: search.simulations(),
            elapsed: self.begun.elapsed(),
            fullness: search.fullness(),
        }
    }
}

/// Judges the best lines with so many simulations to come.
fn settled(lines: &[Line], to_come: f64) -> Settled {
    let Some((best, others)) = lines.split_first() else {
        return Settled::No;
    };
    // A move with few visits may look good by chance.
    let rival = others
        .iter()
        .find(|line| line.visits * 4 > best.visits && line.q() > best.q() + DOUBT);
    let runner_up = others.iter().map(|line| line.visits).max().unwrap_or(0);
    match rival {
        Some(_) => Settled::No,
        None if f64::from(best.visits) > f64::from(runner_up) + to_come => Settled::ForGood,
        None => Settled::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Wdl;
    use rules::Variant;

    fn line(visits: u32, q: f32) -> Line {
        let variant = Variant::by_name("chess").expect("a built-in variant");
        Line {
            pv: variant.start().legal_moves(&variant)[..1].to_vec(),
            visits,
            wdl: Wdl {
                win: (1.0 + q) / 2.0,
                draw: 0.0,
                loss: (1.0 - q) / 2.0,
            },
            proven: None,
            moves_left: 50.0,
            prior: 0.1,
        }
    }

    #[test]
    fn a_search_is_settled_when_the_best_move_is_also_the_most_visited() {
        let of = |lines: &[(u32, f32)], to_come| {
            let lines: Vec<Line> = lines.iter().map(|&(visits, q)| line(visits, q)).collect();
            settled(&lines, to_come)
        };
        assert_eq!(of(&[(100, 0.1), (80, 0.0)], 50.0), Settled::Yes);
        assert_eq!(of(&[(100, 0.1), (40, 0.0)], 50.0), Settled::ForGood);
        assert_eq!(of(&[(100, 0.1), (80, 0.2)], 5.0), Settled::No);
        assert_eq!(of(&[(100, 0.1), (3, 0.9)], 5.0), Settled::ForGood);
        assert_eq!(of(&[(10, 0.1)], 5.0), Settled::ForGood);
        assert_eq!(of(&[], 5.0), Settled::No);
    }

    #[test]
    fn time_is_up_when_the_next_batch_would_be_late() {
        let ms = Duration::from_millis;
        let limit = Deadlines {
            planned: ms(100),
            latest: ms(250),
            may_save: true,
        };
        let up = |elapsed, step, settled| is_time_up(ms(elapsed), ms(step), limit, || settled);
        assert!(!up(10, 1, Settled::ForGood), "too early to be sure");
        assert!(up(30, 1, Settled::ForGood));
        assert!(!up(30, 1, Settled::Yes));
        assert!(up(100, 1, Settled::Yes));
        assert!(!up(100, 1, Settled::No));
        assert!(up(249, 1, Settled::No));
        assert!(up(150, 100, Settled::No), "the step counts");
    }
}
