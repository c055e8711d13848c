//! How the values have changed as a run went on.

use super::bootstrap::Bootstrap;
use super::estimate::Estimate;
use super::regression::Regression;
use super::run::{Sources, sample_chunk};
use rayon::prelude::*;
use selfplay::games::chunks;
use serde::{Deserialize, Serialize};

/// Resamples of each point.
const RESAMPLES: usize = 100;

/// The values in one stretch of a run, by its games' outcomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// Games that had been read when the stretch ended, those before it included.
    pub games: u64,
    /// The values.
    pub estimate: Estimate,
}

/// Splits a run's games into `parts` stretches of time with about as much play in each, and estimates the values in each.
/// Stretches without games are left out.
///
/// # Errors
/// If the storage cannot be listed. Game files that cannot be read are skipped with a warning.
pub fn history(
    sources: &Sources<'_>,
    parts: usize,
    seed: u64,
) -> anyhow::Result<Vec<HistoryPoint>> {
    let chunks = chunks(sources.storage)?;
    let total: u64 = chunks.iter().map(|chunk| chunk.size).sum();
    let mut stretches: Vec<Vec<&str>> = vec![Vec::new(); parts.max(1)];
    let mut size = 0;
    for chunk in &chunks {
        let part = (size as f64 / total.max(1) as f64 * parts as f64) as usize;
        stretches[part.min(parts.max(1) - 1)].push(&chunk.name);
        size += chunk.size;
    }
    let bootstrap = Bootstrap {
        resamples: RESAMPLES,
        seed,
    };
    let mut games = 0;
    let mut points = Vec::new();
    for names in stretches {
        let sampled: Vec<_> = names
            .par_iter()
            .map(|name| sample_chunk(sources.storage, sources.variant, name))
            .collect();
        let mut regression = Regression::new(sources.variant);
        for game in sampled.into_iter().flatten() {
            regression.add_game(game.outcome, &game.positions);
        }
        games += regression.games() as u64;
        let point = regression.estimate(bootstrap).map(|sampled| HistoryPoint {
            games,
            estimate: sampled.estimate,
        });
        points.extend(point);
    }
    Ok(points)
}
