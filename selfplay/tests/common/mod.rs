//! Made-up games that look like real ones.

use model::Wdl;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Color, Outcome};
use selfplay::game::EndReason;
use selfplay::record::{GameRecord, PlyRecord};
use selfplay::starts::StartKind;

/// `count` games of `plies` plies each, all different.
pub fn games(count: u64, plies: usize) -> Vec<GameRecord> {
    (0..count).map(|number| game(number, plies)).collect()
}

/// Game `number` of `plies` plies; every third ply is a cheap search.
pub fn game(number: u64, plies: usize) -> GameRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let pick = number as usize;
    GameRecord {
        game_id: format!("w1-000000-{number:06}"),
        variant: "falcon".to_owned(),
        start_kind: StartKind::ALL[pick % StartKind::ALL.len()],
        worker_id: "w1".to_owned(),
        seed: u64::MAX - number,
        outcome: [Outcome::WhiteWins, Outcome::Draw, Outcome::BlackWins][pick % 3],
        end: EndReason::ALL[pick % EndReason::ALL.len()],
        would_resign: [None, Some(Color::White), Some(Color::Black)][pick % 3],
        plies: (0..plies).map(|ply| self::ply(ply, &mut rng)).collect(),
    }
}

fn ply(index: usize, rng: &mut ChaCha8Rng) -> PlyRecord {
    let full_search = index % 3 != 2;
    let legal = if full_search {
        rng.random_range(1..60)
    } else {
        0
    };
    let weights: Vec<f32> = (0..legal).map(|_| rng.random_range(0.01..1.0)).collect();
    let sum: f32 = weights.iter().sum();
    let win: f32 = rng.random_range(0.0..0.5);
    let loss: f32 = rng.random_range(0.0..0.5);
    PlyRecord {
        fen: format!(
            "rnbfqkfbnr/pppppppppp/10/10/{index}/10/PPPPPPPPPP/RNBFQKFBNR w KQkq - 0 {index}"
        ),
        mv: "e2e4".to_owned(),
        repetitions: 1 + (index % 3) as u8,
        policy: weights
            .iter()
            .map(|weight| (square(rng) + &square(rng), weight / sum))
            .collect(),
        root_q: rng.random_range(-1.0..1.0),
        raw_value: Wdl {
            win,
            draw: 1.0 - win - loss,
            loss,
        },
        visits: rng.random_range(1..64),
        full_search,
        net_id: format!("{:06}", index / 50),
    }
}

fn square(rng: &mut ChaCha8Rng) -> String {
    let file = (b'a' + rng.random_range(0..10u8)) as char;
    format!("{file}{}", rng.random_range(1..9))
}
