//! Positions with what our net thinks of them.
//!
//! A search calls its evaluation on quiet positions, so only these are learnt from: no check, and the move that our net likes best is
//! neither a capture nor a promotion. Games between equals have few positions with unequal armies; each position is therefore also
//! taken after one random move, which is often a blunder.

use super::learn::UNITS_PER_NAT;
use super::{DistillConfig, DistillStage};
use crate::arena::material::MaterialTable;
use crate::replay::holds_out;
use anyhow::bail;
use model::export::nnue::UNITS_PER_PAWN;
use model::{EvalRequest, Evaluation, Evaluator, Wdl};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Move, Outcome, Position, Status, Variant};
use selfplay::games::GameStream;
use selfplay::record::GameRecord;
use selfplay::storage::Storage;

/// One game in this many is kept for measuring.
const HOLDOUT_EVERY: u64 = 20;
/// The least chance that is taken at its word.
const SUREST: f64 = 0.005;
/// Positions judged at a time.
const BATCH: usize = 512;

/// A position and the score that the side to move is to expect.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// The position.
    pub position: Position,
    /// From 0, a certain loss, to 1, a certain win.
    pub score: f32,
}

/// All that is learnt from and measured on.
#[derive(Debug, Default)]
pub struct Lessons {
    /// To learn from.
    pub train: Vec<Lesson>,
    /// Of other games.
    pub holdout: Vec<Lesson>,
}

/// A ply of a game.
struct Ply {
    fen: String,
    repetitions: u8,
    outcome: Outcome,
    held_out: bool,
}

/// A position to be judged.
struct Candidate {
    request: EvalRequest,
    /// The score of the game for the side to move, if the position was played.
    outcome: Option<f32>,
    held_out: bool,
}

impl Lessons {
    /// Draws plies evenly from all games of a run and has `teacher` judge them.
    ///
    /// # Errors
    /// If the games cannot be read or break the variant's rules.
    pub fn draw(
        storage: &Storage,
        variant: &Variant,
        teacher: &mut dyn Evaluator,
        config: DistillConfig,
        on_progress: &mut dyn FnMut(DistillStage, usize, usize),
    ) -> anyhow::Result<Lessons> {
        let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
        let plies = read_plies(storage, variant, config.positions, &mut rng, on_progress)?;
        let mut lessons = Lessons::default();
        for (index, chunk) in plies.chunks(BATCH).enumerate() {
            on_progress(DistillStage::Judging, index * BATCH, plies.len());
            let mut candidates = Vec::with_capacity(2 * chunk.len());
            for ply in chunk {
                candidates_of(ply, variant, &mut rng, &mut candidates)?;
            }
            let requests: Vec<EvalRequest> =
                candidates.iter().map(|one| one.request.clone()).collect();
            for (candidate, judgement) in candidates.iter().zip(teacher.evaluate(&requests)) {
                if !is_quiet(&candidate.request, &judgement) {
                    continue;
                }
                let lesson = Lesson {
                    position: candidate.request.position,
                    score: score(judgement.wdl, candidate.outcome, config.outcome_share),
                };
                match candidate.held_out {
                    true => lessons.holdout.push(lesson),
                    false => lessons.train.push(lesson),
                }
            }
        }
        Ok(lessons)
    }
}

impl Lessons {
    /// Gives men the weight in the scores that Fairy-Stockfish's search expects of them, and returns the nats (of log odds) that a pawn
    /// of `table` was worth before.
    ///
    /// The search's margins are made for values on which a pawn is [`UNITS_PER_PAWN`]. A teacher whose own games are often drawn with a
    /// queen more thinks less of her, and a search that believed it would throw her away. All else that the teacher thinks of a
    /// position is left at its face value. With a strong teacher there is little to lift.
    pub fn lift_material(&mut self, table: &MaterialTable) -> f64 {
        let expected = f64::from(UNITS_PER_PAWN) / f64::from(UNITS_PER_NAT);
        let found = nats_per_pawn(&self.train, table);
        for lesson in self.train.iter_mut().chain(&mut self.holdout) {
            let score = f64::from(lesson.score).clamp(SUREST, 1.0 - SUREST);
            let lift = (expected - found) * table.balance(&lesson.position);
            lesson.score = logistic((score / (1.0 - score)).ln() + lift) as f32;
        }
        found
    }
}

/// What the scores make of a pawn: the slope of a logistic regression of them on the balance of material.
fn nats_per_pawn(lessons: &[Lesson], table: &MaterialTable) -> f64 {
    let point = |lesson: &Lesson| (table.balance(&lesson.position), f64::from(lesson.score));
    let points: Vec<(f64, f64)> = lessons.iter().map(point).collect();
    let mut found = 0.0;
    // Newton's method on a concave likelihood, from where its curvature is greatest.
    for _ in 0..20 {
        let (mut slope, mut curvature) = (0.0, 1e-9);
        for &(balance, score) in &points {
            let predicted = logistic(found * balance);
            slope += (score - predicted) * balance;
            curvature += predicted * (1.0 - predicted) * balance * balance;
        }
        found += slope / curvature;
    }
    found
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// Draws `count` plies, each as likely as any other (Vitter's algorithm R), in a random order.
fn read_plies(
    storage: &Storage,
    variant: &Variant,
    count: usize,
    rng: &mut ChaCha8Rng,
    on_progress: &mut dyn FnMut(DistillStage, usize, usize),
) -> anyhow::Result<Vec<Ply>> {
    let mut plies: Vec<Ply> = Vec::new();
    let (mut seen, mut games) = (0, 0);
    let mut stream = GameStream::new(storage);
    loop {
        let scan = stream.scan()?;
        for record in &scan.games {
            check_variant(record, variant)?;
            let held_out = holds_out(&record.game_id, HOLDOUT_EVERY);
            for ply in &record.plies {
                let ply = Ply {
                    fen: ply.fen.clone(),
                    repetitions: ply.repetitions,
                    outcome: record.outcome,
                    held_out,
                };
                seen += 1;
                match plies.len() < count {
                    true => plies.push(ply),
                    false => {
                        let place = rng.random_range(0..seen);
                        if let Some(slot) = plies.get_mut(place) {
                            *slot = ply;
                        }
                    }
                }
            }
        }
        games += scan.games.len();
        on_progress(DistillStage::Reading, games, 0);
        if !scan.more {
            plies.shuffle(rng);
            return Ok(plies);
        }
    }
}

fn check_variant(record: &GameRecord, variant: &Variant) -> anyhow::Result<()> {
    if record.variant != variant.name() {
        bail!(
            "game {} is a game of '{}', and the net plays '{}'; give the run of that game with --run",
            record.game_id,
            record.variant,
            variant.name()
        );
    }
    Ok(())
}

/// The position of a ply and one after a random move, those left out that are over or in check.
fn candidates_of(
    ply: &Ply,
    variant: &Variant,
    rng: &mut ChaCha8Rng,
    candidates: &mut Vec<Candidate>,
) -> anyhow::Result<()> {
    let position = Position::from_fen(variant, &ply.fen)?;
    let request = EvalRequest::new(variant, position, ply.repetitions);
    if request.moves.is_empty() {
        return Ok(());
    }
    let random = request.moves[rng.random_range(0..request.moves.len())];
    let after = EvalRequest::new(variant, position.play(variant, random), 1);
    for (request, outcome) in [
        (request, Some(ply.outcome.score(position.turn()))),
        (after, None),
    ] {
        let position = &request.position;
        if position.status(variant) == Status::Ongoing && !position.is_check(variant) {
            candidates.push(Candidate {
                request,
                outcome,
                held_out: ply.held_out,
            });
        }
    }
    Ok(())
}

/// Whether the move that is liked best changes no material.
fn is_quiet(request: &EvalRequest, judgement: &Evaluation) -> bool {
    let logits = judgement.policy_logits.iter().zip(&request.moves);
    let best = logits.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let position = &request.position;
    best.is_some_and(|(_, mv)| match mv {
        Move::Step { to, promotion, .. } => {
            promotion.is_none()
                && !position.occupied().contains(*to)
                && position.ep_square() != Some(*to)
        }
        Move::Castle { .. } | Move::Drop { .. } => true,
    })
}

fn score(judgement: Wdl, outcome: Option<f32>, outcome_share: f32) -> f32 {
    let judged = 0.5 * (1.0 + judgement.q());
    outcome.map_or(judged, |outcome| {
        (1.0 - outcome_share) * judged + outcome_share * outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The net's favourite decides: a capture or a promotion is not quiet, castling is.
    #[test]
    fn quiet_is_what_the_net_would_not_change() {
        let chess = Variant::by_name("chess").expect("built in");
        for (fen, best, quiet) in [
            ("4k3/8/8/3p4/4P3/8/8/4K2R w K - 0 1", "e4d5", false),
            ("4k3/8/8/3p4/4P3/8/8/4K2R w K - 0 1", "e4e5", true),
            ("4k3/8/8/3p4/4P3/8/8/4K2R w K - 0 1", "e1g1", true),
            ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", false),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", false),
        ] {
            let position = Position::from_fen(&chess, fen).expect("a position");
            let request = EvalRequest::new(&chess, position, 1);
            let texts = request
                .moves
                .iter()
                .map(|&mv| chess.move_text(&position, mv));
            let judgement = Evaluation {
                wdl: Wdl::UNKNOWN,
                moves_left: 1.0,
                policy_logits: texts
                    .map(|text| f32::from(u8::from(text == best)))
                    .collect(),
            };
            assert!(judgement.policy_logits.contains(&1.0), "{best} is legal");
            assert_eq!(is_quiet(&request, &judgement), quiet, "{best} in {fen}");
        }
    }

    /// A teacher that thinks half as much of men as is expected is lifted to what is expected; what else it thinks stays.
    #[test]
    fn material_is_lifted_to_its_weight() {
        let chess = Variant::by_name("chess").expect("built in");
        let table = MaterialTable::new(&chess);
        let (expected, bias) = (f64::from(UNITS_PER_PAWN) / f64::from(UNITS_PER_NAT), 0.1);
        let fens = [
            "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/PP6/4K3 b - - 0 1",
            "4k1n1/8/8/8/8/8/8/4K3 w - - 0 1",
            "4k1n1/8/8/8/8/8/8/4K3 b - - 0 1",
        ];
        let lesson = |fen: &str| {
            let position = Position::from_fen(&chess, fen).expect("a position");
            let odds = 0.5 * expected * table.balance(&position) + bias;
            Lesson {
                score: logistic(odds) as f32,
                position,
            }
        };
        let mut lessons = Lessons {
            train: fens.map(lesson).to_vec(),
            holdout: Vec::new(),
        };
        let found = lessons.lift_material(&table);
        assert!((found / expected - 0.5).abs() < 0.02, "{found}");
        for lesson in &lessons.train {
            let odds = expected * table.balance(&lesson.position) + bias;
            let score = f64::from(lesson.score);
            assert!(
                (score - logistic(odds)).abs() < 0.02,
                "{score} for {}",
                logistic(odds)
            );
        }
    }

    /// Scores are from the side to move; the outcome counts for its share, if there is one.
    #[test]
    fn scores_mix_judgement_and_outcome() {
        let judged = Wdl {
            win: 0.5,
            draw: 0.5,
            loss: 0.0,
        };
        assert_eq!(score(judged, None, 0.2), 0.75);
        assert!((score(judged, Some(0.0), 0.2) - 0.6).abs() < 1e-6);
    }
}
