//! Positions as FEN.
//!
//! Besides the usual fields: numbers above 9 are read as such (`10` is ten empty squares), `*` is
//! a square that does not exist, `[FHfh]` after the board holds men to be entered, the castling
//! field may have further letters that the variant defines, and where losses earn entries a
//! seventh field `+w+b` counts those of White and Black.

mod board;
mod read;

use std::fmt::Write;

use crate::variant::{RightLetter, RightSource};
use crate::{Color, Position, Square, Variant};

pub(crate) use board::RawBoard;

impl Position {
    /// The position as FEN.
    pub fn fen(&self, variant: &Variant) -> String {
        let mut fen = String::new();
        self.write_board(variant, &mut fen);
        if variant.entry.is_some() {
            self.write_hands(variant, &mut fen);
        }
        let ep = match self.ep {
            Some(square) => variant.square_name(square),
            None => "-".to_string(),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            fen,
            " {} {} {ep} {} {}",
            self.turn.letter(),
            self.rights_text(variant),
            self.halfmove,
            self.fullmove
        );
        if variant.entry.is_some() {
            let _ = write!(fen, " +{}+{}", self.losses[0], self.losses[1]);
        }
        fen
    }

    fn write_board(&self, variant: &Variant, fen: &mut String) {
        for rank in (0..variant.ranks).rev() {
            let mut empty = 0;
            for file in 0..variant.files {
                let square = Square::new(file, rank).expect("boards lie within the grid");
                let letter = match self.piece_at(square) {
                    Some(piece) => {
                        let letter = variant.role_info(piece.role).letter;
                        match piece.color {
                            Color::White => letter,
                            Color::Black => letter.to_ascii_lowercase(),
                        }
                    }
                    None if variant.board.contains(square) => {
                        empty += 1;
                        continue;
                    }
                    None => '*',
                };
                push_number(fen, &mut empty);
                fen.push(letter);
            }
            push_number(fen, &mut empty);
            if rank > 0 {
                fen.push('/');
            }
        }
    }

    fn write_hands(&self, variant: &Variant, fen: &mut String) {
        let mut letters = String::new();
        for color in Color::ALL {
            for &role in &variant.hand_roles {
                let letter = variant.role_info(role).letter;
                for _ in 0..self.hand(color, role) {
                    letters.push(match color {
                        Color::White => letter,
                        Color::Black => letter.to_ascii_lowercase(),
                    });
                }
            }
        }
        if letters.is_empty() {
            letters.push('-');
        }
        let _ = write!(fen, "[{letters}]");
    }

    fn rights_text(&self, variant: &Variant) -> String {
        let mut text = String::new();
        for color in Color::ALL {
            for right in &variant.rights.letters {
                if self.has_right(right, color) {
                    text.push(match color {
                        Color::White => right.letter,
                        Color::Black => right.letter.to_ascii_lowercase(),
                    });
                }
            }
        }
        if text.is_empty() {
            text.push('-');
        }
        text
    }

    fn has_right(&self, right: &RightLetter, color: Color) -> bool {
        match &right.source {
            RightSource::Start { role, square } => {
                let men = self.pieces(color, *role);
                (men & self.rights()).contains(square[color])
            }
            RightSource::Entered { role } => (self.pieces(color, *role) & self.rights()).any(),
        }
    }
}

fn push_number(fen: &mut String, empty: &mut u8) {
    if *empty > 0 {
        let _ = write!(fen, "{empty}");
        *empty = 0;
    }
}
