//! Forced mates, proven, with no net.
//!
//! [`solve`] goes through the mate lengths from one move up. For each it proves or refutes every first move by
//! exhaustive depth-first search over AND/OR trees with a table of known results, so the mate found is the shortest
//! and its key moves are complete. When the budget does not allow that, the general [`Search`] with uniform priors
//! goes on: its exact back-up still proves mates along forcing lines, though it may miss shorter ones and other keys.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Evaluator, UniformEvaluator};
use rules::{Game, Move, Position, Status, Variant};

use crate::search::{Proven, Search, SearchConfig, SearchKind};

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
    let mut prover = Prover {
        variant,
        nodes: 0,
        budget: node_budget / 2,
        known: HashMap::new(),
    };
    for moves in 1..=max_mate_moves {
        match prover.keys(position, moves) {
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => {
                prover.budget = u64::MAX;
                let pv = prover.line(position, keys[0], moves);
                let verdict = Verdict::Mate {
                    moves,
                    keys,
                    keys_complete: true,
                    pv,
                    shortest: true,
                };
                return SolveReport {
                    verdict,
                    nodes: prover.nodes,
                };
            }
            Err(OutOfBudget) => {
                let left = node_budget - prover.nodes.min(node_budget);
                return search_on(
                    variant,
                    position,
                    max_mate_moves,
                    moves - 1,
                    prover.nodes,
                    left,
                );
            }
        }
    }
    SolveReport {
        verdict: Verdict::NoMate,
        nodes: prover.nodes,
    }
}

/// The exhaustive proof was too long: let the general search look for forcing lines.
fn search_on(
    variant: &Arc<Variant>,
    position: &Position,
    max_mate_moves: u32,
    refuted: u32,
    nodes: u64,
    budget: u64,
) -> SolveReport {
    let game = Game::new(Arc::clone(variant), *position);
    let unknown = |nodes| SolveReport {
        verdict: Verdict::Unknown { refuted },
        nodes,
    };
    if game.status() != Status::Ongoing || budget == 0 {
        return unknown(nodes);
    }
    let config = SearchConfig {
        kind: SearchKind::Puct,
        simulations: u32::try_from(budget).unwrap_or(u32::MAX),
        ..SearchConfig::default()
    };
    let mut search = Search::new(&game, config, 0);
    while let Some(request) = search.gather() {
        search.respond(UniformEvaluator.evaluate(&[request]).remove(0));
    }
    let result = search.result();
    let nodes = nodes + u64::from(result.simulations);
    match result.proven {
        Some(Proven::Win(plies)) if u32::from(plies).div_ceil(2) <= max_mate_moves => {
            let moves = u32::from(plies).div_ceil(2);
            let verdict = Verdict::Mate {
                moves,
                keys: vec![result.best_move],
                keys_complete: false,
                pv: result.pv,
                shortest: moves == refuted + 1,
            };
            SolveReport { verdict, nodes }
        }
        Some(_) | None => unknown(nodes),
    }
}

struct OutOfBudget;

/// Exhaustive proofs with a table of what is known.
struct Prover<'a> {
    variant: &'a Variant,
    nodes: u64,
    budget: u64,
    /// By the key of a position with the attacker to move.
    known: HashMap<u64, Known>,
}

/// Mate lengths of one position.
#[derive(Clone, Copy, Default)]
struct Known {
    /// No mate in so many moves.
    refuted: u32,
    /// A mate in so many moves, 0 if none is known.
    mate: u32,
}

/// A move of the attacker with what it leaves the defender.
struct Attack {
    mv: Move,
    after: Position,
    check: bool,
    replies: Vec<Move>,
}

impl Prover<'_> {
    /// All first moves that mate in at most `moves`.
    fn keys(&mut self, position: &Position, moves: u32) -> Result<Vec<Move>, OutOfBudget> {
        let mut keys = Vec::new();
        if position.status(self.variant) != Status::Ongoing {
            return Ok(keys);
        }
        for attack in self.attacks(position, moves)? {
            if self.is_mated(&attack, moves)? {
                keys.push(attack.mv);
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// Whether the attacker, to move, mates in at most `moves`, at least 1.
    fn mates(&mut self, position: &Position, moves: u32) -> Result<bool, OutOfBudget> {
        let key = position.key();
        let known = match self.is_clock_at_play(position, moves) {
            true => Known::default(),
            false => self.known.get(&key).copied().unwrap_or_default(),
        };
        if known.mate != 0 && known.mate <= moves {
            return Ok(true);
        }
        if known.refuted >= moves {
            return Ok(false);
        }
        let mut found = false;
        if position.status_given(self.variant, true) == Status::Ongoing {
            for attack in self.attacks(position, moves)? {
                if self.is_mated(&attack, moves)? {
                    found = true;
                    break;
                }
            }
        }
        if !self.is_clock_at_play(position, moves) {
            self.remember(key, moves, found);
        }
        Ok(found)
    }

    fn remember(&mut self, key: u64, moves: u32, found: bool) {
        let known = self.known.entry(key).or_default();
        if found {
            known.mate = moves;
        } else {
            known.refuted = moves;
        }
    }

    /// Whether the fifty-move draw is so near that the position's key does not say it all.
    fn is_clock_at_play(&self, position: &Position, moves: u32) -> bool {
        u32::from(position.halfmove_clock()) + 2 * moves >= u32::from(self.variant.quiet_plies())
    }

    /// Whether the defender, to move after this attack, is mated with `moves` attacks made or left, this one included.
    fn is_mated(&mut self, attack: &Attack, moves: u32) -> Result<bool, OutOfBudget> {
        if attack.replies.is_empty() {
            return Ok(attack.check);
        }
        if moves == 1 {
            return Ok(false);
        }
        for &reply in &attack.replies {
            let next = self.play(&attack.after, reply)?;
            if !self.mates(&next, moves - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The attacker's moves, most forcing first: by the number of replies, checks before others. With one move left
    /// only checks are of use.
    fn attacks(&mut self, position: &Position, moves: u32) -> Result<Vec<Attack>, OutOfBudget> {
        let mut attacks = Vec::new();
        for mv in position.legal_moves(self.variant) {
            let after = self.play(position, mv)?;
            let check = after.is_check(self.variant);
            if moves > 1 || check {
                let replies = after.legal_moves(self.variant);
                attacks.push(Attack {
                    mv,
                    after,
                    check,
                    replies,
                });
            }
        }
        attacks.sort_by_key(|attack| {
            (
                attack.replies.len() + if attack.check { 0 } else { 8 },
                attack.mv,
            )
        });
        Ok(attacks)
    }

    fn play(&mut self, position: &Position, mv: Move) -> Result<Position, OutOfBudget> {
        if self.nodes >= self.budget {
            return Err(OutOfBudget);
        }
        self.nodes += 1;
        Ok(position.play(self.variant, mv))
    }

    /// The line from a key move: replies that hold out longest, then the fastest mate again.
    fn line(&mut self, position: &Position, key: Move, moves: u32) -> Vec<Move> {
        let mut line = vec![key];
        let mut after = position.play(self.variant, key);
        for left in (1..moves).rev() {
            let Some((reply, next, length)) = self.best_defence(&after, left) else {
                break;
            };
            let Ok(keys) = self.keys(&next, length) else {
                break;
            };
            let Some(&mv) = keys.first() else { break };
            line.extend([reply, mv]);
            after = next.play(self.variant, mv);
            if length == 1 {
                break;
            }
        }
        line
    }

    /// The reply after which the mate takes longest, within `left` moves, and how long.
    fn best_defence(&mut self, after: &Position, left: u32) -> Option<(Move, Position, u32)> {
        let mut best: Option<(Move, Position, u32)> = None;
        for reply in after.legal_moves(self.variant) {
            let next = after.play(self.variant, reply);
            let length = (1..=left).find(|&n| self.mates(&next, n).unwrap_or(false))?;
            if best.is_none_or(|(_, _, longest)| length > longest) {
                best = Some((reply, next, length));
            }
        }
        best
    }
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
        let (variant, start) = position("chess", "k7/8/8/2K5/8/8/8/1Q6 w - - 90 90");
        let report = solve(&variant, &start, 2, 100_000);
        assert!(
            matches!(report.verdict, Verdict::Mate { moves: 2, .. }),
            "{report:?}"
        );
    }
}
