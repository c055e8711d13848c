//! Which inputs of the net a position switches on.

use rules::export::{Inexpressible, fairy_stockfish_order};
use rules::{Color, Position, Square, Variant};

use super::BUCKETS;

/// The features of a variant (HalfKAv2): where the own king stands, and a man of a kind on a square, seen by one side.
///
/// Each side sees the board with its own first rank at the bottom. Squares are counted file by file, rank by rank, on the board's rectangle.
/// A *plane* is a kind of man and whose it is: own and enemy men of the same kind follow each other in Fairy-Stockfish's order of kinds;
/// both kings, last, share one plane, since the own king's square is known.
///
/// ```
/// use model::export::nnue::Features;
/// let chess = rules::Variant::by_name("chess").unwrap();
/// let features = Features::new(&chess).unwrap();
/// assert_eq!(features.count(), 64 * 11 * 64);
/// assert_eq!(features.view(&chess.start(), rules::Color::White).men.len(), 32);
/// ```
#[derive(Clone, Debug)]
pub struct Features {
    files: usize,
    ranks: usize,
    /// Place of each role in the program's order, by [`rules::Role::index`].
    places: Vec<usize>,
    /// Men at the start.
    men: usize,
}

/// What one side sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its king's square.
    pub king: usize,
    /// All men, the kings included.
    pub men: Vec<Man>,
}

/// A man as one side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Man {
    /// Which man and whose.
    pub plane: usize,
    /// Where it stands.
    pub square: usize,
}

impl Features {
    /// The features of `variant`.
    ///
    /// # Errors
    /// What Fairy-Stockfish has no words for.
    pub fn new(variant: &Variant) -> Result<Features, Inexpressible> {
        let order = fairy_stockfish_order(variant)?;
        let mut places = vec![0; order.len()];
        for (place, role) in order.iter().enumerate() {
            places[role.index()] = place;
        }
        Ok(Features {
            files: usize::from(variant.files()),
            ranks: usize::from(variant.ranks()),
            places,
            men: variant.start().occupied().count() as usize,
        })
    }

    /// Squares of the board's rectangle.
    pub fn squares(&self) -> usize {
        self.files * self.ranks
    }

    /// Files of the board.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Planes: two for each kind of man but the king, and one for both kings.
    pub fn planes(&self) -> usize {
        2 * self.places.len() - 1
    }

    /// The plane of both kings.
    pub fn king_plane(&self) -> usize {
        self.planes() - 1
    }

    /// Place in Fairy-Stockfish's order of the kind of man with `index` in the variant's.
    pub fn place(&self, index: usize) -> usize {
        self.places[index]
    }

    /// Features in all: kings' squares × planes × squares.
    pub fn count(&self) -> usize {
        self.squares() * self.planes() * self.squares()
    }

    /// Number of the feature of `man` when the own king stands on `king`.
    pub fn index(&self, king: usize, man: Man) -> usize {
        (king * self.planes() + man.plane) * self.squares() + man.square
    }

    /// The stack of layers for a position: by the number of men, as eighths of those at the start.
    pub fn bucket(&self, position: &Position) -> usize {
        let men = position.occupied().count() as usize;
        ((men.max(1) - 1) * BUCKETS / self.men).min(BUCKETS - 1)
    }

    /// What `side` sees of a position.
    pub fn view(&self, position: &Position, side: Color) -> View {
        let (mut king, mut men) = (0, Vec::with_capacity(self.men));
        for square in position.occupied() {
            let Some(piece) = position.piece_at(square) else {
                continue;
            };
            let place = self.places[piece.role.index()];
            let seen = self.seen(square, side);
            let is_king = place + 1 == self.places.len();
            if is_king && piece.color == side {
                king = seen;
            }
            men.push(Man {
                plane: 2 * place + usize::from(!is_king && piece.color != side),
                square: seen,
            });
        }
        View { king, men }
    }

    fn seen(&self, square: Square, side: Color) -> usize {
        let rank = usize::from(square.rank());
        let rank = match side {
            Color::White => rank,
            Color::Black => self.ranks - 1 - rank,
        };
        rank * self.files + usize::from(square.file())
    }
}
