//! The first field of a FEN, before anybody asks what its letters mean.

use crate::{Bitboard, Square};

/// What the board field of a FEN says.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawBoard {
    /// The squares that exist.
    pub board: Bitboard,
    /// Letters on squares.
    pub men: Vec<(Square, char)>,
    /// Letters between `[` and `]`.
    pub hand: String,
}

impl RawBoard {
    /// Reads a board of a given size.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str, files: u8, ranks: u8) -> Result<RawBoard, String> {
        let (placement, hand) = match text.split_once('[') {
            Some((placement, rest)) => {
                let hand = rest
                    .strip_suffix(']')
                    .ok_or("the men in hand must end with `]`")?;
                (placement, hand)
            }
            None => (text, ""),
        };
        let hand = if hand == "-" { "" } else { hand };
        if let Some(odd) = hand.chars().find(|letter| !letter.is_ascii_alphabetic()) {
            return Err(format!("`{odd}` cannot be in hand; write letters only"));
        }
        let rows: Vec<&str> = placement.split('/').collect();
        if rows.len() != usize::from(ranks) {
            return Err(format!(
                "there are {} ranks, separated by `/`; this board has {ranks}",
                rows.len()
            ));
        }
        let mut raw = RawBoard {
            hand: hand.to_string(),
            ..RawBoard::default()
        };
        for (row, rank) in rows.into_iter().zip((0..ranks).rev()) {
            raw.parse_row(row, rank, files)?;
        }
        Ok(raw)
    }

    fn parse_row(&mut self, row: &str, rank: u8, files: u8) -> Result<(), String> {
        let mut file = 0u8;
        let mut number = None;
        let wrong_length = || {
            format!(
                "the rank `{row}` does not have {files} squares; letters, `*` and numbers of empty squares must add up"
            )
        };
        for letter in row.chars().chain(['/']) {
            if let Some(digit) = letter.to_digit(10) {
                let so_far: u32 = number.unwrap_or(0);
                number = Some((so_far * 10 + digit).min(100));
                continue;
            }
            let empty = number.take();
            if empty == Some(0) {
                return Err(wrong_length());
            }
            for _ in 0..empty.unwrap_or(0) {
                let square = Square::new(file, rank).filter(|_| file < files);
                self.board = self.board.with(square.ok_or_else(wrong_length)?);
                file += 1;
            }
            if letter == '/' {
                break;
            }
            let square = Square::new(file, rank).filter(|_| file < files);
            let square = square.ok_or_else(wrong_length)?;
            file += 1;
            match letter {
                '*' => {}
                'A'..='Z' | 'a'..='z' => {
                    self.board = self.board.with(square);
                    self.men.push((square, letter));
                }
                _ => return Err(format!("`{letter}` means nothing in the rank `{row}`")),
            }
        }
        if file == files {
            Ok(())
        } else {
            Err(wrong_length())
        }
    }
}
