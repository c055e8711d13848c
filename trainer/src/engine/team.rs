//! One evaluator made of several, each on a thread of its own.

use model::{EvalRequest, Evaluation, Evaluator};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Shares every batch out among its members.
///
/// On a CPU a net takes one position at a time, so a batch of n on n threads takes as long as one position on one.
pub(super) struct Team {
    members: Vec<Box<dyn Evaluator>>,
    /// `None` for a single member.
    pool: Option<ThreadPool>,
}

impl Team {
    /// An evaluator for each thread; there must be at least one.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(members: Vec<Box<dyn Evaluator>>) -> Result<Team, String> {
        assert!(!members.is_empty(), "a team has members");
        let pool = match members.len() {
            1 => None,
            threads => Some(
                ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|error| format!("cannot start {threads} threads: {error}"))?,
            ),
        };
        Ok(Team { members, pool })
    }
}

impl Evaluator for Team {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        let Some(pool) = self.pool.as_ref().filter(|_| requests.len() > 1) else {
            return self.members[0].evaluate(requests);
        };
        let share = requests.len().div_ceil(self.members.len());
        let members = &mut self.members;
        let parts: Vec<Vec<Evaluation>> = pool.install(|| {
            members
                .par_iter_mut()
                .zip(requests.par_chunks(share))
                .map(|(member, part)| member.evaluate(part))
                .collect()
        });
        parts.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{UniformEvaluator, Wdl};
    use rules::Variant;

    /// Says how many legal moves there are.
    struct Counting;

    impl Evaluator for Counting {
        fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
            let count = |request: &EvalRequest| Evaluation {
                wdl: Wdl::UNKNOWN,
                moves_left: request.moves.len() as f32,
                policy_logits: vec![0.0; request.moves.len()],
            };
            requests.iter().map(count).collect()
        }
    }

    #[test]
    fn answers_come_in_the_order_of_the_requests() {
        let variant = Variant::by_name("chess").expect("a built-in variant");
        let mut requests = Vec::new();
        let mut position = variant.start();
        for _ in 0..11 {
            let request = EvalRequest::new(&variant, position, 1);
            position = position.play(&variant, request.moves[0]);
            requests.push(request);
        }
        for threads in [1, 3, 16] {
            let members = (0..threads).map(|_| Box::new(Counting) as Box<dyn Evaluator>);
            let mut team = Team::new(members.collect()).expect("threads");
            for size in [0, 1, 2, 11] {
                let answers = team.evaluate(&requests[..size]);
                let counts: Vec<usize> = answers.iter().map(|a| a.moves_left as usize).collect();
                let expected: Vec<usize> = requests[..size].iter().map(|r| r.moves.len()).collect();
                assert_eq!(counts, expected, "{threads} threads, {size} requests");
            }
        }
        let one: Vec<Box<dyn Evaluator>> = vec![Box::new(UniformEvaluator)];
        assert_eq!(
            Team::new(one)
                .expect("no threads")
                .evaluate(&requests)
                .len(),
            11
        );
    }
}
