//! Positions: what stands where, whose turn it is, and what the history still allows.

mod edit;
mod key;
mod play;

use crate::{Bitboard, Color, Piece, Role, Square, Variant};

/// A position of some variant, as a plain value of about 350 bytes.
///
/// It knows nothing of the rules; whatever depends on them takes the [`Variant`] it was made
/// with. Mixing variants gives moves without meaning.
///
/// ```
/// use rules::{Color, Position, Variant};
/// let falcon = Variant::by_name("falcon").unwrap();
/// let start = falcon.start();
/// assert_eq!(start.turn(), Color::White);
/// assert_eq!(start.legal_moves(&falcon).len(), 24);
/// let again = Position::from_fen(&falcon, &start.fen(&falcon)).unwrap();
/// assert_eq!(again, start);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(crate) roles: [u128; Role::MAX],
    pub(crate) colors: [u128; 2],
    pub(crate) rights: u128,
    pub(crate) key: u64,
    /// Men in hand by side, four bits a role.
    pub(crate) hands: [u64; 2],
    pub(crate) fullmove: u32,
    pub(crate) halfmove: u16,
    /// Losses that count for entries, by side, up to the men that can be entered.
    pub(crate) losses: [u8; 2],
    /// Entries that are due, by side.
    pub(crate) due: [u8; 2],
    pub(crate) turn: Color,
    pub(crate) ep: Option<Square>,
    /// Whether the key contains the en passant square.
    pub(crate) ep_in_key: bool,
}

impl Position {
    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The man on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let color = if self.by_color(Color::White).contains(square) {
            Color::White
        } else if self.by_color(Color::Black).contains(square) {
            Color::Black
        } else {
            return None;
        };
        let role = self.role_at(square)?;
        Some(Piece { color, role })
    }

    /// The kind of man on a square.
    #[inline]
    pub(crate) fn role_at(&self, square: Square) -> Option<Role> {
        let bit = 1u128 << square.index();
        (0..Role::MAX as u8)
            .map(Role)
            .find(|role| self.roles[role.index()] & bit != 0)
    }

    /// The men of one side and one role.
    #[inline]
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        Bitboard(self.roles[role.index()] & self.colors[color.index()])
    }

    /// The men of one side.
    #[inline]
    pub fn by_color(&self, color: Color) -> Bitboard {
        Bitboard(self.colors[color.index()])
    }

    /// All men.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        Bitboard(self.colors[0] | self.colors[1])
    }

    /// Plies since the last capture or pawn move.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove
    }

    /// The number of the move as a score sheet counts it, from 1.
    #[inline]
    pub fn fullmove_number(&self) -> u32 {
        self.fullmove
    }

    /// The square that a pawn has just passed over with a double step, whether or not it can be
    /// captured there.
    #[inline]
    pub fn ep_square(&self) -> Option<Square> {
        self.ep
    }

    /// The squares of men whose never having moved still matters: kings and partners that may
    /// castle, and men with a power of their first move.
    #[inline]
    pub fn rights(&self) -> Bitboard {
        Bitboard(self.rights)
    }

    /// How many men of a role a side holds in hand.
    #[inline]
    pub fn hand(&self, color: Color, role: Role) -> u8 {
        (self.hands[color.index()] >> (4 * role.index()) & 15) as u8
    }

    /// How many men a side holds in hand altogether.
    pub(crate) fn hand_count(&self, color: Color) -> u8 {
        (0..Role::MAX as u8)
            .map(|role| self.hand(color, Role(role)))
            .sum()
    }

    /// How many men a side may enter now, one a turn; never more than it holds in hand.
    #[inline]
    pub fn entries_due(&self, color: Color) -> u8 {
        self.due[color.index()]
    }

    /// Losses that count towards entries, up to the number of men that can ever be entered.
    #[inline]
    pub fn losses(&self, color: Color) -> u8 {
        self.losses[color.index()]
    }

    /// A number that is the same for positions that count as repetitions of each other.
    ///
    /// It covers the board, the side to move, rights, hands and losses, and the en passant
    /// square only if such a capture is legal. It is the same in every process.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Where a side's king stands.
    #[inline]
    pub(crate) fn king(&self, variant: &Variant, color: Color) -> Square {
        let kings = self.pieces(color, variant.royal);
        kings
            .first()
            .unwrap_or_else(|| panic!("{color:?} has no king in {}", self.fen(variant)))
    }

    /// Men that still have the power of their first move, among those of one role.
    #[inline]
    pub(crate) fn unmoved(&self, variant: &Variant, color: Color, role: Role) -> u128 {
        let men = self.pieces(color, role).0;
        if variant.is_pawn(role) {
            men & variant.pawn_start[color].0
        } else {
            men & self.rights
        }
    }
}

/// Search trees hold many positions: keep them small.
const _: () = assert!(size_of::<Position>() <= 384);
