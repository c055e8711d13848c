//! A variant: its board, its men and their rules, compiled from one TOML file.

mod builtin;
mod castling;
mod check;
mod compile;
mod entry;
mod file;
mod pawns;
mod rights;

use std::sync::Arc;

use crate::attacks::AttackTables;
use crate::material::Material;
use crate::tables::{MoveTable, SquareSets};
use crate::{Bitboard, ByColor, Color, Position, Role, RoleInfo, Square, VariantError};

pub use castling::Castling;
use entry::Entry;
pub use rights::RightInfo;
pub(crate) use rights::{RightLetter, RightSource, Rights};

/// The rules of one game, compiled and ready to play.
///
/// ```
/// use rules::Variant;
/// let falcon = Variant::by_name("falcon").unwrap();
/// assert_eq!((falcon.files(), falcon.ranks()), (10, 8));
/// let role = falcon.role_by_letter('F').unwrap();
/// assert_eq!(falcon.roles()[role.index()].betza, "nCnZ");
/// ```
#[derive(Debug)]
pub struct Variant {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) toml: String,
    pub(crate) files: u8,
    pub(crate) ranks: u8,
    pub(crate) first_rank: u8,
    pub(crate) board: Bitboard,
    pub(crate) roles: Vec<RoleInfo>,
    pub(crate) royal: Role,
    pub(crate) pawns: u16,
    /// Where men go, by side and role.
    pub(crate) moves: ByColor<Vec<Vec<MoveTable>>>,
    /// Where men attack from, by side.
    pub(crate) attacks: ByColor<AttackTables>,
    pub(crate) has_en_passant: bool,
    /// Squares from which a pawn captures en passant on a square, by side and role.
    pub(crate) ep_sources: ByColor<Vec<(Role, SquareSets)>>,
    pub(crate) promotion_roles: Vec<Role>,
    pub(crate) promotion_zone: ByColor<Bitboard>,
    pub(crate) pawn_start: ByColor<Bitboard>,
    /// Where double steps begin that can be captured en passant.
    pub(crate) double_steps: ByColor<Bitboard>,
    /// Squares where a pawn would be stuck, or behind its start: no side's pawn can stand there.
    pub(crate) pawn_forbidden: ByColor<Bitboard>,
    pub(crate) castlings: Vec<Castling>,
    pub(crate) rights: Rights,
    pub(crate) entry: Option<Entry>,
    pub(crate) hand_roles: Vec<Role>,
    /// Plies without capture or pawn move that make a draw.
    pub(crate) quiet_plies: u16,
    pub(crate) material: Material,
    pub(crate) start: Position,
    pub(crate) start_fen: String,
}

impl Variant {
    /// A built-in variant.
    ///
    /// # Errors
    /// [`VariantError::Unknown`] lists the names there are.
    pub fn by_name(name: &str) -> Result<Arc<Variant>, VariantError> {
        builtin::by_name(name)
    }

    /// Compiles a variant from the text of its TOML file.
    ///
    /// # Errors
    /// What is wrong, on which line, and what to do about it.
    pub fn from_toml(text: &str) -> Result<Arc<Variant>, VariantError> {
        compile::compile(text).map(Arc::new)
    }

    /// Like [`Variant::from_toml`], but goes on after a mistake and reports all.
    ///
    /// # Errors
    /// Every mistake that does not only follow from another, in the order of lines; never empty.
    ///
    /// ```
    /// use rules::Variant;
    /// let chess = Variant::by_name("chess").unwrap();
    /// let text = chess.toml().replace("betza = \"B\"", "betza = \"BX\"").replace("files = 8", "files = 80");
    /// assert_eq!(Variant::check(&text).unwrap_err().len(), 2);
    /// ```
    pub fn check(text: &str) -> Result<Arc<Variant>, Vec<VariantError>> {
        Variant::from_toml(text).map_err(|first| check::mistakes(text, first))
    }

    /// The names of the built-in variants.
    pub fn builtin_names() -> &'static [&'static str] {
        builtin::NAMES
    }

    /// The name used on the command line, such as `falcon-xboard`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the game comes from, in a sentence or two; may be empty.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The text that the variant was compiled from.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Files of the board, at most 10.
    pub fn files(&self) -> u8 {
        self.files
    }

    /// Ranks of the board, at most 10.
    pub fn ranks(&self) -> u8 {
        self.ranks
    }

    /// The number of the lowest rank in the names of squares, 0 or 1.
    pub fn first_rank(&self) -> u8 {
        self.first_rank
    }

    /// How many men a side can enter in a whole game.
    pub fn most_entries(&self, color: Color) -> u8 {
        self.entry.as_ref().map_or(0, |entry| entry.most[color])
    }

    /// The squares there are.
    pub fn board(&self) -> Bitboard {
        self.board
    }

    /// The kinds of men, in the order of the file.
    pub fn roles(&self) -> &[RoleInfo] {
        &self.roles
    }

    /// The role with a letter, in either case.
    pub fn role_by_letter(&self, letter: char) -> Option<Role> {
        let letter = letter.to_ascii_uppercase();
        let index = self.roles.iter().position(|role| role.letter == letter)?;
        Role::from_index(index)
    }

    /// The start position.
    pub fn start(&self) -> Position {
        self.start
    }

    /// The start position as FEN.
    pub fn start_fen(&self) -> &str {
        &self.start_fen
    }

    /// Roles that can ever be in hand.
    pub fn hand_roles(&self) -> &[Role] {
        &self.hand_roles
    }

    /// Roles that a pawn may become, in the order of the file; empty if pawns do not promote.
    pub fn promotion_roles(&self) -> &[Role] {
        &self.promotion_roles
    }

    /// What a promotion means whose text names no piece: the queen (the letter Q), else the first of the file.
    pub fn usual_promotion(&self) -> Option<Role> {
        let roles = &self.promotion_roles;
        let queen = |role: &&Role| self.role_info(**role).letter == 'Q';
        roles.iter().find(queen).or(roles.first()).copied()
    }

    /// Plies without a capture or a pawn move after which the game is drawn; 100 in chess.
    pub fn quiet_plies(&self) -> u16 {
        self.quiet_plies
    }

    /// The castling rules, in the order of the file.
    pub fn castlings(&self) -> &[Castling] {
        &self.castlings
    }

    /// The squares where a side's pawns promote.
    pub fn promotion_zone(&self, color: Color) -> Bitboard {
        self.promotion_zone[color]
    }

    /// Whether there is any castling.
    pub fn can_castle(&self) -> bool {
        !self.castlings.is_empty()
    }

    /// A square's name, such as `e2` or `j10`.
    pub fn square_name(&self, square: Square) -> String {
        let file = (b'a' + square.file()) as char;
        format!("{file}{}", square.rank() + self.first_rank)
    }

    /// The square of the board with a name; `None` if there is none.
    pub fn parse_square(&self, name: &str) -> Option<Square> {
        let letter = name.chars().next().filter(char::is_ascii_lowercase)?;
        let file = letter as u8 - b'a';
        let digits = &name[1..];
        let canonical = digits == "0" || !digits.starts_with('0');
        if !canonical || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let rank = digits.parse::<u8>().ok()?.checked_sub(self.first_rank)?;
        Square::new(file, rank).filter(|&square| self.board.contains(square))
    }

    pub(crate) fn role_info(&self, role: Role) -> &RoleInfo {
        &self.roles[role.index()]
    }

    pub(crate) fn role_ids(&self) -> impl Iterator<Item = Role> + use<> {
        (0..self.roles.len() as u8).map(Role)
    }

    #[inline]
    pub(crate) fn is_pawn(&self, role: Role) -> bool {
        self.pawns >> role.index() & 1 != 0
    }

    pub(crate) fn captures_en_passant(
        &self,
        color: Color,
        role: Role,
        from: Square,
        to: Square,
    ) -> bool {
        self.ep_sources[color]
            .iter()
            .any(|(r, sources)| *r == role && sources[to.index()] >> from.index() & 1 != 0)
    }
}
