use super::super::census::census;
use super::*;
use model::Evaluation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::Status;
use std::sync::Arc;

/// Believes in σ(Σ worth·difference) and in nothing else.
struct MaterialEvaluator {
    variant: Arc<Variant>,
    worth: Vec<(char, f64)>,
    calls: usize,
}

impl Evaluator for MaterialEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
        self.calls += 1;
        let evaluate = |request: &EvalRequest| {
            let census = census(&self.variant, &request.position);
            let turn = request.position.turn();
            let balance: f64 = self
                .worth
                .iter()
                .map(|&(letter, worth)| {
                    let index = self.variant.role_by_letter(letter).expect("a role").index();
                    worth * (f64::from(census[turn][index]) - f64::from(census[!turn][index]))
                })
                .sum();
            let win = (1.0 / (1.0 + (-balance).exp())) as f32;
            let wdl = Wdl {
                win,
                draw: 0.0,
                loss: 1.0 - win,
            };
            Evaluation {
                wdl,
                moves_left: 50.0,
                policy_logits: vec![0.0; request.moves.len()],
            }
        };
        requests.iter().map(evaluate).collect()
    }
}

const WORTH: [(char, f64); 6] = [
    ('P', 0.3),
    ('N', 0.9),
    ('B', 1.0),
    ('F', 1.5),
    ('R', 1.6),
    ('Q', 2.7),
];

fn falcon() -> Arc<Variant> {
    Variant::by_name("falcon").expect("a shipped variant")
}

/// Positions of random games, a few a game.
fn positions(variant: &Arc<Variant>, games: usize) -> Vec<ProbePosition> {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut positions = Vec::new();
    for game in 0..games {
        let mut position = variant.start();
        for ply in 0..60 {
            let moves = position.legal_moves(variant);
            if moves.is_empty() {
                break;
            }
            position = position.play(variant, moves[rng.random_range(0..moves.len())]);
            if ply % 15 == 14 && position.status(variant) == Status::Ongoing {
                positions.push(ProbePosition { game, position });
            }
        }
    }
    positions
}

fn config() -> ProbeConfig {
    ProbeConfig {
        max_abs_q: 0.9,
        bootstrap: Bootstrap {
            resamples: 100,
            seed: 6,
        },
    }
}

#[test]
fn a_planted_value_function_is_read_back() {
    let variant = falcon();
    let mut evaluator = MaterialEvaluator {
        variant: variant.clone(),
        worth: WORTH.to_vec(),
        calls: 0,
    };
    let positions = positions(&variant, 40);
    let mut done = 0;
    let estimate = probe(
        &variant,
        &mut evaluator,
        &positions,
        &config(),
        &mut |count| done = count,
    )
    .expect("positions")
    .whole
    .estimate;
    assert_eq!(done, positions.len());
    assert!(evaluator.calls > 1 && evaluator.calls < positions.len());
    assert!(estimate.games <= 40 && estimate.positions <= positions.len() as u64);
    for (letter, worth) in WORTH {
        let value = estimate.of(letter).expect("a man");
        for (interval, truth) in [
            (value.pawns, worth / 0.3),
            (value.knights, worth / 0.9),
            (value.logits, worth),
        ] {
            let interval = interval.expect("bounded");
            assert!(
                (interval.value / truth - 1.0).abs() < 2e-3,
                "{letter}: {interval} against {truth}"
            );
            assert!(
                (interval.high - interval.low) < 0.02 * truth,
                "nothing varies but rounding: {interval}"
            );
        }
    }
}

/// Where only material counts, it is all one how a man comes or goes.
#[test]
fn all_ways_read_the_same_planted_values() {
    let variant = falcon();
    let mut evaluator = MaterialEvaluator {
        variant: variant.clone(),
        worth: WORTH.to_vec(),
        calls: 0,
    };
    let positions = positions(&variant, 20);
    let result = probe(&variant, &mut evaluator, &positions, &config(), &mut |_| ());
    let ways = result.expect("positions").ways;
    let names: Vec<Way> = ways.iter().map(|(way, _)| *way).collect();
    assert_eq!(names, [Way::Exchange, Way::Addition]);
    for (way, sampled) in ways {
        for (letter, worth) in WORTH {
            let value = sampled.estimate.of(letter).expect("a man");
            let logits = value.logits.expect("bounded").value;
            assert!(
                (logits / worth - 1.0).abs() < 5e-3,
                "{way:?} {letter}: {logits}"
            );
            assert!(
                value.positions > 20,
                "{way:?} {letter}: {}",
                value.positions
            );
        }
    }
}

#[test]
fn an_evaluator_without_opinions_gives_no_values() {
    let variant = falcon();
    let estimate = probe(
        &variant,
        &mut model::UniformEvaluator,
        &positions(&variant, 25),
        &config(),
        &mut |_| (),
    );
    let estimate = estimate.expect("positions").whole.estimate;
    let rook = estimate.of('R').expect("a man");
    assert_eq!(
        rook.pawns, None,
        "nothing can be counted in worthless pawns"
    );
    assert_eq!(rook.logits.map(|logits| logits.value), Some(0.0));
}

#[test]
fn decided_and_missing_positions_are_left_out() {
    let variant = falcon();
    let worth = vec![('Q', 20.0)];
    let mut evaluator = MaterialEvaluator {
        variant: variant.clone(),
        worth,
        calls: 0,
    };
    let queen = variant.role_by_letter('Q').expect("a role");
    let square = variant
        .start()
        .pieces(Color::White, queen)
        .first()
        .expect("a queen");
    let decided = variant
        .start()
        .with_piece(&variant, square, None)
        .expect("legal");
    let position = ProbePosition {
        game: 0,
        position: decided,
    };
    assert!(
        probe(
            &variant,
            &mut evaluator,
            &[position],
            &config(),
            &mut |_| ()
        )
        .is_none()
    );
    assert!(probe(&variant, &mut evaluator, &[], &config(), &mut |_| ()).is_none());
}

/// An evaluator to which men are worth less on a crowded board shows in the slices, and squares where a man is worth more
/// show in the heat map.
#[test]
fn slices_and_heat_maps_show_what_was_planted() {
    struct Crowded(MaterialEvaluator);
    impl Evaluator for Crowded {
        fn evaluate(&mut self, requests: &[EvalRequest]) -> Vec<Evaluation> {
            let mut evaluations = self.0.evaluate(requests);
            for (request, evaluation) in requests.iter().zip(&mut evaluations) {
                let position = &request.position;
                let falcon = self.0.variant.role_by_letter('F').expect("a falcon");
                let count = |color| {
                    let men = position.pieces(color, falcon).into_iter();
                    men.map(|square| if square.file() < 5 { 1.0 } else { 2.0 })
                        .sum::<f64>()
                };
                let turn = position.turn();
                let crowd = f64::from(position.occupied().count());
                let pawn = self.0.variant.role_by_letter('P').expect("a pawn");
                let pawns = |color| f64::from(position.pieces(color, pawn).count());
                let falcons = (count(turn) - count(!turn)) * (60.0 - crowd) / 40.0;
                let balance = falcons + 0.3 * (pawns(turn) - pawns(!turn));
                let win = (1.0 / (1.0 + (-balance).exp())) as f32;
                evaluation.wdl = Wdl {
                    win,
                    draw: 0.0,
                    loss: 1.0 - win,
                };
            }
            evaluations
        }
    }
    let variant = falcon();
    let material = MaterialEvaluator {
        variant: variant.clone(),
        worth: Vec::new(),
        calls: 0,
    };
    let mut few = positions(&variant, 30);
    // The same with most of the men off the board, so that there is an open part.
    let open: Vec<ProbePosition> =
        few.iter()
            .filter_map(|probed| {
                let keep = |role| variant.role_by_letter(role);
                let (falcon, king) = (keep('F')?, keep('K')?);
                let position = probed.position.occupied().into_iter().fold(
                    probed.position,
                    |position, square| {
                        let role = position.piece_at(square).map(|piece| piece.role);
                        match role == Some(falcon) || role == Some(king) {
                            true => position,
                            false => position
                                .with_piece(&variant, square, None)
                                .unwrap_or(position),
                        }
                    },
                );
                Some(ProbePosition {
                    position,
                    ..*probed
                })
            })
            .collect();
    few.extend(open);
    let config = ProbeConfig {
        max_abs_q: 1.0,
        ..config()
    };
    let result =
        probe(&variant, &mut Crowded(material), &few, &config, &mut |_| ()).expect("positions");
    let logits = |slice: Slice| {
        let (_, sampled) = result
            .slices
            .iter()
            .find(|(known, _)| *known == slice)
            .expect("a slice");
        sampled
            .estimate
            .of('F')
            .and_then(|man| man.logits)
            .expect("bounded")
    };
    let crowded = logits(Slice::Crowding(crate::values::phase::Crowding::Crowded));
    let open = logits(Slice::Crowding(crate::values::phase::Crowding::Open));
    assert!(open.low > crowded.high, "{open} {crowded}");
    let map = result
        .heat
        .iter()
        .find(|map| map.letter == 'F')
        .expect("a heat map");
    let mean = |left: bool| {
        let half = map
            .squares
            .iter()
            .filter(|one| (one.square.as_bytes()[0] < b'f') == left);
        let (sum, count) = half.fold((0.0, 0), |(sum, count), one| {
            (
                sum + one.pawns * one.positions as f64,
                count + one.positions,
            )
        });
        sum / count as f64
    };
    assert!(
        mean(false) > 1.5 * mean(true),
        "{} {}",
        mean(false),
        mean(true)
    );
    assert_eq!(result.whole.draws.len(), config.bootstrap.resamples);
}
