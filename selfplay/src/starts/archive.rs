//! Late positions of earlier games.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rules::{Outcome, Position, Status, Variant};

use crate::record::GameRecord;

/// A sample of late positions from the games seen so far, of bounded size (reservoir sampling, so every position
/// offered has the same chance to be in it).
#[derive(Clone, Debug)]
pub struct Archive {
    positions: Vec<Position>,
    capacity: usize,
    offered: u64,
}

impl Archive {
    /// An empty archive for at most `capacity` positions.
    pub fn new(capacity: usize) -> Self {
        Self {
            positions: Vec::new(),
            capacity,
            offered: 0,
        }
    }

    /// The positions held.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Offers one position from the last third of a decisive game.
    ///
    /// Drawn games are passed over: their ends are mostly moves to and fro.
    pub fn offer(&mut self, variant: &Variant, game: &GameRecord, rng: &mut ChaCha8Rng) {
        if game.outcome == Outcome::Draw || game.plies.is_empty() {
            return;
        }
        let first = game.plies.len() * 2 / 3;
        let ply = &game.plies[rng.random_range(first..game.plies.len())];
        // Records come from files, so what they say is checked before a game begins with it.
        if let Ok(position) = Position::from_fen(variant, &ply.fen)
            && position.status(variant) == Status::Ongoing
            && !position.is_king_left_in_danger(variant)
        {
            self.insert(position, rng);
        }
    }

    fn insert(&mut self, position: Position, rng: &mut ChaCha8Rng) {
        self.offered += 1;
        if self.positions.len() < self.capacity {
            self.positions.push(position);
            return;
        }
        let slot = rng.random_range(0..self.offered);
        if let Some(held) = usize::try_from(slot)
            .ok()
            .and_then(|slot| self.positions.get_mut(slot))
        {
            *held = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use model::Wdl;
    use rand::SeedableRng;

    use super::*;
    use crate::game::EndReason;
    use crate::record::PlyRecord;
    use crate::starts::StartKind;

    /// A game of 30 plies by the first legal move, with the result wanted.
    fn game(variant: &Variant, outcome: Outcome) -> GameRecord {
        let mut position = variant.start();
        let plies = (0..30).map(|_| {
            let mv = position.legal_moves(variant)[0];
            let ply = PlyRecord {
                fen: position.fen(variant),
                mv: variant.move_text(&position, mv),
                repetitions: 1,
                policy: Vec::new(),
                root_q: 0.0,
                raw_value: Wdl::UNKNOWN,
                visits: 1,
                full_search: false,
                net_id: "n".into(),
            };
            position = position.play(variant, mv);
            ply
        });
        GameRecord {
            game_id: "g".into(),
            variant: variant.name().into(),
            start_kind: StartKind::Opening,
            worker_id: "w".into(),
            seed: 1,
            outcome,
            end: EndReason::Checkmate,
            would_resign: None,
            plies: plies.collect(),
        }
    }

    #[test]
    fn late_positions_of_decisive_games_are_kept_up_to_the_capacity() {
        let variant = Variant::by_name("chess").expect("chess is built in");
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut archive = Archive::new(4);
        archive.offer(&variant, &game(&variant, Outcome::Draw), &mut rng);
        assert!(archive.positions().is_empty());
        let mut over = game(&variant, Outcome::WhiteWins);
        over.plies
            .iter_mut()
            .for_each(|ply| ply.fen = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1".into());
        archive.offer(&variant, &over, &mut rng);
        assert!(archive.positions().is_empty());
        let won = game(&variant, Outcome::WhiteWins);
        let late: HashSet<&str> = won.plies[20..].iter().map(|ply| ply.fen.as_str()).collect();
        let mut seen = HashSet::new();
        for _ in 0..200 {
            archive.offer(&variant, &won, &mut rng);
            seen.extend(
                archive
                    .positions()
                    .iter()
                    .map(|position| position.fen(&variant)),
            );
        }
        assert_eq!(archive.positions().len(), 4);
        assert!(seen.len() > 4, "{seen:?}");
        assert!(seen.iter().all(|fen| late.contains(fen.as_str())));
    }
}
