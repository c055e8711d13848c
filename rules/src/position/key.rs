//! The key from scratch; [`Position::play`] keeps it up to date move by move.

use crate::{Color, Position, Role, Variant, zobrist};

impl Position {
    /// Computes the key and whether it contains the en passant square.
    pub(crate) fn refresh_key(&mut self, variant: &Variant) {
        let mut key = zobrist::rights(self.rights);
        for color in Color::ALL {
            for role in (0..Role::MAX as u8).map(Role) {
                for square in self.pieces(color, role) {
                    key ^= zobrist::man(color, role, square);
                }
            }
            key ^= self.hand_key(color);
        }
        if self.turn == Color::Black {
            key ^= zobrist::BLACK_TO_MOVE;
        }
        self.key = key;
        self.ep_in_key = false;
        self.add_ep_to_key(variant);
    }

    /// Puts the en passant square into the key if such a capture is legal.
    pub(super) fn add_ep_to_key(&mut self, variant: &Variant) {
        if let Some(square) = self.ep
            && self.has_legal_en_passant(variant)
        {
            self.ep_in_key = true;
            self.key ^= zobrist::en_passant(square);
        }
    }

    pub(super) fn hand_key(&self, color: Color) -> u64 {
        zobrist::hand(color, self.hands[color.index()], self.losses[color.index()])
    }
}
