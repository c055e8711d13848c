//! Positions that XBoard sends.

use crate::variant::Variant;
use crate::{Color, Position};

/// The FEN that XBoard means. It knows no rights but `KQkq`, drops the letters of all others, and lets a man make the
/// first move that only some men have wherever he stands at the start. So if the castling field has none of the
/// variant's other letters, they are added for all men who stand where they started; a FEN that has some, or that is not
/// understood, stays as it is.
pub fn fen_from_xboard(variant: &Variant, fen: &str) -> String {
    let mut fields: Vec<&str> = fen.split_whitespace().collect();
    let position = Position::from_fen(variant, &without_en_passant(fen));
    let (Some(&rights), Ok(position)) = (fields.get(2), position) else {
        return fen.to_owned();
    };
    let known = |letter: char| "KQkq-".contains(letter);
    if !rights.chars().all(known) {
        return fen.to_owned();
    }
    let start = variant.start();
    let mut all: String = rights.chars().filter(|&letter| letter != '-').collect();
    for color in Color::ALL {
        for right in variant.right_letters() {
            let mut squares = right.squares[color].into_iter().peekable();
            let is_other = right.entered.is_none() && !known(right.letter);
            let unmoved = squares.peek().is_some()
                && squares.all(|square| position.piece_at(square) == start.piece_at(square));
            if is_other && unmoved {
                all.push(match color {
                    Color::White => right.letter,
                    Color::Black => right.letter.to_ascii_lowercase(),
                });
            }
        }
    }
    if !all.is_empty() {
        fields[2] = &all;
    }
    fields.join(" ")
}

/// A FEN without its en passant square, which programs fill in in ways of their own.
pub fn without_en_passant(fen: &str) -> String {
    let mut fields: Vec<&str> = fen.split_whitespace().collect();
    if let Some(field) = fields.get_mut(3) {
        *field = "-";
    }
    fields.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_that_xboard_does_not_know_are_those_of_men_at_home() {
        let decimal = Variant::by_name("decimal-falcon-hunter").expect("a shipped variant");
        let read = |fen: &str| {
            let fen = fen_from_xboard(&decimal, fen);
            Position::from_fen(&decimal, &fen)
                .unwrap_or_else(|error| panic!("{fen}: {error}"))
                .fen(&decimal)
        };
        let start = decimal.start_fen();
        assert_eq!(read(&start.replace("KQBIkqbi", "KQkq")), start);
        assert_eq!(read(start), start);
        // One white knight has leapt, nobody may castle.
        let leapt = "rnhbqkbfnr/pppppppppp/10/10/10/3N6/10/10/PPPPPPPPPP/R1HBQKBFNR b - - 1 1";
        assert_eq!(read(leapt), leapt.replace(" - - ", " Ibi - "));
        let told = start.replace("KQBIkqbi", "KQBkq");
        assert_eq!(read(&told), told);
        let odd = start.replace("KQBIkqbi - ", "KQkq e5 ");
        assert_eq!(
            fen_from_xboard(&decimal, &odd),
            odd.replace("KQkq", "KQkqBIbi")
        );
        assert_eq!(fen_from_xboard(&decimal, "no FEN"), "no FEN");
    }

    #[test]
    fn other_games_stay_as_they_are() {
        for name in Variant::builtin_names() {
            let variant = Variant::by_name(name).expect("a shipped variant");
            let start = variant.start_fen();
            assert_eq!(fen_from_xboard(&variant, start), start, "{name}");
        }
    }
}
