//! Sequential halving (Karnin et al. 2013) as a table, so that the root needs no phases of its own.

/// For each of `simulations` simulations, how many visits the root move to be visited next must have had so far.
///
/// Choosing among the moves with just so many visits the one that scores best gives sequential halving over the
/// `considered` best moves: every move left gets the same number of visits in a phase, then the worse half is
/// dropped, and the last phase goes on with two moves until the budget is spent.
/// Gumbel AlphaZero (Danihelka et al. 2022), figure 1 and algorithm 2.
pub fn considered_visits(considered: usize, simulations: usize) -> Vec<u32> {
    let mut table = Vec::with_capacity(simulations);
    if considered <= 1 {
        table.extend(0..simulations as u32);
        return table;
    }
    let phases = considered.next_power_of_two().trailing_zeros() as usize;
    let mut left = considered;
    let mut visits = 0;
    while table.len() < simulations {
        let each = (simulations / (phases * left)).max(1);
        for _ in 0..each {
            table.extend(std::iter::repeat_n(visits, left));
            visits += 1;
        }
        left = (left / 2).max(2);
    }
    table.truncate(simulations);
    table
}

#[cfg(test)]
mod tests {
    use super::considered_visits;

    /// Visits of each move, best first, if the ranking never changes.
    fn visits(considered: usize, simulations: usize) -> Vec<u32> {
        let mut visits = vec![0; considered];
        for wanted in considered_visits(considered, simulations) {
            let next = visits
                .iter()
                .position(|&v| v == wanted)
                .expect("a move with that many visits");
            visits[next] += 1;
        }
        visits
    }

    #[test]
    fn budgets_are_halved_as_in_the_paper() {
        // Figure 1 of the paper: 16 simulations over 4 moves are 4 x 2, then 2 x 4.
        assert_eq!(visits(4, 16), [6, 6, 2, 2]);
        assert_eq!(
            visits(16, 64),
            [15, 15, 7, 7, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1]
        );
    }

    #[test]
    fn small_budgets_and_odd_numbers_work() {
        assert_eq!(considered_visits(1, 3), [0, 1, 2]);
        assert_eq!(visits(16, 8)[..8], [1; 8]);
        assert_eq!(visits(3, 7), [3, 3, 1]);
        for considered in 1..20 {
            for simulations in 1..70 {
                assert_eq!(
                    considered_visits(considered, simulations).len(),
                    simulations
                );
                assert_eq!(
                    visits(considered, simulations).iter().sum::<u32>(),
                    simulations as u32
                );
            }
        }
    }
}
