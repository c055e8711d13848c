//! The numbers that stand in the files for the rules' enums.

use rules::{Color, Outcome};

/// White's result: +1, 0 or −1.
pub(super) fn outcome_number(outcome: Outcome) -> i8 {
    match outcome {
        Outcome::WhiteWins => 1,
        Outcome::Draw => 0,
        Outcome::BlackWins => -1,
    }
}

pub(super) fn outcome_from(number: i8) -> Option<Outcome> {
    match number {
        1 => Some(Outcome::WhiteWins),
        0 => Some(Outcome::Draw),
        -1 => Some(Outcome::BlackWins),
        _ => None,
    }
}

/// +1 for White, −1 for Black, 0 for neither.
pub(super) fn color_number(color: Option<Color>) -> i8 {
    match color {
        Some(Color::White) => 1,
        None => 0,
        Some(Color::Black) => -1,
    }
}

pub(super) fn color_from(number: i8) -> Option<Option<Color>> {
    match number {
        1 => Some(Some(Color::White)),
        0 => Some(None),
        -1 => Some(Some(Color::Black)),
        _ => None,
    }
}
