//! What the client does to the board.

use super::{Cecp, Mode, format};
use crate::engine::event::excerpt;
use crate::engine::session::{over_because, why_illegal};
use crate::engine::uci::first_square;
use rules::Status;
use rules::export::{fen_from_xboard, without_en_passant};

impl Cecp {
    /// `setboard`.
    pub(super) fn set_board(&mut self, fen: &str) {
        self.halt();
        let fen = self.notation().own_fen(fen);
        let fen = fen_from_xboard(&self.session.variant, &fen);
        // Clients fill in an en passant square in ways of their own; it must not spoil the position.
        let without_ep = without_en_passant(&fen);
        let read = self.session.record_from(Some(&fen));
        match read.or_else(|error| {
            self.session
                .record_from(Some(&without_ep))
                .map_err(|_| error)
        }) {
            Ok(record) => {
                self.session.record = record;
                self.go_on_thinking();
            }
            Err(error) => self.tell_error(&format!("Illegal position: {error}")),
        }
    }

    /// `usermove`.
    pub(super) fn user_move(&mut self, text: &str) {
        let variant = self.session.variant.clone();
        let position = *self.session.record.position();
        let game = self.session.record.game();
        let over = !matches!(game.status(), Status::Ongoing | Status::ThreefoldRepetition);
        let mv = format::read_move(&variant, self.notation(), &position, text).filter(|_| !over);
        let Some(mv) = mv else {
            let from = first_square(text);
            let from = from.and_then(|from| self.notation().parse_square(&variant, from));
            let reason = why_illegal(game, from, text);
            return self.say(format_args!("Illegal move ({reason}): {}", excerpt(text)));
        };
        self.halt();
        self.session.record.play(mv);
        if self.mode != Mode::Analyzing && self.tell_result() {
            return;
        }
        self.go_on();
    }

    /// `undo` and `remove`; `line` is what the client has sent.
    pub(super) fn take_back(&mut self, plies: usize, line: &str) -> Result<(), String> {
        self.halt();
        if !self.session.record.take_back(plies) {
            return Err(match plies {
                1 => format!("there is no move to take back for {line}"),
                _ => format!("there are not {plies} moves to take back for {line}"),
            });
        }
        self.go_on_thinking();
        Ok(())
    }

    /// Tells the result if the game is over; whether it is.
    pub(super) fn tell_result(&mut self) -> bool {
        let game = self.session.record.game();
        let Some(outcome) = game.outcome() else {
            return false;
        };
        let reason = over_because(game.status(), game.position().turn());
        self.say(format_args!("{} {{{reason}}}", outcome.pgn()));
        true
    }
}
