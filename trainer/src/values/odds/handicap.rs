//! Who lacks which men of the array.

use crate::values::estimate::Men;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rules::{Color, Position, Role, Square, Variant};
use serde::{Deserialize, Serialize};

/// The most men that one side lacks besides pawns.
const MOST_PIECES: usize = 2;
/// The most pawns that one side lacks. Lacking more opens files for its rooks, and each is worth less than the first.
const MOST_PAWNS: usize = 2;

/// The men that each of two sides lacks, as the letters of their roles.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handicap {
    /// What the side lacks whose score is counted.
    #[serde(default)]
    pub first_lacks: String,
    /// What the other side lacks.
    #[serde(default)]
    pub second_lacks: String,
}

impl std::fmt::Display for Handicap {
    /// `without R v. without F`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = |lacks: &str| match lacks {
            "" => "all men".to_owned(),
            men => format!("without {men}"),
        };
        write!(
            f,
            "{} v. {}",
            side(&self.first_lacks),
            side(&self.second_lacks)
        )
    }
}

impl Handicap {
    /// All handicaps to choose from: one or two men of a kind against one or two of another, or against none, with up to
    /// two pawns on one side.
    pub fn all(variant: &Variant) -> Vec<Handicap> {
        let start = variant.start();
        let men = Men::new(variant);
        let count = |role: Role| {
            let of = |color| start.pieces(color, role).count() as usize;
            of(Color::White).min(of(Color::Black))
        };
        let mut lots = vec![String::new()];
        for (role, info) in men.roles().filter(|(_, info)| !info.is_pawn) {
            for number in 1..=count(role).min(MOST_PIECES) {
                lots.push(info.letter.to_string().repeat(number));
            }
        }
        let pawn = men.roles().find(|(_, info)| info.is_pawn);
        let pawns = pawn.map_or(0, |(role, _)| (count(role) / 2).min(MOST_PAWNS));
        let letter = pawn.map_or('P', |(_, info)| info.letter).to_string();
        let mut all = Vec::new();
        for (one, first) in lots.iter().enumerate() {
            for (other, second) in lots.iter().enumerate() {
                let same_kind = first.chars().next() == second.chars().next();
                if (same_kind && !first.is_empty()) || (one < other && !first.is_empty()) {
                    continue;
                }
                for extra in 0..=pawns {
                    let more = letter.repeat(extra);
                    if !(first.is_empty() && second.is_empty() && extra == 0) {
                        all.push(Handicap {
                            first_lacks: first.clone() + &more,
                            second_lacks: second.clone(),
                        });
                    }
                    if extra > 0 && !(first.is_empty() && second.is_empty()) {
                        all.push(Handicap {
                            first_lacks: first.clone(),
                            second_lacks: second.clone() + &more,
                        });
                    }
                }
            }
        }
        all
    }

    /// How many men more of each kind the first side has, in the order of [`Men::roles`]; `None` if the variant has no such
    /// men in its array.
    pub fn difference(&self, variant: &Variant) -> Option<Vec<f64>> {
        let mut difference = vec![0.0; Men::new(variant).roles().count()];
        for (lacks, sign) in [(&self.first_lacks, -1.0), (&self.second_lacks, 1.0)] {
            for letter in lacks.chars() {
                let place = Men::new(variant)
                    .roles()
                    .position(|(_, info)| info.letter == letter)?;
                difference[place] += sign;
            }
        }
        for (color, lacks) in [
            (Color::White, &self.first_lacks),
            (Color::Black, &self.second_lacks),
        ] {
            for color in [color, !color] {
                for letter in lacks.chars() {
                    let role = variant.role_by_letter(letter)?;
                    let wanted = lacks.chars().filter(|&other| other == letter).count();
                    if (variant.start().pieces(color, role).count() as usize) < wanted {
                        return None;
                    }
                }
            }
        }
        Some(difference)
    }

    /// Men off the board.
    pub fn men(&self) -> usize {
        self.first_lacks.len() + self.second_lacks.len()
    }

    /// The arrays of a pair's two games: the first side has White, then Black. The same random men are missing in both.
    ///
    /// `None` if the rules do not allow one of the arrays.
    pub fn arrays(&self, variant: &Variant, rng: &mut ChaCha8Rng) -> Option<[Position; 2]> {
        let first = ordinals(variant, &self.first_lacks, rng)?;
        let second = ordinals(variant, &self.second_lacks, rng)?;
        let array = |color: Color| -> Option<Position> {
            let squares = first
                .iter()
                .map(|lack| (color, lack))
                .chain(second.iter().map(|lack| (!color, lack)));
            let squares: Option<Vec<Square>> = squares
                .map(|(color, &(role, ordinal))| {
                    home_squares(variant, color, role).get(ordinal).copied()
                })
                .collect();
            let mut position = variant.start();
            for square in squares? {
                position = position.with_piece(variant, square, None).ok()?;
            }
            Some(position)
        };
        Some([array(Color::White)?, array(Color::Black)?])
    }
}

/// Which men of each kind are missing, counted from the first file.
fn ordinals(variant: &Variant, lacks: &str, rng: &mut ChaCha8Rng) -> Option<Vec<(Role, usize)>> {
    let mut letters: Vec<char> = lacks.chars().collect();
    letters.sort_unstable();
    let mut chosen = Vec::new();
    for kind in letters.chunk_by(|a, b| a == b) {
        let role = variant.role_by_letter(kind[0])?;
        let there = home_squares(variant, Color::White, role).len();
        if there < kind.len() {
            return None;
        }
        chosen.extend(
            sample(rng, there, kind.len())
                .into_iter()
                .map(|ordinal| (role, ordinal)),
        );
    }
    Some(chosen)
}

/// Where a side's men of a kind start, from the first file on.
fn home_squares(variant: &Variant, color: Color, role: Role) -> Vec<Square> {
    let mut squares: Vec<Square> = variant.start().pieces(color, role).into_iter().collect();
    squares.sort_by_key(|square| (square.file(), square.rank()));
    squares
}
