//! What a comparison found.

use super::plan::{Account, Plan};
use super::scatter::seed_error;
use super::tournament::GREEDY;
use crate::arena::ladder::{Matchup, rate};
use serde::Serialize;
use std::fmt;

/// The result of a comparison.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Minutes of each run.
    pub minutes: f64,
    /// The recipes, strongest first.
    pub recipes: Vec<RecipeRow>,
    /// Elo of the greedy player above the first recipe, and half the width of its 95% interval.
    pub greedy: Option<(f64, f64)>,
}

/// One recipe's strength.
#[derive(Debug, Serialize)]
pub struct RecipeRow {
    /// Name of the recipe.
    pub recipe: String,
    /// Elo above the first recipe: all its nets together against all nets of the others.
    pub elo: Option<f64>,
    /// Half the width of the 95% interval that the matches leave.
    pub match_error: Option<f64>,
    /// Half the width of the 95% interval of `elo`, from the scatter of all recipes' seeds about what recipe and seed explain;
    /// none for the first recipe, and with one seed.
    pub seed_error: Option<f64>,
    /// Elo of the net of each seed above the mean of the first recipe's nets.
    pub seeds: Vec<Option<f64>>,
    /// What the runs have done, in the order of the seeds.
    pub accounts: Vec<Account>,
}

impl Comparison {
    /// From the matches that have been played and what the runs have done.
    pub fn new(plan: &Plan, matchups: &[Matchup], accounts: &[Account]) -> Comparison {
        let runs = plan.runs();
        let recipe_of = |name: &str| {
            let run = runs.iter().find(|run| run.name == name);
            run.map_or(GREEDY.to_owned(), |run| plan.recipes[run.recipe].0.clone())
        };
        let base = &plan.recipes[0].0;
        // Nets of one recipe against each other say nothing about recipes.
        let merged: Vec<Matchup> = matchups
            .iter()
            .map(|matchup| Matchup {
                first: recipe_of(&matchup.first),
                second: recipe_of(&matchup.second),
                pentanomial: matchup.pentanomial,
            })
            .filter(|matchup| matchup.first != matchup.second)
            .collect();
        let by_recipe = rate(&merged, base);
        let by_run = rate(matchups, &runs[0].name);
        let elo_of_run = |name: &str| by_run.iter().find(|r| r.player == name).and_then(|r| r.elo);
        let seeds_of = |recipe: usize| -> Vec<Option<f64>> {
            let runs = runs.iter().filter(|run| run.recipe == recipe);
            runs.map(|run| elo_of_run(&run.name)).collect()
        };
        let all: Vec<Vec<Option<f64>>> = (0..plan.recipes.len()).map(seeds_of).collect();
        let zero = mean(&all[0]).unwrap_or(0.0);
        let scatter = seed_error(&all);
        let row = |(recipe, (name, _)): (usize, &(String, _))| {
            let rating = by_recipe.iter().find(|rating| rating.player == *name);
            let seeds = all[recipe].iter().map(|elo| elo.map(|elo| elo - zero));
            let own = runs.iter().filter(|run| run.recipe == recipe);
            RecipeRow {
                recipe: name.clone(),
                elo: rating.and_then(|rating| rating.elo),
                match_error: rating.and_then(|rating| rating.error),
                seed_error: scatter.filter(|_| recipe > 0),
                seeds: seeds.collect(),
                accounts: own
                    .filter_map(|run| accounts.iter().find(|account| account.run == run.name))
                    .cloned()
                    .collect(),
            }
        };
        let mut recipes: Vec<RecipeRow> = plan.recipes.iter().enumerate().map(row).collect();
        recipes.sort_by(|a, b| {
            b.elo
                .partial_cmp(&a.elo)
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let greedy = by_recipe.iter().find(|rating| rating.player == GREEDY);
        Comparison {
            minutes: plan.minutes,
            recipes,
            greedy: greedy.and_then(|rating| rating.elo.zip(rating.error)),
        }
    }
}

/// The mean of what is known.
fn mean(values: &[Option<f64>]) -> Option<f64> {
    let count = values.iter().flatten().count();
    (count > 0).then(|| values.iter().flatten().sum::<f64>() / count as f64)
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} minutes each; Elo above the first recipe, with the 95% that the games leave, and what the seeds leave.\n",
            self.minutes
        )?;
        writeln!(
            f,
            "{:24} {:>16} {:>9} {:>18} {:>8} {:>9} {:>7} {:>11}",
            "recipe", "Elo", "± seeds", "each seed", "games", "samples", "steps", "positions/s"
        )?;
        for row in &self.recipes {
            let elo = match row.elo.zip(row.match_error) {
                Some((elo, error)) => format!("{elo:+.0} ± {error:.0}"),
                None => "unknown".to_owned(),
            };
            let seeds: Vec<String> = (row.seeds.iter())
                .map(|elo| elo.map_or("?".to_owned(), |elo| format!("{elo:+.0}")))
                .collect();
            let seed_error = row
                .seed_error
                .map_or("-".to_owned(), |error| format!("{error:.0}"));
            let per_run = |of: fn(&Account) -> u64| {
                let sum: u64 = row.accounts.iter().map(of).sum();
                sum / (row.accounts.len() as u64).max(1)
            };
            writeln!(
                f,
                "{:24} {elo:>16} {seed_error:>9} {:>18} {:>8} {:>9} {:>7} {:>11.0}",
                row.recipe,
                seeds.join(" "),
                per_run(|account| account.games),
                per_run(|account| account.samples),
                per_run(|account| account.steps),
                per_run(|account| account.positions) as f64 / (60.0 * self.minutes),
            )?;
        }
        if let Some((elo, error)) = self.greedy {
            writeln!(f, "{:24} {:>16}", GREEDY, format!("{elo:+.0} ± {error:.0}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::pentanomial::Pentanomial;
    use crate::config::RunConfig;

    #[test]
    fn the_better_recipe_comes_first_with_the_scatter_of_its_seeds() {
        let recipe = |name: &str| (name.to_owned(), RunConfig::default());
        let plan = Plan {
            folder: "nowhere".into(),
            recipes: vec![recipe("old"), recipe("new")],
            seeds: 2,
            minutes: 10.0,
        };
        let matchup = |first: &str, second: &str, counts| Matchup {
            first: first.to_owned(),
            second: second.to_owned(),
            pentanomial: Pentanomial::new(counts),
        };
        let matchups = [
            matchup("old-seed1", "new-seed1", [30, 10, 10, 0, 0]),
            matchup("old-seed1", "new-seed2", [10, 10, 20, 10, 0]),
            matchup("old-seed2", "new-seed1", [20, 20, 10, 0, 0]),
            matchup("old-seed2", "new-seed2", [10, 15, 15, 10, 0]),
            matchup("old-seed1", "old-seed2", [0, 0, 50, 0, 0]),
        ];
        let found = Comparison::new(&plan, &matchups, &[]);
        assert_eq!(found.recipes[0].recipe, "new");
        assert_eq!(found.recipes[1].elo, Some(0.0));
        let new = &found.recipes[0];
        assert!(new.elo.is_some_and(|elo| elo > 100.0), "{found}");
        // The first seed of the new recipe did better than the second.
        assert!(new.seeds[0] > new.seeds[1], "{found}");
        assert!(new.seed_error > Some(0.0), "{found}");
        assert!(found.to_string().contains("new"));
    }
}
