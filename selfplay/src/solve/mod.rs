//! Forced mates, proven, with no net.
//!
//! [`solve`] goes through the mate lengths from one move up. For each it proves or refutes every first move by
//! exhaustive depth-first search over AND/OR trees with a table of known results, so the mate found is the shortest
//! and its key moves are complete. When the budget does not allow that, the general [`Search`] with uniform priors
//! goes on: its exact back-up still proves mates along forcing lines, though it may miss shorter ones and other keys.

pub(crate) mod prover;

use std::sync::Arc;

use model::{Evaluator, UniformEvaluator};
use rules::{Game, Move, Position, Status, Variant};

use self::prover::{OutOfBudget, Prover};
use crate::search::{Proven, Search, SearchConfig, SearchKind};

/// Bounds the memory of the general search: a simulation's node and moves take about 1.5 kB.
const MAX_SIMULATIONS: u64 = 300_000;

/// What is known about mates for the side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveReport {
    /// The answer.
    pub verdict: Verdict,
    /// Positions looked at.
    pub nodes: u64,
}

/// The answer to "is there a forced mate?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The side to move mates by force.
    Mate {
        /// Moves of the mating side up to and with the mate.
        moves: u32,
        /// First moves that mate in so many moves.
        keys: Vec<Move>,
        /// Whether `keys` is known to hold all of them.
        keys_complete: bool,
        /// A line with the best defence, from the first key move to the mate.
        pv: Vec<Move>,
        /// Proven that no mate is shorter.
        shortest: bool,
    },
    /// Proven: no forced mate within the moves asked for.
    NoMate,
    /// The budget was too small.
    Unknown {
        /// Proven: no forced mate within so many moves.
        refuted: u32,
    },
}

/// Looks for the shortest forced mate of the side to move in at most `max_mate_moves` of its moves.
///
/// `node_budget` bounds the positions looked at. The draw by repetition plays no part (the shortest mate never
/// repeats a position); the fifty-move rule does.
///
/// ```
/// use selfplay::solve::{Verdict, solve};
///
/// let variant = rules::Variant::by_name("falcon").expect("a built-in variant");
/// let fen = "10/p1P1r5/9R/k9/10/PP1bq5/6K3/10 w - - 0 1";
/// let position = rules::Position::from_fen(&variant, fen).expect("a valid FEN");
/// let report = solve(&variant, &position, 1, 10_000);
/// assert!(matches!(report.verdict, Verdict::Mate { moves: 1, .. }));
/// ```
pub fn solve(
    variant: &Arc<Variant>,
    position: &Position,
    max_mate_moves: u32,
    node_budget: u64,
) -> SolveReport {
    let game = Game::new(Arc::clone(variant), *position);
    if game.status() != Status::Ongoing {
        return SolveReport {
            verdict: Verdict::NoMate,
            nodes: 0,
        };
    }
    let mut prover = Prover::new(variant, node_budget / 2);
    let verdict = match prover.shortest(position, max_mate_moves) {
        Ok(Some((moves, keys))) => Verdict::Mate {
            moves,
            pv: prover.line(position, keys[0], moves, u64::MAX),
            keys,
            keys_complete: true,
            shortest: true,
        },
        Ok(None) => Verdict::NoMate,
        Err(OutOfBudget) => {
            let left = node_budget.saturating_sub(prover.nodes);
            let (verdict, simulations) = search_on(&game, max_mate_moves, prover.refuted, left);
            let nodes = prover.nodes + simulations;
            return SolveReport { verdict, nodes };
        }
    };
    SolveReport {
        verdict,
        nodes: prover.nodes,
    }
}

/// The exhaustive proof was too long: lets the general search look for forcing lines. Returns what it found and its
/// simulations.
fn search_on(game: &Game, max_mate_moves: u32, refuted: u32, budget: u64) -> (Verdict, u64) {
    let unknown = Verdict::Unknown { refuted };
    let simulations = budget.min(MAX_SIMULATIONS) as u32;
    if simulations == 0 {
        return (unknown, 0);
    }
    let config = SearchConfig {
        kind: SearchKind::Puct,
        simulations,
        ..SearchConfig::default()
    };
    let mut search = Search::new(game, config, 0);
    while let Some(request) = search.gather() {
        search.respond(UniformEvaluator.evaluate(&[request]).remove(0));
    }
    let result = search.result();
    let verdict = match result.proven {
        Some(Proven::Win(plies)) if u32::from(plies).div_ceil(2) <= max_mate_moves => {
            let moves = u32::from(plies).div_ceil(2);
            Verdict::Mate {
                moves,
                keys: vec![result.best_move],
                keys_complete: false,
                pv: result.pv,
                shortest: moves == refuted + 1,
            }
        }
        Some(_) | None => unknown,
    };
    (verdict, u64::from(result.simulations))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(name: &str, fen: &str) -> (Arc<Variant>, Position) {
        let variant = Variant::by_name(name).expect("a built-in variant");
        let position = Position::from_fen(&variant, fen).expect("a valid FEN");
        (variant, position)
    }

    fn texts(variant: &Variant, position: &Position, moves: &[Move]) -> Vec<String> {
        moves
            .iter()
            .map(|&mv| variant.move_text(position, mv))
            .collect()
    }

    /// Plays a line of legal moves and says how it ends.
    fn end_of(variant: &Variant, position: &Position, line: &[Move]) -> Status {
        let end = line.iter().fold(*position, |at, &mv| {
            assert!(
                at.legal_moves(variant).contains(&mv),
                "{mv:?} is illegal in {}",
                at.fen(variant)
            );
            at.play(variant, mv)
        });
        end.status(variant)
    }

    /// George William Duke's problems A to E: number of moves and the only key.
    #[test]
    fn dukes_problems() {
        for (fen, length, key) in [
            ("7rk1/7ppp/10/7FPP/7N2/10/10/2Q4K2 w - - 0 1", 2, "c1i7"),
            ("10/p1P1r5/9R/k9/10/PP1bq5/6K3/10 w - - 0 1", 1, "c7c8f"),
            ("10/7p2/8p1/2k1P5/P9/2K7/3N6/3F6 w - - 0 1", 2, "d1a3"),
            ("10/4kp1N2/4p5/3p6/1PpF1P4/10/10/R3FK4 w - - 0 1", 2, "e1c4"),
            ("2b7/10/pknF6/2p7/2R1F5/P9/10/4K5 w - - 0 1", 2, "c4b4"),
        ] {
            let (variant, start) = position("falcon", fen);
            let report = solve(&variant, &start, 3, 1_000_000);
            let Verdict::Mate {
                moves,
                keys,
                keys_complete: true,
                pv,
                shortest,
            } = report.verdict
            else {
                panic!("{fen}: {report:?}");
            };
            assert_eq!((moves, shortest), (length, true), "{fen}");
            assert_eq!(texts(&variant, &start, &keys), [key], "{fen}");
            assert_eq!(pv.len() as u32, 2 * length - 1, "{fen}");
            assert_eq!(end_of(&variant, &start, &pv), Status::Checkmate, "{fen}");
        }
    }

    #[test]
    fn longer_mates() {
        // The ladder of two rooks.
        let (variant, start) = position("chess", "8/4k3/8/R7/1R6/8/8/7K w - - 0 1");
        let report = solve(&variant, &start, 4, 20_000_000);
        let Verdict::Mate {
            moves,
            pv,
            shortest,
            ..
        } = report.verdict
        else {
            panic!("{report:?}")
        };
        assert_eq!((moves, shortest, pv.len()), (4, true, 7));
        assert_eq!(end_of(&variant, &start, &pv), Status::Checkmate);
    }

    #[test]
    fn the_search_finds_mates_where_the_proof_is_too_long() {
        let (variant, start) = position("falcon", "7rk1/7ppp/10/7FPP/7N2/10/10/2Q4K2 w - - 0 1");
        let report = solve(&variant, &start, 2, 2000);
        let Verdict::Mate {
            moves: 2,
            keys,
            keys_complete: false,
            shortest: true,
            ..
        } = report.verdict
        else {
            panic!("{report:?}");
        };
        assert_eq!(texts(&variant, &start, &keys), ["c1i7"]);
    }

    #[test]
    fn no_mate_and_small_budgets_are_told_apart() {
        let (variant, start) = position("chess", "8/8/8/4k3/R7/1R6/8/7K w - - 0 1");
        assert_eq!(
            solve(&variant, &start, 2, 1_000_000).verdict,
            Verdict::NoMate
        );
        assert_eq!(
            solve(&variant, &start, 4, 60).verdict,
            Verdict::Unknown { refuted: 0 }
        );
        let (variant, mated) = position("chess", "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1");
        assert_eq!(solve(&variant, &mated, 2, 1000).verdict, Verdict::NoMate);
    }

    #[test]
    fn a_stalemate_is_no_mate_and_fifty_moves_are_counted() {
        let (variant, start) = position("chess", "k7/8/1K6/8/8/8/8/2Q5 w - - 99 90");
        assert!(matches!(
            solve(&variant, &start, 1, 1000).verdict,
            Verdict::Mate { moves: 1, .. }
        ));
        let (variant, start) = position("chess", "k7/8/8/2K5/8/8/8/1Q6 w - - 98 90");
        let report = solve(&variant, &start, 2, 100_000);
        assert_eq!(report.verdict, Verdict::NoMate);
        // The game is drawn before the forced capture that would begin the count anew.
        let (variant, start) = position("chess", "5r1k/6pp/7N/8/8/1Q6/8/6K1 w - - 99 80");
        let report = solve(&variant, &start, 2, 100_000);
        assert_eq!(report.verdict, Verdict::NoMate);
        let (variant, start) = position("chess", "k7/8/8/2K5/8/8/8/1Q6 w - - 90 90");
        let report = solve(&variant, &start, 2, 100_000);
        assert!(
            matches!(report.verdict, Verdict::Mate { moves: 2, .. }),
            "{report:?}"
        );
    }
}
