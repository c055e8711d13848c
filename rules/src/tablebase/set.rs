//! A variant's tables, built one from the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::{Progress, Subs, build};
use super::geometry::Geometry;
use super::layout::{Layout, Places};
use super::statistics::{Statistics, statistics};
use super::sub::{Change, Sub, key_of};
use super::symmetry::Map;
use super::{MaterialKey, TableValue, Tablebase, TablebaseError, file, value};
use crate::{Color, Piece, Position, Square, Variant};

/// Tables of one variant, by material.
///
/// A table serves its material with the sides exchanged as well, wherever Black's moves mirror White's.
#[derive(Clone, Debug)]
pub struct Tablebases {
    variant: Arc<Variant>,
    geometry: Geometry,
    tables: BTreeMap<MaterialKey, Arc<Tablebase>>,
}

/// The tables to build for one material, and their memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Tables that are missing, in the order of building; the last is the one wanted.
    pub keys: Vec<MaterialKey>,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Tablebases {
    /// No tables yet.
    pub fn new(variant: &Arc<Variant>) -> Tablebases {
        Tablebases {
            variant: Arc::clone(variant),
            geometry: Geometry::new(variant),
            tables: BTreeMap::new(),
        }
    }

    /// The endings of king and one man against a bare king, and all that they turn into, solved here and now: a second or
    /// two on boards of usual size.
    ///
    /// # Errors
    /// [`TablebaseError::Unsupported`] if the rules have something that tables do not know.
    pub fn three_men(variant: &Arc<Variant>) -> Result<Tablebases, TablebaseError> {
        let mut tables = Tablebases::new(variant);
        for role in variant.role_ids().filter(|&role| role != variant.royal) {
            let key = MaterialKey::new(vec![role], Vec::new());
            for key in [key.flipped(), key] {
                tables.build(&key, &mut |_| {})?;
            }
        }
        Ok(tables)
    }

    /// The variant.
    pub fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The materials there are tables for.
    pub fn keys(&self) -> impl Iterator<Item = &MaterialKey> {
        self.tables.keys()
    }

    /// Whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// A material as tables name it: White has the stronger men, if the sides can be exchanged.
    pub fn canonical(&self, key: &MaterialKey) -> MaterialKey {
        match self.geometry.flips && !key.is_whites() {
            true => key.flipped(),
            false => key.clone(),
        }
    }

    /// The table of a material.
    pub fn get(&self, key: &MaterialKey) -> Option<&Tablebase> {
        self.tables.get(&self.canonical(key)).map(Arc::as_ref)
    }

    /// What has to be built for a material.
    ///
    /// # Errors
    /// [`TablebaseError::Unsupported`] if tables cannot answer it.
    pub fn plan(&self, key: &MaterialKey) -> Result<Plan, TablebaseError> {
        let mut keys = Vec::new();
        self.collect(&self.canonical(key), &mut keys)?;
        let bytes = keys.iter().map(|key| self.bytes_of(key)).sum();
        Ok(Plan { keys, bytes })
    }

    fn bytes_of(&self, key: &MaterialKey) -> u64 {
        2 * Layout::new(&self.geometry, key).cells() as u64
    }

    fn collect(
        &self,
        key: &MaterialKey,
        keys: &mut Vec<MaterialKey>,
    ) -> Result<(), TablebaseError> {
        if self.tables.contains_key(key) || keys.contains(key) {
            return Ok(());
        }
        let has_pawn = |men: &[crate::Role]| men.iter().any(|&role| self.geometry.is_pawn(role));
        if self.geometry.has_en_passant && has_pawn(&key.white) && has_pawn(&key.black) {
            return Err(TablebaseError::Unsupported {
                key: key.name(&self.variant),
                message: "both sides have pawns, and tables do not know en passant".to_string(),
            });
        }
        for change in self.changes(key) {
            let pieces = change.apply(&key.pieces(self.geometry.royal));
            self.collect(&self.canonical(&key_of(&pieces, self.geometry.royal)), keys)?;
        }
        keys.push(key.clone());
        Ok(())
    }

    fn changes(&self, key: &MaterialKey) -> Vec<Change> {
        let pieces = key.pieces(self.geometry.royal);
        let is_pawn = |role| self.geometry.is_pawn(role);
        Change::all(
            &pieces,
            self.geometry.royal,
            is_pawn,
            &self.geometry.promotion_roles,
        )
    }

    /// Builds the table of a material, and the tables that it needs, unless they are there.
    ///
    /// # Errors
    /// As [`Tablebases::plan`].
    pub fn build(
        &mut self,
        key: &MaterialKey,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TablebaseError> {
        for key in self.plan(key)?.keys {
            let layout = Layout::new(&self.geometry, &key);
            let subs = self.subs(&key);
            let table = build(&self.geometry, &key, layout, &subs, on_progress);
            self.tables.insert(key, Arc::new(table));
        }
        Ok(())
    }

    /// The tables that moves of a material lead into; all must be there.
    fn subs(&self, key: &MaterialKey) -> Subs {
        let pieces = key.pieces(self.geometry.royal);
        let mut subs = Subs::default();
        for change in self.changes(key) {
            let sub = self.sub(&change.apply(&pieces));
            match (change.captured, change.promoted) {
                (captured, Some((pawn, _))) => {
                    subs.promotions
                        .entry((pawn, captured))
                        .or_default()
                        .push(sub);
                }
                (Some(captured), None) => {
                    subs.captures.insert(captured, sub);
                }
                (None, None) => {}
            }
        }
        subs
    }

    fn sub(&self, pieces: &[Option<Piece>]) -> Sub {
        let key = key_of(pieces, self.geometry.royal);
        let canonical = self.canonical(&key);
        let flip = (canonical != key).then(|| Map::upside_down(self.geometry.ranks));
        let table = self.tables.get(&canonical);
        let table =
            table.unwrap_or_else(|| panic!("{} is built first", canonical.name(&self.variant)));
        Sub::new(table, pieces, flip)
    }

    /// [`Tablebases::probe`], for a game that goes on from here under the fifty-move rule: `None` too if a mate would come too
    /// late for it.
    pub fn probe_in_play(&self, position: &Position) -> Option<TableValue> {
        let quiet = self.variant.quiet_plies();
        let left = quiet.saturating_sub(position.halfmove_clock());
        self.probe(position).filter(|value| match value {
            TableValue::Draw => true,
            TableValue::Win(plies) | TableValue::Loss(plies) => *plies <= left,
        })
    }

    /// The value of a position for the side to move; `None` if there is no table for it, or it has castling rights,
    /// men in hand, or a king that could be captured.
    ///
    /// The fifty-move rule and repetition are not considered.
    pub fn probe(&self, position: &Position) -> Option<TableValue> {
        let men = position.occupied().count() as usize;
        let in_hand = |color| position.hand_count(color) > 0 || position.entries_due(color) > 0;
        if men > super::MOST_MEN || position.rights().any() || Color::ALL.into_iter().any(in_hand) {
            return None;
        }
        let key = MaterialKey::of(&self.variant, position);
        let canonical = self.canonical(&key);
        let table = self.tables.get(&canonical)?;
        let flip = (canonical != key).then(|| Map::upside_down(self.geometry.ranks));
        let mut men: Vec<(Piece, Square)> = Vec::with_capacity(super::MOST_MEN);
        for square in position.occupied() {
            let piece = position.piece_at(square)?;
            men.push(match &flip {
                Some(map) => {
                    let square = Square::from_index(usize::from(map.square(square.index() as u8)))?;
                    (
                        Piece {
                            color: !piece.color,
                            ..piece
                        },
                        square,
                    )
                }
                None => (piece, square),
            });
        }
        let places = table.layout.places(&mut men)?;
        let turn = if flip.is_some() {
            !position.turn()
        } else {
            position.turn()
        };
        value(table.cell(turn, places))
    }

    /// The table of a material as the bytes of a file.
    pub fn to_bytes(&self, key: &MaterialKey) -> Option<Vec<u8>> {
        let table = self.get(key)?;
        Some(file::to_bytes(table, self.geometry.hash, &self.variant))
    }

    /// Adds a table from the bytes of a file, and returns its material.
    ///
    /// # Errors
    /// [`TablebaseError::File`] for anything but a whole table of this variant.
    pub fn insert_bytes(&mut self, bytes: &[u8]) -> Result<MaterialKey, TablebaseError> {
        let layout = |key: &MaterialKey| Layout::new(&self.geometry, key);
        let table = file::from_bytes(bytes, self.geometry.hash, &self.variant, layout)?;
        let key = table.key.clone();
        if self.canonical(&key) != key {
            let message = format!("{} has its sides exchanged", key.name(&self.variant));
            return Err(TablebaseError::File { message });
        }
        self.tables.insert(key.clone(), Arc::new(table));
        Ok(key)
    }

    /// The position of a table's cell, as a game could have come to it.
    pub(super) fn position(&self, table: &Tablebase, turn: Color, places: Places) -> Position {
        let men: Vec<(Square, Color, crate::Role)> = table
            .layout
            .pieces
            .iter()
            .zip(places)
            .filter_map(|(piece, square)| {
                Square::from_index(usize::from(square))
                    .map(|square| (square, piece.color, piece.role))
            })
            .collect();
        let mut position = Position::of_men(&men, turn);
        // Nobody has men in hand: all of them have been entered, after as many losses.
        position.losses = Color::ALL.map(|color| self.variant.most_entries(color));
        position.refresh_key(&self.variant);
        position
    }
}

impl Tablebase {
    /// Counts of the table; `tables` is the set that it belongs to.
    pub fn statistics(&self, tables: &Tablebases) -> Statistics {
        statistics(self, |turn, places| tables.position(self, turn, places))
    }

    /// Cells of the table: positions, mirror images in one, and names that stand for none.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The position and value of a cell below [`Tablebase::cells`]; `None` for a name that stands for no position.
    pub fn entry(&self, tables: &Tablebases, cell: usize) -> Option<(Position, TableValue)> {
        let value = value(*self.cells.get(cell)?)?;
        let (turn, places) = self.layout.position(cell);
        Some((tables.position(self, turn, places), value))
    }
}

#[cfg(test)]
impl Tablebases {
    pub(super) fn geometry_flips(&self) -> bool {
        self.geometry.flips
    }
}
