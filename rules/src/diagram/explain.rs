//! A variant in words and pictures, so that its author sees what was understood.

use std::fmt::Write;

use super::PieceDiagram;
use crate::variant::{Castling, RightSource};
use crate::{Color, Role, Square, Variant, betza};

impl Variant {
    /// What the variant's file means: board, men with their moves and mobility, and all rules.
    ///
    /// ```
    /// let falcon = rules::Variant::by_name("falcon").unwrap();
    /// let text = falcon.explain();
    /// assert!(text.contains("K castles with R: 3 steps"));
    /// assert!(text.contains("pawns promote to Q, F, R, B, N on rank 8"));
    /// ```
    pub fn explain(&self) -> String {
        let mut text = format!(
            "{} ({}), {}x{}, {} squares\n",
            self.title,
            self.name,
            self.files,
            self.ranks,
            self.board.count()
        );
        if !self.description.is_empty() {
            text.push_str(&self.description);
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.start.board_text(self));
        text.push('\n');
        let mut diagrams = Vec::new();
        for role in self.role_ids() {
            diagrams.extend(self.explain_role(&mut text, role));
        }
        text.push_str(&PieceDiagram::legend(&diagrams));
        text.push('\n');
        for line in self.rules_in_words() {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn explain_role(&self, text: &mut String, role: Role) -> Option<PieceDiagram> {
        let info = self.role_info(role);
        let kind = match (info.is_royal, info.is_pawn) {
            (true, _) => ", royal",
            (_, true) => ", a pawn",
            _ => "",
        };
        // Writing to a string cannot fail. The string was parsed when the variant was compiled.
        let _ = writeln!(text, "{} {}: {}{kind}", info.letter, info.name, info.betza);
        let motions = betza::parse(&info.betza).unwrap_or_default();
        let diagram = PieceDiagram::new(&motions, self.files, self.ranks)?;
        let _ = writeln!(
            text,
            "{}mobility {:.2} on an empty board, {:.2} on one where three squares of ten are taken\n",
            diagram.text(),
            diagram.empty_mobility(),
            diagram.crowded_mobility()
        );
        Some(diagram)
    }

    fn letters(&self, roles: impl IntoIterator<Item = Role>) -> String {
        let letters = roles.into_iter().map(|role| self.role_info(role).letter);
        letters.map(String::from).collect::<Vec<_>>().join(", ")
    }

    fn rank_name(&self, square: Option<Square>) -> String {
        square.map_or("?".into(), |s| (s.rank() + self.first_rank).to_string())
    }

    fn rules_in_words(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.pawns != 0 && !self.promotion_roles.is_empty() {
            lines.push(format!(
                "pawns promote to {} on rank {} (White)",
                self.letters(self.promotion_roles.iter().copied()),
                self.rank_name(self.promotion_zone[Color::White].first())
            ));
        }
        if self.has_en_passant {
            lines.push("a double step can be captured en passant".to_string());
        }
        lines.extend(
            self.castlings
                .iter()
                .map(|rule| self.castling_in_words(rule)),
        );
        for right in &self.rights.letters {
            lines.push(match &right.source {
                RightSource::Start { role, square } => format!(
                    "FEN letter {}: the {} on {} has not moved",
                    right.letter,
                    self.role_info(*role).name,
                    self.square_name(square[Color::White])
                ),
                RightSource::Entered { role } => format!(
                    "FEN letter {}: the {} has not moved since it entered",
                    right.letter,
                    self.role_info(*role).name
                ),
            });
        }
        if let Some(entry) = &self.entry {
            let earning = self
                .role_ids()
                .filter(|r| entry.earned_by & (1 << r.index()) != 0);
            lines.push(format!(
                "{} enter on rank {} (White), one for each loss of {}",
                self.letters(self.hand_roles.iter().copied()),
                self.rank_name(entry.zone[Color::White].first()),
                self.letters(earning)
            ));
        }
        lines.push(format!(
            "draws: stalemate, third repetition, {} moves each without capture or pawn move",
            self.quiet_plies / 2
        ));
        let others = self.role_ids().filter(|&role| role != self.royal);
        let (mating, weak): (Vec<Role>, Vec<Role>) =
            others.partition(|&role| self.material.mates_alone(role));
        lines.push(format!(
            "with the king alone can mate: {}",
            self.letters(mating)
        ));
        if !weak.is_empty() {
            lines.push(format!("cannot: {}", self.letters(weak)));
        }
        lines
    }

    fn castling_in_words(&self, rule: &Castling) -> String {
        let steps = match rule.min_steps == rule.max_steps {
            true => format!("{} steps", rule.min_steps),
            false => format!("{} or more steps", rule.min_steps),
        };
        let leader = self.role_info(rule.leader).letter;
        let partner = self.role_info(rule.partner).letter;
        format!("{leader} castles with {partner}: {steps}")
    }
}
