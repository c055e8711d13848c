//! The estimates side by side with the claims: as data and as text.

mod text;

pub(crate) use text::UNITS;

use super::claims::Claims;
use super::court::{Results, Ruling};
use super::estimate::{Estimate, HeatMap};
use super::exact::Agreement;
use super::first_moves::FirstMove;
use super::odds::OddsMatch;
use super::phase::Slice;
use super::probe::Way;
use super::reconcile::CombinedValue;
use serde::{Deserialize, Serialize};

/// Version of the JSON form.
pub const TABLE_VERSION: u32 = 3;

/// What is known about the worth of a variant's men.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueTable {
    /// [`TABLE_VERSION`].
    pub version: u32,
    /// The variant's name.
    pub variant: String,
    /// The run that the games come from.
    pub run: String,
    /// The net that was probed; `None` if there was none.
    pub net: Option<String>,
    /// Simulations a move of the fresh games that the first two estimators saw; `None` if they saw those of self-play.
    #[serde(default)]
    pub fresh_simulations: Option<u32>,
    /// One an estimator.
    pub estimates: Vec<Estimate>,
    /// The estimators' values combined, man by man.
    pub combined: Vec<CombinedValue>,
    /// Values in parts of the games, by each estimator that knows parts.
    pub slices: Vec<SliceValues>,
    /// What the probe says by its other ways than removal.
    pub ways: Vec<WayValues>,
    /// What each man is worth where, from the probe.
    pub heat: Vec<HeatMap>,
    /// Matches with unequal armies that the third estimator has played.
    pub matches: Vec<OddsMatch>,
    /// Matches that claims are about.
    pub trials: Vec<OddsMatch>,
    /// How well the net knows the positions of tablebases; empty without tables.
    pub exact: Vec<Agreement>,
    /// Results of self-play from the array.
    pub results: Results,
    /// White's first moves as the net sees them, best first.
    pub first_moves: Vec<FirstMove>,
    /// What has been published about the variant.
    pub claims: Option<Claims>,
    /// What is to be thought of the claims.
    pub rulings: Vec<Ruling>,
}

/// An estimator's values in a part of the games.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceValues {
    /// The part.
    pub slice: Slice,
    /// The values there.
    pub estimate: Estimate,
}

/// The probe's values by one of its ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WayValues {
    /// The way.
    pub way: Way,
    /// The values by it.
    pub estimate: Estimate,
}

#[cfg(test)]
mod tests {
    use super::super::estimate::{Interval, Method, RoleValue};
    use super::*;

    fn interval(value: f64) -> Option<Interval> {
        Some(Interval {
            value,
            low: value - 0.25,
            high: value + 0.25,
        })
    }

    fn man(
        letter: char,
        name: &str,
        pawns: Option<Interval>,
        knights: Option<Interval>,
    ) -> RoleValue {
        RoleValue {
            letter,
            name: name.to_owned(),
            pawns,
            knights,
            logits: None,
            positions: 10,
        }
    }

    fn table() -> ValueTable {
        let falcon = rules::Variant::by_name("falcon").expect("a shipped variant");
        let unit = Some(Interval {
            value: 1.0,
            low: 1.0,
            high: 1.0,
        });
        let values = vec![
            man('P', "pawn", unit, None),
            man('F', "falcon", interval(4.7), interval(1.5)),
            man('Q', "queen", None, None),
        ];
        ValueTable {
            version: TABLE_VERSION,
            variant: "falcon".to_owned(),
            run: "runs/x".to_owned(),
            net: Some("n7".to_owned()),
            fresh_simulations: None,
            estimates: vec![Estimate {
                method: Method::OutcomeRegression,
                games: 12,
                positions: 34,
                values,
                bishop_pair: None,
            }],
            combined: Vec::new(),
            slices: Vec::new(),
            ways: Vec::new(),
            heat: Vec::new(),
            matches: Vec::new(),
            trials: Vec::new(),
            exact: Vec::new(),
            results: Results::default(),
            first_moves: Vec::new(),
            rulings: Vec::new(),
            claims: Claims::about(&falcon),
        }
    }

    #[test]
    fn estimates_stand_beside_the_claims() {
        let text = table().to_string();
        let line = |start: &str| {
            text.lines()
                .find(|line| line.trim_start().starts_with(start))
                .expect("a line")
                .to_owned()
        };
        assert_eq!(line("man"), "  man        outcome regression   Duke 2000");
        assert_eq!(line("F falcon"), "  F falcon   4.70 (4.45 … 4.95)   5.83");
        assert_eq!(line("Q queen"), "  Q queen    -                    7.50");
        assert!(
            text.contains("outcome regression: 34 positions of 12 games of runs/x"),
            "{text}"
        );
        assert!(
            text.contains("claimed, Duke 2000: bishop 3, falcon 7,"),
            "{text}"
        );
    }

    #[test]
    fn json_survives_a_round_trip() {
        let json = serde_json::to_string(&table()).expect("plain data");
        assert_eq!(
            serde_json::from_str::<ValueTable>(&json).expect("our own JSON"),
            table()
        );
    }

    #[test]
    fn nothing_to_show_is_said() {
        let empty = ValueTable {
            estimates: Vec::new(),
            ..table()
        };
        assert!(empty.to_string().contains("nothing to estimate"));
    }
}
