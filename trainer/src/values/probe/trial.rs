//! A position and its copies with a man less, more, or another in its place.

use super::{ProbePosition, Way};
use crate::values::estimate::Men;
use crate::values::phase::{Part, part_of};
use model::EvalRequest;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::{Color, Piece, Position, Role, Square, Status, Variant};

/// Empty squares that are tried for a man that is added.
const TRIES: usize = 4;

/// A man on a square, told by two positions of a trial that differ by him alone.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    pub way: Way,
    /// Place of the man among the roles.
    pub man: usize,
    pub owner: Color,
    pub square: Square,
    /// The request with him.
    pub with: usize,
    /// The request without him.
    pub lacking: usize,
}

/// One position and its copies.
pub(super) struct Trial {
    pub game: usize,
    pub part: Part,
    /// The position as it is, then the copies.
    pub requests: Vec<EvalRequest>,
    pub measures: Vec<Measure>,
}

impl Trial {
    /// Of each side, takes off one man of each role, puts each other role in the place of one of them, and adds one man of each
    /// role on an empty square, all picked at random, as long as the result is legal, goes on, and has nobody in check.
    pub fn new(
        variant: &Variant,
        men: Men<'_>,
        probed: ProbePosition,
        seed: u64,
        index: usize,
    ) -> Trial {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index as u64);
        let mut trial = Trial {
            game: probed.game,
            part: part_of(variant, &probed.position),
            requests: vec![request(variant, probed.position)],
            measures: Vec::new(),
        };
        let position = &probed.position;
        let empty: Vec<Square> = variant
            .board()
            .into_iter()
            .filter(|&s| position.piece_at(s).is_none())
            .collect();
        for owner in Color::ALL {
            let removed = trial.remove(variant, men, position, owner, &mut rng);
            for (man, (role, _)) in men.roles().enumerate() {
                trial.exchange(variant, &removed, (man, role, owner), &mut rng);
                trial.add(variant, position, &empty, (man, role, owner), &mut rng);
            }
        }
        trial
    }

    /// Takes off one man of each role; tells who is gone from where, and the request.
    fn remove(
        &mut self,
        variant: &Variant,
        men: Men<'_>,
        position: &Position,
        owner: Color,
        rng: &mut ChaCha8Rng,
    ) -> Vec<(usize, Square, usize)> {
        let mut removed = Vec::new();
        for (man, (role, _)) in men.roles().enumerate() {
            let squares: Vec<Square> = position.pieces(owner, role).into_iter().collect();
            let Some(&square) = squares.choose(rng) else {
                continue;
            };
            let Some(lacking) = self.ask(variant, position, square, None) else {
                continue;
            };
            removed.push((man, square, lacking));
            self.measures.push(Measure {
                way: Way::Removal,
                man,
                owner,
                square,
                with: 0,
                lacking,
            });
        }
        removed
    }

    /// Puts a man in the place of another that has been removed.
    fn exchange(
        &mut self,
        variant: &Variant,
        removed: &[(usize, Square, usize)],
        (man, role, owner): (usize, Role, Color),
        rng: &mut ChaCha8Rng,
    ) {
        let others: Vec<_> = removed.iter().filter(|(other, ..)| *other != man).collect();
        let Some(&&(_, square, lacking)) = others.choose(rng) else {
            return;
        };
        let without = self.requests[lacking].position;
        let piece = Piece { color: owner, role };
        if let Some(with) = self.ask(variant, &without, square, Some(piece)) {
            self.measures.push(Measure {
                way: Way::Exchange,
                man,
                owner,
                square,
                with,
                lacking,
            });
        }
    }

    /// Puts a man on an empty square.
    fn add(
        &mut self,
        variant: &Variant,
        position: &Position,
        empty: &[Square],
        (man, role, owner): (usize, Role, Color),
        rng: &mut ChaCha8Rng,
    ) {
        if empty.is_empty() {
            return;
        }
        let piece = Piece { color: owner, role };
        let found = (0..TRIES).find_map(|_| {
            let square = empty[rng.random_range(0..empty.len())];
            Some((square, self.ask(variant, position, square, Some(piece))?))
        });
        if let Some((square, with)) = found {
            self.measures.push(Measure {
                way: Way::Addition,
                man,
                owner,
                square,
                with,
                lacking: 0,
            });
        }
    }

    /// Adds a request about a changed position, unless it cannot be asked about; the answer is its number.
    fn ask(
        &mut self,
        variant: &Variant,
        position: &Position,
        square: Square,
        piece: Option<Piece>,
    ) -> Option<usize> {
        let changed = position.with_piece(variant, square, piece).ok()?;
        let is_quiet = !changed.is_check(variant) && changed.status(variant) == Status::Ongoing;
        is_quiet.then(|| {
            self.requests.push(request(variant, changed));
            self.requests.len() - 1
        })
    }
}

/// The value head alone is wanted, so the request names a single move.
fn request(variant: &Variant, position: Position) -> EvalRequest {
    let mut moves = position.legal_moves(variant);
    moves.truncate(1);
    EvalRequest {
        position,
        repetitions: 1,
        moves,
    }
}
