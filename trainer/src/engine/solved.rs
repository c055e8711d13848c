//! Endgame tables that are solved while the game goes on.

use rules::tablebase::Tablebases;
use rules::{Position, Variant};
use std::sync::{Arc, OnceLock};

/// With so many men on the board the tables are begun: long before they are needed, and not in every game.
const BEGIN_AT: u32 = 14;

/// The endings of three men of the variant that is being played.
#[derive(Default)]
pub(super) struct SolvedEndings {
    solving: Option<Solving>,
}

struct Solving {
    variant: Arc<Variant>,
    /// Filled by a thread; `None` if tables cannot be made.
    tables: Arc<OnceLock<Option<Arc<Tablebases>>>>,
}

impl SolvedEndings {
    /// The tables, if they are ready. Begins to solve them, which takes a thread a second or two, when few men are left.
    pub fn tables(
        &mut self,
        variant: &Arc<Variant>,
        position: &Position,
    ) -> Option<Arc<Tablebases>> {
        if position.occupied().count() > BEGIN_AT {
            return None;
        }
        let known = self.solving.take();
        let known = known.filter(|solving| Arc::ptr_eq(&solving.variant, variant));
        let solving = self
            .solving
            .insert(known.unwrap_or_else(|| Solving::begin(variant)));
        solving.tables.get().cloned().flatten()
    }
}

impl Solving {
    fn begin(variant: &Arc<Variant>) -> Solving {
        let tables = Arc::new(OnceLock::new());
        let (cell, rules) = (Arc::clone(&tables), Arc::clone(variant));
        std::thread::spawn(move || {
            let solved = Tablebases::three_men(&rules);
            let solved = solved.inspect_err(|error| tracing::debug!("no tablebases: {error}"));
            // Nobody else fills the cell.
            let _filled = cell.set(solved.ok().map(Arc::new));
        });
        Solving {
            variant: Arc::clone(variant),
            tables,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn tables_come_when_few_men_are_left() {
        let chess = Variant::by_name("chess").expect("built in");
        let few = Position::from_fen(&chess, "8/8/8/3k4/8/8/8/R3K3 w - - 0 1").expect("a FEN");
        let mut endings = SolvedEndings::default();
        assert!(endings.tables(&chess, &chess.start()).is_none() && endings.solving.is_none());
        let begun = Instant::now();
        let tables = loop {
            if let Some(tables) = endings.tables(&chess, &few) {
                break tables;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "they are solved in seconds"
            );
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(tables.probe(&few).is_some());
    }
}
