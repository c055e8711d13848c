//! An audit as text.

use super::{Audit, FitRow, NetFit, Replayed, SearchRow};
use crate::values::phase::{Phase, Slice};
use std::fmt::{Display, Formatter, Result};

impl Display for Audit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{} games of {}", self.game_count, self.variant)?;
        for (name, value) in &self.games {
            writeln!(f, "  {name:<40} {value:>8.3}")?;
        }
        writeln!(
            f,
            "  {:<40} {:>8.0}",
            "training steps behind the newest net", self.steps_behind
        )?;
        writeln!(f, "  {}", self.worker_time)?;
        writeln!(f, "\n{}", self.replayed)?;
        search_table(f, &self.searches)?;
        if let Some(fit) = &self.fit {
            writeln!(
                f,
                "\nNet {} on what it learns from, and on held-out games",
                self.net
            )?;
            write!(f, "{fit}")?;
        }
        if !self.exact.is_empty() {
            writeln!(f, "\nIts judgement of solved endings")?;
            for agreement in &self.exact {
                writeln!(f, "  {agreement}")?;
            }
        }
        Ok(())
    }
}

impl Display for Replayed {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (games, plies) = (self.games, self.plies);
        let faults = match self.faults {
            0 => "no fault".to_owned(),
            1 => "1 FAULT".to_owned(),
            count => format!("{count} FAULTS"),
        };
        writeln!(
            f,
            "Played once more by the rules, targets made from scratch: {games} games, {plies} plies, {faults}"
        )?;
        for fault in &self.listed {
            writeln!(
                f,
                "  game {}, ply {}: {}",
                fault.game, fault.ply, fault.what
            )?;
        }
        Ok(())
    }
}

fn search_table(f: &mut Formatter<'_>, rows: &[SearchRow]) -> Result {
    writeln!(
        f,
        "In play: mean squared error of the expected score, less is better"
    )?;
    writeln!(
        f,
        "               plies  constant    net  search  policy entropy  likeliest played"
    )?;
    for row in rows {
        writeln!(
            f,
            "  {:<10} {:>7}    {:.4} {:.4}  {:.4}        {:.2} nats             {:>4.0}%",
            Slice::Phase(row.phase).title(),
            row.plies,
            row.constant_error,
            row.net_error,
            row.search_error,
            row.policy_entropy,
            100.0 * row.likeliest_played
        )?;
    }
    Ok(())
}

impl Display for NetFit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(
            f,
            "                         samples  policy loss  above the search's  value loss  constant  calibration"
        )?;
        for row in &self.rows {
            writeln!(f, "  {row}")?;
        }
        let all = self
            .rows
            .iter()
            .find(|row| row.held_out && row.phase.is_none());
        let Some(all) = all else {
            return Ok(());
        };
        let filled = all
            .report
            .calibration
            .iter()
            .filter(|bin| bin.positions > 0);
        write!(f, "  expected score ")?;
        for bin in filled.clone() {
            write!(f, " {:.2}", bin.expected)?;
        }
        write!(f, "\n  score          ")?;
        for bin in filled {
            write!(f, " {:.2}", bin.scored)?;
        }
        writeln!(f)
    }
}

impl Display for FitRow {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let phase = self
            .phase
            .map_or("all", |phase: Phase| Slice::Phase(phase).title());
        let kind = if self.held_out { "held out" } else { "learnt" };
        let report = &self.report;
        write!(
            f,
            "{phase:<10} {kind:<9} {:>9}        {:.3}               {:.3}       {:.3}     {:.3}        {:.3}",
            report.samples,
            report.policy_loss,
            report.policy_kl,
            report.value_loss,
            report.constant_value_loss,
            report.calibration_error
        )
    }
}
