//! Rules of chess variants as data.
//!
//! A variant is one TOML file: board, men in [Betza notation](betza), promotion, castling, men
//! that enter, draws. Compiled, it plays: legal moves, ends of games, FEN, move text, keys.
//! The crate has mechanisms and no names of variants, and it does no IO.
//!
//! # A guided tour
//!
//! A [`Variant`] holds the rules, a [`Position`] is a plain value that is played on with it.
//!
//! ```
//! use rules::{Color, Variant};
//!
//! let falcon = Variant::by_name("falcon")?;
//! let start = falcon.start();
//! assert_eq!(start.legal_moves(&falcon).len(), 24);
//!
//! // Moves have a text much like UCI's, and playing gives a new position.
//! let open = falcon.parse_move(&start, "e2e4")?;
//! let position = start.play(&falcon, open);
//! assert_eq!(position.turn(), Color::Black);
//! assert_eq!(
//!     position.fen(&falcon),
//!     "rnbfqkfbnr/pppppppppp/10/10/4P5/10/PPPP1PPPPP/RNBFQKFBNR b KQkq e3 0 1"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Game`] also remembers what repetition depends on, and knows its [`Outcome`].
//!
//! ```
//! use rules::{Game, Outcome, Position, Status, Variant};
//!
//! // The second of Duke's problems: a pawn promotes to a falcon and mates.
//! let falcon = Variant::by_name("falcon")?;
//! let fen = "10/p1P1r5/9R/k9/10/PP1bq5/6K3/10 w - - 0 1";
//! let mut game = Game::new(falcon.clone(), Position::from_fen(&falcon, fen)?);
//! game.play(falcon.parse_move(game.position(), "c7c8f")?);
//! assert_eq!(game.status(), Status::Checkmate);
//! assert_eq!(game.outcome(), Some(Outcome::WhiteWins));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rules of one's own are a text away. What does not make sense is refused with the line.
//!
//! ```
//! use rules::Variant;
//!
//! let text = r#"
//! name = "knightmare"
//! title = "Kings against riders of the night"
//! start = "2nkn1/6/6/6/6/2NKN1 w - - 0 1"
//!
//! [board]
//! files = 6
//! ranks = 6
//!
//! [[piece]]
//! letter = "N"
//! name = "nightrider"
//! betza = "NN"
//!
//! [[piece]]
//! letter = "K"
//! name = "king"
//! betza = "K"
//! royal = true
//! "#;
//! let variant = Variant::from_toml(text)?;
//! assert_eq!(rules::perft(&variant, &variant.start(), 1), 12);
//!
//! let wrong = text.replace("NN", "NX");
//! let error = Variant::from_toml(&wrong).unwrap_err().to_string();
//! assert!(error.starts_with("variant file, line 13, `piece.betza`"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`perft`] and [`divide`] count move sequences, to compare with other programs. Kept in
//! `data/perft`, such counts guard this crate.

mod bitboard;
mod color;
mod error;
mod moves;
mod piece;
mod square;

pub mod betza;
mod variant;

mod position;

mod diagram;
mod fen;
mod game;
mod notation;
mod perft;
mod status;

pub mod export;

mod attacks;
mod material;
mod movegen;
mod tables;
mod zobrist;

pub mod tablebase;

pub use bitboard::{Bitboard, Squares};
pub use color::{ByColor, Color};
pub use diagram::PieceDiagram;
pub use error::{FenError, MoveTextError, PositionError, VariantError};
pub use game::Game;
pub use moves::Move;
pub use perft::{divide, perft};
pub use piece::{Piece, Role, RoleInfo};
pub use position::Position;
pub use square::Square;
pub use status::{Outcome, Status};
pub use variant::{Castling, RightInfo, Variant};
