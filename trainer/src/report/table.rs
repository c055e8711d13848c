//! The numbers of a report as CSV, one row a number.

use super::Report;
use crate::values::estimate::{Estimate, Interval};
use std::fmt::Write;

/// Columns: `kind,part,man,unit,value,low,high,count`.
pub fn csv(report: &Report) -> String {
    let mut csv = "kind,part,man,unit,value,low,high,count\n".to_owned();
    let mut row =
        |kind: &str, part: &str, man: &str, unit: &str, interval: Interval, count: u64| {
            let Interval { value, low, high } = interval;
            // Writing to a string cannot fail.
            let _ = writeln!(
                csv,
                "{},{},{},{unit},{value},{low},{high},{count}",
                field(kind),
                field(part),
                field(man)
            );
        };
    let mut estimate = |kind: &str, part: &str, estimate: &Estimate| {
        for man in &estimate.values {
            for (unit, interval) in [
                ("pawn", man.pawns),
                ("knight", man.knights),
                ("logit", man.logits),
            ] {
                if let Some(interval) = interval {
                    row(kind, part, &man.name, unit, interval, man.positions);
                }
            }
        }
    };
    for one in &report.values.estimates {
        estimate(one.method.title(), "all", one);
    }
    for slice in &report.values.slices {
        estimate(
            slice.estimate.method.title(),
            slice.slice.title(),
            &slice.estimate,
        );
    }
    for way in &report.values.ways {
        let kind = format!("{}: {}", way.estimate.method.title(), way.way.title());
        estimate(&kind, "all", &way.estimate);
    }
    for point in &report.history {
        estimate(
            "history",
            &format!("to game {}", point.games),
            &point.estimate,
        );
    }
    for man in &report.values.combined {
        for (unit, combined) in [("pawn", man.pawns), ("knight", man.knights)] {
            if let Some(combined) = combined {
                row(
                    "combined",
                    "all",
                    &man.name,
                    unit,
                    combined.interval,
                    u64::from(combined.methods),
                );
            }
        }
    }
    let exactly = |value: f64| Interval {
        value,
        low: value,
        high: value,
    };
    for map in &report.values.heat {
        for square in &map.squares {
            row(
                "heat",
                &square.square,
                &map.name,
                "pawn",
                exactly(square.pawns),
                square.positions,
            );
        }
    }
    for net in &report.elo {
        let interval = Interval {
            value: net.elo,
            low: net.elo - net.error,
            high: net.elo + net.error,
        };
        row(
            "elo",
            &format!("step {}", net.step),
            "",
            "elo",
            interval,
            net.games,
        );
    }
    for (name, curve) in &report.curves {
        for (step, value) in curve {
            row(name, &format!("step {step}"), "", "", exactly(*value), 1);
        }
    }
    csv
}

/// A field in quotes where it has to be.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(field("falcon"), "falcon");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
