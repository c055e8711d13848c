//! Writes, for every built-in variant, an ONNX file and what our own evaluator says about positions of random games, so that an ONNX
//! runtime can be held against it: `cargo run --release --example onnx_samples -- FOLDER [POSITIONS]`.
//!
//! `NAME.onnx` has a net of random weights. `NAME.samples.safetensors` has the tensors `planes` `[n, planes, 10, 10]`, `wdl` `[n, 3]`,
//! `moves_left` `[n, 1]`, and of the legal moves' logits `policy_value` `[m]` with their places in the flattened policy output,
//! `policy_place` `[m]`, the batch included. `NAME.fens` has a line `FEN|repetitions|MOVE MOVE …` for each
//! position, the moves in the order of their logits.

use model::export::onnx;
use model::{
    CompiledEvaluator, Device, Encoding, Evaluator, Net, NetConfig, NetMeta, NetShape,
    PolicyLayout, Weights, sample_requests,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::Variant;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use std::error::Error;
use std::path::Path;

const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder")?;
    let positions = arguments.next().map_or(Ok(200), |text| text.parse())?;
    std::fs::create_dir_all(&folder)?;
    for name in Variant::builtin_names() {
        write(Path::new(&folder), &*Variant::by_name(name)?, positions)?;
    }
    println!(
        "{} nets, {positions} positions each, in {folder}",
        Variant::builtin_names().len()
    );
    Ok(())
}

fn write(folder: &Path, variant: &Variant, positions: usize) -> Result<(), Box<dyn Error>> {
    let config = NetConfig::preset("small")?;
    let shape = NetShape::new(variant);
    let weights = random_weights(config, shape)?;
    let meta = NetMeta::new(variant, config, "random", 0);
    let file = |ending: &str| folder.join(format!("{}.{ending}", variant.name()));
    std::fs::write(file("onnx"), onnx::to_onnx(&weights, &meta, variant)?)?;

    let mut requests = sample_requests(variant, positions, SEED);
    for (index, request) in requests.iter_mut().enumerate() {
        request.repetitions = 1 + (index % 5 == 0) as u8;
    }
    let evaluations = CompiledEvaluator::new(&weights, &config, variant)?.evaluate(&requests);
    let encoding = Encoding::new(variant);
    let planes = encoding.encode_batch(requests.iter().map(|r| (&r.position, r.repetitions)));
    let layout = PolicyLayout::new(variant);
    let (mut wdl, mut left, mut places, mut logits) = (vec![], vec![], vec![], vec![]);
    let mut fens = String::new();
    for (index, (request, evaluation)) in requests.iter().zip(&evaluations).enumerate() {
        let chances = evaluation.wdl;
        wdl.extend([chances.win, chances.draw, chances.loss]);
        left.push(evaluation.moves_left);
        for (&mv, &logit) in request.moves.iter().zip(&evaluation.policy_logits) {
            let place = layout.index(request.position.turn(), mv);
            places.push((index * shape.policy_len() + shape.policy_place(place)) as i64);
            logits.push(logit);
        }
        let moves = request.moves.iter();
        let moves = moves.map(|&mv| variant.move_text(&request.position, mv));
        fens += &format!(
            "{}|{}|{}\n",
            request.position.fen(variant),
            request.repetitions,
            moves.collect::<Vec<_>>().join(" ")
        );
    }
    std::fs::write(file("fens"), fens)?;
    let floats = |data: &[f32]| -> Vec<u8> { data.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let places_bytes: Vec<u8> = places.iter().flat_map(|x: &i64| x.to_le_bytes()).collect();
    let count = requests.len();
    let tensors = [
        (
            "planes",
            Dtype::F32,
            vec![count, shape.planes, 10, 10],
            floats(&planes),
        ),
        ("wdl", Dtype::F32, vec![count, 3], floats(&wdl)),
        ("moves_left", Dtype::F32, vec![count, 1], floats(&left)),
        (
            "policy_value",
            Dtype::F32,
            vec![logits.len()],
            floats(&logits),
        ),
        ("policy_place", Dtype::I64, vec![places.len()], places_bytes),
    ];
    let views = tensors
        .iter()
        .map(|(name, kind, shape, bytes)| {
            Ok((*name, TensorView::new(*kind, shape.clone(), bytes)?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    std::fs::write(
        file("samples.safetensors"),
        safetensors::serialize(views, None)?,
    )?;
    Ok(())
}

/// As after training: nothing is 0 or 1 by construction.
fn random_weights(config: NetConfig, shape: NetShape) -> Result<Weights, Box<dyn Error>> {
    let fresh = Net::new(config, shape, SEED, &Device::flex())?.weights();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut weights = Weights::default();
    for (name, tensor) in fresh.iter() {
        let mut tensor = tensor.clone();
        for value in &mut tensor.data {
            *value = match name.rsplit('.').next() {
                Some("gamma" | "running_var") => rng.random_range(0.7..1.3),
                Some("weight") => *value + rng.random_range(-0.02..0.02),
                _ => rng.random_range(-0.3..0.3),
            };
        }
        weights.insert(name, tensor);
    }
    Ok(weights)
}
