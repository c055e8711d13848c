//! Moves as text, much like UCI.
//!
//! `e2e4`; `b7b8f` with the letter of the promotion in lower case; `F@b1` for an entry; castling
//! as the king's move, `f1i1`. Where the variant says that a castling names its partner, because
//! the king's move alone could be a plain one, the partner's square follows: `f1g1/j1`.
//!
//! For people there is also a text like SAN, and whole games as PGN.

mod pgn;
mod san;

use crate::{Move, MoveTextError, Position, Role, Square, Variant};

impl Variant {
    /// The text of a move that is legal in a position.
    pub fn move_text(&self, position: &Position, mv: Move) -> String {
        self.move_text_with(position, mv, &|square| self.square_name(square))
    }

    /// The text of a move that is legal in a position, with other names of squares, for protocols that count ranks
    /// differently.
    pub fn move_text_with(
        &self,
        position: &Position,
        mv: Move,
        square_name: &dyn Fn(Square) -> String,
    ) -> String {
        match mv {
            Move::Step {
                from,
                to,
                promotion,
            } => {
                let mut text = square_name(from) + &square_name(to);
                if let Some(role) = promotion {
                    text.push(self.role_info(role).letter.to_ascii_lowercase());
                }
                text
            }
            Move::Castle {
                from,
                to,
                partner_from,
                ..
            } => {
                let mut text = square_name(from) + &square_name(to);
                let leader = position.role_at(from);
                let partner = position.role_at(partner_from);
                if self.names_partner(leader, partner) {
                    text.push('/');
                    text.push_str(&square_name(partner_from));
                }
                text
            }
            Move::Drop { role, to } => {
                format!("{}@{}", self.role_info(role).letter, square_name(to))
            }
        }
    }

    fn names_partner(&self, leader: Option<Role>, partner: Option<Role>) -> bool {
        self.castlings.iter().any(|rule| {
            rule.name_partner && leader == Some(rule.leader) && partner == Some(rule.partner)
        })
    }

    /// The legal move with a text.
    ///
    /// # Errors
    /// If no legal move has this text; the error lists those that start on the same square.
    pub fn parse_move(&self, position: &Position, text: &str) -> Result<Move, MoveTextError> {
        let moves = position.legal_moves(self);
        let texts = || moves.iter().map(|&mv| self.move_text(position, mv));
        if let Some(at) = texts().position(|known| known == text) {
            return Ok(moves[at]);
        }
        let start: String = text
            .char_indices()
            .take_while(|&(at, letter)| at == 0 || letter.is_ascii_digit())
            .map(|(_, letter)| letter)
            .collect();
        let near: Vec<String> = texts()
            .filter(|known| !start.is_empty() && known.starts_with(&start))
            .take(40)
            .collect();
        let hint = if near.is_empty() {
            let example = texts().next();
            match example {
                Some(example) => format!("no legal move starts there; `{example}` would be legal"),
                None => "there are no legal moves, the game is over".to_string(),
            }
        } else {
            format!("legal from there: {}", near.join(" "))
        };
        Err(MoveTextError {
            text: text.to_string(),
            fen: position.fen(self),
            hint,
        })
    }
}
