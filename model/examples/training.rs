//! Training samples per second, forwards and backwards: the tower in our kernels and burn alone.
//!
//! `cargo run --release -p model --example training [VARIANT] [SIZE] [SECONDS]`; the environment
//! variable `RAYON_NUM_THREADS` sets the number of threads.

use std::time::Duration;

use model::{DeviceChoice, Net, NetConfig, NetShape, training_throughput};

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
    for batch in [128, 256] {
        let time = Duration::from_secs_f64(seconds);
        let result = training_throughput(&net, &variant, batch, time);
        println!(
            "{size} batch {batch}: f32 {:.0} samples/s, bf16 {:.0}, burn {:.0}; ratios {:.2}, {:.2}",
            result.f32,
            result.bf16,
            result.burn,
            result.f32 / result.burn,
            result.bf16 / result.burn,
        );
    }
    Ok(())
}
