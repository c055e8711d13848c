//! The TOML file of a variant, field by field.

use serde::Deserialize;
use toml::Spanned;

/// A variant as its author writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantFile {
    /// Name on the command line: lower-case letters, digits and hyphens.
    pub name: Spanned<String>,
    /// Name for people.
    pub title: String,
    /// Where the game comes from.
    #[serde(default)]
    pub description: String,
    /// Start position as FEN; `*` marks squares that do not exist, `[..]` men in hand.
    pub start: Spanned<String>,
    pub board: BoardTable,
    /// The men, at most 16 kinds.
    pub piece: Vec<Spanned<PieceTable>>,
    pub promotion: Option<Spanned<PromotionTable>>,
    #[serde(default)]
    pub castling: Vec<Spanned<CastlingTable>>,
    #[serde(default)]
    pub right: Vec<Spanned<RightTable>>,
    pub entry: Option<Spanned<EntryTable>>,
    #[serde(default)]
    pub draws: DrawsTable,
}

/// `[board]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoardTable {
    /// 2 to 10.
    pub files: Spanned<u8>,
    /// 2 to 10.
    pub ranks: Spanned<u8>,
    /// The number of the lowest rank, 0 or 1.
    #[serde(default = "one")]
    pub first_rank: Spanned<u8>,
}

/// `[[piece]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PieceTable {
    /// An upper-case letter, the piece's in FEN and moves.
    pub letter: Spanned<char>,
    /// Name for people.
    pub name: String,
    /// Moves, see `rules::betza`.
    pub betza: Spanned<String>,
    /// The game is about this man: exactly one kind is royal, one man a side.
    #[serde(default)]
    pub royal: bool,
    /// Its moves restart the fifty-move count, it promotes, and its first-move powers (`i`)
    /// hold on the rank where the side's pawns start.
    #[serde(default)]
    pub pawn: bool,
}

/// `[promotion]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromotionTable {
    /// Letters of the pieces that a pawn may become.
    pub to: Spanned<String>,
    /// White's rank, by its number on the board, on which a pawn must promote; the last rank if
    /// left out. Black's is the mirror image.
    pub rank: Option<Spanned<u8>>,
}

/// `[[castling]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CastlingTable {
    /// Letter of the man that moves towards the other.
    pub leader: Spanned<char>,
    /// Letter of the man that ends beside it.
    pub partner: Spanned<char>,
    /// Steps of the leader, if fixed.
    pub steps: Option<Spanned<u8>>,
    /// The fewest steps of the leader, if free.
    pub min_steps: Option<Spanned<u8>>,
    /// Write moves as `f1g1/j1`, with the partner's square.
    #[serde(default)]
    pub name_partner: bool,
}

/// `[[right]]`: a letter of the FEN's castling field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RightTable {
    /// An upper-case letter; Black's is the lower-case one.
    pub letter: Spanned<char>,
    /// White's start square of the man that must not have moved.
    pub square: Option<Spanned<String>>,
    /// Letter of the piece that has the right when it enters.
    pub entered: Option<Spanned<char>>,
}

/// `[entry]`: men in hand that enter in exchange for losses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryTable {
    /// Letters of the pieces whose loss earns an entry.
    pub earned_by: Spanned<String>,
    /// White's rank where men enter, by its number on the board; the first rank if left out.
    pub rank: Option<Spanned<u8>>,
}

/// `[draws]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DrawsTable {
    /// Moves by each side without capture or pawn move that make a draw.
    #[serde(default = "fifty")]
    pub quiet_moves: u16,
}

impl Default for DrawsTable {
    fn default() -> DrawsTable {
        DrawsTable {
            quiet_moves: fifty(),
        }
    }
}

fn one() -> Spanned<u8> {
    Spanned::new(0..0, 1)
}

fn fifty() -> u16 {
    50
}
