//! What is a new piece worth? A variant with it in the array, and what more time would tell.

use crate::values::estimate::Interval;
use crate::values::history::HistoryPoint;
use crate::values::reconcile::{Combined, CombinedValue};
use anyhow::{Context, ensure};
use rules::betza::{self, Motion};
use rules::{PieceDiagram, Variant};
use std::fmt::Write;
use std::str::FromStr;
use std::sync::Arc;

/// The letter of the new piece.
pub const LETTER: char = 'X';
/// Whoever makes a knight worth fewer pawns than this for certain has not learnt to use it.
const KNIGHT_OF_BEGINNERS: f64 = 2.5;
/// The name of the new piece.
pub const NAME: &str = "piece";

/// Where the piece is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Falcon Chess on 10×8; the piece stands in place of the falcons.
    Falcon,
    /// Orthodox chess; the piece stands in place of the bishops, so that the knight remains as a unit.
    Chess,
    /// Falcon Chess on 10×10; the piece stands in place of the falcons.
    TenByTen,
}

impl FromStr for Ground {
    type Err = String;

    fn from_str(text: &str) -> Result<Ground, String> {
        match text {
            "falcon" => Ok(Ground::Falcon),
            "chess" => Ok(Ground::Chess),
            "10x10" => Ok(Ground::TenByTen),
            _ => Err(format!(
                "a piece is not tried in '{text}'; use falcon, chess or 10x10"
            )),
        }
    }
}

impl std::fmt::Display for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ground::Falcon => "falcon",
            Ground::Chess => "chess",
            Ground::TenByTen => "10x10",
        })
    }
}

impl Ground {
    /// The variant, and the letter of the men that make room.
    fn base(self) -> (&'static str, char) {
        match self {
            Ground::Falcon => ("falcon", 'F'),
            Ground::Chess => ("chess", 'B'),
            Ground::TenByTen => ("falcon-10x10", 'F'),
        }
    }

    /// The net that knows the other men already and comes with the program; the board's size is nothing to it.
    pub fn net(self) -> &'static str {
        match self {
            Ground::Falcon | Ground::TenByTen => "shipped:falcon",
            Ground::Chess => "shipped:chess",
        }
    }

    /// The variant with the piece in the array of both sides.
    ///
    /// # Errors
    /// If the Betza string is not understood, or the array with such pieces cannot be played.
    pub fn with_piece(self, betza: &str) -> anyhow::Result<Arc<Variant>> {
        let motions =
            betza::parse(betza).with_context(|| format!("'{betza}' is not understood"))?;
        let (name, replaced) = self.base();
        let base = Variant::by_name(name)?;
        check_moves(&motions, &base)?;
        let mut table: toml::Table = base
            .toml()
            .parse()
            .context("a built-in variant is valid TOML")?;
        let men = base
            .role_by_letter(replaced)
            .map(|role| base.roles()[role.index()].name.clone());
        let men = men.with_context(|| format!("{name} has no {replaced}"))?;
        table.insert("name".into(), format!("worth-on-{name}").into());
        table.insert(
            "title".into(),
            format!("{} with {betza} in place of the {men}s", base.title()).into(),
        );
        table.insert(
            "description".into(),
            format!("What is {betza} worth?").into(),
        );
        let start = base.start_fen().to_owned();
        let (board, rest) = start.split_once(' ').unwrap_or((&start, ""));
        let board = board.replace(replaced, &LETTER.to_string()).replace(
            replaced.to_ascii_lowercase(),
            &LETTER.to_ascii_lowercase().to_string(),
        );
        table.insert("start".into(), format!("{board} {rest}").into());
        for piece in table
            .get_mut("piece")
            .and_then(toml::Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let Some(piece) = piece.as_table_mut() else {
                continue;
            };
            if piece.get("letter").and_then(toml::Value::as_str) == Some(&replaced.to_string()) {
                piece.insert("letter".into(), LETTER.to_string().into());
                piece.insert("name".into(), NAME.into());
                piece.insert("betza".into(), betza.into());
            }
        }
        if let Some(promotion) = table
            .get_mut("promotion")
            .and_then(toml::Value::as_table_mut)
        {
            let to = promotion
                .get("to")
                .and_then(toml::Value::as_str)
                .unwrap_or("");
            let to = to.replace(replaced, &LETTER.to_string());
            promotion.insert("to".into(), to.into());
        }
        let variant = Variant::from_toml(&table.to_string())
            .with_context(|| format!("'{betza}' cannot stand in the array of {name}"))?;
        let start = variant.start();
        ensure!(
            !start.is_check(&variant) && !start.is_king_left_in_danger(&variant),
            "with '{betza}' in the array of {name} a king is attacked from the start; try it on another board: --on 10x10"
        );
        Ok(variant)
    }
}

/// Checks that a piece can go anywhere at all. On a crowded board, since some only hop or capture.
fn check_moves(motions: &[Motion], base: &Variant) -> anyhow::Result<()> {
    let (files, ranks) = (base.files(), base.ranks());
    let diagram = PieceDiagram::new(motions, files, ranks);
    ensure!(
        diagram.is_some_and(|diagram| diagram.crowded_mobility() > 0.0),
        "such a piece has no move on a board of {files}×{ranks} squares"
    );
    Ok(())
}

/// The answer in one sentence.
pub fn answer(value: &CombinedValue, betza: &str) -> String {
    let Some(pawns) = value.pawns else {
        return format!("{betza}: the games do not bound its value yet; give it more time.");
    };
    let knights = value.knights.map_or_else(String::new, |knights| {
        format!(", {} knights", knights.interval)
    });
    let warning = match pawns.is_contradicted() {
        true => "; the methods contradict each other, so do not trust the interval",
        false => "",
    };
    format!(
        "{betza} is worth {} pawns{knights}{warning}.",
        pawns.interval
    )
}

/// What the run has shown about the piece, with what more time would do.
///
/// Sampling errors shrink as the root of the time. What the methods disagree about, and what the value still drifts by
/// while the net learns, does not shrink by itself; both are therefore told.
pub fn outlook(combined: &Combined, single: &[Interval], history: &[HistoryPoint]) -> String {
    let mut text = shrinkage(combined, single);
    let values: Vec<(u64, Interval)> = history
        .iter()
        .filter_map(|point| Some((point.games, point.estimate.of(LETTER)?.pawns?)))
        .collect();
    if !values.is_empty() {
        text.push_str("By the outcomes of the games so far, in pawns:\n");
    }
    for (games, interval) in &values {
        let _ = writeln!(text, "  up to game {games:>6}: {interval}");
    }
    if let [.., (_, before), (_, last)] = values[..] {
        text.push_str(&drift(before, last));
    }
    text
}

/// What four times the time would make of the interval.
fn shrinkage(combined: &Combined, single: &[Interval]) -> String {
    let half = |interval: &Interval| (interval.high - interval.low) / 2.0;
    let whole = half(&combined.interval);
    let best = single.iter().map(half).fold(f64::INFINITY, f64::min);
    match single.len() {
        0 => String::new(),
        1 => format!(
            "Only one method bounds the value yet, and nothing tells whether it is right; with four times the time its interval would be about ±{:.2} pawns.\n",
            best / 2.0
        ),
        _ => format!(
            "With four times the time: about ±{:.2} pawns if the methods come together, ±{:.2} if they keep disagreeing as now (±{whole:.2}).\n",
            best / 2.0,
            (whole * whole - best * best * 0.75)
                .max(best * best / 4.0)
                .sqrt()
        ),
    }
}

/// Whether the value still moved in the last quarter of the games.
fn drift(before: Interval, last: Interval) -> String {
    let moved = (last.value - before.value).abs();
    let noise = ((before.high - before.low).powi(2) + (last.high - last.low).powi(2)).sqrt() / 2.0;
    if moved > noise {
        format!(
            "The value is still moving, by {moved:.2} pawns in the last quarter: the net is learning to use its men. More time will change it by more than the interval says.\n"
        )
    } else if 2.0 * noise > last.value.abs() {
        format!(
            "These are too uncertain (the last two to ±{noise:.2} pawns) to tell whether the value still moves: expect more time to change it.\n"
        )
    } else {
        format!(
            "The last quarter moved it by {moved:.2} pawns, no more than chance would ({noise:.2}): more time mainly narrows the interval.\n"
        )
    }
}

/// What the worth of the knight, which stands in every array here, says about the players; nothing if it is near what
/// strong players make of it.
pub fn maturity(knight: &Interval) -> Option<String> {
    (knight.high < KNIGHT_OF_BEGINNERS).then(|| {
        format!(
            "Strong players make the knight worth about 3 pawns, these make it {knight}: they are beginners still, to whom all men are worth too little. Give it more time, or believe the ratio to the knight rather than the pawns."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_take_their_place_in_the_array() {
        for (ground, start) in [
            (
                Ground::Falcon,
                "rnbxqkxbnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNBXQKXBNR w KQkq - 0 1",
            ),
            (
                Ground::Chess,
                "rnxqkxnr/pppppppp/8/8/8/8/PPPPPPPP/RNXQKXNR w KQkq - 0 1",
            ),
        ] {
            let variant = ground.with_piece("WD").expect("a playable array");
            assert_eq!(variant.start_fen(), start);
            let role = variant.role_by_letter(LETTER).expect("the piece");
            assert_eq!(variant.roles()[role.index()].name, NAME);
            assert!(variant.promotion_roles().contains(&role));
            let again = Variant::from_toml(variant.toml()).expect("its own text");
            assert_eq!(again.start_fen(), start);
        }
        assert!(Ground::TenByTen.with_piece("nCnZ").is_ok());
        // A piece that only hops.
        assert!(Ground::Falcon.with_piece("pR").is_ok());
    }

    #[test]
    fn what_cannot_be_played_is_explained() {
        let error = format!(
            "{:#}",
            Ground::Falcon.with_piece("Y%").expect_err("no Betza")
        );
        assert!(error.contains("'Y%' is not understood"), "{error}");
        // A leaper from the eighth rank to the first attacks the king at once.
        let error = Ground::Chess
            .with_piece("(3,7)(2,7)(1,7)(0,7)")
            .expect_err("a check")
            .to_string();
        assert!(
            error.contains("attacked from the start") || error.contains("cannot stand"),
            "{error}"
        );
        let error = Ground::Falcon.with_piece("(9,9)").expect_err("no move");
        assert!(error.to_string().contains("no move on a board"), "{error}");
        assert!("9x9".parse::<Ground>().is_err());
    }

    #[test]
    fn the_outlook_tells_sampling_from_disagreement() {
        let interval = |value, half| Interval {
            value,
            low: value - half,
            high: value + half,
        };
        let combined = Combined {
            interval: interval(4.0, 1.0),
            methods: 2,
            range: [3.5, 4.5],
            between: 1.1,
            p_value: Some(0.01),
        };
        let text = outlook(&combined, &[interval(3.5, 0.4), interval(4.5, 0.5)], &[]);
        assert!(
            text.contains("±0.20 pawns") && text.contains("(±1.00)"),
            "{text}"
        );
        let text = outlook(&combined, &[interval(3.5, 0.4)], &[]);
        assert!(text.contains("Only one method"), "{text}");
    }

    #[test]
    fn the_answer_says_how_far_it_can_be_trusted() {
        let combined = |value: f64, p_value| Combined {
            interval: Interval {
                value,
                low: value / 2.0,
                high: value * 2.0,
            },
            methods: 2,
            range: [value, value],
            between: 1.0,
            p_value,
        };
        let bison = |pawns, knights| CombinedValue {
            letter: LETTER,
            name: NAME.to_owned(),
            pawns,
            knights,
        };
        let agreed = bison(Some(combined(4.0, Some(0.5))), Some(combined(1.5, None)));
        assert_eq!(
            answer(&agreed, "CZ"),
            "CZ is worth 4.00 (2.00 … 8.00) pawns, 1.50 (0.75 … 3.00) knights."
        );
        let disputed = answer(&bison(Some(combined(4.0, Some(0.001))), None), "CZ");
        assert!(
            disputed.ends_with("do not trust the interval."),
            "{disputed}"
        );
        assert!(answer(&bison(None, None), "CZ").contains("do not bound"));
    }

    /// A value is only said to have settled where the quarters are certain enough to show it.
    #[test]
    fn drift_is_told_from_noise() {
        let interval = |value, half| Interval {
            value,
            low: value - half,
            high: value + half,
        };
        let text = drift(interval(3.0, 0.3), interval(4.0, 0.3));
        assert!(text.contains("still moving, by 1.00"), "{text}");
        let text = drift(interval(3.9, 0.3), interval(4.0, 0.3));
        assert!(text.contains("no more than chance"), "{text}");
        let text = drift(interval(3.3, 15.0), interval(4.0, 3.0));
        assert!(text.contains("too uncertain"), "{text}");
        assert!(maturity(&interval(0.6, 0.1)).is_some_and(|text| text.contains("0.60")));
        assert_eq!(maturity(&interval(2.9, 0.5)), None);
    }
}
