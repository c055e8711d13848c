//! Positions per second of burn and of the compiled net, on one thread.
//!
//! `cargo run --release -p model --example throughput [VARIANT] [SIZE] [SECONDS]`

use std::time::Duration;

use model::{
    CompiledEvaluator, DeviceChoice, Evaluator, Net, NetConfig, NetEvaluator, NetShape, Precision,
    SimdLevel, sample_requests, throughput,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let variant = arguments.next().unwrap_or_else(|| "falcon".into());
    let size = arguments.next().unwrap_or_else(|| "small".into());
    let seconds = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let time = Duration::from_secs_f64(seconds);
    let variant = rules::Variant::by_name(&variant)?;
    let config = NetConfig::preset(&size)?;
    let net = Net::new(
        config,
        NetShape::new(&variant),
        1,
        &DeviceChoice::Cpu.device()?,
    )?;
    let requests = sample_requests(&variant, 256, 1);
    let measure = |name: &str, evaluator: &mut dyn Evaluator| {
        for batch in [1, 16, 64, 256] {
            let result = throughput(evaluator, &requests, batch, time);
            println!(
                "{name:14} batch {batch:3}: {:8.0} positions/s",
                result.positions_per_second
            );
        }
    };
    for level in SimdLevel::available() {
        for precision in Precision::available(level) {
            let weights = net.weights();
            let mut compiled =
                CompiledEvaluator::with_precision(&weights, &config, &variant, level, precision)?;
            measure(&format!("{level:?} {precision:?}"), &mut compiled);
        }
    }
    measure("burn", &mut NetEvaluator::new(&net, &variant));
    Ok(())
}
