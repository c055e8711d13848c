//! Which cell belongs to which position.

use super::MOST_MEN;
use super::geometry::Geometry;
use super::key::MaterialKey;
use super::symmetry::{Map, symmetries};
use crate::{Color, Piece, Square};

/// Squares of the men of a table, in its order; entries beyond its men are 0.
pub(super) type Places = [u8; MOST_MEN];

/// Numbers the positions of one material: side to move, White's king (one representative of each set of squares that
/// the symmetries exchange), Black's king, the other men.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub pieces: Vec<Piece>,
    /// Squares of the board, in order.
    squares: Vec<u8>,
    /// The place of a square of the grid in `squares`.
    dense: [u8; Square::COUNT],
    symmetries: Vec<Map>,
    /// Representative squares of White's king.
    representatives: Vec<u8>,
    /// By square: the place of its representative in `representatives`.
    representative: [u8; Square::COUNT],
    /// By square: the symmetries that lead to its representative.
    leading: Vec<Vec<u8>>,
    /// Pairs of neighbouring men that are alike; in a cell's name their squares ascend.
    alike: Vec<usize>,
    /// Positions for one side to move.
    size: usize,
}

impl Layout {
    pub fn new(geometry: &Geometry, key: &MaterialKey) -> Layout {
        let pieces = key.pieces(geometry.royal);
        let squares: Vec<u8> = geometry
            .board
            .into_iter()
            .map(|s| s.index() as u8)
            .collect();
        let mut dense = [0; Square::COUNT];
        for (place, &square) in squares.iter().enumerate() {
            dense[usize::from(square)] = place as u8;
        }
        let symmetries = symmetries(geometry, &pieces);
        let mut representatives = Vec::new();
        let mut representative = [0; Square::COUNT];
        let mut leading = vec![Vec::new(); Square::COUNT];
        for &square in &squares {
            let images = || symmetries.iter().map(|map| map.square(square));
            let least = images().min().unwrap_or(square);
            if least == square {
                representatives.push(square);
            }
            let place = representatives.iter().position(|&known| known == least);
            representative[usize::from(square)] = place.unwrap_or(0) as u8;
            leading[usize::from(square)] = images()
                .enumerate()
                .filter(|&(_, image)| image == least)
                .map(|(at, _)| at as u8)
                .collect();
        }
        let alike = (1..pieces.len()).filter(|&at| pieces[at] == pieces[at - 1]);
        let rest = squares.len().pow(pieces.len() as u32 - 1);
        Layout {
            alike: alike.collect(),
            size: representatives.len() * rest,
            pieces,
            squares,
            dense,
            symmetries,
            representatives,
            representative,
            leading,
        }
    }

    /// Number of cells, for both sides to move.
    pub fn cells(&self) -> usize {
        2 * self.size
    }

    /// The cell of a position; all its mirror images have the same.
    #[inline]
    pub fn index(&self, turn: Color, places: Places) -> usize {
        let king = usize::from(places[0]);
        let images = self.leading[king].iter();
        let least = images
            .map(|&map| self.place(king, self.image(places, &self.symmetries[usize::from(map)])))
            .min();
        turn.index() * self.size + least.unwrap_or(0)
    }

    #[inline]
    fn place(&self, king: usize, places: Places) -> usize {
        let first = usize::from(self.representative[king]);
        let rest = places[1..self.pieces.len()].iter();
        rest.fold(first, |index, &square| {
            index * self.squares.len() + usize::from(self.dense[usize::from(square)])
        })
    }

    /// The places of an image, men that are alike in order.
    #[inline]
    fn image(&self, places: Places, map: &Map) -> Places {
        let mut image = places.map(|square| map.square(square));
        // At most two neighbours are alike: there are no more men besides the kings.
        for &at in &self.alike {
            if image[at] < image[at - 1] {
                image.swap(at, at - 1);
            }
        }
        image
    }

    /// Side to move and squares of a cell.
    #[inline]
    pub fn position(&self, index: usize) -> (Color, Places) {
        let (turn, mut rest) = match index.checked_sub(self.size) {
            None => (Color::White, index),
            Some(rest) => (Color::Black, rest),
        };
        let mut places = [0; MOST_MEN];
        for at in (1..self.pieces.len()).rev() {
            places[at] = self.squares[rest % self.squares.len()];
            rest /= self.squares.len();
        }
        places[0] = self.representatives[rest];
        (turn, places)
    }

    /// How many different positions a cell stands for: itself and its mirror images.
    pub fn images(&self, places: Places) -> u64 {
        let mut seen: Vec<Places> = Vec::with_capacity(self.symmetries.len());
        for map in &self.symmetries {
            let image = self.image(places, map);
            if !seen.contains(&image) {
                seen.push(image);
            }
        }
        seen.len() as u64
    }

    /// The men's squares as a set.
    #[inline]
    pub fn occupied(&self, places: Places) -> u128 {
        let places = places[..self.pieces.len()].iter();
        places.fold(0, |all, &square| all | 1 << square)
    }

    /// The squares of a board's men in this order, if it has just these men.
    pub fn places(&self, men: &mut Vec<(Piece, Square)>) -> Option<Places> {
        let mut places = [0; MOST_MEN];
        if men.len() != self.pieces.len() {
            return None;
        }
        for (place, piece) in places.iter_mut().zip(&self.pieces) {
            let at = men.iter().position(|(known, _)| known == piece)?;
            *place = men.swap_remove(at).1.index() as u8;
        }
        Some(places)
    }
}
