//! Exact results and how they back up (MCTS-Solver, Winands et al. 2008, with distances to mate).

/// A result that needs no further search, from the side to move.
///
/// A win's distance is that of the shortest mate found so far, so an upper bound; a loss's distance is that of the
/// longest defence against the mates found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proven {
    /// The side to move mates in this many plies, at least 1.
    Win(u16),
    /// The side to move is mated in this many plies; 0 is checkmate.
    Loss(u16),
    /// Neither side can do better.
    Draw,
}

impl Proven {
    /// The value from the side to move: 1, -1 or 0.
    pub fn q(self) -> f32 {
        match self {
            Self::Win(_) => 1.0,
            Self::Loss(_) => -1.0,
            Self::Draw => 0.0,
        }
    }

    /// Plies to the mate; `None` for a draw.
    pub fn plies(self) -> Option<u16> {
        match self {
            Self::Win(plies) | Self::Loss(plies) => Some(plies),
            Self::Draw => None,
        }
    }

    /// The same result one ply earlier, from the player who moves into this position.
    pub fn before(self) -> Self {
        match self {
            Self::Win(plies) => Self::Loss(plies.saturating_add(1)),
            Self::Loss(plies) => Self::Win(plies.saturating_add(1)),
            Self::Draw => Self::Draw,
        }
    }

    /// The result of a position from its moves' results (each from the position's own side to move; `None` = open).
    ///
    /// One winning move proves a win, at the least distance among them. Otherwise all moves must be proven: a drawing
    /// one makes a draw, none makes a loss at the greatest distance. No moves at all prove nothing.
    pub fn of_moves(moves: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut win: Option<u16> = None;
        let mut loss: Option<u16> = None;
        let (mut draw, mut open) = (false, false);
        for result in moves {
            match result {
                Some(Self::Win(plies)) => win = Some(win.map_or(plies, |best| best.min(plies))),
                Some(Self::Loss(plies)) => loss = Some(loss.map_or(plies, |best| best.max(plies))),
                Some(Self::Draw) => draw = true,
                None => open = true,
            }
        }
        match (win, open, draw) {
            (Some(plies), _, _) => Some(Self::Win(plies)),
            (None, true, _) => None,
            (None, false, true) => Some(Self::Draw),
            (None, false, false) => loss.map(Self::Loss),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Proven::{self, Draw, Loss, Win};

    #[test]
    fn one_win_is_enough_and_the_shortest_counts() {
        assert_eq!(
            Proven::of_moves([None, Some(Win(5)), Some(Win(3)), Some(Loss(2))]),
            Some(Win(3))
        );
    }

    #[test]
    fn an_open_move_keeps_losses_and_draws_open() {
        assert_eq!(Proven::of_moves([None, Some(Loss(2))]), None);
        assert_eq!(Proven::of_moves([None, Some(Draw)]), None);
    }

    #[test]
    fn the_longest_defence_and_the_draw_are_preferred() {
        assert_eq!(
            Proven::of_moves([Some(Loss(2)), Some(Loss(4))]),
            Some(Loss(4))
        );
        assert_eq!(Proven::of_moves([Some(Loss(2)), Some(Draw)]), Some(Draw));
        assert_eq!(Proven::of_moves([]), None);
    }

    #[test]
    fn distances_grow_by_a_ply_a_move() {
        assert_eq!(Loss(0).before(), Win(1));
        assert_eq!(Win(1).before(), Loss(2));
        assert_eq!(Draw.before(), Draw);
    }
}
