//! Games once more by the rules, and targets from scratch.
//!
//! The records hold every position and every search by themselves. Here nothing of that is believed: positions follow from
//! the first one and the moves, repetitions from counting positions as text (but for plies before the record), the result from the last position, and the
//! targets from all of these.

use crate::learn::sample::{Sample, look_ahead, samples};
use model::Wdl;
use rules::{Color, Outcome, Position, Status, Variant};
use selfplay::game::EndReason;
use selfplay::record::{GameRecord, PlyRecord};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// Faults that are listed; others are only counted.
const LISTED: usize = 10;
/// Rounding of probabilities in records and targets.
const ROUNDING: f32 = 2e-3;

/// Something in a record that does not follow from the rest of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The game's id.
    pub game: String,
    /// Index of the ply; the number of plies for the end of the game.
    pub ply: usize,
    /// What is wrong.
    pub what: String,
}

/// Games played once more.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Replayed {
    /// Games replayed.
    pub games: u64,
    /// Their plies.
    pub plies: u64,
    /// Faults in all of them.
    pub faults: u64,
    /// The first few.
    pub listed: Vec<Fault>,
}

impl Replayed {
    /// Replays a game of a run whose values look ahead by `lambda`.
    pub fn add(&mut self, variant: &Arc<Variant>, game: &GameRecord, lambda: f32) {
        self.games += 1;
        self.plies += game.plies.len() as u64;
        for (ply, what) in faults(variant, game, lambda) {
            self.faults += 1;
            if self.listed.len() < LISTED {
                self.listed.push(Fault {
                    game: game.game_id.clone(),
                    ply,
                    what,
                });
            }
        }
    }
}

/// All faults of a game, up to the ply from which it cannot be followed any more.
fn faults(variant: &Arc<Variant>, game: &GameRecord, lambda: f32) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let made = match samples(variant, game, None) {
        Ok(made) => made,
        Err(error) => return vec![(0, error.to_string())],
    };
    found.extend(wrong_look_ahead(&made, lambda));
    let Some(first) = game.plies.first() else {
        return vec![(0, "it has no plies".to_owned())];
    };
    let mut position = match Position::from_fen(variant, &first.fen) {
        Ok(position) => position,
        Err(error) => return vec![(0, error.to_string())],
    };
    let mut seen: HashMap<String, u8> = HashMap::new();
    for (index, (ply, sample)) in game.plies.iter().zip(&made).enumerate() {
        let fen = position.fen(variant);
        if fen != ply.fen {
            found.push((
                index,
                format!("the moves lead to {fen}, the record says {}", ply.fen),
            ));
            return found;
        }
        let names = names(&fen);
        let counts = names
            .clone()
            .map(|name| seen.get(&name).map_or(1, |count| count + 1));
        // Random plies before the record may have seen it, if nothing irreversible has happened since.
        let is_new = counts == [1, 1] && usize::from(position.halfmove_clock()) > index;
        if !counts.contains(&ply.repetitions) && !is_new {
            let (stands, recorded) = (counts[0], ply.repetitions);
            let what = format!("it stands for the {stands}. time, the record says {recorded}");
            found.push((index, what));
        }
        seen.extend(names.map(|name| (name, ply.repetitions)));
        let left = (game.plies.len() - index) as f32;
        let wrong = wrong_target(variant, &position, (game, ply), sample, left);
        found.extend(wrong.map(|what| (index, what)));
        match variant.parse_move(&position, &ply.mv) {
            Ok(mv) => position = position.play(variant, mv),
            Err(error) => {
                found.push((index, error.to_string()));
                return found;
            }
        }
    }
    let last = names(&position.fen(variant));
    let stands = last.map(|name| seen.get(&name).map_or(1, |count| count + 1));
    let stands = stands[0].max(stands[1]);
    let end = wrong_end(variant, &position, stands, game);
    found.extend(end.map(|what| (game.plies.len(), what)));
    found
}

/// A FEN without its counters, with and without its en passant square: after a double step it has one even if nobody can
/// capture, and then it does not tell positions apart.
fn names(fen: &str) -> [String; 2] {
    [3, 2].map(|last| {
        let fields = fen.split(' ').enumerate();
        let fields = fields.filter(|&(place, _)| place <= last || place > 5);
        fields
            .map(|(_, field)| field)
            .collect::<Vec<&str>>()
            .join(" ")
    })
}

/// What is wrong with the targets of a sample, told without the code that makes them.
fn wrong_target(
    variant: &Variant,
    position: &Position,
    (game, ply): (&GameRecord, &PlyRecord),
    sample: &Sample,
    left: f32,
) -> Option<String> {
    let white_to_move = position.turn() == Color::White;
    let score = match (game.outcome, white_to_move) {
        (Outcome::Draw, _) => 0.5,
        (Outcome::WhiteWins, true) | (Outcome::BlackWins, false) => 1.0,
        (Outcome::WhiteWins, false) | (Outcome::BlackWins, true) => 0.0,
    };
    let taught = sample.outcome.win + 0.5 * sample.outcome.draw;
    if taught != score {
        return Some(format!(
            "it teaches a score of {taught}, the side to move made {score}"
        ));
    }
    let searched = sample.searched.win - sample.searched.loss;
    if (searched - ply.root_q).abs() > ROUNDING {
        return Some(format!(
            "it teaches q = {searched}, the search said {}",
            ply.root_q
        ));
    }
    let by_rule = ends_by_rule(game.end);
    if sample.moves_left != by_rule.then_some(left) {
        return Some(format!(
            "it teaches {:?} plies left of {left}",
            sample.moves_left
        ));
    }
    match &sample.policy_target {
        Some(target) => wrong_policy(variant, position, ply, target),
        None if ply.full_search => Some("a full search teaches no policy".to_owned()),
        None => None,
    }
}

/// Plies whose value does not look ahead as it should: each later search counts for (1 − λ)·λ^k, k plies on, and the outcome
/// for the rest, unless a certain value ends the sum. The trainer goes from the last ply to the first, and this the other way.
fn wrong_look_ahead(made: &[Sample], lambda: f32) -> Vec<(usize, String)> {
    let q = |wdl: &Wdl| wdl.win - wdl.loss;
    let mut ahead = made.to_vec();
    look_ahead(&mut ahead, lambda);
    let mut found = Vec::new();
    for (index, taught) in ahead.iter().enumerate() {
        let (mut sum, mut weight, mut sign) = (0.0, 1.0, 1.0);
        for later in &made[index..] {
            let searched = &later.searched;
            let is_certain = [searched.win, searched.draw, searched.loss].contains(&1.0);
            let share = if is_certain { 1.0 } else { 1.0 - lambda };
            sum += weight * share * sign * q(searched);
            weight *= 1.0 - share;
            sign = -sign;
        }
        sum += weight * q(&made[index].outcome);
        let taught = q(&taught.searched);
        if (taught - sum).abs() > ROUNDING {
            found.push((
                index,
                format!("it teaches q = {taught} by looking ahead, which comes to {sum}"),
            ));
        }
    }
    found
}

fn wrong_policy(
    variant: &Variant,
    position: &Position,
    ply: &PlyRecord,
    target: &[f32],
) -> Option<String> {
    let moves = position.legal_moves(variant);
    let mut sum = 0.0;
    for (&mv, &taught) in moves.iter().zip(target) {
        let text = variant.move_text(position, mv);
        let recorded = ply.policy.iter().find(|(known, _)| *known == text);
        let recorded = recorded.map_or(0.0, |(_, probability)| *probability);
        if (recorded - taught).abs() > ROUNDING {
            return Some(format!(
                "it teaches {taught} for {text}, the search said {recorded}"
            ));
        }
        sum += taught;
    }
    let fits = target.len() == moves.len() && (sum - 1.0).abs() < ROUNDING;
    (!fits).then(|| format!("its policy adds up to {sum} over {} moves", target.len()))
}

/// Whether the rules alone ended a game.
fn ends_by_rule(end: EndReason) -> bool {
    !matches!(
        end,
        EndReason::Resignation | EndReason::MaxPlies | EndReason::Tablebase
    )
}

/// What is wrong with the end of a game whose last position stands for the `stands`th time.
fn wrong_end(
    variant: &Variant,
    position: &Position,
    stands: u8,
    game: &GameRecord,
) -> Option<String> {
    let status = match position.status(variant) {
        Status::Ongoing if stands >= 3 => Status::ThreefoldRepetition,
        // The times before the record are not in it.
        Status::Ongoing
            if game.end == EndReason::Repetition
                && usize::from(position.halfmove_clock()) > game.plies.len() =>
        {
            Status::ThreefoldRepetition
        }
        status => status,
    };
    let wins = |color| match color {
        Color::White => Outcome::WhiteWins,
        Color::Black => Outcome::BlackWins,
    };
    let outcome = match game.end {
        EndReason::Checkmate => Some(wins(!position.turn())),
        EndReason::Resignation | EndReason::Tablebase => None,
        _ => Some(Outcome::Draw),
    };
    let ruled = EndReason::of_status(status);
    let is_ruling = ends_by_rule(game.end);
    let fits = outcome.is_none_or(|outcome| outcome == game.outcome)
        && match is_ruling {
            true => ruled == Some(game.end),
            false => ruled.is_none(),
        };
    (!fits).then(|| {
        format!(
            "it ended by {} with {:?}, but the rules say {status:?}",
            game.end, game.outcome
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfplay::starts::StartKind;

    /// 1.f3 e5 2.g4 Qh4 mate, with made-up searches.
    fn fools_mate(variant: &Arc<Variant>) -> GameRecord {
        let mut position = variant.start();
        let mut plies = Vec::new();
        for text in ["f2f3", "e7e5", "g2g4", "d8h4"] {
            let mv = variant.parse_move(&position, text).expect("legal");
            plies.push(PlyRecord {
                fen: position.fen(variant),
                mv: text.to_owned(),
                repetitions: 1,
                policy: vec![(text.to_owned(), 1.0)],
                root_q: 0.25,
                raw_value: Wdl {
                    win: 0.3,
                    draw: 0.4,
                    loss: 0.3,
                },
                visits: 8,
                full_search: true,
                net_id: "00000000".to_owned(),
            });
            position = position.play(variant, mv);
        }
        GameRecord {
            game_id: "g".to_owned(),
            variant: variant.name().to_owned(),
            start_kind: StartKind::Opening,
            worker_id: "w".to_owned(),
            seed: 1,
            outcome: Outcome::BlackWins,
            end: EndReason::Checkmate,
            would_resign: None,
            plies,
        }
    }

    #[test]
    fn only_what_is_wrong_is_a_fault() {
        let chess = Variant::by_name("chess").expect("built in");
        let good = fools_mate(&chess);
        for lambda in [0.0, 0.9, 1.0] {
            assert_eq!(faults(&chess, &good, lambda), []);
        }
        let spoilt = |spoil: fn(&mut GameRecord)| {
            let mut game = good.clone();
            spoil(&mut game);
            faults(&chess, &game, 0.9)
        };
        for (ply, wrong) in [
            (4, spoilt(|game| game.outcome = Outcome::WhiteWins)),
            (4, spoilt(|game| game.end = EndReason::Resignation)),
            (1, spoilt(|game| game.plies[1].repetitions = 2)),
            (3, spoilt(|game| game.plies[2].mv = "g2g3".to_owned())),
            (0, spoilt(|game| game.plies[2].mv = "g2g5".to_owned())),
        ] {
            let last = wrong.last().map(|(ply, _)| *ply);
            assert!(
                last == Some(ply) || (ply == 0 && !wrong.is_empty()),
                "{ply}: {wrong:?}"
            );
        }
    }
}
