//! The table as text.

use super::{SliceValues, ValueTable};
use crate::values::claims::ClaimedValues;
use crate::values::court::Ruling;
use crate::values::estimate::{Estimate, Interval, Method, RoleValue};
use crate::values::probe::Way;
use crate::values::reconcile::{Combined, CombinedValue};

/// The unit of a table of values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// The man that is worth 1.
    pub man: &'static str,
    of: fn(&RoleValue) -> Option<Interval>,
    combined: fn(&CombinedValue) -> Option<Combined>,
}

/// In pawns, and in knights.
pub(crate) const UNITS: [Unit; 2] = [
    Unit {
        man: "pawn",
        of: |value| value.pawns,
        combined: |value| value.pawns,
    },
    Unit {
        man: "knight",
        of: |value| value.knights,
        combined: |value| value.knights,
    },
];

impl std::fmt::Display for ValueTable {
    /// A block of rows in pawns and one in knights, then where everything comes from. Ends with a line break.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.estimates.is_empty() {
            return writeln!(
                f,
                "No piece values for {}: there is nothing to estimate them from.",
                self.variant
            );
        }
        if !self.is_bounded() {
            writeln!(
                f,
                "The games do not bound what any man of {} is worth yet; let more be played.\n",
                self.variant
            )?;
        }
        for unit in UNITS {
            let rows = self.rows(unit);
            if rows.len() > 1 {
                writeln!(
                    f,
                    "Piece values of {} in {}s, with 95% intervals",
                    self.variant, unit.man
                )?;
                write_aligned(f, &rows)?;
                writeln!(f)?;
            }
        }
        self.write_slices(f)?;
        self.write_ways(f)?;
        self.write_notes(f)?;
        self.write_warnings(f)?;
        self.write_rulings(f)
    }
}

impl ValueTable {
    /// The head of the table, then one row a man that has an entry.
    pub(crate) fn rows(&self, unit: Unit) -> Vec<Vec<String>> {
        let claims: Vec<&ClaimedValues> = self
            .claimed_values()
            .filter(|values| values.men.contains_key(unit.man))
            .collect();
        let mut head = vec!["man".to_owned()];
        head.extend(
            self.estimates
                .iter()
                .map(|estimate| estimate.method.title().to_owned()),
        );
        if self.estimates.len() > 1 {
            head.push("combined".to_owned());
        }
        head.extend(claims.iter().map(|values| self.label(values)));
        let mut rows = vec![head];
        let dash = || "-".to_owned();
        let men = self.estimates.first().into_iter();
        for man in men.flat_map(|estimate| &estimate.values) {
            let mut row = vec![format!("{} {}", man.letter, man.name)];
            for estimate in &self.estimates {
                let interval = estimate.of(man.letter).and_then(|value| (unit.of)(value));
                row.push(interval.map_or_else(dash, |interval| interval.to_string()));
            }
            if self.estimates.len() > 1 {
                let combined = self
                    .combined
                    .iter()
                    .find(|value| value.letter == man.letter);
                let combined = combined.and_then(unit.combined);
                row.push(combined.map_or_else(dash, combined_text));
            }
            for values in &claims {
                row.push(
                    values
                        .ratio(&man.name, unit.man)
                        .map_or_else(dash, |value| format!("{value:.2}")),
                );
            }
            if row[1..].iter().any(|cell| cell != "-") {
                rows.push(row);
            }
        }
        rows
    }

    /// Whether the games bound the worth of a man beside that of the pawn.
    pub(crate) fn is_bounded(&self) -> bool {
        let mut values = self.estimates.iter().flat_map(|estimate| &estimate.values);
        values.any(|value| value.pawns.is_some() || value.knights.is_some())
    }

    fn claimed_values(&self) -> impl Iterator<Item = &ClaimedValues> {
        self.claims.iter().flat_map(|claims| &claims.values)
    }

    fn label(&self, values: &ClaimedValues) -> String {
        let source = self
            .claims
            .as_ref()
            .and_then(|claims| claims.source(&values.source));
        source.map_or_else(|| values.source.clone(), |source| source.label.clone())
    }

    /// Values in pawns by part of the game, a block an estimator.
    fn write_slices(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for whole in &self.estimates {
            let slices: Vec<&SliceValues> = self
                .slices
                .iter()
                .filter(|slice| slice.estimate.method == whole.method)
                .collect();
            if slices.is_empty() {
                continue;
            }
            let mut rows = vec![vec!["man".to_owned()]];
            rows[0].extend(slices.iter().map(|slice| slice.slice.title().to_owned()));
            for man in &whole.values {
                let mut row = vec![format!("{} {}", man.letter, man.name)];
                row.extend(slices.iter().map(|slice| {
                    let value = slice.estimate.of(man.letter).and_then(|value| value.pawns);
                    value.map_or_else(|| "-".to_owned(), |interval| interval.to_string())
                }));
                rows.push(row);
            }
            if has_numbers(&rows) {
                writeln!(f, "By part of the game in pawns, {}", whole.method.title())?;
                write_aligned(f, &rows)?;
                writeln!(f)?;
            }
        }
        Ok(())
    }

    /// The probe's values in pawns by each of its ways, the head first; nothing if there was no probe, or it bounds none.
    pub fn rows_by_way(&self) -> Vec<Vec<String>> {
        let probe = self
            .estimates
            .iter()
            .find(|whole| whole.method == Method::CounterfactualProbe);
        let Some(probe) = probe.filter(|_| !self.ways.is_empty()) else {
            return Vec::new();
        };
        let others = self
            .ways
            .iter()
            .map(|values| (values.way, &values.estimate));
        let columns: Vec<(Way, &Estimate)> = std::iter::once((Way::Removal, probe))
            .chain(others)
            .collect();
        let mut rows = vec![vec!["man".to_owned()]];
        rows[0].extend(columns.iter().map(|(way, _)| way.title().to_owned()));
        for man in &probe.values {
            let mut row = vec![format!("{} {}", man.letter, man.name)];
            row.extend(columns.iter().map(|(_, estimate)| {
                let value = estimate.of(man.letter).and_then(|value| value.pawns);
                value.map_or_else(|| "-".to_owned(), |interval| interval.to_string())
            }));
            rows.push(row);
        }
        match has_numbers(&rows) {
            true => rows,
            false => Vec::new(),
        }
    }

    fn write_ways(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.rows_by_way();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "The probe by its ways, in pawns")?;
        write_aligned(f, &rows)?;
        writeln!(f)
    }

    /// Says where methods contradict each other.
    fn write_warnings(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let torn = |unit: Unit| {
            self.combined.iter().filter_map(move |value| {
                let combined = (unit.combined)(value).filter(Combined::is_contradicted)?;
                Some((value, combined, unit.man))
            })
        };
        for (value, combined, unit) in UNITS.into_iter().flat_map(torn) {
            let [low, high] = combined.range;
            writeln!(
                f,
                "! the methods disagree about the {}: {low:.2} to {high:.2} {unit}s, more than their intervals allow \
                 (p = {:.3}); between methods a factor of {:.2}",
                value.name,
                combined.p_value.unwrap_or(1.0),
                combined.between
            )?;
        }
        Ok(())
    }

    fn write_rulings(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.rulings.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nClaims, as far as this run's games and net can tell")?;
        for Ruling {
            text,
            source,
            verdict,
            evidence,
            ..
        } in &self.rulings
        {
            writeln!(
                f,
                "  {verdict:<10} {text} ({source})\n             {evidence}"
            )?;
        }
        Ok(())
    }

    fn write_notes(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_bounded() {
            writeln!(f, "-: not bounded by these games")?;
        }
        for estimate in &self.estimates {
            let Estimate {
                method,
                games,
                positions,
                ..
            } = estimate;
            writeln!(
                f,
                "{}: {positions} positions of {games} games of {}",
                method.title(),
                self.run
            )?;
        }
        if let Some(simulations) = self.fresh_simulations {
            writeln!(
                f,
                "games: fresh ones of the current net with itself, {simulations} simulations a move"
            )?;
        }
        if let Some(net) = &self.net {
            writeln!(f, "net probed: {net}")?;
        }
        for estimate in &self.estimates {
            if let Some(pair) = estimate.bishop_pair {
                writeln!(
                    f,
                    "a pair of bishops, beyond twice a bishop: {pair} pawns ({})",
                    estimate.method.title()
                )?;
            }
        }
        for one in self.matches.iter().chain(&self.trials) {
            writeln!(f, "match, {one}")?;
        }
        for agreement in &self.exact {
            writeln!(f, "net against tablebase {agreement}")?;
        }
        for values in self.claimed_values() {
            let men: Vec<String> = values
                .men
                .iter()
                .map(|(man, value)| format!("{man} {value}"))
                .collect();
            let citation = self
                .claims
                .as_ref()
                .and_then(|claims| claims.source(&values.source));
            let citation = citation.map_or("", |source| source.citation.as_str());
            writeln!(
                f,
                "claimed, {}: {} ({}). {citation}",
                self.label(values),
                men.join(", "),
                values.note
            )?;
        }
        Ok(())
    }
}

/// The combined value; `!` marks methods that contradict each other.
fn combined_text(combined: Combined) -> String {
    let mark = if combined.is_contradicted() { " !" } else { "" };
    format!("{}{mark}", combined.interval)
}

/// Whether a table has anything but its head, the men and dashes.
fn has_numbers(rows: &[Vec<String>]) -> bool {
    let mut cells = rows.iter().skip(1).flat_map(|row| &row[1..]);
    cells.any(|cell| cell != "-")
}

/// Writes rows with their columns flush left.
fn write_aligned(f: &mut std::fmt::Formatter<'_>, rows: &[Vec<String>]) -> std::fmt::Result {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<String>>().join("   ");
        writeln!(f, "  {}", line.trim_end())?;
    }
    Ok(())
}
