//! The array with men missing.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rules::{Color, Position, Square, Variant};

/// Takes men off the array: `weaker` from one side, chosen at random, and 0 to `weaker` from the other.
///
/// Kings stay. A side that has fewer men loses all it has.
pub(super) fn remove_men(variant: &Variant, weaker: usize, rng: &mut ChaCha8Rng) -> Position {
    let weak_side = if rng.random() {
        Color::White
    } else {
        Color::Black
    };
    let stronger = rng.random_range(0..=weaker);
    let position = remove_from(variant, variant.start(), weak_side, weaker, rng);
    remove_from(variant, position, !weak_side, stronger, rng)
}

fn remove_from(
    variant: &Variant,
    mut position: Position,
    side: Color,
    count: usize,
    rng: &mut ChaCha8Rng,
) -> Position {
    let is_royal = |position: &Position, square: Square| {
        position
            .piece_at(square)
            .is_some_and(|man| variant.roles()[man.role.index()].is_royal)
    };
    let mut squares: Vec<Square> = position.by_color(side).into_iter().collect();
    squares.retain(|&square| !is_royal(&position, square));
    squares.shuffle(rng);
    let mut left = count;
    for square in squares {
        if left == 0 {
            break;
        }
        // A man whose absence would leave a king attacked stays.
        if let Ok(edited) = position.with_piece(variant, square, None) {
            position = edited;
            left -= 1;
        }
    }
    position
}
