//! Games as PGN.

use std::fmt::Write;

use crate::{Color, Move, Outcome, Position, Variant};

/// Columns after which the move text is wrapped.
const WIDTH: usize = 80;

impl Variant {
    /// A game as PGN, with `Variant` and `Result` tags and, unless it began as the variant does,
    /// `SetUp` and `FEN`. Further tags, such as `White`, come first as they are given.
    ///
    /// ```
    /// use rules::{Outcome, Variant};
    /// let chess = Variant::by_name("chess").unwrap();
    /// let start = chess.start();
    /// let first = chess.parse_san(&start, "e4").unwrap();
    /// let pgn = chess.pgn(&[("White", "a net")], &start, &[first], Some(Outcome::Draw));
    /// assert!(pgn.ends_with("\n\n1. e4 1/2-1/2\n"));
    /// ```
    ///
    /// # Panics
    /// As [`Position::play`], if a move is not legal.
    pub fn pgn(
        &self,
        tags: &[(&str, &str)],
        start: &Position,
        moves: &[Move],
        outcome: Option<Outcome>,
    ) -> String {
        let result = outcome.map_or("*", Outcome::pgn);
        let mut pgn = String::new();
        for (name, value) in tags {
            write_tag(&mut pgn, name, value);
        }
        write_tag(&mut pgn, "Variant", self.name());
        if *start != self.start() {
            write_tag(&mut pgn, "SetUp", "1");
            write_tag(&mut pgn, "FEN", &start.fen(self));
        }
        write_tag(&mut pgn, "Result", result);
        pgn.push('\n');
        let mut words = self.numbered_moves(start, moves);
        words.push(result.to_string());
        let mut column = 0;
        for word in words {
            if column > 0 && column + 1 + word.len() > WIDTH {
                pgn.push('\n');
                column = 0;
            } else if column > 0 {
                pgn.push(' ');
                column += 1;
            }
            column += word.len();
            pgn.push_str(&word);
        }
        pgn.push('\n');
        pgn
    }

    fn numbered_moves(&self, start: &Position, moves: &[Move]) -> Vec<String> {
        let mut words = Vec::new();
        let mut position = *start;
        for (ply, &mv) in moves.iter().enumerate() {
            let number = position.fullmove_number();
            match position.turn() {
                Color::White => words.push(format!("{number}.")),
                Color::Black if ply == 0 => words.push(format!("{number}...")),
                Color::Black => {}
            }
            words.push(self.san(&position, mv));
            position = position.play(self, mv);
        }
        words
    }
}

fn write_tag(pgn: &mut String, name: &str, value: &str) {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a string cannot fail.
    let _ = writeln!(pgn, "[{name} \"{value}\"]");
}
