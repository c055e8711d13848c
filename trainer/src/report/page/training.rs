//! How the training went.

use super::Page;
use crate::arena::rating::RatedNet;
use crate::report::Report;
use crate::report::plots::{Line, lines};

impl Page {
    pub(super) fn curves(&mut self, report: &Report) -> anyhow::Result<()> {
        self.text("<h2>How the training went</h2>\n");
        self.strength(&report.elo)?;
        self.scalars(report)?;
        self.values_over_time(report)
    }

    fn strength(&mut self, elo: &[RatedNet]) -> anyhow::Result<()> {
        if elo.len() > 1 {
            let point = |net: &RatedNet| (net.step as f64, net.elo);
            let band = |net: &RatedNet| (net.elo - net.error, net.elo + net.error);
            let line = Line {
                name: "Elo".to_owned(),
                points: elo.iter().map(point).collect(),
                band: Some(elo.iter().map(band).collect()),
            };
            self.plot(
                "Elo above the untrained net, with its 95% band.",
                &lines("Elo", "training steps", &[line])?,
            );
        }
        Ok(())
    }

    fn scalars(&mut self, report: &Report) -> anyhow::Result<()> {
        let curve = |name: &str, title: &str| {
            let points = report.curves.get(name)?;
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|(step, value)| (*step as f64, *value))
                .collect();
            (!points.is_empty()).then(|| Line {
                name: title.to_owned(),
                points,
                band: None,
            })
        };
        for (caption, names) in [
            (
                "Policy loss in nats.",
                [
                    ("train/policy_loss", "training"),
                    ("holdout/policy_loss", "held-out games"),
                ]
                .as_slice(),
            ),
            (
                "Value loss in nats.",
                &[
                    ("train/value_loss", "training"),
                    ("holdout/value_loss", "held-out games"),
                    ("holdout/value_loss_of_constant", "a constant guess"),
                ],
            ),
            ("Share of draws.", &[("games/draws", "draws")]),
            ("Length of games in plies.", &[("games/plies", "plies")]),
            ("Positions made.", &[("replay/positions", "positions")]),
        ] {
            let found: Vec<Line> = names
                .iter()
                .filter_map(|(name, title)| curve(name, title))
                .collect();
            if !found.is_empty() {
                self.plot(caption, &lines(caption, "training steps", &found)?);
            }
        }
        Ok(())
    }

    fn values_over_time(&mut self, report: &Report) -> anyhow::Result<()> {
        let mut over_time: Vec<Line> = Vec::new();
        let men = report
            .values
            .estimates
            .first()
            .into_iter()
            .flat_map(|estimate| &estimate.values);
        for man in men.skip(1).take(5) {
            let points = report.history.iter().filter_map(|point| {
                Some((
                    point.games as f64,
                    point.estimate.of(man.letter)?.pawns?.value,
                ))
            });
            over_time.push(Line {
                name: man.name.clone(),
                points: points.collect(),
                band: None,
            });
        }
        if over_time.iter().any(|line| line.points.len() > 1) {
            self.plot(
                "Values in pawns over the run, by the outcomes of its games.",
                &lines("values over time", "games", &over_time)?,
            );
        }
        Ok(())
    }
}
