//! Roles (kinds of men) and pieces.

use crate::Color;

/// A kind of man: an index into [`Variant::roles`](crate::Variant::roles).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(pub(crate) u8);

impl Role {
    /// The most roles that a variant may have.
    pub const MAX: usize = 16;

    /// The role with an index below [`Role::MAX`]; `None` for anything larger.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Role> {
        if index < Self::MAX {
            Some(Role(index as u8))
        } else {
            None
        }
    }

    /// The index into [`Variant::roles`](crate::Variant::roles).
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A man of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// Whose man it is.
    pub color: Color,
    /// What kind of man it is.
    pub role: Role,
}

/// What a variant says about one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleInfo {
    /// Letter in FEN and move text, upper case.
    pub letter: char,
    /// Name for people, such as `falcon`.
    pub name: String,
    /// Moves in Betza notation, as the variant spells them.
    pub betza: String,
    /// Whether the game is lost when this man cannot escape capture.
    pub is_royal: bool,
    /// Whether the man promotes, and its moves restart the fifty-move count.
    pub is_pawn: bool,
}
