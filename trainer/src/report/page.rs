//! The page: one HTML file without anything from elsewhere.

mod board;
mod training;

use super::plots::{Row, forest};
use super::{CONTROL, Report};
use crate::values::court::{Ruling, Verdict};
use crate::values::estimate::{Estimate, Interval, Method};
use crate::values::table::{UNITS, ValueTable};
use rules::Variant;

const STYLE: &str = include_str!("style.css");

/// Makes the page.
///
/// # Errors
/// If a plot cannot be drawn or the games are no JSON, neither of which happens in memory.
pub fn html(report: &Report, variant: &Variant) -> anyhow::Result<String> {
    let mut page = Page(String::new());
    page.text(&format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0}: what the men are worth</title>\n<style>\n{STYLE}</style></head>\n<body><main>\n<h1>{0}</h1>\n<p>{1}</p>\n",
        escaped(&report.title),
        escaped(&report.description)
    ));
    page.head(report);
    page.values(report)?;
    page.control(report);
    page.claims(&report.values.rulings);
    page.parts(report)?;
    page.heat(report, variant)?;
    page.curves(report)?;
    page.exact(&report.values);
    page.games(report, variant)?;
    page.text(&format!(
        "<details><summary>The recipe</summary><pre>{}</pre></details>\n<footer>Made by <code>falconzero report</code>; \
         docs/values.md tells how the values are measured.</footer>\n</main></body></html>\n",
        escaped(&report.recipe)
    ));
    Ok(page.0)
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

struct Page(String);

impl Page {
    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn plot(&mut self, caption: &str, svg: &str) {
        let caption = escaped(caption);
        self.text(&format!(
            "<figure><div class=\"plot\">{svg}</div><figcaption>{caption}</figcaption></figure>\n"
        ));
    }

    /// A table; the cells are text, the first row is the head.
    fn table(&mut self, rows: &[Vec<String>]) {
        self.text("<div class=\"wide\"><table>\n");
        for (number, row) in rows.iter().enumerate() {
            let tag = if number == 0 { "th" } else { "td" };
            let cells: String = row
                .iter()
                .map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)))
                .collect();
            self.text(&format!("<tr>{cells}</tr>\n"));
        }
        self.text("</table></div>\n");
    }

    fn head(&mut self, report: &Report) {
        let games = report
            .values
            .estimates
            .first()
            .map_or(0, |estimate| estimate.games);
        let step = report
            .curves
            .values()
            .filter_map(|curve| curve.keys().last())
            .max();
        let rated = report.elo.last().filter(|net| net.step > 0);
        let elo = rated.map_or_else(String::new, |net| {
            format!(
                ", {:+.0} ± {:.0} Elo above the untrained net at step {}",
                net.elo, net.error, net.step
            )
        });
        let games = match report.values.fresh_simulations {
            Some(simulations) => format!(
                "{games} fresh games of this net with itself, {simulations} simulations a move"
            ),
            None => format!("its newest {games} games"),
        };
        let net = report.values.net.as_deref().unwrap_or("none yet");
        self.text(&format!(
            "<p>Run <code>{}</code>: net <code>{}</code>, {} training steps{elo}. The values below are of {games}.</p>\n",
            escaped(&report.run),
            escaped(net),
            step.unwrap_or(&0)
        ));
    }

    fn values(&mut self, report: &Report) -> anyhow::Result<()> {
        let values = &report.values;
        self.text("<h2>What the men are worth</h2>\n");
        let mut series: Vec<&str> = values
            .estimates
            .iter()
            .map(|estimate| estimate.method.title())
            .collect();
        let mut rows: Vec<Row> = Vec::new();
        let combined_place = series.len();
        if values.estimates.len() > 1 {
            series.push("combined");
        }
        let first = values
            .estimates
            .first()
            .into_iter()
            .flat_map(|estimate| &estimate.values);
        for man in first {
            let of = |(place, estimate): (usize, &Estimate)| {
                Some((place, estimate.of(man.letter)?.pawns?))
            };
            let mut marks: Vec<(usize, Interval)> =
                values.estimates.iter().enumerate().filter_map(of).collect();
            let combined = values
                .combined
                .iter()
                .find(|value| value.letter == man.letter);
            if let (true, Some(combined)) = (
                series.len() > combined_place,
                combined.and_then(|value| value.pawns),
            ) {
                marks.push((combined_place, combined.interval));
            }
            rows.push(Row {
                name: man.name.clone(),
                marks,
            });
        }
        if rows.iter().any(|row| !row.marks.is_empty()) {
            let label = "piece values in pawns by each method";
            let plot = forest(label, "pawns", &series, &rows)?;
            self.plot("Values with 95% intervals, one line a method.", &plot);
        } else {
            self.text("<p>The games do not bound what any man is worth in pawns yet; let more be played.</p>\n");
        }
        for unit in UNITS {
            let table = values.rows(unit);
            if table.len() > 1 {
                self.text(&format!("<h3>In {}s</h3>\n", unit.man));
                self.table(&table);
            }
        }
        self.methods(values);
        for value in &values.combined {
            if let Some(combined) = value.pawns.filter(|combined| combined.is_contradicted()) {
                let [low, high] = combined.range;
                self.text(&format!(
                    "<p class=\"warning\">The methods disagree about the {}: {low:.2} to {high:.2} pawns, more than their intervals allow.</p>\n",
                    escaped(&value.name)
                ));
            }
        }
        Ok(())
    }

    /// What each method is, and the matches of one of them.
    fn methods(&mut self, values: &ValueTable) {
        self.text("<ul class=\"methods\">\n");
        for estimate in &values.estimates {
            let (name, positions, games) =
                (estimate.method.title(), estimate.positions, estimate.games);
            let meaning = match estimate.method {
                Method::OutcomeRegression => {
                    "how the results of games depend on which men are left"
                }
                Method::CounterfactualProbe => {
                    "how much the net's expectation changes when a man is taken off the board"
                }
                Method::MaterialOdds => {
                    "how matches from the array end in which the sides lack different men"
                }
            };
            self.text(&format!(
                "<li><small><b>{name}</b>: {meaning} ({positions} positions of {games} games)</small></li>\n"
            ));
        }
        for one in values.matches.iter().chain(&values.trials) {
            let line = escaped(&one.to_string());
            self.text(&format!("<li><small>match, {line}</small></li>\n"));
        }
        self.text("</ul>\n");
    }

    fn control(&mut self, report: &Report) {
        let Some(control) = &report.control else {
            if report.values.variant != CONTROL {
                self.text(
                    "<p class=\"warning\">No control: whether these methods find the known values of orthodox chess has not \
                     been shown here. <code>falconzero report --control</code> adds the values of a run of it.</p>\n",
                );
            }
            return;
        };
        self.text("<h2>The control: orthodox chess</h2>\n");
        self.table(&control.rows(UNITS[0]));
        let with = |verdict: Verdict| {
            let rulings = control.rulings.iter();
            let men = rulings
                .filter(|ruling| ruling.verdict == verdict)
                .filter_map(|ruling| ruling.id.strip_prefix("control-"));
            escaped(&men.collect::<Vec<_>>().join(", "))
        };
        for (verdict, class, words) in [
            (Verdict::Supported, "", "The control holds for"),
            (
                Verdict::Undecided,
                "",
                "The known values are not contradicted, but the intervals are wider than what is allowed, for",
            ),
            (
                Verdict::Rejected,
                " class=\"warning\"",
                "The control fails, and values of other men by the same methods deserve no more belief, for",
            ),
        ] {
            let men = with(verdict);
            if !men.is_empty() {
                self.text(&format!("<p{class}>{words}: {men}.</p>\n"));
            }
        }
    }

    fn claims(&mut self, rulings: &[Ruling]) {
        if rulings.is_empty() {
            return;
        }
        self.text("<h2>Published claims</h2>\n<p>As far as this run's games and net can tell.</p>\n<ul class=\"claims\">\n");
        for Ruling {
            text,
            source,
            verdict,
            evidence,
            ..
        } in rulings
        {
            self.text(&format!(
                "<li><span class=\"verdict {verdict}\">{verdict}</span> {} <small>({})</small><br><small>{}</small></li>\n",
                escaped(text),
                escaped(source),
                escaped(evidence)
            ));
        }
        self.text("</ul>\n");
    }

    fn parts(&mut self, report: &Report) -> anyhow::Result<()> {
        let values = &report.values;
        for whole in &values.estimates {
            let slices: Vec<_> = values
                .slices
                .iter()
                .filter(|slice| slice.estimate.method == whole.method)
                .collect();
            let values = slices.iter().flat_map(|slice| &slice.estimate.values);
            if values.filter_map(|value| value.pawns).next().is_none() {
                continue;
            }
            let names: Vec<&str> = slices.iter().map(|slice| slice.slice.title()).collect();
            for (title, range) in [("phase", 0..3), ("crowding", 3..6)] {
                let wanted: Vec<usize> = (0..slices.len())
                    .filter(|&at| {
                        crate::values::phase::Slice::ALL[range.clone()].contains(&slices[at].slice)
                    })
                    .collect();
                let series: Vec<&str> = wanted.iter().map(|&at| names[at]).collect();
                let rows: Vec<Row> = whole
                    .values
                    .iter()
                    .map(|man| Row {
                        name: man.name.clone(),
                        marks: wanted
                            .iter()
                            .enumerate()
                            .filter_map(|(place, &at)| {
                                Some((place, slices[at].estimate.of(man.letter)?.pawns?))
                            })
                            .collect(),
                    })
                    .collect();
                let label = format!("{} by {title}", whole.method.title());
                if title == "phase" {
                    self.text(&format!(
                        "<h2>By part of the game: {}</h2>\n",
                        whole.method.title()
                    ));
                }
                if rows.iter().any(|row| !row.marks.is_empty()) {
                    let plot = forest(&label, "pawns", &series, &rows)?;
                    let caption = format!("Values by {title}, in pawns of the same part.");
                    self.plot(&caption, &plot);
                }
            }
        }
        let ways = values.rows_by_way();
        if !ways.is_empty() {
            self.text("<h3>The probe by its ways, in pawns</h3>\n");
            self.table(&ways);
        }
        Ok(())
    }

    fn exact(&mut self, values: &ValueTable) {
        if values.exact.is_empty() {
            return;
        }
        self.text("<h2>The net against tablebases</h2>\n");
        let head = [
            "endgame",
            "positions",
            "won or lost",
            "right signs",
            "Brier",
            "frequencies alone",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for one in &values.exact {
            let signs = one
                .right_signs
                .map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share));
            rows.push(vec![
                one.material.clone(),
                one.positions.to_string(),
                one.decisive.to_string(),
                signs,
                format!("{:.3}", one.brier),
                format!("{:.3}", one.baseline),
            ]);
        }
        self.table(&rows);
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escaped("<b>\"R&D\"</b>"),
            "&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;"
        );
    }
}
