//! Rules of chess variants as data.

mod attacks;
pub mod betza;
mod bitboard;
mod color;
mod error;
mod fen;
mod game;
mod material;
mod movegen;
mod moves;
mod notation;
mod perft;
mod piece;
mod position;
mod square;
mod status;
mod tables;
mod variant;
mod zobrist;

pub use bitboard::{Bitboard, Squares};
pub use color::{ByColor, Color};
pub use error::{FenError, MoveTextError, PositionError, VariantError};
pub use game::Game;
pub use moves::Move;
pub use perft::{divide, perft};
pub use piece::{Piece, Role, RoleInfo};
pub use position::Position;
pub use square::Square;
pub use status::{Outcome, Status};
pub use variant::Variant;
