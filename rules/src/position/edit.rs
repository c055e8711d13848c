//! Checking, editing and mirroring positions.

use crate::{Bitboard, Color, Piece, Position, PositionError, Role, Square, Variant};

impl Position {
    /// Whether this can stand on the board: one king a side, pawns only where pawns can be.
    pub(crate) fn check_men(&self, variant: &Variant) -> Result<(), PositionError> {
        for color in Color::ALL {
            let count = self.pieces(color, variant.royal).count();
            if count != 1 {
                return Err(PositionError::Kings { color, count });
            }
            for role in variant.role_ids().filter(|&role| variant.is_pawn(role)) {
                let wrong = self.pieces(color, role) & variant.pawn_forbidden[color];
                if let Some(square) = wrong.first() {
                    let square = variant.square_name(square);
                    return Err(PositionError::PawnRank { color, square });
                }
            }
        }
        Ok(())
    }

    /// Whether the side that has just moved has left its king attacked.
    ///
    /// [`Position::from_fen`] accepts such positions, since people set them up to show something;
    /// no game leads to them, and kings are never captured.
    pub fn is_king_left_in_danger(&self, variant: &Variant) -> bool {
        let color = !self.turn;
        self.is_attacked(variant, color, self.king(variant, color))
    }

    /// The same position with one square changed: a man put there, or taken away.
    ///
    /// Rights of a man that is no longer there end, and so does en passant if its pawn is gone.
    /// Hands, losses and clocks stay as they are.
    ///
    /// # Errors
    /// If the result cannot stand on the board: a king too many or too few, a pawn where none
    /// can be, or the king of the side that has just moved attacked.
    pub fn with_piece(
        &self,
        variant: &Variant,
        square: Square,
        piece: Option<Piece>,
    ) -> Result<Position, PositionError> {
        if !variant.board.contains(square) {
            let square = variant.square_name(square);
            return Err(PositionError::NoSquare { square });
        }
        if let Some(Piece { role, .. }) = piece
            && role.index() >= variant.roles.len()
        {
            let index = role.index();
            return Err(PositionError::NoRole { index });
        }
        if self.piece_at(square) == piece {
            return Ok(*self);
        }
        let mut edited = *self;
        let bit = Bitboard::from(square).0;
        for set in edited.roles.iter_mut().chain(&mut edited.colors) {
            *set &= !bit;
        }
        if let Some(Piece { color, .. }) = self.piece_at(square) {
            edited.rights = variant.rights.without(self, color, square);
        }
        if let Some(Piece { color, role }) = piece {
            edited.roles[role.index()] |= bit;
            edited.colors[color.index()] |= bit;
        }
        if !edited.ep_is_sound(variant) {
            edited.ep = None;
        }
        edited.check_men(variant)?;
        if let Some(Piece { color, role }) = piece
            && variant.is_pawn(role)
            && variant.promotion_zone[color].contains(square)
        {
            let square = variant.square_name(square);
            return Err(PositionError::PawnRank { color, square });
        }
        if edited.is_king_left_in_danger(variant) {
            let color = !edited.turn;
            return Err(PositionError::KingInDanger { color });
        }
        edited.refresh_key(variant);
        Ok(edited)
    }

    /// The same position with the sides exchanged and the board turned upside down.
    ///
    /// Moves of the one are the mirrored moves of the other.
    pub fn mirror(&self, variant: &Variant) -> Position {
        let flip = |set: u128| Bitboard(set).mirror_ranks(variant.ranks).0;
        let mut mirrored = Position {
            roles: self.roles.map(flip),
            colors: [flip(self.colors[1]), flip(self.colors[0])],
            rights: flip(self.rights),
            key: 0,
            hands: [self.hands[1], self.hands[0]],
            fullmove: self.fullmove,
            halfmove: self.halfmove,
            losses: [self.losses[1], self.losses[0]],
            due: [self.due[1], self.due[0]],
            turn: !self.turn,
            ep: self
                .ep
                .and_then(|ep| Bitboard(flip(Bitboard::from(ep).0)).first()),
            ep_in_key: false,
        };
        mirrored.refresh_key(variant);
        mirrored
    }

    /// A position with only these men, and no rights; its key is not computed.
    pub(crate) fn of_men(men: &[(Square, Color, Role)], turn: Color) -> Position {
        let mut position = Position::empty();
        for &(square, color, role) in men {
            position.roles[role.index()] |= Bitboard::from(square).0;
            position.colors[color.index()] |= Bitboard::from(square).0;
        }
        position.turn = turn;
        position
    }
}
