//! Moves as people write them: `Nf3`, `exd5`, `c8=F+`, `O-O`, `H@b1`.
//!
//! The letters are those of the variant. `O-O` is castling towards the last file, `O-O-O` towards
//! the first, with the leader's letter in front unless it is the king. Where several castlings
//! would be written alike, as with free castling, the move's other text follows: `O-O/f1h1`.

use crate::{Move, MoveTextError, Position, Status, Variant};

impl Variant {
    /// A legal move as people write it.
    ///
    /// ```
    /// let chess = rules::Variant::by_name("chess").unwrap();
    /// let start = chess.start();
    /// let mv = chess.parse_move(&start, "g1f3").unwrap();
    /// assert_eq!(chess.san(&start, mv), "Nf3");
    /// ```
    pub fn san(&self, position: &Position, mv: Move) -> String {
        let legal = position.legal_moves(self);
        let mut text = self.san_body(position, mv, &legal);
        let after = position.play(self, mv);
        if after.is_check(self) {
            let mate = after.status(self) == Status::Checkmate;
            text.push(if mate { '#' } else { '+' });
        }
        text
    }

    /// The legal move that people write like this; `+`, `#`, `!` and `?` at the end are ignored.
    ///
    /// # Errors
    /// If no legal move is written like this; the error says how some are.
    pub fn parse_san(&self, position: &Position, text: &str) -> Result<Move, MoveTextError> {
        let wanted = text.trim_end_matches(['+', '#', '!', '?']);
        let legal = position.legal_moves(self);
        let known = |&&mv: &&Move| self.san_body(position, mv, &legal) == wanted;
        if let Some(&mv) = legal.iter().find(known) {
            return Ok(mv);
        }
        let some = legal.iter().take(8);
        let some: Vec<String> = some
            .map(|&mv| self.san_body(position, mv, &legal))
            .collect();
        Err(MoveTextError {
            text: text.to_string(),
            fen: position.fen(self),
            hint: format!("legal moves are written like {}", some.join(" ")),
        })
    }

    /// The text without check or mate.
    fn san_body(&self, position: &Position, mv: Move, legal: &[Move]) -> String {
        match mv {
            Move::Step { .. } => self.san_step(position, mv, legal),
            Move::Castle { .. } => {
                let text = self.castling_name(position, mv);
                let alike = |&&other: &&Move| {
                    matches!(other, Move::Castle { .. })
                        && self.castling_name(position, other) == text
                };
                match legal.iter().filter(alike).count() {
                    0 | 1 => text,
                    _ => format!("{text}/{}", self.move_text(position, mv)),
                }
            }
            Move::Drop { .. } => self.move_text(position, mv),
        }
    }

    fn castling_name(&self, position: &Position, mv: Move) -> String {
        let leader = mv.from().and_then(|from| position.role_at(from));
        let letter = match leader {
            Some(role) if role != self.royal => self.role_info(role).letter.to_string(),
            _ => String::new(),
        };
        let towards_last_file = mv.from().is_some_and(|from| mv.to() > from);
        let side = if towards_last_file { "O-O" } else { "O-O-O" };
        letter + side
    }

    /// The shortest way to write a step that no other legal step shares.
    fn san_step(&self, position: &Position, mv: Move, legal: &[Move]) -> String {
        let text = self.san_candidates(position, mv);
        let others: Vec<Vec<String>> = legal
            .iter()
            .filter(|&&other| other != mv && other.to() == mv.to())
            .map(|&other| self.san_candidates(position, other))
            .collect();
        let unique = |(detail, text): (usize, &String)| {
            let shared = others.iter().any(|other| other.get(detail) == Some(text));
            (!shared).then(|| text.clone())
        };
        text.iter()
            .enumerate()
            .find_map(unique)
            .unwrap_or_else(|| self.move_text(position, mv))
    }

    /// The ways to write a step, from the least to the most detail about where it starts.
    fn san_candidates(&self, position: &Position, mv: Move) -> Vec<String> {
        let Move::Step {
            from,
            to,
            promotion,
        } = mv
        else {
            return Vec::new();
        };
        let Some(role) = position.role_at(from) else {
            return Vec::new();
        };
        let name = self.square_name(from);
        let (file, rank) = name.split_at(1);
        let pawn = self.is_pawn(role);
        let capture = position.victim(self, role, from, to).is_some();
        let letter = match pawn {
            true => String::new(),
            false => self.role_info(role).letter.to_string(),
        };
        let promotion = match promotion {
            Some(role) => format!("={}", self.role_info(role).letter),
            None => String::new(),
        };
        let cross = if capture { "x" } else { "" };
        let goal = self.square_name(to);
        let mut origins = vec!["", file, rank, &name];
        if pawn && capture {
            origins.remove(0);
        }
        origins
            .into_iter()
            .map(|origin| format!("{letter}{origin}{cross}{goal}{promotion}"))
            .collect()
    }
}
