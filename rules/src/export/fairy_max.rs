//! A variant for Fairy-Max, as a game of its ini file.
//!
//! Fairy-Max's documentation of the format is at the end of its own `fmax.ini`. A piece is a line of rays: a step on a board 16 squares
//! wide, where −16 is straight ahead for White and 16 for Black, and a mode in hexadecimal. The engine itself always promotes to the
//! seventh piece of the list, and takes a promotion of its opponent to any piece whose value does not end in 3.

use std::fmt::Write;

use super::orthodox::{CornerCastling, Pawns, motions};
use super::{Inexpressible, Target};
use crate::betza::{Motion, Reach};
use crate::{Color, Role, RoleInfo, Variant};

/// The version of the format.
const FORMAT: &str = "4.8(w)";
/// The most kinds of men in a game, the pawns of both sides counted apart.
const KINDS: usize = 15;
/// The number of the kind that the engine promotes to.
const PROMOTION: usize = 7;
/// Leap in several paths, and how a man may end: on enemies and on empty squares.
const MULTI_PATH_LEAP: u32 = 0x207;

/// A whole ini file with one game, `NAME`, with values of men in hundredths of a pawn: `fairymax 20 FILE` plays it.
///
/// # Errors
/// The first piece or rule that cannot be expressed.
///
/// ```
/// use rules::{Variant, export};
/// let falcon = Variant::by_name("falcon-xboard").unwrap();
/// let ini = export::fairy_max(&falcon, &|_| 400).unwrap();
/// assert!(ini.starts_with("version 4.8(w)\n10x8\n"));
/// assert!(ini.contains("\nGame: falcon-xboard # "));
/// let hunter = Variant::by_name("falcon-hunter").unwrap();
/// assert!(export::fairy_max(&hunter, &|_| 400).unwrap_err().to_string().contains("in hand"));
/// ```
pub fn fairy_max(variant: &Variant, values: &dyn Fn(Role) -> u32) -> Result<String, Inexpressible> {
    let target = Target {
        program: "Fairy-Max",
        variant,
    };
    target.no_hands()?;
    if variant.board().count() != u32::from(variant.files()) * u32::from(variant.ranks()) {
        return target.refuse("missing squares");
    }
    if variant.quiet_plies() != 100 {
        return target.refuse("another number than fifty quiet moves");
    }
    let pawns = target.pawns()?;
    if pawns.promotion_rank != Some(variant.ranks() - 1) {
        return target.refuse("pawns that do not promote on the last rank");
    }
    let castling = target.castling()?;
    let kinds = kinds(target, pawns)?;
    let mut ini = String::new();
    // Writing to a string cannot fail.
    let _ = match pawns.rank {
        1 => writeln!(ini, "{}x{}", variant.files(), variant.ranks()),
        rank => writeln!(ini, "{}x{}=-{rank}", variant.files(), variant.ranks()),
    };
    for color in Color::ALL {
        let _ = writeln!(ini, "{}", back_rank(target, color, &kinds, pawns)?);
    }
    for color in Color::ALL {
        let _ = writeln!(ini, "{}", pawn_line(target, pawns, color)?);
    }
    for kind in kinds.iter().skip(2) {
        let _ = writeln!(ini, "{}", piece_line(target, *kind, castling, values)?);
    }
    // The file begins with the game of nobody's choice, which has no name; named games follow. An empty line ends the last, or
    // the engine would read for ever.
    Ok(format!(
        "version {FORMAT}\n{ini}\nGame: {} # {} # fairy\n{ini}\n// End of the file\n",
        variant.name(),
        letters(variant)
    ))
}

/// One kind of man in the engine's sense.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    role: Role,
    /// Whose it is; `None` if it moves alike for both.
    color: Option<Color>,
}

/// The kinds in order, numbered from 1: pawns, and as the seventh what the engine is to promote to.
fn kinds(target: Target, pawns: Pawns) -> Result<Vec<Kind>, Inexpressible> {
    let variant = target.variant;
    let mut favourite = variant.promotion_roles().iter().copied();
    let queen = variant
        .role_by_letter('Q')
        .filter(|queen| variant.promotion_roles().contains(queen));
    let Some(favourite) = queen.or_else(|| favourite.next()) else {
        return target.refuse("pawns that do not promote");
    };
    let of_role = |role: Role| -> Vec<Kind> {
        let kind = |color| Kind { role, color };
        match is_symmetric(variant.role_info(role)) {
            true => vec![kind(None)],
            false => Color::ALL.map(|color| kind(Some(color))).to_vec(),
        }
    };
    if !is_symmetric(variant.role_info(variant.royal)) {
        return target.refuse("kings that move otherwise for White than for Black");
    }
    let mut all = of_role(pawns.role);
    // Kings beyond the seventh kind follow another rule of check, so they come first.
    all.push(Kind {
        role: variant.royal,
        color: None,
    });
    let known = [pawns.role, favourite, variant.royal];
    let others = variant.role_ids().filter(|role| !known.contains(role));
    let mut rest: Vec<Kind> = others.flat_map(of_role).collect();
    // White's seventh and Black's ninth are what they promote to; where both are one kind, the seventh serves both.
    let promoted = of_role(favourite);
    if promoted.len() != 1 {
        return target.refuse(format!(
            "promotion to the {}, which moves otherwise for White than for Black",
            variant.role_info(favourite).name
        ));
    }
    let before = PROMOTION - 1 - all.len();
    while rest.len() < before {
        // A small game has fewer kinds: one comes twice, for the number's sake.
        rest.push(promoted[0]);
    }
    all.extend(rest.drain(..before));
    all.extend(promoted);
    all.extend(rest);
    if all.len() > KINDS {
        return target.refuse(format!("more than {KINDS} kinds of men"));
    }
    Ok(all)
}

/// Whether a man moves alike for White and Black.
fn is_symmetric(role: &RoleInfo) -> bool {
    let all = motions(role);
    all.iter().all(|motion| {
        let (files, ranks) = motion.step;
        all.iter()
            .any(|other| other.step == (files, -ranks) && same_but_step(motion, other))
    })
}

fn same_but_step(a: &Motion, b: &Motion) -> bool {
    let reach = match (&a.reach, &b.reach) {
        (Reach::Lame { .. }, Reach::Lame { .. }) => true,
        (one, other) => one == other,
    };
    reach && (a.quiet, a.capture, a.initial) == (b.quiet, b.capture, b.initial)
}

/// The numbers of the men on a side's first rank.
fn back_rank(
    target: Target,
    color: Color,
    kinds: &[Kind],
    pawns: Pawns,
) -> Result<String, Inexpressible> {
    let variant = target.variant;
    let start = variant.start();
    let (rank, pawn_rank) = match color {
        Color::White => (0, pawns.rank),
        Color::Black => (variant.ranks() - 1, variant.ranks() - 1 - pawns.rank),
    };
    let mut numbers = Vec::new();
    let mut men = 0;
    for file in 0..variant.files() {
        let square = |rank| crate::Square::new(file, rank);
        let role = square(rank)
            .and_then(|square| start.piece_at(square))
            .map(|piece| piece.role);
        let number = role.and_then(|role| {
            let is_kind =
                |kind: &Kind| kind.role == role && kind.color.is_none_or(|own| own == color);
            kinds.iter().position(is_kind)
        });
        let Some(number) = number else {
            return target.refuse("a first rank with empty squares");
        };
        numbers.push((number + 1).to_string());
        let pawn = square(pawn_rank).and_then(|square| start.piece_at(square));
        men += 1 + u32::from(pawn.is_some_and(|piece| piece.role == pawns.role));
    }
    let all = 2 * u32::from(variant.files());
    if men != all || start.by_color(color).count() != all {
        return target.refuse("a start position other than a rank of men behind a rank of pawns");
    }
    Ok(numbers.join(" "))
}

fn pawn_line(target: Target, pawns: Pawns, color: Color) -> Result<String, Inexpressible> {
    let letter = target
        .variant
        .role_info(pawns.role)
        .letter
        .to_ascii_lowercase();
    let ahead = step((0, 1), color);
    let first = match (pawns.first_step, pawns.en_passant) {
        (1, false) => String::new(),
        (2, true) => format!("{ahead},24 "),
        (2, false) => format!("{ahead},64 "),
        (3, true) => format!("{ahead},424 {ahead},24 "),
        // Whatever the digits, it takes en passant what has gone three squares.
        (steps, _) => {
            return target.refuse(format!(
                "pawns with a first step of {steps} squares without en passant"
            ));
        }
    };
    let [left, right] = [(-1, 1), (1, 1)].map(|diagonal| step(diagonal, color));
    Ok(format!("{letter}:100 {first}{ahead},6 {left},5 {right},5"))
}

fn piece_line(
    target: Target,
    kind: Kind,
    castling: Option<CornerCastling>,
    values: &dyn Fn(Role) -> u32,
) -> Result<String, Inexpressible> {
    let variant = target.variant;
    let role = variant.role_info(kind.role);
    let all = motions(role);
    let is_long = all
        .iter()
        .any(|motion| matches!(motion.reach, Reach::Ride { .. }));
    // A capital letter stands for a man that is not drawn to the centre.
    let letter =
        match is_long && all.len() < 8 && all.iter().all(|m| m.step.0 == 0 || m.step.1 == 0)
            || role.letter == 'Q'
        {
            true => role.letter,
            false => role.letter.to_ascii_lowercase(),
        };
    let mut line = format!("{letter}:{}", value(variant, kind.role, values));
    if role.is_royal
        && let Some(castling) = castling
    {
        let _ = match castling.steps {
            2 => write!(line, " 1,34 -1,34"),
            3 => write!(line, " 1,34,2 -1,34,-2"),
            steps => return target.refuse(format!("castling by {steps} squares")),
        };
    }
    let color = kind.color.unwrap_or(Color::White);
    for motion in &all {
        let step_number = step(motion.step, color);
        let end = u32::from(motion.capture) + 2 * u32::from(motion.quiet);
        let mode = match &motion.reach {
            Reach::Leap => Some(4 + end),
            Reach::Ride { limit } if *limit >= variant.files().max(variant.ranks()) - 1 => {
                Some(end)
            }
            Reach::Lame { paths } if end == 3 => falcon_mode(motion.step, paths, color),
            Reach::Ride { .. } | Reach::Lame { .. } | Reach::Hop { .. } => None,
        };
        let Some(mode) = mode else {
            return target.refuse(format!(
                "the {} {} = {}",
                role.name, role.letter, role.betza
            ));
        };
        let _ = write!(line, " {step_number},{mode:X}");
    }
    Ok(line)
}

/// The mode of a leap of the falcon, whose paths are all orders of one step made twice and another: the step made twice
/// stands above the mode's lower digits.
fn falcon_mode(leap: (i8, i8), paths: &[Vec<(i8, i8)>], color: Color) -> Option<u32> {
    let (files, ranks) = leap;
    let [short, long] = [files.abs().min(ranks.abs()), files.abs().max(ranks.abs())];
    let straight = match files.abs() > ranks.abs() {
        true => (files.signum(), 0),
        false => (0, ranks.signum()),
    };
    let diagonal = (files.signum(), ranks.signum());
    let twice = match (short, long) {
        (1, 3) => straight,
        (2, 3) => diagonal,
        _ => return None,
    };
    (paths.len() == 3).then_some((step(twice, color) as u32) << 12 | MULTI_PATH_LEAP)
}

/// A step on a board 16 squares wide.
fn step((files, ranks): (i8, i8), color: Color) -> i32 {
    let ahead = match color {
        Color::White => -16,
        Color::Black => 16,
    };
    i32::from(files) + ahead * i32::from(ranks)
}

/// The value of a man: −1 for kings, ending in 3 for men that nobody may promote to, and in another figure for the rest.
fn value(variant: &Variant, role: Role, values: &dyn Fn(Role) -> u32) -> i64 {
    if variant.role_info(role).is_royal {
        return -1;
    }
    let tens = i64::from(values(role) / 10 * 10);
    match variant.promotion_roles().contains(&role) {
        true => tens,
        false => tens + 3,
    }
}

/// XBoard's table of the men's letters, White's and then Black's: each letter at the place whose picture fits.
fn letters(variant: &Variant) -> String {
    const PLACES: &str = "PNBRQFEACWMOHIJGDVLSUK";
    let mut table = vec!['.'; PLACES.len()];
    let mut others = Vec::new();
    for role in variant.roles() {
        // XBoard draws a falcon at the place of the letter V.
        let wanted = if role.name == "falcon" {
            'V'
        } else {
            role.letter
        };
        match PLACES.find(wanted).filter(|&place| table[place] == '.') {
            Some(place) => table[place] = role.letter,
            None => others.push(role.letter),
        }
    }
    for letter in others {
        if let Some(free) = table.iter_mut().rev().skip(1).find(|place| **place == '.') {
            *free = letter;
        }
    }
    let white: String = table.into_iter().collect();
    let black = white.to_ascii_lowercase();
    white + &black
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str) -> Result<String, Inexpressible> {
        fairy_max(&Variant::by_name(name).expect("built in"), &|_| 400)
    }

    /// The rays of Fairy-Max's own Falcon Chess.
    #[test]
    fn the_falcon_has_all_sixteen_leaps() {
        let ini = result("falcon").expect("expressible");
        let line = ini
            .lines()
            .find(|line| line.starts_with("f:"))
            .expect("a falcon");
        for ray in [
            "13,FFFFF207",
            "29,F207",
            "46,F207",
            "47,10207",
            "49,10207",
            "50,11207",
            "35,11207",
            "19,1207",
            "-13,1207",
            "-29,FFFF1207",
            "-46,FFFF1207",
            "-47,FFFF0207",
            "-49,FFFF0207",
            "-50,FFFEF207",
            "-35,FFFEF207",
            "-19,FFFFF207",
        ] {
            assert!(line.split(' ').any(|known| known == ray), "{ray} in {line}");
        }
        assert_eq!(line.split(' ').count(), 17);
    }

    #[test]
    fn the_queen_is_seventh_and_ranks_have_as_many_numbers_as_files() {
        for name in [
            "chess",
            "falcon",
            "falcon-hunter-promotion",
            "falcon-10x10",
            "falcon-10x10-p3",
            "falcon-8x8",
        ] {
            let Ok(ini) = result(name) else {
                assert_eq!(name, "falcon-hunter-promotion");
                continue;
            };
            let lines: Vec<&str> = ini.lines().collect();
            let variant = Variant::by_name(name).expect("built in");
            for rank in &lines[2..4] {
                assert_eq!(
                    rank.split(' ').count(),
                    usize::from(variant.files()),
                    "{ini}"
                );
            }
            let promoted = if name == "falcon-8x8" { "f:" } else { "Q:" };
            assert!(lines[3 + PROMOTION].starts_with(promoted), "{ini}");
            assert_eq!(ini.matches(promoted).count(), 2, "{ini}");
        }
    }

    #[test]
    fn what_cannot_be_played_is_refused_by_name() {
        for (name, what) in [
            ("falcon-free", "free castling"),
            ("falcon-hunter", "in hand"),
            ("falcon-hunter-66", "missing squares"),
            ("falcon-hunter-promotion", "moves otherwise for White"),
            ("decimal-falcon-hunter", "first move of the knight"),
        ] {
            let error = result(name).expect_err("inexpressible").to_string();
            assert!(error.contains(what), "{name}: {error}");
        }
    }
}
