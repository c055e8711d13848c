//! Prints positions of random games with all their legal moves, for comparison with other
//! programs: `random_positions VARIANT COUNT SEED`, one line `FEN|move move …|played` a position. After
//! `-` in the last field the next line is the start position again. The variant is a name or the path of
//! a TOML file.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::Variant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, count, seed] = arguments.as_slice() else {
        return Err("usage: random_positions VARIANT COUNT SEED".into());
    };
    let variant = match std::path::Path::new(name).is_file() {
        true => Variant::from_toml(&std::fs::read_to_string(name)?)?,
        false => Variant::by_name(name)?,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed.parse()?);
    let mut position = variant.start();
    for _ in 0..count.parse::<usize>()? {
        let moves = position.legal_moves(&variant);
        let texts = moves.iter().map(|&mv| variant.move_text(&position, mv));
        let texts: Vec<String> = texts.collect();
        let fen = position.fen(&variant);
        let goes_on = !moves.is_empty() && !rng.random_bool(0.005);
        let chosen = goes_on.then(|| rng.random_range(0..moves.len()));
        let played = chosen.map_or("-", |chosen| &texts[chosen]);
        println!("{fen}|{}|{played}", texts.join(" "));
        position = match chosen {
            Some(chosen) => position.play(&variant, moves[chosen]),
            None => variant.start(),
        };
    }
    Ok(())
}
