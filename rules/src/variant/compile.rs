//! From the TOML file to the compiled variant, with an error for whatever makes no sense.

use std::ops::Range;

use toml::Spanned;

use super::castling::{self, Castling};
use super::file::{PieceTable, VariantFile};
use super::rights::Rights;
use super::{Entry, Variant};
use crate::attacks::{AttackTables, invert};
use crate::betza::{self, Motion, Reach};
use crate::fen::RawBoard;
use crate::material::Material;
use crate::tables::{self, MoveTable, SquareSets, empty_sets, ray, turned};
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
    fn role_list(&self, letters: &Spanned<String>, field: &str) -> Result<Vec<Role>, VariantError> {
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
    fn grid_rank(&self, rank: &Spanned<u8>, field: &str) -> Result<u8, VariantError> {
        let first = self.file.board.first_rank;
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
        let ep_sources = ByColor::from_fn(|color| ep_sources(board, &motions, color));
        let pawn_zones = self.pawn_zones(&roles, &moves)?;
        let (castlings, rights) = castling::compile(&self)?;
        self.check_first_moves(&roles, &motions, &rights)?;
        let entry = self.entry()?;
        let royal = roles.iter().position(|role| role.is_royal).unwrap_or(0);
        let pawns = roles.iter().enumerate().filter(|(_, role)| role.is_pawn);
        let mut variant = Variant {
            name: self.file.name.get_ref().clone(),
            title: self.file.title.clone(),
            description: self.file.description.clone(),
            toml: self.text.to_string(),
            files: *self.file.board.files.get_ref(),
            ranks: self.ranks(),
            first_rank: self.file.board.first_rank,
            board,
            royal: Role(royal as u8),
            pawns: pawns.fold(0, |set, (index, _)| set | 1 << index),
            moves,
            attacks,
            has_en_passant: motions.iter().flatten().any(|motion| motion.en_passant),
            ep_sources,
            promotion_roles: self.promotion_roles(&roles)?,
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

    fn promotion_roles(&self, roles: &[RoleInfo]) -> Result<Vec<Role>, VariantError> {
        let Some(promotion) = &self.file.promotion else {
            return Ok(Vec::new());
        };
        let to = &promotion.get_ref().to;
        let list = self.role_list(to, "promotion.to")?;
        let odd = |role: &&Role| roles[role.index()].is_royal || roles[role.index()].is_pawn;
        if let Some(role) = list.iter().find(odd) {
            let message = format!("a pawn cannot become a {}", roles[role.index()].name);
            return Err(self.error(to.span(), "promotion.to", message));
        }
        if list.is_empty() {
            let message = "name at least one piece, or leave [promotion] out";
            return Err(self.error(to.span(), "promotion.to", message));
        }
        Ok(list)
    }

    fn pawn_zones(
        &self,
        roles: &[RoleInfo],
        moves: &ByColor<Vec<Vec<MoveTable>>>,
    ) -> Result<PawnZones, VariantError> {
        let ranks = self.ranks();
        let promotion = self.file.promotion.as_ref();
        let rank = match promotion.and_then(|promotion| promotion.get_ref().rank.as_ref()) {
            Some(rank) => self.grid_rank(rank, "promotion.rank")?,
            None => ranks - 1,
        };
        let board = self.start.board;
        let own = |color: Color, zone: Bitboard| match color {
            Color::White => zone,
            Color::Black => zone.mirror_ranks(ranks),
        };
        let pawn_ranks = |color: Color| -> Vec<u8> {
            let pawns = (0..roles.len()).filter(|&index| roles[index].is_pawn);
            let squares = pawns.flat_map(|i| self.start_squares(color, Role(i as u8)));
            let mut ranks: Vec<u8> = squares.map(Square::rank).collect();
            ranks.dedup();
            ranks
        };
        let start = ByColor::from_fn(|color| {
            let rows = pawn_ranks(color).into_iter().map(Bitboard::rank);
            rows.fold(Bitboard::EMPTY, |all, row| all | row) & board
        });
        let promotion = ByColor::from_fn(|color| match promotion {
            Some(_) => own(color, Bitboard::rank(rank)) & board,
            None => Bitboard::EMPTY,
        });
        let pawns = || (0..roles.len()).filter(|&index| roles[index].is_pawn);
        let stuck = |color: Color| -> Bitboard {
            let goes_on = |square: Square| {
                let mut tables = pawns().flat_map(|index| &moves[color][index]);
                tables.any(|table| table.quiet && table.reach(square, 0) != 0)
            };
            let zone = promotion[color].into_iter();
            zone.filter(|&square| !goes_on(square)).collect()
        };
        let ends = stuck(Color::White) | stuck(Color::Black);
        let forbidden = ByColor::from_fn(|color| ends & !start[color]);
        Ok(PawnZones {
            start,
            promotion,
            forbidden,
        })
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

    fn entry(&self) -> Result<Option<(Entry, Vec<Role>)>, VariantError> {
        let hand = &self.start.hand;
        let Some(entry) = &self.file.entry else {
            if hand.is_empty() {
                return Ok(None);
            }
            let message = "men in hand need an [entry] table that says when they enter";
            return Err(self.error(self.file.start.span(), "start", message));
        };
        if hand.is_empty() {
            let message = "nobody can enter; put men in hand, such as `[FHfh]`, into `start`";
            return Err(self.error(entry.span(), "entry", message));
        }
        let table = entry.get_ref();
        let earning = self.role_list(&table.earned_by, "entry.earned_by")?;
        let rank = match &table.rank {
            Some(rank) => self.grid_rank(rank, "entry.rank")?,
            None => 0,
        };
        let zone = Bitboard::rank(rank);
        let mut start_hands = ByColor::default();
        let mut most = ByColor::default();
        let mut roles = Vec::new();
        for letter in hand.chars() {
            let span = self.file.start.span();
            let role = self.role(letter.to_ascii_uppercase(), span.clone(), "start")?;
            let color = if letter.is_ascii_uppercase() {
                Color::White
            } else {
                Color::Black
            };
            if start_hands[color] >> (4 * role.index()) & 15 == 15 {
                let message = "a side holds at most 15 men of a kind in hand";
                return Err(self.error(span, "start", message));
            }
            start_hands[color] += 1u64 << (4 * role.index());
            most[color] += 1u8;
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
        roles.sort();
        let entry = Entry {
            earned_by: earning.iter().fold(0, |set, role| set | 1 << role.index()),
            zone: ByColor {
                white: zone & self.start.board,
                black: zone.mirror_ranks(self.ranks()) & self.start.board,
            },
            most,
            start_hands,
        };
        Ok(Some((entry, roles)))
    }
}

/// Where pawns start, promote and cannot be.
struct PawnZones {
    start: ByColor<Bitboard>,
    promotion: ByColor<Bitboard>,
    forbidden: ByColor<Bitboard>,
}

/// Squares from which each role captures en passant.
fn ep_sources(board: Bitboard, motions: &[Vec<Motion>], color: Color) -> Vec<(Role, SquareSets)> {
    let mut all = Vec::new();
    for (index, motions) in motions.iter().enumerate() {
        let mut targets = empty_sets();
        let leaps = motions
            .iter()
            .filter(|m| m.en_passant && m.reach == Reach::Leap);
        for motion in leaps {
            for from in board {
                targets[from.index()] |= ray(board, from, turned(motion.step, color), 1);
            }
        }
        if targets.iter().any(|&set| set != 0) {
            all.push((Role(index as u8), invert(&targets)));
        }
    }
    all
}

/// Kept beside the castling code that fills them.
pub(super) type CastlingRules = (Vec<Castling>, Rights);
