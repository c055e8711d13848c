//! One position to learn from, made from a ply of a game record.

use model::Wdl;
use rules::tablebase::{TableValue, Tablebases};
use rules::{Color, Move, Outcome, Position, Variant};
use selfplay::game::EndReason;
use selfplay::record::{GameRecord, PlyRecord};
use thiserror::Error;

/// A position with what the net should say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position, side to move at its own view.
    pub position: Position,
    /// How often the position has occurred in its game, this time included.
    pub repetitions: u8,
    /// Probability of each legal move, in the order of `Position::legal_moves`; none if the search was a cheap one,
    /// whose visits say too little to teach the policy.
    pub policy_target: Option<Box<[f32]>>,
    /// What came of the game, from the side to move.
    pub outcome: Wdl,
    /// What the search thought of the position, from the side to move.
    pub searched: Wdl,
    /// Plies to the end of the game; none if the game was cut short, so that its length says nothing.
    pub moves_left: Option<f32>,
}

/// Why a game record cannot be learnt from.
#[derive(Debug, Error)]
pub enum SampleError {
    /// The record is of another variant.
    #[error(
        "game {game} is a game of '{found}', this run plays '{expected}'; move its file out of games/"
    )]
    Variant {
        /// The game's id.
        game: String,
        /// The variant of the record.
        found: String,
        /// The variant of the run.
        expected: String,
    },
    /// A ply does not hold a legal position or names a move that is not legal in it.
    #[error(
        "game {game}, ply {ply}: {reason}; the record was written under other rules, move its file out of games/"
    )]
    Ply {
        /// The game's id.
        game: String,
        /// Index of the ply in the record.
        ply: usize,
        /// What is wrong.
        reason: String,
    },
}

/// The samples of a game, one a ply, in order.
///
/// Where `tables` know a position, its value and its distance to mate take the place of what players made of it: who
/// cannot mate yet would teach that won endings are drawn.
///
/// # Errors
/// If the record is of another variant or does not follow the rules.
pub fn samples(
    variant: &Variant,
    record: &GameRecord,
    tables: Option<&Tablebases>,
) -> Result<Vec<Sample>, SampleError> {
    if record.variant != variant.name() {
        return Err(SampleError::Variant {
            game: record.game_id.to_string(),
            found: record.variant.clone(),
            expected: variant.name().to_owned(),
        });
    }
    let count = record.plies.len();
    let plies = record.plies.iter().enumerate();
    let mut samples = plies
        .map(|(index, ply)| {
            let moves_left = ended_by_rule(record.end).then_some((count - index) as f32);
            sample(variant, ply, record.outcome, moves_left).map_err(|reason| SampleError::Ply {
                game: record.game_id.to_string(),
                ply: index,
                reason,
            })
        })
        .collect::<Result<Vec<Sample>, SampleError>>()?;
    if let Some(tables) = tables {
        teach_exactly(&mut samples, record, tables);
    }
    Ok(samples)
}

/// Lets the searches of later plies speak for earlier ones: TD(λ), Sutton 1988.
///
/// From the last ply back, a ply's searched value becomes (1 − λ) of itself and λ of the next ply's, and the last ply's
/// (1 − λ) of itself and λ of the outcome. So λ = 0 leaves all as it is, and λ = 0.9 looks about ten plies ahead: far
/// enough to see what a blunder costs, and not so far that the next ten blunders drown it. Certain values stay.
pub fn look_ahead(samples: &mut [Sample], lambda: f32) {
    let mut next: Option<Wdl> = None;
    for sample in samples.iter_mut().rev() {
        let own = sample.searched;
        let later = next.map_or(sample.outcome, |wdl| Wdl {
            win: wdl.loss,
            draw: wdl.draw,
            loss: wdl.win,
        });
        let mix = |own: f32, later: f32| (1.0 - lambda) * own + lambda * later;
        let is_certain = [own.win, own.draw, own.loss].contains(&1.0);
        if !is_certain {
            sample.searched = Wdl {
                win: mix(own.win, later.win),
                draw: mix(own.draw, later.draw),
                loss: mix(own.loss, later.loss),
            };
        }
        next = Some(sample.searched);
    }
}

/// Puts exact values where tables know them, and counts the plies of an adjudicated game on to the mate.
fn teach_exactly(samples: &mut [Sample], record: &GameRecord, tables: &Tablebases) {
    if record.end == EndReason::Tablebase {
        let count = samples.len();
        let mate = plies_after(samples, record, tables);
        for (index, sample) in samples.iter_mut().enumerate() {
            sample.moves_left = mate.map(|plies| (count - index) as f32 + f32::from(plies));
        }
    }
    for sample in samples {
        let (score, plies) = match tables.probe_in_play(&sample.position) {
            None => continue,
            Some(TableValue::Draw) => (0.5, None),
            Some(TableValue::Win(plies)) => (1.0, Some(plies)),
            Some(TableValue::Loss(plies)) => (0.0, Some(plies)),
        };
        sample.outcome = certain(score);
        sample.searched = certain(score);
        sample.moves_left = plies.map(f32::from);
    }
}

/// Plies from the position after the last recorded move to the mate; none if it is a draw.
fn plies_after(samples: &[Sample], record: &GameRecord, tables: &Tablebases) -> Option<u16> {
    let variant = tables.variant();
    let (last, ply) = (&samples.last()?.position, record.plies.last()?);
    let mv = variant.parse_move(last, &ply.mv).ok()?;
    match tables.probe(&last.play(variant, mv))? {
        TableValue::Draw => None,
        TableValue::Win(plies) | TableValue::Loss(plies) => Some(plies),
    }
}

/// Whether the game was played to its end, so that its length means something.
fn ended_by_rule(end: EndReason) -> bool {
    match end {
        EndReason::Checkmate
        | EndReason::Stalemate
        | EndReason::FiftyMoves
        | EndReason::Repetition
        | EndReason::InsufficientMaterial => true,
        EndReason::Resignation | EndReason::MaxPlies | EndReason::Tablebase => false,
    }
}

fn sample(
    variant: &Variant,
    ply: &PlyRecord,
    outcome: Outcome,
    moves_left: Option<f32>,
) -> Result<Sample, String> {
    let position = Position::from_fen(variant, &ply.fen).map_err(|error| error.to_string())?;
    let policy_target = match ply.full_search {
        true => Some(policy_target(variant, &position, &ply.policy)?),
        false => None,
    };
    Ok(Sample {
        position,
        repetitions: ply.repetitions,
        policy_target,
        outcome: outcome_for(outcome, position.turn()),
        searched: wdl_of_search(ply.root_q, ply.raw_value),
        moves_left,
    })
}

/// The recorded probabilities in the order of the legal moves, scaled to sum to 1.
fn policy_target(
    variant: &Variant,
    position: &Position,
    recorded: &[(String, f32)],
) -> Result<Box<[f32]>, String> {
    let moves = position.legal_moves(variant);
    let texts: Vec<String> = moves
        .iter()
        .map(|&mv: &Move| variant.move_text(position, mv))
        .collect();
    let mut target = vec![0.0f32; moves.len()].into_boxed_slice();
    for (text, probability) in recorded {
        let index = texts.iter().position(|legal| legal == text);
        let index =
            index.ok_or_else(|| format!("the policy names '{text}', which is not a legal move"))?;
        if !(probability.is_finite() && *probability >= 0.0) {
            return Err(format!(
                "the policy gives '{text}' the probability {probability}"
            ));
        }
        target[index] += probability;
    }
    let sum: f32 = target.iter().sum();
    if sum <= 0.0 {
        return Err("the policy is empty".to_owned());
    }
    target.iter_mut().for_each(|p| *p /= sum);
    Ok(target)
}

/// The outcome as certainty, from `side`.
fn outcome_for(outcome: Outcome, side: Color) -> Wdl {
    certain(outcome.score(side))
}

/// The score 1, 0.5 or 0 as certainty.
fn certain(score: f32) -> Wdl {
    let is = |result: f32| if score == result { 1.0 } else { 0.0 };
    Wdl {
        win: is(1.0),
        draw: is(0.5),
        loss: is(0.0),
    }
}

/// The search's expected value as chances: as likely a draw as the net thought, unless the value leaves no room for it.
fn wdl_of_search(q: f32, raw_value: Wdl) -> Wdl {
    let q = q.clamp(-1.0, 1.0);
    let draw = raw_value.draw.clamp(0.0, 1.0 - q.abs());
    let win = 0.5 * (1.0 - draw + q);
    Wdl {
        win,
        draw,
        loss: 1.0 - draw - win,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chances keep the searched value exactly and stay chances.
    #[test]
    fn chances_of_a_search_keep_its_value() {
        for (q, draw) in [(0.0, 0.4), (0.9, 0.4), (-1.0, 1.0), (0.25, 0.0), (0.3, 0.7)] {
            let wdl = wdl_of_search(
                q,
                Wdl {
                    win: 0.0,
                    draw,
                    loss: 1.0 - draw,
                },
            );
            assert!(
                (wdl.win - wdl.loss - q).abs() < 1e-6,
                "q {q}, draw {draw}: {wdl:?}"
            );
            assert!(
                [wdl.win, wdl.draw, wdl.loss]
                    .iter()
                    .all(|p| (-1e-6..=1.0).contains(p)),
                "{wdl:?}"
            );
            assert!((wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-6);
        }
    }

    /// Three plies, White to move first, won by White: by hand with λ = ½.
    #[test]
    fn later_searches_speak_for_earlier_ones() {
        let chess = Variant::by_name("chess").expect("built in");
        let sample = |searched: Wdl, score: f32| Sample {
            position: chess.start(),
            repetitions: 1,
            policy_target: None,
            outcome: certain(score),
            searched,
            moves_left: None,
        };
        let even = Wdl {
            win: 0.5,
            draw: 0.0,
            loss: 0.5,
        };
        let mut samples = [sample(even, 1.0), sample(even, 0.0), sample(even, 1.0)];
        look_ahead(&mut samples, 0.5);
        let wins = samples.each_ref().map(|sample| sample.searched.win);
        assert_eq!(wins, [0.5625, 0.375, 0.75]);
        let mut known = [sample(even, 1.0), sample(certain(0.5), 0.0)];
        look_ahead(&mut known, 0.5);
        assert_eq!(known[1].searched, certain(0.5), "certain values stay");
        assert_eq!(known[0].searched.draw, 0.5);
    }

    /// Rook against king, adjudicated as drawn after two plies by players who could not mate.
    #[test]
    fn tables_know_better_than_players() {
        let chess = Variant::by_name("chess").expect("built in");
        let tables = Tablebases::three_men(&chess).expect("solved");
        let fens = [
            "4k3/8/8/8/8/8/8/R3K3 w - - 0 1",
            "4k3/R7/8/8/8/8/8/4K3 b - - 1 1",
        ];
        let ply = |(fen, mv): (&str, &str)| PlyRecord {
            fen: fen.to_owned(),
            mv: mv.to_owned(),
            repetitions: 1,
            policy: vec![(mv.to_owned(), 1.0)],
            root_q: 0.0,
            raw_value: certain(0.5),
            visits: 8,
            full_search: true,
            net_id: String::new(),
        };
        let record = |end| GameRecord {
            game_id: "g".to_owned(),
            variant: "chess".to_owned(),
            start_kind: selfplay::starts::StartKind::FewMen,
            worker_id: "w".to_owned(),
            seed: 1,
            outcome: Outcome::Draw,
            end,
            would_resign: None,
            plies: fens.into_iter().zip(["a1a7", "e8d8"]).map(ply).collect(),
        };
        let made = samples(&chess, &record(EndReason::MaxPlies), Some(&tables)).expect("made");
        assert_eq!(
            (made[0].outcome, made[0].searched),
            (certain(1.0), certain(1.0))
        );
        assert_eq!(
            (made[1].outcome, made[1].searched),
            (certain(0.0), certain(0.0))
        );
        for sample in &made {
            let exact = match tables.probe(&sample.position) {
                Some(TableValue::Win(plies) | TableValue::Loss(plies)) => f32::from(plies),
                other => panic!("{other:?}"),
            };
            assert_eq!(sample.moves_left, Some(exact));
        }
        let played = samples(&chess, &record(EndReason::MaxPlies), None).expect("made");
        assert_eq!(
            (played[0].outcome, played[0].moves_left),
            (certain(0.5), None)
        );
    }

    /// A position before the tables is as far from mate as the play to them and the rest together.
    #[test]
    fn adjudicated_games_count_on_to_the_mate() {
        let chess = Variant::by_name("chess").expect("built in");
        let tables = Tablebases::three_men(&chess).expect("solved");
        let taken = PlyRecord {
            fen: "4k3/n7/8/8/8/8/8/R3K3 w - - 0 1".to_owned(),
            mv: "a1a7".to_owned(),
            repetitions: 1,
            policy: vec![("a1a7".to_owned(), 1.0)],
            root_q: 0.5,
            raw_value: certain(0.5),
            visits: 8,
            full_search: true,
            net_id: String::new(),
        };
        let game = GameRecord {
            game_id: "g".to_owned(),
            variant: "chess".to_owned(),
            start_kind: selfplay::starts::StartKind::FewMen,
            worker_id: "w".to_owned(),
            seed: 1,
            outcome: Outcome::WhiteWins,
            end: EndReason::Tablebase,
            would_resign: None,
            plies: vec![taken],
        };
        let after = Position::from_fen(&chess, "4k3/R7/8/8/8/8/8/4K3 b - - 0 1").expect("a FEN");
        let Some(TableValue::Loss(plies)) = tables.probe(&after) else {
            panic!("a rook wins");
        };
        let made = samples(&chess, &game, Some(&tables)).expect("made");
        assert_eq!(made[0].moves_left, Some(1.0 + f32::from(plies)));
        assert_eq!(made[0].outcome, certain(1.0));
        assert!(
            made[0].searched.win - made[0].searched.loss == 0.5,
            "{:?}",
            made[0]
        );
    }

    /// A win for White is a loss for Black.
    #[test]
    fn outcomes_are_seen_from_the_side_to_move() {
        assert_eq!(outcome_for(Outcome::WhiteWins, Color::White).win, 1.0);
        assert_eq!(outcome_for(Outcome::WhiteWins, Color::Black).loss, 1.0);
        assert_eq!(outcome_for(Outcome::Draw, Color::Black).draw, 1.0);
    }
}
