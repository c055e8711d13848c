//! A fixed anchor of the Elo scale: one ply of greed.

use super::contestant::{Choice, Contestant, Turn};
use super::material::MaterialTable;
use rules::{Move, Position, Status, Variant};

/// Plays mate in one if there is one, otherwise a move that gains the most material at once by the fixed
/// [`MaterialTable`], chosen at random among equals. It does not look at the reply.
#[derive(Debug, Clone)]
pub struct GreedyContestant {
    table: MaterialTable,
}

impl GreedyContestant {
    /// The greedy player of a variant.
    pub fn new(variant: &Variant) -> GreedyContestant {
        GreedyContestant {
            table: MaterialTable::new(variant),
        }
    }

    fn best_moves(&self, variant: &Variant, position: &Position) -> Vec<Move> {
        let mut best = f64::NEG_INFINITY;
        let mut moves = Vec::new();
        for mv in position.legal_moves(variant) {
            let next = position.play(variant, mv);
            let mates = next.is_check(variant) && next.status(variant) == Status::Checkmate;
            let worth = if mates {
                f64::INFINITY
            } else {
                -self.table.balance(&next)
            };
            if worth > best {
                best = worth;
                moves.clear();
            }
            if worth == best {
                moves.push(mv);
            }
        }
        moves
    }
}

impl Contestant for GreedyContestant {
    fn name(&self) -> &str {
        "greedy"
    }

    fn choose(&mut self, turns: &[Turn<'_>]) -> Vec<Choice> {
        let choose = |turn: &Turn<'_>| {
            let moves = self.best_moves(turn.game.variant(), turn.game.position());
            Choice::any_of(&moves, turn.seed)
        };
        turns.iter().map(choose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::Game;

    fn play(fen: &str, seed: u64) -> String {
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let position = Position::from_fen(&variant, fen).expect("a position");
        let game = Game::new(variant.clone(), position);
        let choice = GreedyContestant::new(&variant).choose(&[Turn { game: &game, seed }])[0];
        variant.move_text(&position, choice.mv)
    }

    #[test]
    fn takes_the_most_valuable_man() {
        assert_eq!(play("4k3/8/8/1r1q4/2P5/8/8/4K3 w - - 0 1", 1), "c4d5");
    }

    #[test]
    fn prefers_mate_to_material() {
        assert_eq!(play("6k1/5ppp/8/8/8/8/q7/1R2K3 w - - 0 1", 1), "b1b8");
    }

    #[test]
    fn promotes_to_the_best_man() {
        assert_eq!(play("8/P7/8/8/8/8/1k6/3K4 w - - 0 1", 1), "a7a8q");
    }

    #[test]
    fn breaks_ties_by_the_seed() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let moves: std::collections::BTreeSet<String> =
            (0..50).map(|seed| play(start, seed)).collect();
        assert!(moves.len() > 10);
        assert_eq!(play(start, 7), play(start, 7));
    }
}
