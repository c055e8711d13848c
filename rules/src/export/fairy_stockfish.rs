//! A variant for Fairy-Stockfish, as a section of its `variants.ini`.
//!
//! The settings are documented in that program's `src/variants.ini`
//! (<https://github.com/fairy-stockfish/Fairy-Stockfish/blob/master/src/variants.ini>). Ranks count from 1 there, whatever the variant
//! prints.

use std::fmt::Write;

use super::orthodox::{Pawns, motions, moves_like};
use super::{Inexpressible, Target};
use crate::betza::Reach;
use crate::{Role, RoleInfo, Variant};

/// Pieces that Fairy-Stockfish has a name for: its name, its letter in chess, and its moves.
const KNOWN: [(&str, char, &str); 5] = [
    ("knight", 'N', "N"),
    ("bishop", 'B', "B"),
    ("rook", 'R', "R"),
    ("queen", 'Q', "Q"),
    ("king", 'K', "K"),
];

/// What custom pieces may be written with. Directions of oblique leaps are left out: dialects differ in them.
const PLAIN: &str = "fblrvsmcWFDNAHCZGLJKRBQ0123456789";

/// The section `[NAME:chess]`.
///
/// # Errors
/// The first piece or rule that cannot be expressed.
///
/// ```
/// use rules::{Variant, export};
/// let promotion = Variant::by_name("falcon-hunter-promotion").unwrap();
/// let ini = export::fairy_stockfish(&promotion).unwrap();
/// assert!(ini.contains("customPiece1 = f:fBbR\n"));
/// let falcon = Variant::by_name("falcon").unwrap();
/// let error = export::fairy_stockfish(&falcon).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "Fairy-Stockfish cannot play falcon: it has no words for the falcon F = nCnZ"
/// );
/// ```
pub fn fairy_stockfish(variant: &Variant) -> Result<String, Inexpressible> {
    let target = Target {
        program: "Fairy-Stockfish",
        variant,
    };
    target.no_hands()?;
    let pawns = target.pawns()?;
    let mut ini = format!("[{}:chess]\n", variant.name());
    let mut set = |key: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(ini, "{key} = {value}");
    };
    set("maxFile", &variant.files().to_string());
    set("maxRank", &variant.ranks().to_string());
    pieces(target, pawns, &mut set)?;
    castling(target, &mut set)?;
    pawn_rules(target, pawns, &mut set);
    set("nMoveRule", &(variant.quiet_plies() / 2).to_string());
    set("startFen", variant.start_fen());
    Ok(ini)
}

/// The kinds of men in the order of Fairy-Stockfish's own numbers: pawn, knight, bishop, rook, queen, custom pieces, king.
///
/// # Errors
/// The first piece or rule that cannot be expressed, as [`fairy_stockfish`].
///
/// ```
/// use rules::{Variant, export};
/// let extra = Variant::by_name("falcon-hunter-66").unwrap();
/// let order = export::fairy_stockfish_order(&extra).unwrap();
/// let letters: String = order.iter().map(|role| extra.roles()[role.index()].letter).collect();
/// assert_eq!(letters, "PNBRQFHK");
/// ```
pub fn fairy_stockfish_order(variant: &Variant) -> Result<Vec<Role>, Inexpressible> {
    fairy_stockfish(variant)?;
    let target = Target {
        program: "Fairy-Stockfish",
        variant,
    };
    let mut order = named(target, target.pawns()?)?;
    order.sort_by_key(|&(_, name)| name);
    Ok(order.into_iter().map(|(role, _)| role).collect())
}

/// What a man is called; in the order of the program's own numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Pawn,
    /// Index into [`KNOWN`], the king's left out.
    Known(usize),
    /// Counted from 1.
    Custom(usize),
    King,
}

/// What each man is called, in the variant's order.
fn named(target: Target, pawns: Pawns) -> Result<Vec<(Role, Name)>, Inexpressible> {
    let mut custom = 0;
    let mut names: Vec<(Role, Name)> = Vec::new();
    for role in target.variant.role_ids() {
        let info = target.variant.role_info(role);
        let is_free = |name: &Name| names.iter().all(|(_, taken)| taken != name);
        let known = KNOWN.iter().position(|(name, _, betza)| {
            moves_like(info, betza) && info.is_royal == (*name == "king")
        });
        let known = known.map(|place| match KNOWN[place].0 {
            "king" => Name::King,
            _ => Name::Known(place),
        });
        let name = match known.filter(is_free) {
            _ if role == pawns.role => Name::Pawn,
            Some(known) => known,
            None if info.is_royal || !is_plain(info) => return refuse_piece(target, info),
            None => {
                custom += 1;
                Name::Custom(custom)
            }
        };
        names.push((role, name));
    }
    Ok(names)
}

fn pieces(
    target: Target,
    pawns: Pawns,
    set: &mut impl FnMut(&str, &str),
) -> Result<(), Inexpressible> {
    let names = named(target, pawns)?;
    for &(role, name) in &names {
        let role = target.variant.role_info(role);
        let letter = role.letter.to_ascii_lowercase().to_string();
        match name {
            Name::Pawn => set("pawn", &letter),
            Name::Known(place) => set(KNOWN[place].0, &letter),
            Name::King => set("king", &letter),
            Name::Custom(number) => set(
                &format!("customPiece{number}"),
                &format!("{letter}:{}", role.betza),
            ),
        }
    }
    // Chess, from which the section inherits, has all of them.
    for (place, (name, ..)) in KNOWN.iter().enumerate() {
        let has = |&(_, taken): &(Role, Name)| taken == Name::Known(place);
        if *name != "king" && !names.iter().any(has) {
            set(name, "-");
        }
    }
    Ok(())
}

fn refuse_piece<T>(target: Target, role: &RoleInfo) -> Result<T, Inexpressible> {
    target.refuse(format!(
        "the {} {} = {}",
        role.name, role.letter, role.betza
    ))
}

/// Whether the notation means the same to both.
fn is_plain(role: &RoleInfo) -> bool {
    let oblique = |(files, ranks): (i8, i8)| files != 0 && ranks != 0 && files.abs() != ranks.abs();
    let directed = role.betza.contains(['f', 'b', 'l', 'r', 'v', 's']);
    role.betza.chars().all(|letter| PLAIN.contains(letter))
        && motions(role).iter().all(|motion| {
            matches!(motion.reach, Reach::Leap | Reach::Ride { .. })
                && !(directed && oblique(motion.step))
        })
}

fn castling(target: Target, set: &mut impl FnMut(&str, &str)) -> Result<(), Inexpressible> {
    let Some(rule) = target.castling()? else {
        set("castling", "false");
        return Ok(());
    };
    let file = |file: u8| char::from(b'a' + file).to_string();
    let king = rule.king.file();
    let goals = (king.checked_sub(rule.steps), king + rule.steps);
    let (Some(queenside), kingside) = goals else {
        return target.refuse("a castling that leads off the board");
    };
    set("castling", "true");
    set("castlingKingsideFile", &file(kingside));
    set("castlingQueensideFile", &file(queenside));
    set("castlingRank", &(rule.king.rank() + 1).to_string());
    let rook = &target.variant.roles()[rule.partner.index()];
    if rook.letter != 'R' || !moves_like(rook, "R") {
        return target.refuse("castling with other men than rooks");
    }
    Ok(())
}

fn pawn_rules(target: Target, pawns: Pawns, set: &mut impl FnMut(&str, &str)) {
    let variant = target.variant;
    let mut regions = |key: &str, rank: u8| {
        set(&format!("{key}White"), &format!("*{}", rank + 1));
        set(
            &format!("{key}Black"),
            &format!("*{}", variant.ranks() - rank),
        );
    };
    if pawns.first_step > 1 {
        regions("doubleStepRegion", pawns.rank);
    }
    if pawns.first_step > 2 {
        regions("tripleStepRegion", pawns.rank);
    }
    if let Some(rank) = pawns.promotion_rank {
        regions("promotionRegion", rank);
    }
    if pawns.first_step == 1 {
        set("doubleStep", "false");
    }
    if !pawns.en_passant {
        set("enPassantRegion", "-");
    }
    let letters = variant.promotion_roles().iter();
    let letters: String = letters
        .map(|role| variant.roles()[role.index()].letter.to_ascii_lowercase())
        .collect();
    set(
        "promotionPieceTypes",
        if letters.is_empty() { "-" } else { &letters },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str) -> Result<String, Inexpressible> {
        fairy_stockfish(&Variant::by_name(name).expect("built in"))
    }

    #[test]
    fn what_can_be_played_is_written() {
        let chess = result("chess").expect("expressible");
        for line in [
            "[chess:chess]",
            "maxFile = 8",
            "castlingKingsideFile = g",
            "promotionPieceTypes = qrbn",
            "nMoveRule = 50",
        ] {
            assert!(
                chess.lines().any(|known| known == line),
                "{line} in\n{chess}"
            );
        }
        assert!(!chess.contains("customPiece") && !chess.contains("enPassantRegion"));
        let extra = result("falcon-hunter-66").expect("expressible");
        for line in [
            "maxRank = 10",
            "castling = false",
            "promotionRegionWhite = *9",
            "promotionRegionBlack = *2",
            "doubleStepRegionWhite = *3",
            "doubleStepRegionBlack = *8",
            "customPiece2 = h:fRbB",
            "promotionPieceTypes = qfhrbn",
        ] {
            assert!(
                extra.lines().any(|known| known == line),
                "{line} in\n{extra}"
            );
        }
    }

    #[test]
    fn what_cannot_be_played_is_refused_by_name() {
        for (name, what) in [
            ("falcon", "falcon F = nCnZ"),
            ("falcon-hunter", "in hand"),
            ("hunter-chess", "in hand"),
            ("decimal-falcon-hunter", "the first move of the knight"),
        ] {
            let error = result(name).expect_err("inexpressible").to_string();
            assert!(
                error.contains(what) || error.contains("knight N = Ni(2,4)"),
                "{name}: {error}"
            );
        }
        let free = Variant::by_name("falcon-free").expect("built in");
        let free = free.toml().replace("nCnZ", "C");
        let free = Variant::from_toml(&free).expect("a variant");
        let error = fairy_stockfish(&free)
            .expect_err("free castling")
            .to_string();
        assert!(error.contains("free castling"), "{error}");
    }

    #[test]
    fn missing_pieces_of_chess_are_taken_away() {
        let small = Variant::by_name("falcon-8x8").expect("built in");
        let small = Variant::from_toml(&small.toml().replace("nCnZ", "C")).expect("a variant");
        let ini = fairy_stockfish(&small).expect("expressible");
        assert!(
            ini.contains("queen = -\n") && ini.contains("customPiece1 = f:C\n"),
            "{ini}"
        );
    }
}
