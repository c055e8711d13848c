//! Moves of several legs, `a…aK`: king steps, each turning from the one before.

use super::Offset;

/// The eight king steps clockwise, straight ahead first.
const COMPASS: [Offset; 8] = [
    (0, 1),
    (1, 1),
    (1, 0),
    (1, -1),
    (0, -1),
    (-1, -1),
    (-1, 0),
    (-1, 1),
];

/// The most walks of one piece: `aaK`, three steps in any directions, has half as many.
const MOST_WALKS: usize = 1024;

/// Why there are no walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkError {
    /// The direction letters of a leg mean nothing.
    Letters,
    /// There are more than [`MOST_WALKS`].
    TooMany,
}

/// Every walk of king steps: where it ends, and the squares on its way.
///
/// `first` are the directions of the first leg; each of `turns` are the direction letters of a
/// later leg, read as seen along the leg before: `f` straight on, `fl` and `fr` half a turn to
/// the left and right, `l` and `r` a whole one.
///
/// # Errors
/// If the letters of a turn mean nothing, or the walks are too many.
pub(super) fn walks(
    first: &[Offset],
    turns: &[Vec<char>],
) -> Result<Vec<(Offset, Vec<Offset>)>, WalkError> {
    let mut walks: Vec<(usize, Vec<Offset>)> = Vec::new();
    for (heading, step) in COMPASS.into_iter().enumerate() {
        if first.contains(&step) {
            walks.push((heading, vec![step]));
        }
    }
    for letters in turns {
        let eighths = eighths(letters).ok_or(WalkError::Letters)?;
        if walks.len() * eighths.len() > MOST_WALKS {
            return Err(WalkError::TooMany);
        }
        let mut longer = Vec::new();
        for (heading, squares) in &walks {
            for turn in &eighths {
                let heading = (heading + turn) % COMPASS.len();
                let (x, y) = squares[squares.len() - 1];
                let step = COMPASS[heading];
                let mut squares = squares.clone();
                squares.push((x + step.0, y + step.1));
                longer.push((heading, squares));
            }
        }
        walks = longer;
    }
    let walks = walks.into_iter().map(|(_, mut squares)| {
        let end = squares.pop().unwrap_or((0, 0));
        // The man's own square is empty once it has left it.
        squares.retain(|&square| square != (0, 0));
        (end, squares)
    });
    Ok(walks.filter(|&(end, _)| end != (0, 0)).collect())
}

/// The turns that direction letters allow, in eighths of a full turn clockwise.
fn eighths(letters: &[char]) -> Option<Vec<usize>> {
    if letters.is_empty() {
        return Some((0..COMPASS.len()).collect());
    }
    let mut turns = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let pair: String = letters[at..].iter().take(2).collect();
        let (length, allowed): (usize, &[usize]) = match pair.as_str() {
            "fl" | "lf" => (2, &[7]),
            "fr" | "rf" => (2, &[1]),
            "fs" => (2, &[1, 7]),
            "bl" | "lb" => (2, &[5]),
            "br" | "rb" => (2, &[3]),
            "bs" => (2, &[3, 5]),
            _ => match letters[at] {
                'f' => (1, &[0]),
                'r' => (1, &[2]),
                'b' => (1, &[4]),
                'l' => (1, &[6]),
                's' => (1, &[2, 6]),
                'v' => (1, &[0, 4]),
                _ => return None,
            },
        };
        turns.extend_from_slice(allowed);
        at += length;
    }
    Some(turns)
}
