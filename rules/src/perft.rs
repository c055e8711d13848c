//! Counting the leaves of the tree of legal moves.

use crate::{Move, Position, Variant};

/// The number of move sequences of a length, in plies; draw rules end no game here.
///
/// The last ply is counted without making its moves.
///
/// ```
/// let chess = rules::Variant::by_name("chess").unwrap();
/// assert_eq!(rules::perft(&chess, &chess.start(), 3), 8902);
/// ```
pub fn perft(variant: &Variant, position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut lists = vec![Vec::with_capacity(64); depth as usize - 1];
    count(variant, position, &mut lists)
}

/// Counts with one list of moves for each ply before the last.
fn count(variant: &Variant, position: &Position, lists: &mut [Vec<Move>]) -> u64 {
    let Some((moves, deeper)) = lists.split_first_mut() else {
        return position.legal_move_count(variant);
    };
    position.legal_moves_into(variant, moves);
    let nodes = moves
        .iter()
        .map(|&mv| count(variant, &position.play(variant, mv), deeper));
    nodes.sum()
}

/// [`perft`] split by the first move, in the order of [`Position::legal_moves`].
///
/// For depth 0 there is no first move and the list is empty.
pub fn divide(variant: &Variant, position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let Some(rest) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let moves = position.legal_moves(variant).into_iter();
    moves
        .map(|mv| (mv, perft(variant, &position.play(variant, mv), rest)))
        .collect()
}
