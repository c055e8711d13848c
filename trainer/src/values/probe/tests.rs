use super::super::census::census;
use super::*;
use model::Evaluation;
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
    .expect("positions");
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

#[test]
fn an_evaluator_without_opinions_gives_no_values() {
    let variant = falcon();
    let estimate = probe(
        &variant,
        &mut model::UniformEvaluator,
        &positions(&variant, 5),
        &config(),
        &mut |_| (),
    );
    let estimate = estimate.expect("positions");
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
