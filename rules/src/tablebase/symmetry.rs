//! Turning and mirroring the board.

use super::geometry::Geometry;
use super::ways::Way;
use crate::{Bitboard, Color, Piece, Square};

/// Where each square of the grid goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Map(pub [u8; Square::COUNT]);

impl Map {
    /// The map of a function from (file, rank) to (file, rank); squares that leave the grid stay.
    fn of(function: impl Fn(i16, i16) -> (i16, i16)) -> Map {
        Map(std::array::from_fn(|index| {
            let (file, rank) = (index as i16 % 10, index as i16 / 10);
            let (file, rank) = function(file, rank);
            match (0..10).contains(&file) && (0..10).contains(&rank) {
                true => (rank * 10 + file) as u8,
                false => index as u8,
            }
        }))
    }

    /// First and last rank exchanged.
    pub fn upside_down(ranks: u8) -> Map {
        Map::of(|file, rank| (file, i16::from(ranks) - 1 - rank))
    }

    #[inline]
    pub fn square(&self, square: u8) -> u8 {
        self.0[usize::from(square)]
    }

    pub fn set(&self, set: u128) -> u128 {
        let squares = Bitboard(set).into_iter();
        squares.fold(0, |all, square| all | 1 << self.0[square.index()])
    }
}

/// Ways with all their squares moved, sorted.
pub(super) fn moved(list: &[Way], map: &Map) -> Vec<Way> {
    let mut list: Vec<Way> = list
        .iter()
        .map(|way| Way {
            from: map.square(way.from),
            to: map.square(way.to),
            clear: map.set(way.clear),
            hurdle: map.set(way.hurdle),
        })
        .collect();
    list.sort_unstable();
    list
}

/// The maps of the board onto itself that change no move of these men (nor of what their pawns may become), the
/// identity first. They form a group.
pub(super) fn symmetries(geometry: &Geometry, pieces: &[Piece]) -> Vec<Map> {
    let (files, ranks) = (i16::from(geometry.files) - 1, i16::from(geometry.ranks) - 1);
    let mut maps = Vec::new();
    for turned in [false, true] {
        for (left, down) in [(false, false), (true, false), (false, true), (true, true)] {
            let map = Map::of(|file, rank| {
                let (file, rank) = if turned { (rank, file) } else { (file, rank) };
                let file = if left { files - file } else { file };
                let rank = if down { ranks - rank } else { rank };
                (file, rank)
            });
            if (!turned || files == ranks) && keeps_moves(geometry, pieces, &map) {
                maps.push(map);
            }
        }
    }
    maps
}

fn keeps_moves(geometry: &Geometry, pieces: &[Piece], map: &Map) -> bool {
    if map.set(geometry.board.0) != geometry.board.0 {
        return false;
    }
    let mut men = pieces.to_vec();
    if pieces.iter().any(|piece| geometry.is_pawn(piece.role)) {
        for color in Color::ALL {
            let zones = [geometry.zone[color], geometry.no_pawn[color]];
            if zones.iter().any(|&zone| map.set(zone) != zone) {
                return false;
            }
            let promoted = geometry.promotion_roles.iter();
            men.extend(promoted.map(|&role| Piece { color, role }));
        }
    }
    men.iter().all(|piece| {
        [&geometry.quiet, &geometry.capture].iter().all(|ways| {
            let list = &ways[piece.color][piece.role.index()].list;
            moved(list, map) == *list
        })
    })
}
