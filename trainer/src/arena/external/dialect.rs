//! Moves as the engines' protocols write them.
//!
//! UCI counts ranks from 1. XBoard's protocol does so too, but from 0 on boards of ten ranks. Castling is the king's move in
//! both; the king's move onto its partner, `O-O` and `O-O-O` are understood as well. Where the variant tells castlings of one
//! goal apart by their partner, `/` and the partner's square follow. A promotion without a letter is the
//! [usual](Variant::usual_promotion) one: a queen, which is what Fairy-Max always promotes to.

use rules::{Move, Position, Square, Variant};

/// How a protocol writes squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The Universal Chess Interface.
    Uci,
    /// XBoard's Chess Engine Communication Protocol.
    Cecp,
}

impl Dialect {
    /// The text of a move that is legal in a position.
    pub fn text(self, variant: &Variant, position: &Position, mv: Move) -> String {
        variant.move_text_with(position, mv, &|square| self.square(variant, square))
    }

    /// The number of the lowest rank.
    pub fn lowest_rank(self, variant: &Variant) -> u8 {
        match self {
            Dialect::Cecp if variant.ranks() >= 10 => 0,
            Dialect::Cecp | Dialect::Uci => 1,
        }
    }

    /// The legal move that an engine means; `None` if there is no such move.
    pub fn parse(self, variant: &Variant, position: &Position, text: &str) -> Option<Move> {
        let text: String = text
            .chars()
            .filter(|letter| !"=+#!?".contains(*letter))
            .collect();
        let moves = position.legal_moves(variant);
        let find = |wanted: &dyn Fn(&Move) -> bool| moves.iter().find(|mv| wanted(mv)).copied();
        let is_text = |mv: &Move| {
            let known = self.text(variant, position, *mv);
            known.eq_ignore_ascii_case(&text)
        };
        let castling = || {
            let mut castlings = moves.iter().filter(|mv| self.castles(variant, **mv, &text));
            // Where castling is free, several may be written alike; then nobody knows which is meant.
            castlings
                .next()
                .filter(|_| castlings.next().is_none())
                .copied()
        };
        find(&is_text).or_else(castling).or_else(|| {
            find(&|mv| {
                mv.promotion().is_some()
                    && mv.promotion() == variant.usual_promotion()
                    && is_text(&without_promotion(*mv))
            })
        })
    }

    /// Whether `text` is one of the other ways to write a castling.
    fn castles(self, variant: &Variant, mv: Move, text: &str) -> bool {
        let Move::Castle {
            from, partner_from, ..
        } = mv
        else {
            return false;
        };
        let is_short = partner_from.file() > from.file();
        match text.replace('0', "O").as_str() {
            "O-O" => is_short,
            "O-O-O" => !is_short,
            _ => text == self.square(variant, from) + &self.square(variant, partner_from),
        }
    }

    fn square(self, variant: &Variant, square: Square) -> String {
        let file = (b'a' + square.file()) as char;
        format!("{file}{}", square.rank() + self.lowest_rank(variant))
    }
}

fn without_promotion(mv: Move) -> Move {
    match mv {
        Move::Step { from, to, .. } => Move::Step {
            from,
            to,
            promotion: None,
        },
        Move::Castle { .. } | Move::Drop { .. } => mv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(variant: &Variant, fen: &str) -> Position {
        Position::from_fen(variant, fen).expect("a position")
    }

    /// What is written is understood, for every legal move of the start positions and of some others.
    #[test]
    fn every_move_is_read_back() {
        for name in Variant::builtin_names() {
            let variant = Variant::by_name(name).expect("built in");
            let mut position = variant.start();
            for ply in 0..40 {
                let moves = position.legal_moves(&variant);
                for &mv in &moves {
                    for dialect in [Dialect::Uci, Dialect::Cecp] {
                        let text = dialect.text(&variant, &position, mv);
                        assert_eq!(
                            dialect.parse(&variant, &position, &text),
                            Some(mv),
                            "{name} {text}"
                        );
                    }
                }
                let Some(&mv) = moves.get(ply * 7 % moves.len().max(1)) else {
                    break;
                };
                position = position.play(&variant, mv);
            }
        }
    }

    #[test]
    fn ten_ranks_count_from_zero_in_cecp_only() {
        let variant = Variant::by_name("decimal-falcon-hunter").expect("built in");
        let start = variant.start();
        let mv = variant.parse_move(&start, "e2e5").expect("legal");
        assert_eq!(Dialect::Cecp.text(&variant, &start, mv), "e1e4");
        assert_eq!(Dialect::Uci.text(&variant, &start, mv), "e2e5");
        assert_eq!(Dialect::Cecp.parse(&variant, &start, "e1e4"), Some(mv));
        let extra = Variant::by_name("falcon-hunter-66").expect("built in");
        let mv = extra.parse_move(&extra.start(), "e2e4").expect("legal");
        assert_eq!(Dialect::Uci.text(&extra, &extra.start(), mv), "e3e5");
        assert_eq!(Dialect::Cecp.text(&extra, &extra.start(), mv), "e2e4");
    }

    #[test]
    fn castling_and_promotion_have_several_spellings() {
        let falcon = Variant::by_name("falcon").expect("built in");
        let castle = position(&falcon, "r4k3r/10/10/10/10/10/10/R4K3R w KQkq - 0 1");
        let short = falcon.parse_move(&castle, "f1i1").expect("legal");
        for text in ["f1i1", "f1j1", "O-O", "0-0"] {
            assert_eq!(
                Dialect::Cecp.parse(&falcon, &castle, text),
                Some(short),
                "{text}"
            );
        }
        let long = Dialect::Uci.parse(&falcon, &castle, "O-O-O");
        assert_eq!(
            long,
            Some(falcon.parse_move(&castle, "f1c1").expect("legal"))
        );
        let pawn = position(&falcon, "5k4/P9/10/10/10/10/10/5K4 w - - 0 1");
        for (text, meant) in [
            ("a7a8", "a7a8q"),
            ("a7a8f", "a7a8f"),
            ("a7a8=N", "a7a8n"),
            ("a7a8Q", "a7a8q"),
        ] {
            let mv = falcon.parse_move(&pawn, meant).expect("legal");
            assert_eq!(
                Dialect::Cecp.parse(&falcon, &pawn, text),
                Some(mv),
                "{text}"
            );
        }
        for text in ["", "a7a9", "a7a8k", "resign", "0000", "a8a7", "ä7ä8"] {
            assert_eq!(Dialect::Uci.parse(&falcon, &pawn, text), None, "{text}");
        }
    }

    #[test]
    fn a_short_free_castling_is_not_the_kings_step() {
        let free = Variant::by_name("falcon-free").expect("built in");
        let castle = position(&free, "5k4/10/10/10/10/10/10/R4K3R w KQ - 0 1");
        let step = Dialect::Uci.parse(&free, &castle, "f1g1").expect("legal");
        assert!(matches!(step, Move::Step { .. }));
        let castling = Dialect::Uci
            .parse(&free, &castle, "f1g1/j1")
            .expect("legal");
        assert!(matches!(castling, Move::Castle { .. }));
    }
}
