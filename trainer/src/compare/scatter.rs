//! How far chance in training, beyond that in matches, may have moved a difference between recipes.
//!
//! Runs of one seed share the machine's mood and the first weights, so a net's Elo is taken for recipe + seed + rest (analysis of
//! variance in two ways without repetition). The rests of all recipes together tell how large chance is: two seeds of one
//! recipe alone say next to nothing.

/// t of which 97.5% of Student's distribution lie below, for 1, 2, … degrees of freedom.
const T_95: [f64; 20] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
];

/// The same for any number of degrees of freedom, at least one.
fn t_95(freedom: usize) -> f64 {
    // The first term of the expansion about the normal distribution; right to 0.005 beyond the table.
    let beyond = || 1.960 + 2.372 / freedom as f64;
    T_95.get(freedom - 1).copied().unwrap_or_else(beyond)
}

/// Half the width of the 95% interval of the difference between two recipes' means over the seeds; `elo` by recipe, then by
/// seed. None with fewer than two of either, or where one is not known.
pub fn seed_error(elo: &[Vec<Option<f64>>]) -> Option<f64> {
    let rows: Vec<Vec<f64>> = elo
        .iter()
        .map(|row| row.iter().copied().collect::<Option<Vec<f64>>>())
        .collect::<Option<_>>()?;
    let (recipes, seeds) = (rows.len(), rows.first()?.len());
    let freedom = recipes.saturating_sub(1) * seeds.saturating_sub(1);
    if freedom == 0 {
        return None;
    }
    let of_recipe = |recipe: usize| rows[recipe].iter().sum::<f64>() / seeds as f64;
    let of_seed = |seed: usize| rows.iter().map(|row| row[seed]).sum::<f64>() / recipes as f64;
    let all = (0..recipes).map(of_recipe).sum::<f64>() / recipes as f64;
    let mut squares = 0.0;
    for (recipe, row) in rows.iter().enumerate() {
        for (seed, elo) in row.iter().enumerate() {
            squares += (elo - of_recipe(recipe) - of_seed(seed) + all).powi(2);
        }
    }
    let variance = squares / freedom as f64;
    Some(t_95(freedom) * (2.0 * variance / seeds as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: rests of ±5 in all four places, one degree of freedom.
    #[test]
    fn what_recipe_and_seed_explain_is_no_scatter() {
        let known = |rows: &[[f64; 2]]| -> Vec<Vec<Option<f64>>> {
            rows.iter().map(|row| row.map(Some).to_vec()).collect()
        };
        assert_eq!(
            seed_error(&known(&[[0.0, 50.0], [100.0, 150.0]])),
            Some(0.0)
        );
        let error = seed_error(&known(&[[0.0, 50.0], [110.0, 140.0]])).expect("four values");
        assert!((error - 12.706 * 10.0).abs() < 1e-6, "{error}");
        assert_eq!(seed_error(&known(&[[0.0, 50.0]])), None);
        assert_eq!(seed_error(&[vec![Some(0.0)], vec![Some(9.0)]]), None);
        assert_eq!(
            seed_error(&[vec![Some(0.0), None], vec![Some(9.0), None]]),
            None
        );
    }

    #[test]
    fn the_table_goes_on_smoothly() {
        assert!((t_95(21) - 2.080).abs() < 0.01 && t_95(20) > t_95(21));
        assert!((t_95(100_000) - 1.96).abs() < 1e-3);
    }
}
