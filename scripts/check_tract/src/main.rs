//! Holds exported nets in tract against our own evaluator.
//!
//!     cargo run --release -p model --example onnx_samples -- FOLDER
//!     cargo run --release --manifest-path scripts/check_tract/Cargo.toml -- FOLDER
//!
//! The samples are described in `model/examples/onnx_samples.rs`.

use anyhow::{Context, ensure};
use safetensors::SafeTensors;
use std::path::{Path, PathBuf};
use tract_onnx::prelude::*;

const TOLERANCE: f32 = 1e-4;
/// Batches of different sizes come from a number that does not divide the samples.
const BATCH: usize = 37;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).context("name the folder of the samples")?;
    let entries = std::fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut nets: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    nets.retain(|path| path.extension().is_some_and(|ending| ending == "onnx"));
    nets.sort();
    ensure!(!nets.is_empty(), "there are no nets in {folder}");
    for net in &nets {
        let differences = check(net).with_context(|| net.display().to_string())?;
        println!("{:40} policy {:.1e}  wdl {:.1e}  moves_left {:.1e}", net.display(), differences[0], differences[1], differences[2]);
        ensure!(differences.iter().all(|difference| *difference <= TOLERANCE), "the differences are too large");
    }
    println!("{} nets agree within {TOLERANCE}", nets.len());
    Ok(())
}

/// The greatest differences of policy, chances and plies left, the last relative.
fn check(net: &Path) -> TractResult<[f32; 3]> {
    let bytes = std::fs::read(net.with_extension("samples.safetensors"))?;
    let samples = SafeTensors::deserialize(&bytes)?;
    let floats = |name: &str| -> TractResult<Vec<f32>> {
        let data = samples.tensor(name)?.data().to_vec();
        Ok(data.as_chunks::<4>().0.iter().map(|&x| f32::from_le_bytes(x)).collect())
    };
    let shape = samples.tensor("planes")?.shape().to_vec();
    let planes = floats("planes")?;
    let model = tract_onnx::onnx().model_for_path(net)?.into_optimized()?.into_runnable()?;
    let mut outputs = [const { Vec::new() }; 3];
    let one = shape[1] * shape[2] * shape[3];
    for batch in planes.chunks(BATCH * one) {
        let dims = [batch.len() / one, shape[1], shape[2], shape[3]];
        let input = Tensor::from_shape(&dims, batch)?;
        let results = model.run(tvec!(input.into()))?;
        for (output, result) in outputs.iter_mut().zip(results.iter()) {
            output.extend(result.to_array_view::<f32>()?.iter().copied());
        }
    }
    let places = samples.tensor("policy_place")?.data().to_vec();
    let places = places.as_chunks::<8>().0.iter().map(|&x| i64::from_le_bytes(x) as usize);
    let policy: Vec<f32> = places.map(|place| outputs[0][place]).collect();
    let greatest = |ours: &[f32], theirs: &[f32], relative: bool| {
        assert_eq!(ours.len(), theirs.len(), "numbers of an output");
        let difference = |(a, b): (&f32, &f32)| (a - b).abs() / if relative { *a } else { 1.0 };
        ours.iter().zip(theirs).map(difference).fold(0.0, f32::max)
    };
    Ok([
        greatest(&floats("policy_value")?, &policy, false),
        greatest(&floats("wdl")?, &outputs[1], false),
        greatest(&floats("moves_left")?, &outputs[2], true),
    ])
}
