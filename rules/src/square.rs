//! Squares of the fixed 10×10 grid that every board lives on.

/// A square of the 10×10 grid: index = rank · 10 + file, both counted from 0.
///
/// Smaller boards use the lower left corner of the grid, so that a square has the same index in
/// every variant.
///
/// ```
/// use rules::Square;
/// let square = Square::new(4, 1).unwrap();
/// assert_eq!((square.index(), square.file(), square.rank()), (14, 4, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Number of squares of the grid.
    pub const COUNT: usize = 100;
    /// Files, and ranks, of the grid.
    pub const SIDE: u8 = 10;

    /// The square on a file and a rank, both counted from 0; `None` off the grid.
    #[inline]
    pub const fn new(file: u8, rank: u8) -> Option<Square> {
        if file < Self::SIDE && rank < Self::SIDE {
            Some(Square(rank * Self::SIDE + file))
        } else {
            None
        }
    }

    /// The square with an index below 100; `None` for anything larger.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Square> {
        if index < Self::COUNT {
            Some(Square(index as u8))
        } else {
            None
        }
    }

    /// rank · 10 + file, below 100.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// File, counted from 0.
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 % Self::SIDE
    }

    /// Rank, counted from 0 whatever number the variant prints.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 / Self::SIDE
    }

    /// The square some files and ranks away; `None` off the grid.
    #[inline]
    pub fn offset(self, files: i8, ranks: i8) -> Option<Square> {
        let file = u8::try_from(self.file() as i8 + files).ok()?;
        let rank = u8::try_from(self.rank() as i8 + ranks).ok()?;
        Square::new(file, rank)
    }

    /// The square of an index that the caller knows to be below 100.
    #[inline]
    pub(crate) const fn from_bit(index: u32) -> Square {
        debug_assert!(index < Self::COUNT as u32);
        Square(index as u8)
    }
}
