//! Squares, moves and FENs as a protocol writes them.
//!
//! Protocols count the ranks of a board in ways of their own, so that every rank number is moved on the way in and out.
//! In UCI the lowest rank is 1. In CECP it is 1 as well, except on boards of ten ranks, where it is 0 so that one
//! digit is enough.

use crate::arena::external::dialect::Dialect;
use rules::{Move, Position, Square, Variant};

/// How a protocol writes moves of one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notation {
    /// To be added to the variant's own rank numbers.
    shift: i8,
}

impl Notation {
    /// UCI's.
    pub fn uci(variant: &Variant) -> Notation {
        Notation::new(variant, Dialect::Uci)
    }

    /// CECP's.
    pub fn cecp(variant: &Variant) -> Notation {
        Notation::new(variant, Dialect::Cecp)
    }

    fn new(variant: &Variant, dialect: Dialect) -> Notation {
        Notation {
            shift: dialect.lowest_rank(variant) as i8 - variant.first_rank() as i8,
        }
    }

    /// The text of a legal move.
    pub fn write(self, variant: &Variant, position: &Position, mv: Move) -> String {
        shift_ranks(&variant.move_text(position, mv), self.shift)
    }

    /// The texts of a line of moves from a position.
    pub fn line(self, variant: &Variant, mut position: Position, line: &[Move]) -> String {
        let mut texts = Vec::with_capacity(line.len());
        for &mv in line {
            texts.push(self.write(variant, &position, mv));
            position = position.play(variant, mv);
        }
        texts.join(" ")
    }

    /// The legal move of a text.
    pub fn read(self, variant: &Variant, position: &Position, text: &str) -> Option<Move> {
        let legal = position.legal_moves(variant);
        let written = |mv: &&Move| self.write(variant, position, **mv) == text;
        legal.iter().find(written).copied()
    }

    /// The square of a name.
    pub fn parse_square(self, variant: &Variant, name: &str) -> Option<Square> {
        variant.parse_square(&shift_ranks(name, -self.shift))
    }

    /// A FEN in the variant's own form.
    pub fn own_fen(self, fen: &str) -> String {
        shift_fen(fen, -self.shift)
    }

    /// A FEN of the variant's own form in the protocol's.
    pub fn fen(self, fen: &str) -> String {
        shift_fen(fen, self.shift)
    }
}

/// Adds to every number that follows a file's letter. What gets below 0 stays as it is.
fn shift_ranks(text: &str, shift: i8) -> String {
    if shift == 0 {
        return text.to_owned();
    }
    let mut shifted = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (letter, tail) = rest.split_at(first.len_utf8());
        shifted.push_str(letter);
        let end = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (digits, after) = tail.split_at(end);
        match digits.parse::<u8>() {
            Ok(rank) if first.is_ascii_lowercase() && rank <= 99 => {
                match rank.checked_add_signed(shift) {
                    Some(rank) => shifted.push_str(&rank.to_string()),
                    None => shifted.push_str(digits),
                }
            }
            _ => shifted.push_str(digits),
        }
        rest = after;
    }
    shifted
}

/// Moves the rank of the en passant square, the only square in a FEN.
fn shift_fen(fen: &str, shift: i8) -> String {
    let mut fields: Vec<String> = fen.split_whitespace().map(str::to_owned).collect();
    if let Some(field) = fields.get_mut(3) {
        *field = shift_ranks(field, shift);
    }
    fields.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(name: &str) -> (std::sync::Arc<Variant>, Notation, Notation) {
        let variant = Variant::by_name(name).expect("a built-in variant");
        let (uci, cecp) = (Notation::uci(&variant), Notation::cecp(&variant));
        (variant, uci, cecp)
    }

    #[test]
    fn ranks_are_counted_as_each_protocol_does() {
        for (name, own, in_uci, in_cecp) in [
            ("chess", "e2e4", "e2e4", "e2e4"),
            ("falcon-9x10", "e2e4", "e2e4", "e2e4"),
            ("decimal-falcon-hunter", "e2e5", "e2e5", "e1e4"),
            ("falcon-hunter-66", "e2e4", "e3e5", "e2e4"),
        ] {
            let (variant, uci, cecp) = both(name);
            let start = variant.start();
            let mv = variant.parse_move(&start, own).expect("a legal move");
            assert_eq!(uci.write(&variant, &start, mv), in_uci);
            assert_eq!(cecp.write(&variant, &start, mv), in_cecp);
            assert_eq!(uci.read(&variant, &start, in_uci), Some(mv));
            assert_eq!(cecp.read(&variant, &start, in_cecp), Some(mv));
            assert_eq!(uci.read(&variant, &start, "e9e9"), None);
        }
    }

    #[test]
    fn every_square_has_its_name_back() {
        for name in Variant::builtin_names() {
            let (variant, uci, cecp) = both(name);
            for notation in [uci, cecp] {
                for square in variant.board() {
                    let text = shift_ranks(&variant.square_name(square), notation.shift);
                    assert_eq!(
                        notation.parse_square(&variant, &text),
                        Some(square),
                        "{name} {text}"
                    );
                }
                let fen = variant.start_fen();
                assert_eq!(notation.own_fen(&notation.fen(fen)), fen);
            }
        }
    }

    #[test]
    fn other_letters_and_digits_are_left_alone() {
        assert_eq!(shift_ranks("f9f10/j10", 1), "f10f11/j11");
        assert_eq!(shift_ranks("F@b1", -1), "F@b0");
        assert_eq!(shift_ranks("b8b9f", -1), "b7b8f");
        assert_eq!(shift_ranks("a0", -1), "a0");
        assert_eq!(shift_ranks("é5a99999", 1), "é5a99999");
        assert_eq!(shift_fen("8/8 w - e3 0 1 +0+0", -1), "8/8 w - e2 0 1 +0+0");
    }
}
