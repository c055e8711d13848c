//! Making a move on a copy.

use crate::{Color, Move, Position, Role, Square, Variant, zobrist};

impl Position {
    /// The position after a legal move.
    ///
    /// ```
    /// let chess = rules::Variant::by_name("chess").unwrap();
    /// let start = chess.start();
    /// let after = start.play(&chess, chess.parse_move(&start, "e2e4").unwrap());
    /// assert_eq!(
    ///     after.fen(&chess),
    ///     "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
    /// );
    /// ```
    ///
    /// # Panics
    /// If no man of the side to move stands where the move starts. Other illegal moves go
    /// unnoticed and give a position without meaning.
    pub fn play(&self, variant: &Variant, mv: Move) -> Position {
        let mut next = *self;
        let us = self.turn;
        next.clear_ep();
        next.halfmove = next.halfmove.saturating_add(1);
        match mv {
            Move::Step {
                from,
                to,
                promotion,
            } => next.step(self, variant, from, to, promotion),
            Move::Castle {
                from,
                to,
                partner_from,
                partner_to,
            } => {
                let leader = next.lift(variant, us, from);
                let partner = next.lift(variant, us, partner_from);
                next.put(us, leader, to);
                next.put(us, partner, partner_to);
                next.lose_rights(variant, us, from);
                next.lose_rights(variant, us, partner_from);
            }
            Move::Drop { role, to } => next.enter(variant, role, to),
        }
        next.turn = !us;
        next.key ^= zobrist::BLACK_TO_MOVE;
        next.fullmove = next.fullmove.saturating_add(u32::from(us == Color::Black));
        if next.ep.is_some() {
            next.add_ep_to_key(variant);
        }
        next
    }

    fn step(
        &mut self,
        before: &Position,
        variant: &Variant,
        from: Square,
        to: Square,
        promotion: Option<Role>,
    ) {
        let us = before.turn;
        let role = self.lift(variant, us, from);
        let victim = before.victim(variant, role, from, to);
        if let Some(square) = victim {
            let captured = self.lift(variant, !us, square);
            self.count_loss(variant, !us, captured);
            self.lose_rights(variant, !us, square);
            self.halfmove = 0;
        }
        self.put(us, promotion.unwrap_or(role), to);
        self.lose_rights(variant, us, from);
        if variant.is_pawn(role) {
            self.halfmove = 0;
            if variant.has_en_passant {
                self.ep = passed_square(variant, us, from, to);
            }
        }
    }

    /// The square of the man that a step captures.
    pub(crate) fn victim(
        &self,
        variant: &Variant,
        role: Role,
        from: Square,
        to: Square,
    ) -> Option<Square> {
        if self.by_color(!self.turn).contains(to) {
            return Some(to);
        }
        let en_passant =
            self.ep == Some(to) && variant.captures_en_passant(self.turn, role, from, to);
        if en_passant { self.ep_victim() } else { None }
    }

    /// Where the pawn stands that has just made a double step.
    #[inline]
    pub(crate) fn ep_victim(&self) -> Option<Square> {
        let beyond = match self.turn {
            Color::White => -1,
            Color::Black => 1,
        };
        self.ep?.offset(0, beyond)
    }

    fn enter(&mut self, variant: &Variant, role: Role, to: Square) {
        let us = self.turn;
        assert!(
            self.hand(us, role) > 0,
            "{us:?} has no {} in hand in {}",
            variant.role_info(role).name,
            self.fen(variant)
        );
        self.key ^= self.hand_key(us);
        self.hands[us.index()] -= 1 << (4 * role.index());
        self.due[us.index()] = self.due[us.index()].saturating_sub(1);
        self.key ^= self.hand_key(us);
        self.put(us, role, to);
        if variant.rights.entered & (1 << role.index()) != 0 {
            self.set_rights(self.rights | 1 << to.index());
        }
    }

    fn count_loss(&mut self, variant: &Variant, color: Color, role: Role) {
        let Some(entry) = &variant.entry else { return };
        let side = color.index();
        if entry.earned_by & (1 << role.index()) == 0 || self.losses[side] >= entry.most[color] {
            return;
        }
        self.key ^= self.hand_key(color);
        self.losses[side] += 1;
        self.due[side] = (self.due[side] + 1).min(self.hand_count(color));
        self.key ^= self.hand_key(color);
    }

    /// Takes the rights away that end when the man on a square moves or is captured.
    #[inline]
    fn lose_rights(&mut self, variant: &Variant, color: Color, square: Square) {
        let watched = self.rights | variant.rights.leader_squares;
        if watched >> square.index() & 1 != 0 && self.rights != 0 {
            let left = variant.rights.without(self, color, square);
            self.set_rights(left);
        }
    }

    #[inline]
    fn set_rights(&mut self, rights: u128) {
        self.key ^= zobrist::rights(self.rights) ^ zobrist::rights(rights);
        self.rights = rights;
    }

    #[inline]
    fn clear_ep(&mut self) {
        if let Some(square) = self.ep {
            if self.ep_in_key {
                self.key ^= zobrist::en_passant(square);
            }
            self.ep = None;
            self.ep_in_key = false;
        }
    }

    #[inline]
    fn put(&mut self, color: Color, role: Role, square: Square) {
        let bit = 1u128 << square.index();
        self.roles[role.index()] |= bit;
        self.colors[color.index()] |= bit;
        self.key ^= zobrist::man(color, role, square);
    }

    /// Takes a man of a side off the board.
    #[inline]
    fn lift(&mut self, variant: &Variant, color: Color, square: Square) -> Role {
        let bit = 1u128 << square.index();
        let role = self.role_at(square);
        let role = role.filter(|_| self.colors[color.index()] & bit != 0);
        let Some(role) = role else {
            panic!(
                "no man of {color:?} on {} in {}",
                variant.square_name(square),
                self.fen(variant)
            );
        };
        self.roles[role.index()] &= !bit;
        self.colors[color.index()] &= !bit;
        self.key ^= zobrist::man(color, role, square);
        role
    }
}

/// The square in the middle of a double step straight ahead.
fn passed_square(variant: &Variant, us: Color, from: Square, to: Square) -> Option<Square> {
    let ahead = match us {
        Color::White => 1,
        Color::Black => -1,
    };
    let middle = from.offset(0, ahead)?;
    let is_double = middle.offset(0, ahead) == Some(to) && variant.double_steps[us].contains(from);
    is_double.then_some(middle)
}
