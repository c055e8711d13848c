//! A position as planes of the 10×10 grid, side to move at the bottom.

use rules::{Bitboard, Color, Position, Role, Variant};

use crate::board::{GRID_SQUARES, seen_by};
use crate::fnv::Fnv1a;

/// How the positions of one variant become planes.
///
/// The planes, in order (see [`plane_names`](Encoding::plane_names)):
///
/// | plane | holds |
/// |---|---|
/// | `board` | 1 on every square that exists |
/// | `own X`, `enemy X` for each role X | 1 where such a man stands |
/// | `own rights`, `enemy rights` | 1 on unmoved men whose not having moved still matters |
/// | `en passant` | 1 on the square that a pawn has just skipped |
/// | `own hand X`, `enemy hand X` for each role X that can be entered | men in hand / 2, on the whole board |
/// | `own due`, `enemy due`, if anything can be entered | entries due / 2, on the whole board |
/// | `repetition` | 1 on the whole board if the position has occurred before |
/// | `halfmove clock` | plies since the last capture or pawn move / 100, on the whole board |
///
/// Off the board every plane is 0. Black's view mirrors the ranks within the board.
#[derive(Clone, Debug)]
pub struct Encoding {
    roles: Vec<Role>,
    hand_roles: Vec<Role>,
    ranks: u8,
    board: Bitboard,
    names: Vec<String>,
    hash: u64,
}

/// Receives the non-zero parts of an encoded position.
pub(crate) trait PlaneSink {
    /// One on a single square of a plane.
    fn square(&mut self, plane: usize, square: usize);
    /// `value` on every square of the board.
    fn fill(&mut self, plane: usize, value: f32);
}

/// The plane of the squares that exist.
pub(crate) const BOARD_PLANE: usize = 0;

impl Encoding {
    /// Version of the rules by which positions become planes; part of the layout hash.
    pub const VERSION: u32 = 1;

    /// The encoding of `variant`'s positions.
    pub fn new(variant: &Variant) -> Encoding {
        let roles = variant.roles();
        let hand_roles = variant.hand_roles().to_vec();
        let mut names = vec!["board".to_owned()];
        let sides = ["own", "enemy"];
        for side in sides {
            names.extend(roles.iter().map(|role| format!("{side} {}", role.letter)));
        }
        names.extend(sides.map(|side| format!("{side} rights")));
        names.push("en passant".to_owned());
        if !hand_roles.is_empty() {
            for side in sides {
                let hand = |role: &Role| format!("{side} hand {}", roles[role.index()].letter);
                names.extend(hand_roles.iter().map(hand));
            }
            names.extend(sides.map(|side| format!("{side} due")));
        }
        names.push("repetition".to_owned());
        names.push("halfmove clock".to_owned());
        Encoding {
            roles: (0..roles.len()).filter_map(Role::from_index).collect(),
            hand_roles,
            ranks: variant.ranks(),
            board: variant.board(),
            hash: layout_hash(variant, &names),
            names,
        }
    }

    /// Number of planes.
    pub fn planes(&self) -> usize {
        self.names.len()
    }

    /// What each plane holds.
    pub fn plane_names(&self) -> &[String] {
        &self.names
    }

    /// A number that changes whenever planes or policy indices change their meaning: FNV-1a over
    /// the version, the plane names, the board, and the roles that can be promoted to or entered.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether a plane has the same value on all squares of the board.
    pub(crate) fn fills(&self, plane: usize) -> bool {
        let en_passant = 2 * self.roles.len() + 3;
        plane == BOARD_PLANE || plane > en_passant
    }

    /// Floats of one encoded position, `planes × 10 × 10`.
    pub fn len(&self) -> usize {
        self.planes() * GRID_SQUARES
    }

    /// Never true: there is always a board plane.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Writes a position into `out`, laid out `[planes][10][10]`. `repetitions` counts the
    /// occurrences of the position so far, this one included.
    ///
    /// # Panics
    /// If `out` is not [`len`](Encoding::len) floats long.
    pub fn encode(&self, position: &Position, repetitions: u8, out: &mut [f32]) {
        assert_eq!(out.len(), self.len(), "floats of an encoded position");
        out.fill(0.0);
        let turn = position.turn();
        let mut sink = DensePlanes {
            out,
            board: self.board,
            turn,
            ranks: self.ranks,
        };
        self.visit(position, repetitions, &mut sink);
    }

    /// Encodes many positions, each with its repetitions, into one tensor-shaped vector
    /// `[positions][planes][10][10]`.
    pub fn encode_batch<'a>(
        &self,
        positions: impl IntoIterator<Item = (&'a Position, u8)>,
    ) -> Vec<f32> {
        let mut out = Vec::new();
        for (position, repetitions) in positions {
            let start = out.len();
            out.resize(start + self.len(), 0.0);
            self.encode(position, repetitions, &mut out[start..]);
        }
        out
    }

    /// Tells `sink` everything that is not zero, with squares as the side to move sees them.
    pub(crate) fn visit(&self, position: &Position, repetitions: u8, sink: &mut impl PlaneSink) {
        let turn = position.turn();
        let sides = [turn, !turn];
        let mut plane = BOARD_PLANE;
        let mut next_plane = || {
            plane += 1;
            plane
        };
        sink.fill(BOARD_PLANE, 1.0);
        for side in sides {
            for &role in &self.roles {
                let plane = next_plane();
                self.squares(position.pieces(side, role), turn, plane, sink);
            }
        }
        let rights = position.rights();
        for side in sides {
            self.squares(rights & position.by_color(side), turn, next_plane(), sink);
        }
        let en_passant = next_plane();
        if let Some(square) = position.ep_square() {
            sink.square(en_passant, seen_by(square, turn, self.ranks));
        }
        if !self.hand_roles.is_empty() {
            for side in sides {
                for &role in &self.hand_roles {
                    fill(
                        sink,
                        next_plane(),
                        f32::from(position.hand(side, role)) / 2.0,
                    );
                }
            }
            for side in sides {
                fill(
                    sink,
                    next_plane(),
                    f32::from(position.entries_due(side)) / 2.0,
                );
            }
        }
        fill(sink, next_plane(), if repetitions > 1 { 1.0 } else { 0.0 });
        fill(
            sink,
            next_plane(),
            f32::from(position.halfmove_clock()) / 100.0,
        );
        debug_assert_eq!(plane + 1, self.planes());
    }

    fn squares(&self, squares: Bitboard, turn: Color, plane: usize, sink: &mut impl PlaneSink) {
        for square in squares {
            sink.square(plane, seen_by(square, turn, self.ranks));
        }
    }
}

fn fill(sink: &mut impl PlaneSink, plane: usize, value: f32) {
    if value != 0.0 {
        sink.fill(plane, value);
    }
}

struct DensePlanes<'a> {
    out: &'a mut [f32],
    board: Bitboard,
    turn: Color,
    ranks: u8,
}

impl PlaneSink for DensePlanes<'_> {
    fn square(&mut self, plane: usize, square: usize) {
        self.out[plane * GRID_SQUARES + square] = 1.0;
    }

    fn fill(&mut self, plane: usize, value: f32) {
        for square in self.board {
            self.out[plane * GRID_SQUARES + seen_by(square, self.turn, self.ranks)] = value;
        }
    }
}

fn layout_hash(variant: &Variant, names: &[String]) -> u64 {
    let letter = |role: &Role| variant.roles()[role.index()].letter;
    let mut text = format!("encoding {}\n", Encoding::VERSION);
    for name in names {
        text.push_str(name);
        text.push('\n');
    }
    text.push_str(&format!(
        "{}x{} {:x}\n",
        variant.files(),
        variant.ranks(),
        variant.board().0
    ));
    text.extend(variant.promotion_roles().iter().map(letter));
    text.push('\n');
    text.extend(variant.hand_roles().iter().map(letter));
    text.push_str(if variant.can_castle() {
        "\ncastles"
    } else {
        "\n"
    });
    Fnv1a::of(text.as_bytes())
}
