//! Material by a fixed table: the yardstick of the greedy anchor and of balanced openings.
//!
//! The table is a convention, not a measurement. It must never change, since Elo curves hang on the greedy anchor:
//! pawn 1, knight 3, bishop 3.25, rook 5, queen 9, king 0. A man by any other name is worth 0.55 pawns for each square
//! that it reaches on an almost empty board, averaged over all squares; that law gives the knight of the 8×8 board its
//! 2.9 (5.25 squares) and Duke's falcon 4.8 on 10×8.

use rules::{Bitboard, Color, Piece, Position, Role, Square, Variant};

/// Pawns a reachable square, for men without an entry of their own.
const PAWNS_PER_SQUARE: f64 = 0.55;

/// What each man of a variant counts, in pawns.
#[derive(Debug, Clone, PartialEq)]
pub struct MaterialTable {
    /// By [`Role::index`].
    values: Vec<f64>,
}

impl MaterialTable {
    /// The table for a variant.
    pub fn new(variant: &Variant) -> MaterialTable {
        let bare = bare_kings(variant);
        let values = variant.roles().iter().enumerate().map(|(index, info)| {
            let role = Role::from_index(index)?;
            if info.is_royal {
                return Some(0.0);
            }
            let named = match info.name.as_str() {
                "pawn" => Some(1.0),
                "knight" => Some(3.0),
                "bishop" => Some(3.25),
                "rook" => Some(5.0),
                "queen" => Some(9.0),
                _ => None,
            };
            named.or_else(|| Some(PAWNS_PER_SQUARE * mean_mobility(variant, &bare?, role)))
        });
        MaterialTable {
            values: values.map(|value| value.unwrap_or(1.0)).collect(),
        }
    }

    /// What one man of this role counts, in pawns.
    pub fn value(&self, role: Role) -> f64 {
        self.values[role.index()]
    }

    /// Material of the side to move less that of the other side, in pawns.
    pub fn balance(&self, position: &Position) -> f64 {
        let turn = position.turn();
        (0..self.values.len())
            .filter_map(Role::from_index)
            .map(|role| {
                let own = f64::from(position.pieces(turn, role).count());
                let enemy = f64::from(position.pieces(!turn, role).count());
                (own - enemy) * self.value(role)
            })
            .sum()
    }

    /// The balance after the captures and promotions that the sides would choose, `depth` plies deep at most; each
    /// side may also leave things as they are.
    pub fn settled_balance(&self, variant: &Variant, position: &Position, depth: u32) -> f64 {
        self.settle(variant, position, depth, f64::NEG_INFINITY, f64::INFINITY)
    }

    fn settle(
        &self,
        variant: &Variant,
        position: &Position,
        depth: u32,
        low: f64,
        high: f64,
    ) -> f64 {
        let standing = self.balance(position);
        if depth == 0 || standing >= high {
            return standing;
        }
        let mut best = standing;
        for next in self.material_moves(variant, position, standing) {
            best = best.max(-self.settle(variant, &next, depth - 1, -high, -low.max(best)));
            if best >= high {
                break;
            }
        }
        best
    }

    /// The positions after moves that gain material, the greatest gain first.
    fn material_moves(
        &self,
        variant: &Variant,
        position: &Position,
        standing: f64,
    ) -> Vec<Position> {
        let enemy = position.by_color(!position.turn());
        let mut gains: Vec<(f64, Position)> = position
            .legal_moves(variant)
            .into_iter()
            .filter(|mv| {
                let en_passant = position.ep_square() == Some(mv.to());
                enemy.contains(mv.to()) || mv.promotion().is_some() || en_passant
            })
            .map(|mv| {
                let next = position.play(variant, mv);
                (-self.balance(&next) - standing, next)
            })
            .filter(|(gain, _)| *gain > 0.0)
            .collect();
        gains.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        gains.into_iter().map(|(_, next)| next).collect()
    }
}

/// The start array with nothing but the kings left; `None` if the variant does not allow that.
fn bare_kings(variant: &Variant) -> Option<Position> {
    let start = variant.start();
    let is_pawn = |square: Square| {
        start
            .piece_at(square)
            .is_some_and(|piece| variant.roles()[piece.role.index()].is_pawn)
    };
    let is_royal = |square: Square| {
        start
            .piece_at(square)
            .is_some_and(|piece| variant.roles()[piece.role.index()].is_royal)
    };
    // Pieces go first, while the pawns still shield the kings from them.
    let (pawns, pieces): (Vec<Square>, Vec<Square>) = start
        .occupied()
        .into_iter()
        .filter(|&square| !is_royal(square))
        .partition(|&square| is_pawn(square));
    pieces
        .into_iter()
        .chain(pawns)
        .try_fold(start, |position, square| {
            position.with_piece(variant, square, None).ok()
        })
}

/// Squares that a man of White reaches on an otherwise empty board, averaged over the squares it may stand on.
fn mean_mobility(variant: &Variant, bare: &Position, role: Role) -> f64 {
    let free = variant.board() & !bare.occupied();
    let piece = Piece {
        color: Color::White,
        role,
    };
    let reached: Vec<u32> = free
        .into_iter()
        .filter_map(|square| {
            bare.with_piece(variant, square, Some(piece))
                .ok()
                .map(|position| (square, position))
        })
        .map(|(square, position)| {
            let moves = position.legal_moves(variant).into_iter();
            moves
                .filter(|mv| mv.from() == Some(square))
                .map(|mv| mv.to())
                .collect::<Bitboard>()
                .count()
        })
        .collect();
    f64::from(reached.iter().sum::<u32>()) / reached.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn falcon() -> std::sync::Arc<Variant> {
        Variant::by_name("falcon").expect("a shipped variant")
    }

    #[test]
    fn a_man_that_is_not_in_the_table_counts_by_its_mobility() {
        let variant = falcon();
        let table = MaterialTable::new(&variant);
        let value = |letter| table.value(variant.role_by_letter(letter).expect("a role"));
        assert_eq!(
            (value('P'), value('N'), value('R'), value('Q'), value('K')),
            (1.0, 3.0, 5.0, 9.0, 0.0)
        );
        assert!((4.5..5.1).contains(&value('F')), "falcon {}", value('F'));
    }

    #[test]
    fn balance_is_from_the_side_to_move() {
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let table = MaterialTable::new(&variant);
        assert_eq!(table.balance(&variant.start()), 0.0);
        let up =
            Position::from_fen(&variant, "4k3/8/8/8/8/8/4P3/R3K3 b - - 0 1").expect("a position");
        assert_eq!(table.balance(&up), -6.0);
    }

    #[test]
    fn captures_are_settled_before_they_are_counted() {
        let variant = Variant::by_name("chess").expect("a shipped variant");
        let table = MaterialTable::new(&variant);
        let settled = |fen| {
            let position = Position::from_fen(&variant, fen).expect("a position");
            table.settled_balance(&variant, &position, 4)
        };
        // The queen hangs to a pawn; then a guarded pawn that the queen should leave alone.
        assert_eq!(settled("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1"), 1.0);
        assert_eq!(settled("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1"), 7.0);
    }
}
