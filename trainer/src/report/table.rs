//! The numbers of a report as CSV, one row a number.

use super::Report;
use crate::values::estimate::{Estimate, HeatMap, Interval};
use crate::values::reconcile::CombinedValue;
use std::fmt::Write;

/// Columns: `kind,part,man,unit,value,low,high,count`.
pub fn csv(report: &Report) -> String {
    let mut rows = Rows("kind,part,man,unit,value,low,high,count\n".to_owned());
    rows.values(report);
    rows.combined(&report.values.combined);
    rows.heat(&report.values.heat);
    rows.training(report);
    rows.0
}

/// The lines so far.
struct Rows(String);

impl Rows {
    fn add(
        &mut self,
        (kind, part): (&str, &str),
        man: &str,
        unit: &str,
        interval: Interval,
        count: u64,
    ) {
        let Interval { value, low, high } = interval;
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.0,
            "{},{},{},{unit},{value},{low},{high},{count}",
            field(kind),
            field(part),
            field(man)
        );
    }

    fn values(&mut self, report: &Report) {
        for one in &report.values.estimates {
            self.estimate(one.method.title(), "all", one);
        }
        for slice in &report.values.slices {
            let kind = slice.estimate.method.title();
            self.estimate(kind, slice.slice.title(), &slice.estimate);
        }
        for way in &report.values.ways {
            let kind = format!("{}: {}", way.estimate.method.title(), way.way.title());
            self.estimate(&kind, "all", &way.estimate);
        }
        for point in &report.history {
            let part = format!("to game {}", point.games);
            self.estimate("history", &part, &point.estimate);
        }
    }

    fn estimate(&mut self, kind: &str, part: &str, estimate: &Estimate) {
        for man in &estimate.values {
            for (unit, interval) in [
                ("pawn", man.pawns),
                ("knight", man.knights),
                ("logit", man.logits),
            ] {
                if let Some(interval) = interval {
                    self.add((kind, part), &man.name, unit, interval, man.positions);
                }
            }
        }
    }

    fn combined(&mut self, men: &[CombinedValue]) {
        for man in men {
            for (unit, combined) in [("pawn", man.pawns), ("knight", man.knights)] {
                if let Some(combined) = combined {
                    let methods = u64::from(combined.methods);
                    let place = ("combined", "all");
                    self.add(place, &man.name, unit, combined.interval, methods);
                }
            }
        }
    }

    fn heat(&mut self, maps: &[HeatMap]) {
        for map in maps {
            for square in &map.squares {
                let (place, worth) = (("heat", &*square.square), exactly(square.pawns));
                self.add(place, &map.name, "pawn", worth, square.positions);
            }
        }
    }

    fn training(&mut self, report: &Report) {
        for net in &report.elo {
            let interval = Interval {
                value: net.elo,
                low: net.elo - net.error,
                high: net.elo + net.error,
            };
            let part = format!("step {}", net.step);
            self.add(("elo", &part), "", "elo", interval, net.games);
        }
        for (name, curve) in &report.curves {
            for (step, value) in curve {
                let part = format!("step {step}");
                self.add((name, &part), "", "", exactly(*value), 1);
            }
        }
    }
}

/// A number without an interval.
fn exactly(value: f64) -> Interval {
    Interval {
        value,
        low: value,
        high: value,
    }
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
