//! The parts of a variant that other programs have settings for: pawns much like those of chess, and a king that castles with rooks
//! in the corners.

use super::{Inexpressible, Target};
use crate::betza::{self, Motion, Reach};
use crate::{Color, Role, RoleInfo, Square};

/// How pawns differ from those of chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pawns {
    /// The kind of man that pawns are.
    pub role: Role,
    /// Squares that a pawn may go on its first move: 1, 2 or 3.
    pub first_step: u8,
    /// Whether they capture en passant.
    pub en_passant: bool,
    /// White's rank where they start, from 0.
    pub rank: u8,
    /// White's rank where they promote, from 0; `None` if they do not.
    pub promotion_rank: Option<u8>,
}

/// A castling of the king with rooks in the corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CornerCastling {
    /// White's king before castling.
    pub king: Square,
    /// Squares that the king goes, always the same.
    pub steps: u8,
    /// The men in the corners.
    pub partner: Role,
}

/// The moves of a role; variants hold only notation that can be read.
pub fn motions(role: &RoleInfo) -> Vec<Motion> {
    betza::parse(&role.betza).unwrap_or_default()
}

/// Whether two pieces move alike, in whatever words.
pub fn moves_like(role: &RoleInfo, betza: &str) -> bool {
    let [mut ours, mut theirs] =
        [role.betza.as_str(), betza].map(|text| betza::parse(text).unwrap_or_default());
    for motions in [&mut ours, &mut theirs] {
        motions.sort_by_key(|motion| format!("{motion:?}"));
    }
    ours == theirs
}

impl Target<'_> {
    /// The pawns, if there is one kind and it moves like those of chess but for the first step.
    pub fn pawns(self) -> Result<Pawns, Inexpressible> {
        let variant = self.variant;
        let mut kinds = variant.role_ids().filter(|&role| variant.is_pawn(role));
        let (Some(role), None) = (kinds.next(), kinds.next()) else {
            return self.refuse("a game without pawns, or with two kinds of them");
        };
        let info = variant.role_info(role);
        let unlike = || format!("the {} {} = {}", info.name, info.letter, info.betza);
        let (mut steps, mut captures, mut first_step) = (0, 0, 1);
        let mut en_passant = false;
        for motion in motions(info) {
            match (&motion.reach, motion.step) {
                (Reach::Leap, (0, 1)) if is_quiet(&motion) && !motion.initial => steps += 1,
                (Reach::Leap, (-1 | 1, 1))
                    if !motion.quiet && motion.capture && !motion.initial =>
                {
                    captures += 1;
                    en_passant |= motion.en_passant;
                }
                (
                    Reach::Ride {
                        limit: limit @ 2..=3,
                    },
                    (0, 1),
                ) if is_first(&motion) => {
                    first_step = first_step.max(*limit);
                }
                (Reach::Lame { .. }, (0, step @ 2..=3)) if is_first(&motion) => {
                    first_step = first_step.max(step as u8);
                }
                _ => return self.refuse(unlike()),
            }
        }
        if (steps, captures) != (1, 2) {
            return self.refuse(unlike());
        }
        let start = variant.pawn_start.white;
        let rank = |zone: crate::Bitboard| zone.first().map(Square::rank);
        let Some(first) = rank(start).filter(|&rank| start.into_iter().all(|s| s.rank() == rank))
        else {
            return self.refuse("pawns that start on several ranks");
        };
        Ok(Pawns {
            role,
            first_step,
            en_passant,
            rank: first,
            promotion_rank: rank(variant.promotion_zone.white),
        })
    }

    /// The castling, if there is any; rights of other men and first moves of other men than pawns are refused.
    pub fn castling(self) -> Result<Option<CornerCastling>, Inexpressible> {
        let variant = self.variant;
        for role in variant.role_ids().filter(|&role| !variant.is_pawn(role)) {
            let info = variant.role_info(role);
            if motions(info).iter().any(|motion| motion.initial) {
                return self.refuse(format!(
                    "the first move of the {} {} = {}",
                    info.name, info.letter, info.betza
                ));
            }
        }
        let rule = match variant.castlings.as_slice() {
            [] => return Ok(None),
            [rule] => rule,
            _ => return self.refuse("castling with several kinds of men"),
        };
        if rule.min_steps != rule.max_steps {
            return self.refuse("free castling");
        }
        if rule.leader != variant.royal {
            return self.refuse("castling of other men than kings");
        }
        let start = variant.start();
        let king = start.king(variant, Color::White);
        let corners = start.pieces(Color::White, rule.partner);
        let is_corner = |square: Square| {
            square.rank() == king.rank()
                && (square.file() == 0 || square.file() == variant.files - 1)
        };
        if corners.count() != 2 || !corners.into_iter().all(is_corner) {
            return self.refuse("castling with men that do not start in the corners");
        }
        Ok(Some(CornerCastling {
            king,
            steps: rule.min_steps,
            partner: rule.partner,
        }))
    }

    /// Refuses men in hand.
    pub fn no_hands(self) -> Result<(), Inexpressible> {
        match self.variant.entry {
            Some(_) => self.refuse("men in hand that enter in exchange for losses"),
            None => Ok(()),
        }
    }
}

fn is_quiet(motion: &Motion) -> bool {
    motion.quiet && !motion.capture
}

fn is_first(motion: &Motion) -> bool {
    is_quiet(motion) && motion.initial
}
