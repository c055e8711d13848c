//! How far a net's evaluations with narrow numbers are from those in single precision, on
//! positions of games that the net plays against itself by its policy.
//!
//! `cargo run --release -p model --example agreement VARIANT NET...`

use model::{
    CompiledEvaluator, EvalRequest, Evaluation, Evaluator, Precision, SimdLevel, load_weights,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Status, Variant};

/// Positions compared.
const POSITIONS: usize = 1500;
/// Plies from one of them to the next.
const STRIDE: usize = 3;
/// Plies after which a game is given up.
const LONGEST_GAME: usize = 300;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let variant = Variant::by_name(&arguments.next().ok_or("name a variant")?)?;
    for file in arguments {
        let (weights, meta) = load_weights(&std::fs::read(&file)?, &file, &variant)?;
        let level = SimdLevel::best();
        let compile = |precision| {
            CompiledEvaluator::with_precision(&weights, &meta.net, &variant, level, precision)
        };
        let mut exact = compile(Precision::F32)?;
        let requests = games(&variant, &mut exact);
        let expected = exact.evaluate(&requests);
        for precision in Precision::available(level).into_iter().skip(1) {
            let found = compile(precision)?.evaluate(&requests);
            println!("{file} {precision}: {}", compare(&expected, &found));
        }
    }
    Ok(())
}

/// Positions of games whose moves are drawn from the policy.
fn games(variant: &Variant, evaluator: &mut CompiledEvaluator) -> Vec<EvalRequest> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut requests = Vec::new();
    let (mut position, mut ply) = (variant.start(), 0);
    while requests.len() < POSITIONS {
        let request = EvalRequest::new(variant, position, 1);
        let over = request.moves.is_empty() || position.status(variant) != Status::Ongoing;
        if over || ply > LONGEST_GAME {
            (position, ply) = (variant.start(), 0);
            continue;
        }
        let priors = softmax(&evaluator.evaluate(std::slice::from_ref(&request))[0]);
        let mut left = rng.random_range(0.0..1.0);
        let passed = priors.iter().take_while(|&&prior| {
            left -= prior;
            left > 0.0
        });
        let chosen = passed.count().min(priors.len() - 1);
        position = position.play(variant, request.moves[chosen]);
        ply += 1;
        if ply % STRIDE == 0 {
            requests.push(request);
        }
    }
    requests
}

fn compare(expected: &[Evaluation], found: &[Evaluation]) -> String {
    let (mut divergence, mut same, mut squares, mut worst) = (0.0, 0, 0.0, 0f64);
    for (a, b) in expected.iter().zip(found) {
        let (p, q) = (softmax(a), softmax(b));
        let terms = p.iter().zip(&q).map(|(p, q)| p * (p / q).ln());
        divergence += terms.sum::<f64>();
        same += usize::from(best(&p) == best(&q));
        let error = f64::from((a.wdl.q() - b.wdl.q()).abs());
        squares += error * error;
        worst = worst.max(error);
    }
    let count = expected.len() as f64;
    format!(
        "KL divergence of the policies {:.1e}, same best move {:.1}%, q off by {:.4} rms and {:.3} at most",
        divergence / count,
        100.0 * same as f64 / count,
        (squares / count).sqrt(),
        worst
    )
}

fn softmax(evaluation: &Evaluation) -> Vec<f64> {
    let logits = &evaluation.policy_logits;
    let top = logits.iter().fold(f32::MIN, |a, &b| a.max(b));
    let powers: Vec<f64> = logits.iter().map(|x| f64::from(x - top).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|x| x / sum).collect()
}

fn best(priors: &[f64]) -> Option<usize> {
    (0..priors.len()).max_by(|&a, &b| priors[a].total_cmp(&priors[b]))
}
