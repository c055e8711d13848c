//! Training samples per second, forwards and backwards: the tower in our kernels and burn alone.
//!
//! `cargo run --release -p model --example training [VARIANT] [SIZE] [SECONDS] [f32|bf16]`; the environment
//! variable `RAYON_NUM_THREADS` sets the number of threads.

use std::time::Duration;

use model::{
    DeviceChoice, Net, NetConfig, NetShape, TrainingPrecision, TrainingWay, training_throughput,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let variant = arguments.next().unwrap_or_else(|| "falcon".into());
    let size = arguments.next().unwrap_or_else(|| "small".into());
    let seconds = arguments.next().map_or(Ok(5.0), |text| text.parse())?;
    let variant = rules::Variant::by_name(&variant)?;
    let device = DeviceChoice::Cpu.device()?.autodiff();
    let net = Net::new(
        NetConfig::preset(&size)?,
        NetShape::new(&variant),
        1,
        &device,
    )?;
    let ways = match arguments.next().as_deref() {
        Some("f32") => vec![TrainingWay::Own(TrainingPrecision::F32)],
        Some("bf16") => vec![TrainingWay::Own(TrainingPrecision::Bf16)],
        _ => TrainingWay::available(),
    };
    for batch in [128, 256] {
        let time = Duration::from_secs_f64(seconds);
        let rates = training_throughput(&net, &variant, batch, &ways, time);
        for (way, rate) in ways.iter().zip(&rates) {
            let ratio = rate / rates[rates.len() - 1];
            println!("{size} batch {batch}: {way:?} {rate:.0} samples/s, ratio {ratio:.2}");
        }
    }
    Ok(())
}
