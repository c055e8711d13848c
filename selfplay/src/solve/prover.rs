//! Exhaustive proofs of mates: depth-first search over AND/OR trees.

use std::collections::HashMap;

use rules::{Move, Position, Status, Variant};

/// The proof would take more positions than allowed, or was told to stop.
pub(crate) struct OutOfBudget;

/// Positions between two looks at whether to stop.
const BETWEEN_LOOKS: u64 = 1024;

/// Exhaustive proofs with a table of what is known.
pub(crate) struct Prover<'a> {
    variant: &'a Variant,
    /// Positions looked at so far.
    pub nodes: u64,
    budget: u64,
    /// So many moves are known not to suffice for the position that [`shortest`](Prover::shortest) was asked about.
    pub refuted: u32,
    /// Keys of positions that are drawn when they come up once more, ascending.
    drawn: Vec<u64>,
    /// Asked now and then whether to stop.
    stop: &'a dyn Fn() -> bool,
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

impl<'a> Prover<'a> {
    /// A prover that knows nothing yet and may look at `budget` positions.
    pub fn new(variant: &'a Variant, budget: u64) -> Self {
        Self {
            variant,
            nodes: 0,
            budget,
            refuted: 0,
            drawn: Vec::new(),
            stop: &|| false,
            known: HashMap::new(),
        }
    }

    /// Takes positions with these keys for draws by repetition.
    pub fn with_drawn(mut self, mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        self.drawn = keys;
        self
    }

    /// Gives up when `stop` says so.
    pub fn until(mut self, stop: &'a dyn Fn() -> bool) -> Self {
        self.stop = stop;
        self
    }

    /// The length of the shortest mate of the side to move, in at most `moves` of its moves, and all first moves to it.
    pub fn shortest(
        &mut self,
        position: &Position,
        moves: u32,
    ) -> Result<Option<(u32, Vec<Move>)>, OutOfBudget> {
        for length in 1..=moves {
            self.refuted = length - 1;
            let keys = self.keys(position, length)?;
            if !keys.is_empty() {
                return Ok(Some((length, keys)));
            }
        }
        Ok(None)
    }

    fn is_drawn(&self, position: &Position) -> bool {
        !self.drawn.is_empty() && self.drawn.binary_search(&position.key()).is_ok()
    }

    /// All first moves that mate in at most `moves`.
    pub fn keys(&mut self, position: &Position, moves: u32) -> Result<Vec<Move>, OutOfBudget> {
        let mut keys = Vec::new();
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
        // Without a legal move there is no attack either, so only the draws are asked for.
        if position.status_given(self.variant, true) == Status::Ongoing && !self.is_drawn(position)
        {
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
        let drawn = attack.after.status_given(self.variant, true) != Status::Ongoing
            || self.is_drawn(&attack.after);
        if moves == 1 || drawn {
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
        let looks = self.nodes.is_multiple_of(BETWEEN_LOOKS);
        if self.nodes >= self.budget || (looks && (self.stop)()) {
            return Err(OutOfBudget);
        }
        self.nodes += 1;
        Ok(position.play(self.variant, mv))
    }

    /// The line from a key move: replies that hold out longest, then the fastest mate again. It may look at `budget` more
    /// positions, and is the line's beginning if they are too few.
    pub fn line(&mut self, position: &Position, key: Move, moves: u32, budget: u64) -> Vec<Move> {
        self.budget = self.nodes.saturating_add(budget);
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
            let mut length = 1;
            while !self.mates(&next, length).ok()? {
                length += 1;
                if length > left {
                    return None;
                }
            }
            if best.is_none_or(|(_, _, longest)| length > longest) {
                best = Some((reply, next, length));
            }
        }
        best
    }
}
