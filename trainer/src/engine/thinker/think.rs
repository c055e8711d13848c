//! One search, from its job to its report.

use super::mates::MateWatch;
use super::progress::Progress;
use super::{CACHE_SHARE, Job, Tree, Worker};
use crate::engine::event::{Event, Report};
use crate::engine::time::{Deadlines, deadlines};
use model::{EvalRequest, Evaluation, Evaluator, UniformEvaluator};
use selfplay::search::{Search, SearchConfig, SearchKind};
use std::time::{Duration, Instant};

/// Least exploration in search of a mate, which may lie where nothing looks promising.
const MATE_EXPLORATION: f32 = 1.5;

/// The engine's search: PUCT until told to stop. What it does depends on nothing random.
fn search_config(job: &Job) -> SearchConfig {
    let mut puct = job.puct.clone();
    if job.limits.mate.is_some() {
        puct.c_puct = puct.c_puct.max(MATE_EXPLORATION);
    }
    SearchConfig {
        kind: SearchKind::Puct,
        simulations: SearchConfig::UNLIMITED,
        gumbel_scale: 0.0,
        puct,
        ..SearchConfig::default()
    }
}

/// Leaves in flight are at most one for so many simulations done, so that a young tree is not searched blindly.
const SIMULATIONS_A_LEAF: u32 = 8;

impl Worker {
    /// Searches until the job's limits are reached or it is told to stop. There is always a line in the report.
    pub(super) fn think(&mut self, job: &Job) -> Report {
        let mut tree = self.tree_for(job);
        let mut evaluator = self.evaluator.take();
        let mut progress = Progress::new(job);
        let mut requests = Vec::new();
        let mut is_odd = false;
        let limit = deadlines(&job.limits, job.overhead);
        let mut mates = MateWatch::new(job, limit);
        loop {
            let search = &mut tree.search;
            let begun = Instant::now();
            if search.has_result() {
                mates.look(search);
            }
            if search.has_result() && progress.is_over(search, limit) {
                break;
            }
            requests.clear();
            search.gather_leaves(batch_size(job, search), &mut requests);
            if requests.is_empty() && (search.is_finished() || search.is_full()) {
                break;
            }
            if !requests.is_empty() {
                let evaluations = match &mut evaluator {
                    Some(evaluator) => evaluator.evaluate(&requests),
                    None => UniformEvaluator.evaluate(&requests),
                };
                let evaluations = finite(&requests, evaluations, &mut is_odd);
                search.respond_all(evaluations);
            }
            progress.note_step(begun.elapsed());
            if let Some(report) = progress.news(search) {
                self.send(Event::Info(report));
            }
        }
        if tree.search.has_result() {
            let left = || progress.time_left(limit);
            mates.look_again(&mut tree.search, left);
        }
        if let Some(evaluator) = &evaluator {
            let (hits, misses) = (evaluator.hits(), evaluator.misses());
            tracing::debug!(hits, misses, "evaluations remembered and made so far");
        }
        self.evaluator = evaluator;
        if is_odd {
            let message = "the net gives values that are not finite; they were left out";
            self.send(Event::Warning(message.to_owned()));
        }
        let report = progress.report(&tree.search);
        self.send(Event::Info(report.clone()));
        self.tree = Some(tree);
        job.control.wait_for_leave(job.limits.infinite);
        report
    }

    /// The tree of the last search, moved on to the job's position if it leads there, or an empty one.
    fn tree_for(&mut self, job: &Job) -> Tree {
        let tables = self.endings.tables(job.game.variant(), job.game.position());
        if let Some(mut tree) = self.tree.take() {
            tree.search.set_tables(tables);
            let follows = tree.start == job.start
                && tree.mate == job.limits.mate.is_some()
                && job.moves.starts_with(&tree.moves)
                && job.limits.moves.is_empty();
            let same_rules = std::sync::Arc::ptr_eq(tree.search.variant(), job.game.variant());
            let kept = follows
                && same_rules
                && tree
                    .search
                    .advance(&job.moves[tree.moves.len()..], &job.game);
            if !kept {
                tree.search.restart(&job.game, search_config(job), 0);
            }
            return Tree {
                start: job.start,
                moves: job.moves.clone(),
                mate: job.limits.mate.is_some(),
                search: restricted(tree.search, job, kept),
            };
        }
        let mut search = Search::new(&job.game, search_config(job), 0);
        search.set_tables(tables);
        search.limit_memory(self.memory - self.memory / CACHE_SHARE);
        Tree {
            start: job.start,
            moves: job.moves.clone(),
            mate: job.limits.mate.is_some(),
            search: restricted(search, job, false),
        }
    }
}

/// The search with the job's choice of root moves and its limit on simulations.
fn restricted(mut search: Search, job: &Job, kept: bool) -> Search {
    // While it ponders, or is told to think on, a number of nodes does not end a search.
    let most = (job.limits.nodes).filter(|_| !job.limits.infinite && !job.limits.ponder);
    search.limit_simulations(most.unwrap_or(SearchConfig::UNLIMITED));
    if !kept && !job.limits.moves.is_empty() {
        search.restrict_root(job.limits.moves.clone());
    }
    search
}

/// Leaves for the next batch: no more than asked for, than the tree can bear, and than the limit on simulations allows.
fn batch_size(job: &Job, search: &Search) -> usize {
    let bearable = 1 + search.visits() / SIMULATIONS_A_LEAF;
    let left = job
        .limits
        .nodes
        .map_or(u32::MAX, |nodes| nodes.saturating_sub(search.simulations()));
    job.batch.min(bearable.min(left.max(1)) as usize)
}

/// The evaluations, with an even judgement in place of any that holds a number that is infinite or none at all.
fn finite(
    requests: &[EvalRequest],
    mut evaluations: Vec<Evaluation>,
    is_odd: &mut bool,
) -> Vec<Evaluation> {
    for (request, evaluation) in requests.iter().zip(&mut evaluations) {
        if !evaluation.is_finite() {
            *is_odd = true;
            *evaluation = UniformEvaluator
                .evaluate(std::slice::from_ref(request))
                .remove(0);
        }
    }
    evaluations
}

/// Whether the time is up.
pub(super) fn is_time_up(
    elapsed: Duration,
    step: Duration,
    limit: Deadlines,
    settled: impl FnOnce() -> Settled,
) -> bool {
    // A batch under way is not interrupted, so the last one must end in time.
    if elapsed + step >= limit.latest {
        return true;
    }
    if elapsed + step < limit.planned {
        // Too early to be sure of anything.
        let early = limit.may_save && elapsed * 4 > limit.planned;
        return early && settled() == Settled::ForGood;
    }
    !limit.may_save || settled() != Settled::No
}

/// Whether more search could change the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// The most visited move is not the one that looks best.
    No,
    /// It is.
    Yes,
    /// It is, and no other can catch up in the planned time.
    ForGood,
}
