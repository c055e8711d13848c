//! What becomes of generated moves.

use crate::{Bitboard, Move, Role, Square};

/// Takes moves in bundles that share what can be shared.
pub(super) trait Sink {
    /// Plain moves of one man.
    fn steps(&mut self, from: Square, targets: u128);
    /// Promotions of one pawn, to each of the roles on each target.
    fn promotions(&mut self, from: Square, targets: u128, roles: &[Role]);
    /// Entries of one role.
    fn drops(&mut self, role: Role, targets: u128);
    /// A castling.
    fn castle(&mut self, castling: Move);
}

impl Sink for Vec<Move> {
    #[inline(always)]
    fn steps(&mut self, from: Square, targets: u128) {
        for to in Bitboard(targets) {
            self.push(Move::Step {
                from,
                to,
                promotion: None,
            });
        }
    }

    fn promotions(&mut self, from: Square, targets: u128, roles: &[Role]) {
        for to in Bitboard(targets) {
            for &role in roles {
                self.push(Move::Step {
                    from,
                    to,
                    promotion: Some(role),
                });
            }
        }
    }

    fn drops(&mut self, role: Role, targets: u128) {
        for to in Bitboard(targets) {
            self.push(Move::Drop { role, to });
        }
    }

    fn castle(&mut self, castling: Move) {
        self.push(castling);
    }
}

/// Counts moves.
#[derive(Default)]
pub(super) struct Counter {
    pub count: u64,
}

impl Sink for Counter {
    #[inline(always)]
    fn steps(&mut self, _from: Square, targets: u128) {
        self.count += u64::from(targets.count_ones());
    }

    #[inline(always)]
    fn promotions(&mut self, _from: Square, targets: u128, roles: &[Role]) {
        self.count += u64::from(targets.count_ones()) * roles.len() as u64;
    }

    #[inline(always)]
    fn drops(&mut self, _role: Role, targets: u128) {
        self.count += u64::from(targets.count_ones());
    }

    #[inline(always)]
    fn castle(&mut self, _castling: Move) {
        self.count += 1;
    }
}
