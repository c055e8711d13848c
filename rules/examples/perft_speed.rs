//! Measures perft with bulk counting: `perft_speed [VARIANT DEPTH]...`.
//!
//! Without arguments it counts the start positions of chess, falcon and decimal-falcon-hunter.

use std::time::Instant;

use rules::{Variant, perft};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        let defaults = ["chess", "6", "falcon", "5", "decimal-falcon-hunter", "5"];
        arguments = defaults.map(str::to_string).to_vec();
    }
    for pair in arguments.chunks(2) {
        let [name, depth] = pair else {
            return Err("give pairs of a variant and a depth".into());
        };
        let loading = Instant::now();
        let variant = Variant::by_name(name)?;
        let loading = loading.elapsed();
        let counting = Instant::now();
        let nodes = perft(&variant, &variant.start(), depth.parse()?);
        let seconds = counting.elapsed().as_secs_f64();
        println!(
            "{name} depth {depth}: {nodes} nodes in {seconds:.2} s, {:.1} M nodes/s (loaded in {:.1} ms)",
            nodes as f64 / seconds / 1e6,
            loading.as_secs_f64() * 1e3
        );
    }
    Ok(())
}
