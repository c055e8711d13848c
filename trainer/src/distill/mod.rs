//! Distillation: what our net knows, in a small net that Fairy-Stockfish computes quickly.
//!
//! [`lessons`] draws positions from a run's games and has our net judge them, [`learn`] fits the small net to the judgements.

pub mod learn;
pub mod lessons;

use crate::arena::material::MaterialTable;
use anyhow::ensure;
use learn::{Fit, Student};
use lessons::Lessons;
use model::Evaluator;
use model::export::nnue::{Features, FloatNnue, NnueNet, UNITS_PER_PAWN};
use rules::{Role, Variant};
use selfplay::storage::Storage;
use std::sync::Arc;

/// How to distil.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistillConfig {
    /// Positions to draw from the games, at least 1; each is learnt from as it is and after one random move.
    pub positions: usize,
    /// Times that each position is learnt from, at least 1.
    pub epochs: u32,
    /// Positions in a batch, at least 1.
    pub batch_size: usize,
    /// Largest step size of Adam, above 0; it rises in the first steps, then falls to 0 in a straight line.
    pub learning_rate: f32,
    /// Share of the game's outcome in what is learnt of positions as they were played, in [0, 1]; the rest is our net's judgement.
    pub outcome_share: f32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for DistillConfig {
    fn default() -> DistillConfig {
        DistillConfig {
            positions: 200_000,
            epochs: 4,
            batch_size: 512,
            learning_rate: 1e-3,
            outcome_share: 0.2,
            seed: 1,
        }
    }
}

/// What goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistillStage {
    /// Games are read.
    Reading,
    /// Our net judges positions.
    Judging,
    /// The small net learns.
    Learning,
}

/// A distilled net and how good it is, on positions of games that it has not learnt from unless the field says otherwise.
#[derive(Debug)]
pub struct Distilled {
    /// The net in integers.
    pub net: NnueNet,
    /// Positions learnt from, and positions measured on.
    pub positions: [usize; 2],
    /// What a pawn was worth to the teacher, in nats of log odds; see [`Lessons::lift_material`].
    pub nats_per_pawn: f64,
    /// Of the net in floats, on the positions that it has learnt from.
    pub learnt: Fit,
    /// Of the net in floats.
    pub floats: Fit,
    /// Of the net in integers, which is what plays.
    pub integers: Fit,
    /// Of material alone.
    pub material: Fit,
}

/// Distils what `teacher` knows of the positions of a run's games.
///
/// `on_progress` hears the stage, and how much of how much is done.
///
/// # Errors
/// If Fairy-Stockfish cannot play the variant, or the run has too few games.
pub fn distill(
    storage: &Storage,
    variant: &Arc<Variant>,
    teacher: &mut dyn Evaluator,
    config: DistillConfig,
    on_progress: &mut dyn FnMut(DistillStage, usize, usize),
) -> anyhow::Result<Distilled> {
    let features = Features::new(variant)?;
    let units = material_units(variant, &features);
    let mut lessons = Lessons::draw(storage, variant, teacher, config, on_progress)?;
    ensure!(
        lessons.train.len() >= config.batch_size && !lessons.holdout.is_empty(),
        "the run's games give {} quiet positions to learn from and {} to measure on, too few; let it play more first, or draw more with --positions",
        lessons.train.len(),
        lessons.holdout.len()
    );
    let net = FloatNnue::new(
        features.clone(),
        &|place| units[place],
        config.seed,
        &learn::device(),
    );
    let nats_per_pawn = lessons.lift_material(&MaterialTable::new(variant));
    let mut student = Student::new(net);
    student.learn(&lessons.train, config, on_progress);
    let net = student.net.quantise(&format!(
        "{}, distilled from {} positions by falconzero",
        variant.name(),
        lessons.train.len()
    ));
    let material = NnueNet::material(&features, &|place| units[place]);
    Ok(Distilled {
        positions: [lessons.train.len(), lessons.holdout.len()],
        nats_per_pawn,
        learnt: Fit::of_floats(
            &student.net,
            &lessons.train[..lessons.train.len().min(lessons.holdout.len())],
        ),
        floats: Fit::of_floats(&student.net, &lessons.holdout),
        integers: Fit::of_integers(&net, &features, &lessons.holdout),
        material: Fit::of_integers(&material, &features, &lessons.holdout),
        net,
    })
}

/// The net that counts men alone, by the arena's fixed table.
///
/// # Errors
/// If Fairy-Stockfish cannot play the variant.
pub fn material_net(variant: &Variant) -> anyhow::Result<NnueNet> {
    let features = Features::new(variant)?;
    let units = material_units(variant, &features);
    let net = NnueNet::material(&features, &|place| units[place]);
    Ok(NnueNet {
        description: format!("{}, material only, by falconzero", variant.name()),
        ..net
    })
}

/// Values by place in Fairy-Stockfish's order, in its units.
fn material_units(variant: &Variant, features: &Features) -> Vec<i32> {
    let table = MaterialTable::new(variant);
    let mut units = vec![0; variant.roles().len()];
    for (index, place) in (0..units.len()).map(|index| (index, features.place(index))) {
        let pawns = Role::from_index(index).map_or(0.0, |role| table.value(role));
        units[place] = (pawns * f64::from(UNITS_PER_PAWN)).round() as i32;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::test_games::random_game;
    use model::{EvalRequest, Evaluation, Wdl};
    use selfplay::layout::RunPaths;
    use selfplay::record::to_bytes;

    /// Nats that a pawn is worth to the planted teacher.
    const NATS: f64 = 0.2;

    /// Sees material alone, likes the first move best.
    struct Teacher {
        table: MaterialTable,
    }

    impl Evaluator for Teacher {
        fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
            let judge = |request: &EvalRequest| {
                let odds = NATS * self.table.balance(&request.position);
                let win = (1.0 / (1.0 + (-odds).exp())) as f32;
                let moves = 0..request.moves.len();
                Evaluation {
                    wdl: Wdl {
                        win,
                        draw: 0.0,
                        loss: 1.0 - win,
                    },
                    moves_left: 1.0,
                    policy_logits: moves.map(|index| -(index as f32)).collect(),
                }
            };
            requests.iter().map(judge).collect()
        }
    }

    /// From games on a store to integers: a teacher that sees material alone is read rightly, and its student counts men.
    #[test]
    fn games_become_a_net() {
        let folder = tempfile::tempdir().expect("a folder");
        let storage = Storage::open(&folder.path().to_string_lossy()).expect("a store");
        let chess = Variant::by_name("chess").expect("built in");
        let games: Vec<_> = (0..60)
            .map(|seed| random_game(&chess, seed, 60, &|_| 0.5))
            .collect();
        let bytes = to_bytes(&games).expect("valid games");
        storage
            .put(&RunPaths::chunk("w", 0), bytes)
            .expect("stored");
        let table = MaterialTable::new(&chess);
        let config = DistillConfig {
            positions: 2000,
            batch_size: 128,
            // Outcomes are random here.
            outcome_share: 0.0,
            ..DistillConfig::default()
        };
        let mut stages = Vec::new();
        let mut hear = |stage, _, _| stages.push(stage);
        let mut teacher = Teacher { table };
        let found = distill(&storage, &chess, &mut teacher, config, &mut hear).expect("distilled");
        assert!(
            (found.nats_per_pawn - NATS).abs() < 0.01,
            "{}",
            found.nats_per_pawn
        );
        assert!(found.integers.error < 0.02, "{:?}", found.integers);
        assert!(
            found.positions.iter().all(|&count| count > 50),
            "{:?}",
            found.positions
        );
        stages.dedup();
        assert_eq!(
            stages,
            [
                DistillStage::Reading,
                DistillStage::Judging,
                DistillStage::Learning
            ]
        );
    }
}
