//! What XBoard must be told to show and check a variant.
//!
//! XBoard knows orthodox chess and Falcon Chess. Any other game it learns from the engine, after `variant NAME`: a
//! `setup` line with the letters of the men, the size of the board and the start position, and a `piece` line for each
//! man, in XBoard's dialect of Betza notation. A name that begins with that of a game that XBoard knows would be taken
//! for that game, so such variants go by another name.

use super::Inexpressible;
use crate::{Bitboard, Castling, Color, RoleInfo, Variant};

/// Kinds of men in XBoard's table, a side.
const SLOTS: usize = 22;

/// The king's place in the table.
const KING: usize = 21;

/// The place whose picture is a falcon.
const FALCON: usize = 17;

/// Places for men without one of their own, those with the best pictures first.
const OTHERS: [usize; 15] = [12, 7, 8, 16, 11, 13, 14, 15, 18, 19, 20, 10, 9, 6, 5];

/// The falcon of Falcon Chess, step by step: XBoard reads `nC` and `nZ` as leaps with one path only.
const FALCON_STEPS: &str = "aflafrKafraflKafafsKafsafK";

/// The lines that teach XBoard a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XboardSetup {
    /// `setup (LETTERS) FILESxRANKS+HAND_PARENT FEN`.
    pub setup: String,
    /// `piece LETTER& BETZA`, a line a man.
    pub pieces: Vec<String>,
}

impl XboardSetup {
    /// All lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.setup.as_str()).chain(self.pieces.iter().map(String::as_str))
    }
}

/// What stands before a name that XBoard would take for another game's.
const PREFIX: &str = "fz-";

/// The games that XBoard knows, by the beginnings of their names.
const KNOWN: [&str; 31] = [
    "3check",
    "asean",
    "atomic",
    "bughouse",
    "capablanca",
    "chu",
    "courier",
    "crazyhouse",
    "cylinder",
    "elven",
    "fairy",
    "falcon",
    "fischerandom",
    "giveaway",
    "gothic",
    "grand",
    "great",
    "janus",
    "knightmate",
    "lion",
    "losers",
    "makruk",
    "nocastle",
    "normal",
    "seirawan",
    "shatranj",
    "shogi",
    "spartan",
    "suicide",
    "super",
    "xiangqi",
];

/// The name for XBoard of a variant.
pub fn xboard_name(name: &str) -> String {
    match name {
        "chess" => "normal".to_owned(),
        "falcon" => name.to_owned(),
        name if KNOWN.iter().any(|known| name.starts_with(known)) => PREFIX.to_owned() + name,
        name => name.to_owned(),
    }
}

/// The variant of a name that XBoard has.
pub fn xboard_own_name(name: &str) -> &str {
    match name {
        "normal" => "chess",
        name => name.strip_prefix(PREFIX).unwrap_or(name),
    }
}

/// The lines for a variant.
///
/// # Errors
/// The first rule that XBoard cannot be told of.
pub fn xboard(variant: &Variant) -> Result<XboardSetup, Inexpressible> {
    let fail = |what: String| Inexpressible {
        program: "XBoard",
        variant: variant.name().to_owned(),
        what,
    };
    check_promotion(variant).map_err(fail)?;
    let castling = castling(variant).map_err(fail)?;
    let slots = slots(variant).map_err(fail)?;
    let hand = variant.hand_roles().iter().map(|role| role.index());
    let setup = format!(
        "setup ({}) {}x{}+{}_fairy {}",
        letters(variant, &slots),
        variant.files(),
        variant.ranks(),
        hand.map(|role| slots[role] + 1).max().unwrap_or(0),
        start(variant)
    );
    let mut pieces = Vec::new();
    for role in variant.roles() {
        let mut betza = xboard_betza(role).map_err(fail)?;
        if role.is_royal {
            betza += &castling;
        }
        pieces.push(format!("piece {}& {betza}", role.letter));
    }
    Ok(XboardSetup { setup, pieces })
}

/// XBoard promotes on the last rank.
fn check_promotion(variant: &Variant) -> Result<(), String> {
    let last = Bitboard::rank(variant.ranks() - 1) & variant.board();
    let zone = variant.promotion_zone(Color::White);
    match variant.promotion_roles().is_empty() || zone == last {
        true => Ok(()),
        false => Err("promotion before the last rank".to_owned()),
    }
}

/// What the king's string gains by castling.
fn castling(variant: &Variant) -> Result<String, String> {
    let mut text = String::new();
    for rule in variant.castlings() {
        let leader = &variant.roles()[rule.leader.index()];
        if !leader.is_royal {
            return Err(format!("castling by the {}", leader.name));
        }
        if rule.min_steps == 1 {
            return Err("castling by one step, which looks like a plain move".to_owned());
        }
        let most = most_steps(variant, rule)
            .ok_or("castling with a man that starts elsewhere than in the corner")?;
        for steps in rule.min_steps..=most {
            text += &format!("isO{steps}");
        }
    }
    Ok(text)
}

/// The most steps that the king can make towards a partner in a corner of its rank; `None` if its partners start
/// elsewhere.
fn most_steps(variant: &Variant, rule: &Castling) -> Option<u8> {
    let start = variant.start();
    let king = start.pieces(Color::White, rule.leader).first()?;
    let row = start.pieces(Color::White, rule.partner) & Bitboard::rank(king.rank());
    let is_corner = |file: u8| file == 0 || file + 1 == variant.files();
    let files: Vec<u8> = row.into_iter().map(|square| square.file()).collect();
    let distances = files.iter().map(|file| file.abs_diff(king.file()) - 1);
    let corners = !files.is_empty() && files.iter().all(|&file| is_corner(file));
    distances
        .max()
        .filter(|_| corners)
        .map(|free| free.min(rule.max_steps))
}

/// The place of each role in XBoard's table.
fn slots(variant: &Variant) -> Result<Vec<usize>, String> {
    let hand = variant.hand_roles();
    // Men that can be held in hand must come first in the table, right behind the queen.
    let mut next_in_hand = 5;
    let mut slots = vec![None; variant.roles().len()];
    let mut taken = [false; SLOTS];
    for (index, role) in variant.roles().iter().enumerate() {
        let in_hand = hand.iter().any(|held| held.index() == index);
        let usual = match role.letter {
            _ if role.is_royal => Some(KING),
            'P' if role.is_pawn => Some(0),
            'N' => Some(1),
            'B' => Some(2),
            'R' => Some(3),
            'Q' => Some(4),
            _ if in_hand => {
                next_in_hand += 1;
                Some(next_in_hand - 1)
            }
            'F' => Some(FALCON),
            _ => None,
        };
        if let Some(slot) = usual.filter(|&slot| !taken[slot]) {
            taken[slot] = true;
            slots[index] = Some(slot);
        }
    }
    slots
        .into_iter()
        .map(|slot| {
            let free = OTHERS.into_iter().find(|&other| !taken[other]);
            let slot = slot.or(free).ok_or("more kinds of men than XBoard draws")?;
            taken[slot] = true;
            Ok(slot)
        })
        .collect()
}

/// XBoard's table of letters, White's and then Black's.
fn letters(variant: &Variant, slots: &[usize]) -> String {
    let mut table = ['.'; SLOTS];
    for (role, &slot) in variant.roles().iter().zip(slots) {
        table[slot] = role.letter;
    }
    let white: String = table.iter().collect();
    let black = white.to_ascii_lowercase();
    white + &black
}

/// The start position as XBoard reads it: without the field for losses, and with `KQkq` as the only rights.
fn start(variant: &Variant) -> String {
    let fields: Vec<&str> = variant.start_fen().split_whitespace().take(6).collect();
    let rights: String = fields[2].chars().filter(|c| "KQkq".contains(*c)).collect();
    let rights = if rights.is_empty() { "-" } else { &rights };
    format!(
        "{} {} {rights} - {} {}",
        fields[0], fields[1], fields[4], fields[5]
    )
}

/// A man's string in XBoard's dialect.
fn xboard_betza(role: &RoleInfo) -> Result<String, String> {
    let text = role
        .betza
        .replace("nCnZ", FALCON_STEPS)
        .replace("nZnC", FALCON_STEPS)
        // (2,2), and from there half a turn off (0,2), whatever stands in between.
        .replace("i(2,4)", "impafsA");
    let odd = text.contains(['(', 'p', 'g']) && !text.contains("mpafsA");
    // XBoard gives such a leap one path where this program knows several.
    let lame = text.contains("nC") || text.contains("nZ");
    if odd || lame {
        return Err(format!("the {} ({})", role.name, role.betza));
    }
    Ok(riders(&text))
}

/// A rider is written with a doubled letter here, and with a range of 0 in XBoard's dialect.
fn riders(betza: &str) -> String {
    let mut text = String::with_capacity(betza.len());
    let mut last = None;
    for letter in betza.chars() {
        let doubled = letter.is_ascii_uppercase() && last == Some(letter);
        text.push(if doubled { '0' } else { letter });
        last = (!doubled).then_some(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(name: &str) -> Result<XboardSetup, Inexpressible> {
        xboard(&Variant::by_name(name).expect("a built-in variant"))
    }

    #[test]
    fn falcon_chess_is_told_as_xboard_wants_it() {
        let setup = setup("falcon").expect("expressible");
        assert_eq!(
            setup.setup,
            "setup (PNBRQ............F...Kpnbrq............f...k) 10x8+0_fairy \
             rnbfqkfbnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNBFQKFBNR w KQkq - 0 1"
        );
        let falcon = format!("piece F& {FALCON_STEPS}");
        assert!(setup.pieces.contains(&falcon), "{setup:?}");
        assert!(
            setup.pieces.contains(&"piece K& KisO3".to_owned()),
            "{setup:?}"
        );
    }

    #[test]
    fn men_in_hand_have_low_places() {
        let setup = setup("falcon-hunter").expect("expressible");
        assert!(
            setup.setup.starts_with(
                "setup (PNBRQFH..............Kpnbrqfh..............k) 8x8+7_fairy rnbqkbnr/"
            ),
            "{}",
            setup.setup
        );
        assert!(
            setup.setup.ends_with("[FHfh] w KQkq - 0 1"),
            "{}",
            setup.setup
        );
    }

    #[test]
    fn free_castling_is_every_length_that_there_is() {
        let setup = setup("falcon-tournament").expect("expressible");
        assert!(
            setup.pieces.contains(&"piece K& KisO2isO3isO4".to_owned()),
            "{setup:?}"
        );
    }

    #[test]
    fn riders_have_a_range() {
        for (own, xboards) in [("NN", "N0"), ("fNNWW", "fN0W0"), ("KNA", "KNA"), ("Q", "Q")] {
            assert_eq!(riders(own), xboards);
        }
    }

    #[test]
    fn names_are_not_taken_for_those_of_other_games() {
        for (own, xboards) in [
            ("chess", "normal"),
            ("falcon", "falcon"),
            ("falcon-8x8", "fz-falcon-8x8"),
            ("decimal-falcon-hunter", "decimal-falcon-hunter"),
            ("grand-style", "fz-grand-style"),
        ] {
            assert_eq!(xboard_name(own), xboards);
            assert_eq!(xboard_own_name(xboards), own);
        }
        assert_eq!(xboard_own_name("falcon-8x8"), "falcon-8x8");
    }

    #[test]
    fn rules_without_words_are_refused_by_name() {
        for (name, part) in [
            ("falcon-free", "one step"),
            ("hunter-chess", "castling"),
            ("falcon-hunter-66", "promotion"),
        ] {
            let error = setup(name).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains(part), "{error}");
        }
    }
}
