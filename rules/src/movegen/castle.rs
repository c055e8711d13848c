//! Castling.

use super::Generator;
use super::sink::Sink;
use crate::variant::Castling;
use crate::{Bitboard, Move, Square};

impl Generator<'_> {
    /// All castlings; the king must not be in check.
    pub(super) fn castlings(&self, sink: &mut impl Sink) {
        let unmoved = Bitboard(self.position.rights);
        for rule in &self.variant.castlings {
            let mut leaders = self.variant.rights.leaders[self.us].iter();
            let Some(leader) = leaders.find(|leader| leader.role == rule.leader) else {
                continue;
            };
            let square = leader.square;
            if !self.position.pieces(self.us, rule.leader).contains(square) {
                continue;
            }
            let mut partners = self.position.pieces(self.us, rule.partner)
                & unmoved
                & Bitboard::rank(square.rank());
            if !unmoved.contains(square) {
                // The right of a partner from the start tells by itself that the leader has not
                // moved; an entered partner needs the leader's own.
                partners &= leader.starting_partners(rule.partner);
            }
            for partner in partners {
                self.castle(rule, square, partner, sink);
            }
        }
    }

    /// The castlings of one leader with one partner.
    fn castle(&self, rule: &Castling, leader: Square, partner: Square, sink: &mut impl Sink) {
        let right = partner > leader;
        let distance = partner.file().abs_diff(leader.file());
        let between = squares_between(leader, partner);
        if between & (self.occupied | !self.variant.board.0) != 0 {
            return;
        }
        let at = |steps: u8| {
            let index = match right {
                true => leader.index() + usize::from(steps),
                false => leader.index() - usize::from(steps),
            };
            Square::from_bit(index as u32)
        };
        let royal = rule.leader == self.variant.royal;
        for steps in 1..=rule.max_steps.min(distance - 1) {
            // The king is tried on every square on its way, its own square vacated and the
            // partner still at home.
            if royal && self.lifted_attacked(at(steps)) {
                return;
            }
            let (to, partner_to) = (at(steps), at(steps - 1));
            if steps >= rule.min_steps && self.safe_after([leader, partner], [to, partner_to]) {
                sink.castle(Move::Castle {
                    from: leader,
                    to,
                    partner_from: partner,
                    partner_to,
                });
            }
        }
    }

    fn lifted_attacked(&self, square: Square) -> bool {
        let occupied = self.occupied & !(1 << self.king.index());
        self.attacked(square, occupied | 1 << square.index(), self.enemy)
    }

    /// Whether the king is safe after two own men have moved.
    fn safe_after(&self, from: [Square; 2], to: [Square; 2]) -> bool {
        let set = |squares: [Square; 2]| squares.into_iter().collect::<Bitboard>().0;
        let occupied = (self.occupied & !set(from)) | set(to);
        let king = match from[0] == self.king {
            true => to[0],
            false => self.king,
        };
        !self.attacked(king, occupied, self.enemy)
    }
}

/// The squares of a rank between two of its squares.
fn squares_between(a: Square, b: Square) -> u128 {
    let (low, high) = (a.min(b).index(), a.max(b).index());
    ((1u128 << high) - 1) & !((1u128 << low) | ((1u128 << low) - 1))
}
