//! Legal moves.
//!
//! One pass over the men yields legal moves only: [`Threats`] says where a move must end to
//! answer a check and which men are bound to their king, so that hardly any move has to be tried.
//! What becomes of the moves is up to a [`Sink`]: a list, or only their number.

mod castle;
mod sink;
mod threats;

use crate::{Bitboard, Color, Move, Position, Role, Square, Variant};

use sink::{Counter, Sink};
use threats::Threats;

impl Position {
    /// All legal moves, in a fixed order.
    pub fn legal_moves(&self, variant: &Variant) -> Vec<Move> {
        let mut moves = Vec::with_capacity(64);
        self.legal_moves_into(variant, &mut moves);
        moves
    }

    /// Replaces the content of `moves` with all legal moves; saves allocations in loops.
    pub fn legal_moves_into(&self, variant: &Variant, moves: &mut Vec<Move>) {
        moves.clear();
        Generator::new(self, variant).run(moves);
    }

    /// The number of legal moves, without listing them.
    pub fn legal_move_count(&self, variant: &Variant) -> u64 {
        let mut counter = Counter::default();
        Generator::new(self, variant).run(&mut counter);
        counter.count
    }

    /// Whether the side to move has any legal move.
    pub(crate) fn has_legal_move(&self, variant: &Variant) -> bool {
        self.legal_move_count(variant) > 0
    }

    /// Whether the king of the side to move is attacked.
    pub fn is_check(&self, variant: &Variant) -> bool {
        let king = self.king(variant, self.turn);
        self.is_attacked(variant, self.turn, king)
    }

    /// Whether the side to move can capture en passant.
    pub(crate) fn has_legal_en_passant(&self, variant: &Variant) -> bool {
        let Some(to) = self.ep else { return false };
        let sources = &variant.ep_sources[self.turn];
        let can_reach = sources
            .iter()
            .any(|(role, from)| self.pieces(self.turn, *role).0 & from[to.index()] != 0);
        if !can_reach {
            return false;
        }
        let mut counter = Counter::default();
        Generator::new(self, variant).en_passant(&mut counter);
        counter.count > 0
    }
}

/// What every part of the generation needs to know.
struct Generator<'a> {
    position: &'a Position,
    variant: &'a Variant,
    us: Color,
    own: u128,
    enemy: u128,
    /// Enemy men that may be captured: all but the king.
    prey: u128,
    occupied: u128,
    king: Square,
}

impl<'a> Generator<'a> {
    fn new(position: &'a Position, variant: &'a Variant) -> Generator<'a> {
        let us = position.turn;
        let (own, enemy) = (position.by_color(us).0, position.by_color(!us).0);
        Generator {
            position,
            variant,
            us,
            own,
            enemy,
            prey: enemy & !position.roles[variant.royal.index()],
            occupied: own | enemy,
            king: position.king(variant, us),
        }
    }

    fn run(&self, sink: &mut impl Sink) {
        let threats = Threats::new(self.position, self.variant, self.us, self.king);
        self.king_steps(sink);
        if threats.answers != 0 {
            for role in self.variant.role_ids() {
                if role != self.variant.royal {
                    self.steps(role, &threats, sink);
                }
            }
            self.entries(&threats, sink);
        }
        if self.position.ep.is_some() {
            self.en_passant(sink);
        }
        if !threats.check && self.position.rights & self.own != 0 {
            self.castlings(sink);
        }
    }

    /// Where a man can go, its king left aside.
    #[inline(always)]
    fn targets(&self, role: Role, from: Square, unmoved: bool) -> u128 {
        let mut targets = 0;
        for table in &self.variant.moves[self.us][role.index()] {
            if table.initial && !unmoved {
                continue;
            }
            let reach = table.reach(from, self.occupied);
            if table.quiet {
                targets |= reach & !self.occupied;
            }
            if table.capture {
                targets |= reach & self.prey;
            }
        }
        targets
    }

    /// The king's plain moves: each square must be safe once the king has left its own.
    fn king_steps(&self, sink: &mut impl Sink) {
        let unmoved = self.position.rights >> self.king.index() & 1 != 0;
        let bit = 1u128 << self.king.index();
        let mut safe = 0;
        for to in Bitboard(self.targets(self.variant.royal, self.king, unmoved)) {
            let target = 1u128 << to.index();
            let occupied = (self.occupied ^ bit) | target;
            if !self.attacked(to, occupied, self.enemy & !target) {
                safe |= target;
            }
        }
        sink.steps(self.king, safe);
    }

    /// All moves of the men of one role, but for en passant and castling.
    #[inline(always)]
    fn steps(&self, role: Role, threats: &Threats, sink: &mut impl Sink) {
        let men = self.position.pieces(self.us, role);
        if men.is_empty() {
            return;
        }
        let unmoved = self.position.unmoved(self.variant, self.us, role);
        let zone = match self.variant.is_pawn(role) {
            true => self.variant.promotion_zone[self.us].0,
            false => 0,
        };
        for from in men {
            let bit = 1u128 << from.index();
            let mut targets = self.targets(role, from, unmoved & bit != 0) & threats.answers;
            if threats.bound & bit != 0 {
                targets &= threats.pinned_to(bit);
                if threats.suspects & bit != 0 {
                    targets = self.keep_safe(from, targets);
                }
            }
            if targets & zone != 0 {
                sink.promotions(from, targets & zone, &self.variant.promotion_roles);
                targets &= !zone;
            }
            sink.steps(from, targets);
        }
    }

    /// Those targets that do not leave the king attacked.
    #[cold]
    fn keep_safe(&self, from: Square, targets: u128) -> u128 {
        let vacated = self.occupied ^ (1 << from.index());
        let mut safe = 0;
        for to in Bitboard(targets) {
            let target = 1u128 << to.index();
            if !self.attacked(self.king, vacated | target, self.enemy & !target) {
                safe |= target;
            }
        }
        safe
    }

    /// En passant takes two men off their squares at once, so every capture is tried.
    fn en_passant(&self, sink: &mut impl Sink) {
        let Some((to, victim)) = self.position.ep.zip(self.position.ep_victim()) else {
            return;
        };
        let victim = 1u128 << victim.index();
        for (role, sources) in &self.variant.ep_sources[self.us] {
            let men = self.position.pieces(self.us, *role).0 & sources[to.index()];
            for from in Bitboard(men) {
                let gone = victim | 1 << from.index();
                let occupied = (self.occupied & !gone) | 1 << to.index();
                if !self.attacked(self.king, occupied, self.enemy & !victim) {
                    sink.steps(from, 1 << to.index());
                }
            }
        }
    }

    fn entries(&self, threats: &Threats, sink: &mut impl Sink) {
        let Some(entry) = &self.variant.entry else {
            return;
        };
        if self.position.entries_due(self.us) == 0 {
            return;
        }
        let mut targets = entry.zone[self.us].0 & !self.occupied & threats.answers;
        if threats.hoppers {
            let safe = |to: &Square| {
                let occupied = self.occupied | 1 << to.index();
                !self.attacked(self.king, occupied, self.enemy)
            };
            targets = Bitboard(targets)
                .into_iter()
                .filter(safe)
                .collect::<Bitboard>()
                .0;
        }
        for &role in &self.variant.hand_roles {
            if self.position.hand(self.us, role) > 0 {
                sink.drops(role, targets);
            }
        }
    }

    /// Whether enemy men among `attackers` attack a square of a board with these men.
    #[inline(always)]
    fn attacked(&self, square: Square, occupied: u128, attackers: u128) -> bool {
        threats::attacked(
            self.position,
            self.variant,
            !self.us,
            square,
            occupied,
            attackers,
        )
    }
}
