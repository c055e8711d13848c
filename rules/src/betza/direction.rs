//! Direction letters: which of an atom's leaps a piece has.

use super::Offset;

/// All leaps of the atom (`small`, `large`), `small` ≤ `large`, in a fixed order.
pub(super) fn all(small: i8, large: i8) -> Vec<Offset> {
    let mut leaps = Vec::new();
    for (x, y) in [(small, large), (large, small)] {
        for leap in [(x, y), (-x, y), (x, -y), (-x, -y)] {
            if !leaps.contains(&leap) {
                leaps.push(leap);
            }
        }
    }
    leaps
}

/// The leaps of the atom that the direction letters allow; all of them for no letters.
///
/// # Errors
/// The position in `letters` of a combination that means nothing for this atom.
pub(super) fn select(letters: &[char], small: i8, large: i8) -> Result<Vec<Offset>, usize> {
    let leaps = all(small, large);
    if letters.is_empty() {
        return Ok(leaps);
    }
    let mut chosen = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let (length, matches) = (1..=3)
            .rev()
            .filter_map(|length| Some((length, letters.get(at..at + length)?)))
            .find_map(|(length, token)| Some((length, matcher(token, small, large)?)))
            .ok_or(at)?;
        chosen.extend(leaps.iter().copied().filter(|&leap| matches(leap)));
        at += length;
    }
    Ok(leaps
        .into_iter()
        .filter(|leap| chosen.contains(leap))
        .collect())
}

type Matcher = Box<dyn Fn(Offset) -> bool>;

/// What one letter, or one group of letters read together, allows.
fn matcher(token: &[char], small: i8, large: i8) -> Option<Matcher> {
    let oblique = small != 0 && small != large;
    let diagonal = small == large;
    let half = |letter: char| -> Option<Matcher> {
        Some(match letter {
            'f' => Box::new(|(_, y)| y > 0),
            'b' => Box::new(|(_, y)| y < 0),
            'l' => Box::new(|(x, _)| x < 0),
            'r' => Box::new(|(x, _)| x > 0),
            _ => return None,
        })
    };
    let narrow = |(x, y): Offset| y.abs() > x.abs();
    let upright = |letter: char| matches!(letter, 'f' | 'b');
    match *token {
        ['s'] if oblique => Some(Box::new(move |leap| !narrow(leap))),
        ['v'] if oblique => Some(Box::new(narrow)),
        ['s'] => Some(Box::new(move |(x, _)| x != 0)),
        ['v'] => Some(Box::new(move |(_, y)| y != 0)),
        [letter] => half(letter),
        // Doubled letters: the leaps that go furthest that way; on straight and diagonal atoms
        // they say no more than the single letter.
        [a, b] if a == b => {
            let side = half(a)?;
            let furthest = upright(a);
            Some(Box::new(move |leap| {
                side(leap) && (!oblique || narrow(leap) == furthest)
            }))
        }
        [a, 's'] if oblique && upright(a) => {
            let side = half(a)?;
            Some(Box::new(move |leap| side(leap) && !narrow(leap)))
        }
        [a, 'v'] if oblique && !upright(a) => {
            let side = half(a)?;
            Some(Box::new(move |leap| side(leap) && narrow(leap)))
        }
        [a, b] if (oblique || diagonal) && upright(a) != upright(b) => {
            let (first, second) = (half(a)?, half(b)?);
            Some(Box::new(move |leap| first(leap) && second(leap)))
        }
        [a, b, c] if oblique && a == b && upright(a) != upright(c) => {
            let (first, second) = (half(a)?, half(c)?);
            let furthest = upright(a);
            Some(Box::new(move |leap| {
                first(leap) && second(leap) && narrow(leap) == furthest
            }))
        }
        _ => None,
    }
}
