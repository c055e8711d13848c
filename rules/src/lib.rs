//! Rules of chess variants as data.

mod bitboard;
mod color;
mod error;
mod moves;
mod piece;
mod skeleton;
mod square;
mod status;

pub use bitboard::{Bitboard, Squares};
pub use color::{ByColor, Color};
pub use error::{FenError, MoveTextError, PositionError, VariantError};
pub use moves::Move;
pub use piece::{Piece, Role, RoleInfo};
pub use skeleton::*;
pub use square::Square;
pub use status::{Outcome, Status};
