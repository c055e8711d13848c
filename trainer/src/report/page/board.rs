//! What is drawn on a board: heat maps and games.

use super::{Page, escaped};
use crate::report::Report;
use crate::report::plots::heat;
use rules::{Color, Piece, Role, Variant};
use std::fmt::Write;

const VIEWER: &str = include_str!("../viewer.js");

impl Page {
    pub(super) fn heat(&mut self, report: &Report, variant: &Variant) -> anyhow::Result<()> {
        if report.values.heat.is_empty() {
            return Ok(());
        }
        self.text("<h2>Where a man is worth how much</h2>\n<p>Mean worth by square in pawns, as White sees the board, from the counterfactual probe; squares where too few of that man stood are left blank.</p>\n");
        for map in &report.values.heat {
            let plot = heat(variant, map)?;
            let removals: u64 = map.squares.iter().map(|square| square.positions).sum();
            self.text(&format!("<h3>{}</h3>\n", escaped(&map.name)));
            self.plot(&format!("{removals} removals."), &plot);
        }
        Ok(())
    }

    pub(super) fn games(&mut self, report: &Report, variant: &Variant) -> anyhow::Result<()> {
        if report.games.is_empty() {
            return Ok(());
        }
        self.text("<h2>Sample games</h2>\n<svg width=\"0\" height=\"0\" class=\"men\"><defs>\n");
        for (index, info) in variant.roles().iter().enumerate() {
            let Some(role) = Role::from_index(index) else {
                continue;
            };
            for color in Color::ALL {
                let man = variant.man_svg(Piece { color, role });
                let id = format!("{}{}", color.letter(), info.letter);
                self.text(&format!(
                    "<symbol id=\"{id}\" viewBox=\"0 0 100 100\">{man}</symbol>\n"
                ));
            }
        }
        self.text("</defs></svg>\n<div id=\"viewer\"></div>\n");
        // A closing tag inside the data would end the script.
        let games = serde_json::to_string(&report.games)?.replace("</", "<\\/");
        let (files, ranks, first) = (variant.files(), variant.ranks(), variant.first_rank());
        let mut script = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            script,
            "<script>\nconst GAMES={games};\nconst BOARD={{files:{files},ranks:{ranks},first:{first}}};\n{VIEWER}</script>\n"
        );
        self.text(&script);
        Ok(())
    }
}
