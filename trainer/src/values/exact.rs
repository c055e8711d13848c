//! How well a net knows what tablebases know for certain.

use model::{EvalRequest, Evaluator};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::Status;
use rules::tablebase::{TableValue, Tablebase, Tablebases};
use serde::{Deserialize, Serialize};

/// Requests evaluated at once.
const BATCH: usize = 512;
/// Draws of a cell for each position wanted, at most.
const ATTEMPTS: usize = 50;

/// A net's opinion of one table's positions beside the exact values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The table, such as `KFvK`.
    pub material: String,
    /// Positions asked about, drawn evenly from the table's cells; games that are over are left out.
    pub positions: u64,
    /// Those of them that are won or lost.
    pub decisive: u64,
    /// Share of the decisive positions in which the net's win less loss has the right sign; `None` if there are none.
    pub right_signs: Option<f64>,
    /// Brier's score of win, draw and loss, `Σ(p − o)²` over the three: 0 is perfect, 2 certain and wrong.
    pub brier: f64,
    /// The same for whoever knows only how frequent wins, draws and losses are in these positions.
    pub baseline: f64,
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let signs = self
            .right_signs
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share));
        write!(
            f,
            "{:<8} {:>6} positions, {:>6} decisive, right signs {signs}, Brier {:.3} (frequencies alone {:.3})",
            self.material, self.positions, self.decisive, self.brier, self.baseline
        )
    }
}

/// Asks a net about `per_table` positions of each table.
pub fn agreement(
    tables: &Tablebases,
    evaluator: &mut dyn Evaluator,
    per_table: usize,
    seed: u64,
) -> Vec<Agreement> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let of_table = |key| {
        let table = tables.get(key)?;
        let drawn = draw(tables, table, per_table, &mut rng);
        let opinions = drawn.chunks(BATCH).flat_map(|batch| {
            let requests: Vec<EvalRequest> =
                batch.iter().map(|(request, _)| request.clone()).collect();
            evaluator.evaluate(&requests)
        });
        let pairs: Vec<([f64; 3], TableValue)> = opinions
            .zip(&drawn)
            .map(|(opinion, (_, value))| {
                let wdl = opinion.wdl;
                ([wdl.win, wdl.draw, wdl.loss].map(f64::from), *value)
            })
            .collect();
        compare(key.name(tables.variant()), &pairs)
    };
    let keys = tables.keys().filter(|key| key.men() > 2);
    keys.filter_map(of_table).collect()
}

fn draw(
    tables: &Tablebases,
    table: &Tablebase,
    count: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<(EvalRequest, TableValue)> {
    let mut drawn = Vec::new();
    for _ in 0..count * ATTEMPTS {
        if drawn.len() == count {
            break;
        }
        let cell = rng.random_range(0..table.cells());
        let Some((position, value)) = table.entry(tables, cell) else {
            continue;
        };
        if position.status(tables.variant()) == Status::Ongoing {
            let request = EvalRequest {
                position,
                repetitions: 1,
                moves: position.legal_moves(tables.variant()),
            };
            drawn.push((request, value));
        }
    }
    drawn
}

/// `None` if there is nothing to compare.
fn compare(material: String, pairs: &[([f64; 3], TableValue)]) -> Option<Agreement> {
    if pairs.is_empty() {
        return None;
    }
    let count = pairs.len() as f64;
    let result = |value: TableValue| match value {
        TableValue::Win(_) => [1.0, 0.0, 0.0],
        TableValue::Draw => [0.0, 1.0, 0.0],
        TableValue::Loss(_) => [0.0, 0.0, 1.0],
    };
    let distance = |probs: [f64; 3], result: [f64; 3]| -> f64 {
        probs.iter().zip(result).map(|(p, o)| (p - o).powi(2)).sum()
    };
    let mut frequencies = [0.0; 3];
    let (mut decisive, mut right, mut brier) = (0u64, 0u64, 0.0);
    for &(probs, value) in pairs {
        let exact = result(value);
        for (frequency, exact) in frequencies.iter_mut().zip(exact) {
            *frequency += exact / count;
        }
        brier += distance(probs, exact) / count;
        let sign = exact[0] - exact[2];
        if sign != 0.0 {
            decisive += 1;
            right += u64::from(sign * (probs[0] - probs[2]) > 0.0);
        }
    }
    let baseline = pairs
        .iter()
        .map(|&(_, value)| distance(frequencies, result(value)) / count);
    Some(Agreement {
        material,
        positions: pairs.len() as u64,
        decisive,
        right_signs: (decisive > 0).then(|| right as f64 / decisive as f64),
        brier,
        baseline: baseline.sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::UniformEvaluator;
    use rules::Variant;
    use rules::tablebase::MaterialKey;

    #[test]
    fn opinions_are_scored_against_the_truth() {
        let pairs = [
            ([0.8, 0.1, 0.1], TableValue::Win(3)),
            ([0.2, 0.6, 0.2], TableValue::Draw),
            ([0.5, 0.2, 0.3], TableValue::Loss(8)),
            ([1.0, 0.0, 0.0], TableValue::Win(1)),
        ];
        let agreement = compare("KRvK".to_owned(), &pairs).expect("pairs");
        assert_eq!((agreement.positions, agreement.decisive), (4, 3));
        assert_eq!(agreement.right_signs, Some(2.0 / 3.0));
        let brier = (0.06 + 0.24 + (0.25 + 0.04 + 0.49)) / 4.0;
        assert!((agreement.brier - brier).abs() < 1e-12, "{agreement}");
        assert!((agreement.baseline - 0.625).abs() < 1e-12, "{agreement}");
        assert_eq!(compare("KRvK".to_owned(), &[]), None);
    }

    #[test]
    fn a_net_without_opinions_is_no_better_than_frequencies() {
        let chess = Variant::by_name("chess").expect("built in");
        let mut tables = Tablebases::new(&chess);
        let key = MaterialKey::parse(&chess, "KRvK").expect("material");
        tables.build(&key, &mut |_| {}).expect("built");
        let all = agreement(&tables, &mut UniformEvaluator, 300, 1);
        assert_eq!(all.len(), 1, "bare kings are no table to ask about");
        assert_eq!((all[0].positions, all[0].right_signs), (300, Some(0.0)));
        assert!(all[0].brier >= all[0].baseline, "{}", all[0]);
    }
}
