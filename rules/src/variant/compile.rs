//! From the TOML file to the compiled variant, with an error for whatever makes no sense.

use std::ops::Range;

use toml::Spanned;

use super::Variant;
use super::castling;
use super::entry;
use super::file::{PieceTable, VariantFile};
use super::pawns;
use super::rights::Rights;
use crate::attacks::AttackTables;
use crate::betza::{self, Motion};
use crate::fen::RawBoard;
use crate::material::Material;
use crate::tables;
use crate::{Bitboard, ByColor, Color, Position, Role, RoleInfo, Square, VariantError};

/// Compiles a variant from the text of its file.
pub(super) fn compile(text: &str) -> Result<Variant, VariantError> {
    let file: VariantFile = toml::from_str(text).map_err(|error| VariantError::Toml {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        message: error.message().trim().to_string(),
    })?;
    let mut source = Source::new(text, file)?;
    let roles = source.roles()?;
    source.letters = roles.iter().map(|role| role.letter).collect();
    source.check_men()?;
    source.build(roles)
}

/// The line, from 1, of a byte of the text.
fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// A file being compiled.
pub(super) struct Source<'a> {
    pub text: &'a str,
    pub file: VariantFile,
    /// What stands where at the start.
    pub start: RawBoard,
    /// The letters of the roles, in order.
    pub letters: Vec<char>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str, file: VariantFile) -> Result<Source<'a>, VariantError> {
        let mut source = Source {
            text,
            file,
            start: RawBoard::default(),
            letters: Vec::new(),
        };
        let (name, board) = (&source.file.name, &source.file.board);
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.get_ref().is_empty() || !name.get_ref().chars().all(fits) {
            let message = "use lower-case letters, digits and hyphens, such as `my-chess`";
            return Err(source.error(name.span(), "name", message));
        }
        for (field, size) in [("board.files", &board.files), ("board.ranks", &board.ranks)] {
            if !(2..=Square::SIDE).contains(size.get_ref()) {
                return Err(source.error(size.span(), field, "a board has 2 to 10"));
            }
        }
        if *board.first_rank.get_ref() > 1 {
            let message = "ranks are numbered from 0 or from 1";
            return Err(source.error(board.first_rank.span(), "board.first_rank", message));
        }
        let (files, ranks) = (*board.files.get_ref(), *board.ranks.get_ref());
        let start = source.file.start.get_ref();
        let placement = start.split_whitespace().next().unwrap_or("");
        source.start = RawBoard::parse(placement, files, ranks)
            .map_err(|message| source.error(source.file.start.span(), "start", message))?;
        Ok(source)
    }

    pub fn error(
        &self,
        span: Range<usize>,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> VariantError {
        VariantError::Field {
            line: line_of(self.text, span.start),
            field: field.into(),
            message: message.into(),
        }
    }

    pub fn first_rank(&self) -> u8 {
        *self.file.board.first_rank.get_ref()
    }

    pub fn ranks(&self) -> u8 {
        *self.file.board.ranks.get_ref()
    }

    /// The role of a letter that the file uses somewhere.
    pub fn role(
        &self,
        letter: char,
        span: Range<usize>,
        field: &str,
    ) -> Result<Role, VariantError> {
        let index = self.letters.iter().position(|&known| known == letter);
        index.and_then(Role::from_index).ok_or_else(|| {
            let known: String = self.letters.iter().collect();
            let message = format!("no [[piece]] has the letter `{letter}`; there are {known}");
            self.error(span, field, message)
        })
    }

    /// The roles of a string of letters.
    pub fn role_list(
        &self,
        letters: &Spanned<String>,
        field: &str,
    ) -> Result<Vec<Role>, VariantError> {
        let mut roles = Vec::new();
        for letter in letters.get_ref().chars() {
            let role = self.role(letter, letters.span(), field)?;
            if roles.contains(&role) {
                let message = format!("the letter `{letter}` occurs twice");
                return Err(self.error(letters.span(), field, message));
            }
            roles.push(role);
        }
        Ok(roles)
    }

    /// A rank given by its number on the board, White's, as a rank of the grid.
    pub fn grid_rank(&self, rank: &Spanned<u8>, field: &str) -> Result<u8, VariantError> {
        let first = self.first_rank();
        let grid = rank.get_ref().checked_sub(first);
        grid.filter(|&grid| grid < self.ranks()).ok_or_else(|| {
            let last = first + self.ranks() - 1;
            let message = format!("the ranks of this board are {first} to {last}");
            self.error(rank.span(), field, message)
        })
    }

    fn roles(&self) -> Result<Vec<RoleInfo>, VariantError> {
        let pieces = &self.file.piece;
        if pieces.is_empty() || pieces.len() > Role::MAX {
            let message = format!(
                "there are {} kinds of men; write 1 to {} [[piece]] tables",
                pieces.len(),
                Role::MAX
            );
            let span = pieces.last().map_or(0..0, Spanned::span);
            return Err(self.error(span, "piece", message));
        }
        let mut roles: Vec<RoleInfo> = Vec::new();
        for piece in pieces {
            let table: &PieceTable = piece.get_ref();
            let letter = *table.letter.get_ref();
            if !letter.is_ascii_uppercase() {
                let message =
                    "a piece's letter is one of A to Z; Black's is the same in lower case";
                return Err(self.error(table.letter.span(), "piece.letter", message));
            }
            if let Some(other) = roles.iter().find(|role| role.letter == letter) {
                let message = format!("the {} has this letter already", other.name);
                return Err(self.error(table.letter.span(), "piece.letter", message));
            }
            if table.royal && table.pawn {
                let message = "a man cannot be royal and a pawn";
                return Err(self.error(piece.span(), "piece", message));
            }
            roles.push(RoleInfo {
                letter,
                name: table.name.clone(),
                betza: table.betza.get_ref().clone(),
                is_royal: table.royal,
                is_pawn: table.pawn,
            });
        }
        match roles.iter().filter(|role| role.is_royal).count() {
            1 => Ok(roles),
            count => {
                let message = format!("{count} kinds of men are royal; mark one `royal = true`");
                Err(self.error(pieces[0].span(), "piece.royal", message))
            }
        }
    }

    /// Every letter of the start position must be a piece.
    fn check_men(&self) -> Result<(), VariantError> {
        let men = self.start.men.iter().map(|&(_, letter)| letter);
        for letter in men.chain(self.start.hand.chars()) {
            let span = self.file.start.span();
            self.role(letter.to_ascii_uppercase(), span, "start")?;
        }
        Ok(())
    }

    /// Where a side's men of a role start.
    pub fn start_squares(&self, color: Color, role: Role) -> Bitboard {
        let letter = self.letters[role.index()];
        let letter = match color {
            Color::White => letter,
            Color::Black => letter.to_ascii_lowercase(),
        };
        let men = self.start.men.iter();
        men.filter(|&&(_, l)| l == letter)
            .map(|&(s, _)| s)
            .collect()
    }

    fn motions(&self) -> Result<Vec<Vec<Motion>>, VariantError> {
        let pieces = self.file.piece.iter().map(Spanned::get_ref);
        pieces
            .map(|piece| {
                betza::parse(piece.betza.get_ref()).map_err(|error| {
                    self.error(piece.betza.span(), "piece.betza", error.to_string())
                })
            })
            .collect()
    }

    fn build(self, roles: Vec<RoleInfo>) -> Result<Variant, VariantError> {
        let motions = self.motions()?;
        let board = self.start.board;
        let moves = ByColor::from_fn(|color| {
            let compile = |motions: &Vec<Motion>| tables::compile(board, motions, color);
            motions.iter().map(compile).collect::<Vec<_>>()
        });
        let attacks =
            ByColor::from_fn(|color| AttackTables::new(board, &motions, &moves[color], color));
        let ep_sources = ByColor::from_fn(|color| pawns::ep_sources(board, &motions, color));
        let pawn_zones = pawns::zones(&self, &roles, &moves)?;
        pawns::check_en_passant(&self, &roles, &motions)?;
        let (castlings, rights) = castling::compile(&self)?;
        self.check_first_moves(&roles, &motions, &rights)?;
        let entry = entry::compile(&self)?;
        let royal = roles.iter().position(|role| role.is_royal).unwrap_or(0);
        let pawns = roles.iter().enumerate().filter(|(_, role)| role.is_pawn);
        let mut variant = Variant {
            name: self.file.name.get_ref().clone(),
            title: self.file.title.clone(),
            description: self.file.description.clone(),
            toml: self.text.to_string(),
            files: *self.file.board.files.get_ref(),
            ranks: self.ranks(),
            first_rank: self.first_rank(),
            board,
            royal: Role(royal as u8),
            pawns: pawns.fold(0, |set, (index, _)| set | 1 << index),
            moves,
            attacks,
            has_en_passant: motions.iter().flatten().any(|motion| motion.en_passant),
            ep_sources,
            promotion_roles: pawns::promotion_roles(&self, &roles)?,
            promotion_zone: pawn_zones.promotion,
            pawn_start: pawn_zones.start,
            pawn_forbidden: pawn_zones.forbidden,
            castlings,
            rights,
            hand_roles: entry
                .as_ref()
                .map_or(Vec::new(), |(_, roles)| roles.clone()),
            entry: entry.map(|(entry, _)| entry),
            quiet_plies: self.file.draws.quiet_moves.saturating_mul(2),
            material: Material::default(),
            start: Position::empty(),
            start_fen: String::new(),
            roles,
        };
        variant.material = Material::new(&variant, &motions);
        let start = Position::from_fen(&variant, self.file.start.get_ref());
        variant.start = start
            .map_err(|error| self.error(self.file.start.span(), "start", error.to_string()))?;
        variant.start_fen = variant.start.fen(&variant);
        Ok(variant)
    }

    /// A power of the first move needs something that tells whether the man has moved.
    fn check_first_moves(
        &self,
        roles: &[RoleInfo],
        motions: &[Vec<Motion>],
        rights: &Rights,
    ) -> Result<(), VariantError> {
        for (index, piece) in self.file.piece.iter().enumerate() {
            let initial = motions[index].iter().any(|motion| motion.initial);
            if initial && !roles[index].is_pawn && !rights.tracks(Role(index as u8)) {
                let message = format!(
                    "`i` needs to know whether the {} has moved; add a [[right]] for each of its start squares",
                    roles[index].name
                );
                return Err(self.error(piece.get_ref().betza.span(), "piece.betza", message));
            }
        }
        Ok(())
    }
}
