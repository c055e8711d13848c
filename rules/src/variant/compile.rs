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
use crate::tables::{self, MoveTable};
use crate::{Bitboard, ByColor, Color, Position, Role, RoleInfo, Square, Status, VariantError};

/// Compiles a variant from the text of its file.
pub(super) fn compile(text: &str) -> Result<Variant, VariantError> {
    let mut source = Source::new(text)?;
    source.check_name()?;
    source.read_board()?;
    let roles = source.roles()?;
    source.check_men()?;
    source.build(roles)
}

/// Where men go, by side and role.
pub(super) fn move_tables(
    board: Bitboard,
    motions: &[Vec<Motion>],
) -> ByColor<Vec<Vec<MoveTable>>> {
    ByColor::from_fn(|color| {
        let compile = |motions: &Vec<Motion>| tables::compile(board, motions, color);
        motions.iter().map(compile).collect()
    })
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
    pub(super) fn new(text: &'a str) -> Result<Source<'a>, VariantError> {
        let file: VariantFile = toml::from_str(text).map_err(|error| VariantError::Toml {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            message: error.message().trim().to_string(),
        })?;
        let letters = file
            .piece
            .iter()
            .map(|piece| *piece.get_ref().letter.get_ref());
        Ok(Source {
            text,
            letters: letters.collect(),
            file,
            start: RawBoard::default(),
        })
    }

    pub(super) fn check_name(&self) -> Result<(), VariantError> {
        let name = &self.file.name;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.get_ref().is_empty() || !name.get_ref().chars().all(fits) {
            let message = "use lower-case letters, digits and hyphens, such as `my-chess`";
            return Err(self.error(name.span(), "name", message));
        }
        Ok(())
    }

    /// Reads the start position's board.
    pub(super) fn read_board(&mut self) -> Result<(), VariantError> {
        let board = &self.file.board;
        for (field, size) in [("board.files", &board.files), ("board.ranks", &board.ranks)] {
            if !(2..=Square::SIDE).contains(size.get_ref()) {
                return Err(self.error(size.span(), field, "a board has 2 to 10"));
            }
        }
        if *board.first_rank.get_ref() > 1 {
            let message = "ranks are numbered from 0 or from 1";
            return Err(self.error(board.first_rank.span(), "board.first_rank", message));
        }
        let (files, ranks) = (*board.files.get_ref(), *board.ranks.get_ref());
        let start = self.file.start.get_ref();
        let placement = start.split_whitespace().next().unwrap_or("");
        self.start = RawBoard::parse(placement, files, ranks)
            .map_err(|message| self.error(self.file.start.span(), "start", message))?;
        Ok(())
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

    pub(super) fn roles(&self) -> Result<Vec<RoleInfo>, VariantError> {
        self.check_number_of_pieces()?;
        let roles = (0..self.file.piece.len()).map(|index| self.role_of_table(index));
        let roles = roles.collect::<Result<Vec<RoleInfo>, VariantError>>()?;
        self.check_royal()?;
        Ok(roles)
    }

    pub(super) fn check_number_of_pieces(&self) -> Result<(), VariantError> {
        let pieces = &self.file.piece;
        if (1..=Role::MAX).contains(&pieces.len()) {
            return Ok(());
        }
        let message = format!(
            "there are {} kinds of men; write 1 to {} [[piece]] tables",
            pieces.len(),
            Role::MAX
        );
        Err(self.error(pieces.last().map_or(0..0, Spanned::span), "piece", message))
    }

    /// What the `index`th `[[piece]]` says.
    pub(super) fn role_of_table(&self, index: usize) -> Result<RoleInfo, VariantError> {
        let piece = &self.file.piece[index];
        let table: &PieceTable = piece.get_ref();
        let letter = *table.letter.get_ref();
        if !letter.is_ascii_uppercase() {
            let message = "a piece's letter is one of A to Z; Black's is the same in lower case";
            return Err(self.error(table.letter.span(), "piece.letter", message));
        }
        if let Some(other) = self.letters[..index]
            .iter()
            .position(|&known| known == letter)
        {
            let name = &self.file.piece[other].get_ref().name;
            let message = format!("the {name} has this letter already");
            return Err(self.error(table.letter.span(), "piece.letter", message));
        }
        if table.royal && table.pawn {
            let message = "a man cannot be royal and a pawn";
            return Err(self.error(piece.span(), "piece", message));
        }
        Ok(RoleInfo {
            letter,
            name: table.name.clone(),
            betza: table.betza.get_ref().clone(),
            is_royal: table.royal,
            is_pawn: table.pawn,
        })
    }

    pub(super) fn check_royal(&self) -> Result<(), VariantError> {
        let pieces = &self.file.piece;
        match pieces.iter().filter(|piece| piece.get_ref().royal).count() {
            1 => Ok(()),
            count => {
                let message = format!("{count} kinds of men are royal; mark one `royal = true`");
                let span = pieces.first().map_or(0..0, Spanned::span);
                Err(self.error(span, "piece.royal", message))
            }
        }
    }

    /// Every letter of the start position must be a piece.
    pub(super) fn check_men(&self) -> Result<(), VariantError> {
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

    pub(super) fn motions(&self) -> Result<Vec<Vec<Motion>>, VariantError> {
        let pieces = 0..self.file.piece.len();
        pieces.map(|index| self.motions_of_table(index)).collect()
    }

    /// How the piece of the `index`th `[[piece]]` moves.
    pub(super) fn motions_of_table(&self, index: usize) -> Result<Vec<Motion>, VariantError> {
        let betza = &self.file.piece[index].get_ref().betza;
        betza::parse(betza.get_ref())
            .map_err(|error| self.error(betza.span(), "piece.betza", error.to_string()))
    }

    fn build(self, roles: Vec<RoleInfo>) -> Result<Variant, VariantError> {
        let motions = self.motions()?;
        let board = self.start.board;
        let moves = move_tables(board, &motions);
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
            double_steps: pawns::double_steps(self.start.board, pawn_zones.start, &roles, &motions),
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
        let start_error = |message| self.error(self.file.start.span(), "start", message);
        variant.start = start.map_err(|error| start_error(error.to_string()))?;
        let status = variant.start.status(&variant);
        if status != Status::Ongoing {
            return Err(start_error(format!(
                "the game would be over before its first move ({status:?}); set up the men so that there is one"
            )));
        }
        variant.start_fen = variant.start.fen(&variant);
        Ok(variant)
    }

    /// A power of the first move needs something that tells whether the man has moved.
    pub(super) fn check_first_moves(
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
