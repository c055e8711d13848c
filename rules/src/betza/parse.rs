//! From the string to the list of motions.

use thiserror::Error;

use super::legs::{self, WalkError};
use super::{Landing, Motion, Offset, Reach, direction};

/// A Betza string that says nothing, or something that this crate cannot play.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("Betza string `{betza}`, character {}: {message}", .offset + 1)]
pub struct BetzaError {
    /// The whole string.
    pub betza: String,
    /// Which character is wrong, counted from 0.
    pub offset: usize,
    /// What is wrong and what to do.
    pub message: String,
}

/// The furthest that any man can go on the grid, in steps.
const UNLIMITED: u8 = 9;

/// The longest string that is read, in characters: several times what the richest known pieces need.
const LONGEST: usize = 256;

/// Reads a Betza string.
///
/// ```
/// let falcon = rules::betza::parse("nCnZ").unwrap();
/// assert_eq!(falcon.len(), 16);
/// ```
///
/// # Errors
/// The first character that is not understood or not supported, and what to write instead.
pub fn parse(betza: &str) -> Result<Vec<Motion>, BetzaError> {
    if let Some((end, _)) = betza.char_indices().nth(LONGEST) {
        return Err(BetzaError {
            betza: format!("{}…", &betza[..end]),
            offset: LONGEST,
            message: format!(
                "the string is longer than {LONGEST} characters; write ranges such as `R3` and compounds such as `Q` instead of lists"
            ),
        });
    }
    let mut parser = Parser {
        betza,
        letters: betza.chars().collect(),
        at: 0,
    };
    let mut motions = Vec::new();
    while parser.at < parser.letters.len() {
        parser.term(&mut motions)?;
    }
    if motions.is_empty() {
        return Err(parser.error(
            0,
            "the piece has no move; give at least one atom such as `W`",
        ));
    }
    Ok(merge_paths(motions))
}

/// Makes one motion of lame motions that differ in their paths only.
fn merge_paths(motions: Vec<Motion>) -> Vec<Motion> {
    let mut merged: Vec<Motion> = Vec::new();
    for motion in motions {
        let usage = |m: &Motion| (m.step, m.quiet, m.capture, m.initial, m.en_passant);
        let same = merged.iter_mut().find(|other| {
            matches!(other.reach, Reach::Lame { .. }) && usage(other) == usage(&motion)
        });
        match (same.map(|other| &mut other.reach), motion.reach) {
            (Some(Reach::Lame { paths: known }), Reach::Lame { paths }) => known.extend(paths),
            (_, reach) => merged.push(Motion { reach, ..motion }),
        }
    }
    for motion in &mut merged {
        if let Reach::Lame { paths } = &mut motion.reach {
            paths.sort();
            paths.dedup();
        }
    }
    merged
}

struct Parser<'a> {
    betza: &'a str,
    letters: Vec<char>,
    at: usize,
}

/// The lower-case letters before an atom.
#[derive(Default)]
struct Modifiers {
    start: usize,
    directions: Vec<char>,
    /// Direction letters of earlier legs, each ended by `a`.
    legs: Vec<Vec<char>>,
    quiet: bool,
    capture: bool,
    initial: bool,
    lame: bool,
    en_passant: bool,
    hop: Option<Landing>,
}

impl Modifiers {
    fn motion(&self, step: Offset, reach: Reach) -> Motion {
        Motion {
            step,
            reach,
            quiet: self.quiet || !self.capture,
            capture: self.capture || !self.quiet,
            initial: self.initial,
            en_passant: self.en_passant,
        }
    }
}

/// One leap of an atom and how often it may be repeated.
struct Leaper {
    small: i8,
    large: i8,
    limit: u8,
}

impl Parser<'_> {
    fn error(&self, offset: usize, message: impl Into<String>) -> BetzaError {
        BetzaError {
            betza: self.betza.to_string(),
            offset,
            message: message.into(),
        }
    }

    /// Reads modifiers, an atom and its range, and adds what they mean.
    fn term(&mut self, motions: &mut Vec<Motion>) -> Result<(), BetzaError> {
        let modifiers = self.modifiers()?;
        let atom_at = self.at;
        if !modifiers.legs.is_empty() {
            return self.walk(&modifiers, motions);
        }
        for leaper in self.atom()? {
            let steps = direction::select(&modifiers.directions, leaper.small, leaper.large)
                .map_err(|_| {
                    self.error(
                        modifiers.start,
                        "these direction letters mean nothing for the atom that follows",
                    )
                })?;
            for step in steps {
                let reach = self.reach(&modifiers, &leaper, step, atom_at)?;
                motions.push(modifiers.motion(step, reach));
            }
        }
        Ok(())
    }

    /// Reads the `K` of a move of several legs, and adds its paths.
    fn walk(&mut self, modifiers: &Modifiers, motions: &mut Vec<Motion>) -> Result<(), BetzaError> {
        let plain = self.letters[self.at] == 'K'
            && !self
                .letters
                .get(self.at + 1)
                .is_some_and(char::is_ascii_digit)
            && !modifiers.lame
            && modifiers.hop.is_none();
        if !plain {
            let message =
                "with `a`, only king steps `K` are supported, without range, `n`, `p` or `g`";
            return Err(self.error(self.at, message));
        }
        self.at += 1;
        let unclear = || {
            let message = "these direction letters mean nothing for the legs of `a`";
            self.error(modifiers.start, message)
        };
        let mut first = Vec::new();
        for small in [0, 1] {
            let steps = direction::select(&modifiers.legs[0], small, 1);
            first.extend(steps.map_err(|_| unclear())?);
        }
        let mut turns = modifiers.legs[1..].to_vec();
        turns.push(modifiers.directions.clone());
        let walks = legs::walks(&first, &turns).map_err(|error| match error {
            WalkError::Letters => unclear(),
            WalkError::TooMany => {
                let message =
                    "these legs can be walked in too many ways; give directions, as in `afsK`";
                self.error(modifiers.start, message)
            }
        })?;
        for (step, way) in walks {
            motions.push(modifiers.motion(step, Reach::Lame { paths: vec![way] }));
        }
        Ok(())
    }

    fn modifiers(&mut self) -> Result<Modifiers, BetzaError> {
        let mut modifiers = Modifiers {
            start: self.at,
            ..Modifiers::default()
        };
        while let Some(&letter) = self.letters.get(self.at) {
            match letter {
                'f' | 'b' | 'l' | 'r' | 's' | 'v' => modifiers.directions.push(letter),
                'm' => modifiers.quiet = true,
                'c' => modifiers.capture = true,
                'i' => modifiers.initial = true,
                'n' => modifiers.lame = true,
                'p' => modifiers.hop = Some(Landing::Beyond),
                'g' => modifiers.hop = Some(Landing::Behind),
                'a' => self.end_leg(&mut modifiers)?,
                'e' => {
                    modifiers.en_passant = true;
                    modifiers.capture = true;
                }
                'a'..='z' => {
                    let message = format!(
                        "the modifier `{letter}` is not supported; there are the directions f b l r s v, and m c i n e p g a"
                    );
                    return Err(self.error(self.at, message));
                }
                _ => break,
            }
            self.at += 1;
        }
        if self.at == self.letters.len() {
            return Err(self.error(self.at, "an atom such as `W` is missing at the end"));
        }
        Ok(modifiers)
    }

    /// Puts the direction letters before an `a` aside.
    fn end_leg(&self, modifiers: &mut Modifiers) -> Result<(), BetzaError> {
        let special = modifiers.quiet || modifiers.capture || modifiers.initial;
        if special || modifiers.lame || modifiers.hop.is_some() {
            let message = "only the last leg may have other letters than directions";
            return Err(self.error(self.at, message));
        }
        let directions = std::mem::take(&mut modifiers.directions);
        modifiers.legs.push(directions);
        Ok(())
    }

    fn atom(&mut self) -> Result<Vec<Leaper>, BetzaError> {
        let at = self.at;
        let letter = self.letters[at];
        self.at += 1;
        let simple = |small, large| vec![(small, large)];
        let (leaps, endless) = match letter {
            'W' => (simple(0, 1), false),
            'F' => (simple(1, 1), false),
            'D' => (simple(0, 2), false),
            'N' => (simple(1, 2), false),
            'A' => (simple(2, 2), false),
            'H' => (simple(0, 3), false),
            'C' | 'L' => (simple(1, 3), false),
            'Z' | 'J' => (simple(2, 3), false),
            'G' => (simple(3, 3), false),
            'K' => (vec![(0, 1), (1, 1)], false),
            'R' => (simple(0, 1), true),
            'B' => (simple(1, 1), true),
            'Q' => (vec![(0, 1), (1, 1)], true),
            '(' => (vec![self.written_out(at)?], false),
            'O' => {
                return Err(self.error(
                    at,
                    "castling is not part of a piece here; write a [[castling]] table",
                ));
            }
            _ => return Err(self.error(at, format!(
                "there is no atom `{letter}`; there are K W F D N A H C Z G L J R B Q and leaps such as (2,4)"
            ))),
        };
        let doubled = !endless && !matches!(letter, 'K' | '(');
        let limit = self.range(letter, doubled)?;
        let limit = limit.unwrap_or(if endless { UNLIMITED } else { 1 });
        Ok(leaps
            .into_iter()
            .map(|(small, large)| Leaper {
                small,
                large,
                limit,
            })
            .collect())
    }

    /// Reads the rest of an atom such as `(2,4)`.
    fn written_out(&mut self, at: usize) -> Result<(i8, i8), BetzaError> {
        let text: String = self.letters[self.at..].iter().collect();
        let closed = text.split_once(')').map(|(rest, _)| rest);
        let numbers = closed.and_then(|rest| {
            let (a, b) = rest.split_once(',')?;
            Some((rest, a.parse::<i8>().ok()?, b.parse::<i8>().ok()?))
        });
        match numbers {
            Some((rest, a, b)) if (0..10).contains(&a) && (0..10).contains(&b) && a + b > 0 => {
                self.at += rest.chars().count() + 1;
                Ok((a.min(b), a.max(b)))
            }
            _ => Err(self.error(
                at,
                "a leap is written out as `(2,4)`, two numbers from 0 to 9",
            )),
        }
    }

    /// Reads digits, or the atom's letter repeated; `None` if neither follows.
    fn range(&mut self, letter: char, may_double: bool) -> Result<Option<u8>, BetzaError> {
        if may_double && self.letters.get(self.at) == Some(&letter) {
            self.at += 1;
            return Ok(Some(UNLIMITED));
        }
        let start = self.at;
        while self.letters.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
        if start == self.at {
            return Ok(None);
        }
        let digits: String = self.letters[start..self.at].iter().collect();
        match digits.parse::<u8>() {
            Ok(0) => Ok(Some(UNLIMITED)),
            Ok(limit) => Ok(Some(limit.min(UNLIMITED))),
            Err(_) => Err(self.error(start, "the range is larger than any board")),
        }
    }

    fn reach(
        &self,
        modifiers: &Modifiers,
        leaper: &Leaper,
        step: Offset,
        at: usize,
    ) -> Result<Reach, BetzaError> {
        let adjacent = leaper.large == 1;
        if let Some(landing) = modifiers.hop {
            if modifiers.lame || leaper.limit == 1 || modifiers.en_passant {
                let message = "`p` and `g` need a rider such as `R`, without `n` or `e`";
                return Err(self.error(at, message));
            }
            let limit = leaper.limit;
            return Ok(Reach::Hop { limit, landing });
        }
        match (modifiers.lame && !adjacent, leaper.limit) {
            (false, 1) => Ok(Reach::Leap),
            (false, limit) => Ok(Reach::Ride { limit }),
            (true, 1) => Ok(Reach::Lame {
                paths: lame_paths(step),
            }),
            (true, _) => Err(self.error(
                at,
                "a lame leap cannot be repeated; leave out `n` or the range",
            )),
        }
    }
}

/// Every order of single steps that leads to a target, as the squares on the way.
///
/// A target needs as many diagonal steps as its smaller coordinate and straight steps for the
/// rest. The knight's target keeps only the path that starts straight.
fn lame_paths(target: Offset) -> Vec<Vec<Offset>> {
    let (x, y) = target;
    let diagonals = x.abs().min(y.abs());
    let straights = x.abs().max(y.abs()) - diagonals;
    let diagonal = (x.signum(), y.signum());
    let straight = if x.abs() > y.abs() {
        (x.signum(), 0)
    } else {
        (0, y.signum())
    };
    let mut paths = Vec::new();
    extend_path(
        &mut paths,
        &mut Vec::new(),
        (0, 0),
        [(straight, straights), (diagonal, diagonals)],
    );
    if (diagonals, straights) == (1, 1) {
        paths.truncate(1);
    }
    paths
}

/// Adds all continuations of a path; the last square, the target, is left out.
fn extend_path(
    paths: &mut Vec<Vec<Offset>>,
    path: &mut Vec<Offset>,
    at: Offset,
    left: [(Offset, i8); 2],
) {
    if left[0].1 + left[1].1 == 1 {
        paths.push(path.clone());
        return;
    }
    for kind in 0..2 {
        let (step, count) = left[kind];
        if count == 0 {
            continue;
        }
        let mut rest = left;
        rest[kind].1 -= 1;
        let next = (at.0 + step.0, at.1 + step.1);
        path.push(next);
        extend_path(paths, path, next, rest);
        path.pop();
    }
}
