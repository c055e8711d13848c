//! What both protocols have in common: the variant, the game, the options, the net and the searches.

use super::control::Control;
use super::event::{Event, excerpt};
use super::lag::Lag;
use super::limits::Limits;
use super::nets::{Hardware, NetNews, NetShelf};
use super::options::{Change, OptionSpec, Settings};
use super::thinker::{Job, Thinker};
use super::variants::Variants;
use model::{DeviceChoice, Inference};
use rules::{Color, Game, Move, Position, Status, Variant};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// What an engine starts with.
#[derive(Debug)]
pub struct Setup {
    /// The variant played until the client names another.
    pub variant: Arc<Variant>,
    /// The nets given on the command line.
    pub nets: NetShelf,
    /// Options before the client sets any.
    pub settings: Settings,
    /// Where nets are evaluated.
    pub device: DeviceChoice,
    /// How they are evaluated, if their names do not say it.
    pub inference: Inference,
}

/// A game with its past, so that moves can be taken back.
#[derive(Clone, Debug)]
pub(super) struct Record {
    start: Position,
    moves: Vec<Move>,
    game: Game,
}

impl Record {
    fn new(variant: &Arc<Variant>, start: Position) -> Record {
        Record {
            start,
            moves: Vec::new(),
            game: Game::new(Arc::clone(variant), start),
        }
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The position as it stands.
    pub fn position(&self) -> &Position {
        self.game.position()
    }

    /// Moves made so far.
    pub fn plies(&self) -> usize {
        self.moves.len()
    }

    /// Makes a legal move.
    pub fn play(&mut self, mv: Move) {
        self.moves.push(mv);
        self.game.play(mv);
    }

    /// Takes back some plies; false, with nothing changed, if there are not so many.
    pub fn take_back(&mut self, plies: usize) -> bool {
        let Some(left) = self.moves.len().checked_sub(plies) else {
            return false;
        };
        let moves = std::mem::take(&mut self.moves);
        *self = Record::new(self.game.variant(), self.start);
        moves[..left].iter().for_each(|&mv| self.play(mv));
        true
    }
}

/// Why there is nothing to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoSearch {
    /// The game is over; here is a move all the same if there is one, for a client that plays on.
    Over(Option<Move>),
    /// There is no evaluator, and why.
    NoNet(String),
}

/// One client's engine.
pub(super) struct Session {
    /// The variant that is played.
    pub variant: Arc<Variant>,
    /// The game that is played.
    pub record: Record,
    /// The options.
    pub settings: Settings,
    variants: Variants,
    shelf: NetShelf,
    device: DeviceChoice,
    inference: Inference,
    thinker: Thinker,
    /// The variant that the thinker has an evaluator for, if that is the one that the options want.
    ready_for: Option<Arc<Variant>>,
    lag: Lag,
    next_job: u64,
    /// The search begun last, and its line.
    current: Option<(u64, Arc<Control>)>,
}

impl Session {
    /// At the start of a game.
    pub fn new(setup: Setup, events: Sender<Event>) -> Session {
        let mut variants = Variants::default();
        variants.add(Arc::clone(&setup.variant));
        let memory = bytes(&setup.settings);
        Session {
            record: Record::new(&setup.variant, setup.variant.start()),
            variant: setup.variant,
            settings: setup.settings,
            variants,
            shelf: setup.nets,
            device: setup.device,
            inference: setup.inference,
            thinker: Thinker::start(events, memory),
            ready_for: None,
            lag: Lag::default(),
            next_job: 0,
            current: None,
        }
    }

    /// The names of all variants.
    pub fn variant_names(&self) -> Vec<&str> {
        self.variants.names()
    }

    /// A variant by name.
    ///
    /// # Errors
    /// The names there are.
    pub fn find_variant(&self, name: &str) -> Result<Arc<Variant>, String> {
        self.variants.find(name)
    }

    /// The options, the variant's own left aside.
    pub fn options(&self) -> Vec<OptionSpec> {
        self.settings.specs()
    }

    /// Sets an option. `Ok` carries news for the client, if there is any.
    ///
    /// # Errors
    /// What is wrong with the name or the value.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<Option<String>, String> {
        let before = self.settings.clone();
        match self.settings.set(name, value)? {
            Change::Noted => {}
            Change::Memory => self.thinker.set_memory(bytes(&self.settings)),
            Change::Forget => self.thinker.forget(),
            Change::Evaluator => self.ready_for = None,
            Change::Variant(name) => self.set_variant(&name)?,
            Change::VariantPath => {
                let names = self.variants.add_files(&self.settings.variant_path)?;
                return Ok(Some(match names.is_empty() {
                    true => "no variants added; those that were stay".to_owned(),
                    false => format!("variants added: {}", names.join(", ")),
                }));
            }
            Change::EvalFile => match NetShelf::read_list(&self.settings.eval_file) {
                Ok(shelf) => {
                    self.shelf = shelf;
                    self.ready_for = None;
                }
                Err(error) => {
                    self.settings = before;
                    return Err(error);
                }
            },
        }
        Ok(None)
    }

    /// Changes the rules and goes to their start position.
    ///
    /// # Errors
    /// If there is no such variant; nothing has changed then.
    pub fn set_variant(&mut self, name: &str) -> Result<(), String> {
        self.variant = self.variants.find(name)?;
        self.record = Record::new(&self.variant, self.variant.start());
        Ok(())
    }

    /// A game between other players: nothing of the last one matters.
    pub fn new_game(&mut self) {
        self.thinker.forget();
        self.lag.forget_move();
        self.record = Record::new(&self.variant, self.variant.start());
    }

    /// The record of a game that starts with a FEN in the variant's own form, or with the start position.
    ///
    /// # Errors
    /// What is wrong with the FEN.
    pub fn record_from(&self, fen: Option<&str>) -> Result<Record, String> {
        let position = match fen {
            Some(fen) => {
                let position =
                    Position::from_fen(&self.variant, fen).map_err(|error| error.to_string())?;
                if position.is_king_left_in_danger(&self.variant) {
                    return Err(format!(
                        "FEN `{fen}`: the side that has just moved has left its king attacked"
                    ));
                }
                position
            }
            None => self.variant.start(),
        };
        Ok(Record::new(&self.variant, position))
    }

    /// Gets the evaluator ready; returns what is to be said of it if it is a new one.
    ///
    /// # Errors
    /// Why there is none.
    pub fn prepare(&mut self) -> Result<Option<NetNews>, String> {
        let ready = self.ready_for.as_ref();
        if ready.is_some_and(|variant| Arc::ptr_eq(variant, &self.variant)) {
            return Ok(None);
        }
        let hardware = Hardware {
            device: self.device,
            inference: self.inference,
            threads: self.settings.threads,
        };
        let judge = self.shelf.evaluator(&self.variant, hardware)?;
        self.thinker.set_evaluator(Box::new(judge.team));
        self.ready_for = Some(Arc::clone(&self.variant));
        Ok(Some(judge.news))
    }

    /// Starts a search of the game's position and returns its number.
    ///
    /// # Errors
    /// Why there is nothing to search.
    pub fn search(&mut self, limits: Limits) -> Result<u64, NoSearch> {
        let game = self.searchable()?;
        self.prepare().map_err(NoSearch::NoNet)?;
        self.stop();
        let lag = self.lag.begin(limits.clock.filter(|_| !limits.ponder));
        let control = Arc::new(Control::new(limits.ponder));
        self.next_job += 1;
        self.current = Some((self.next_job, Arc::clone(&control)));
        self.thinker.search(Job {
            id: self.next_job,
            start: self.record.start,
            moves: self.record.moves.clone(),
            game,
            limits,
            control,
            multipv: self.settings.multipv,
            batch: self.batch(),
            puct: self.settings.puct.clone(),
            overhead: self.settings.overhead.max(lag),
        });
        Ok(self.next_job)
    }

    /// The game for a search. Where it is only drawn because a position stands for the third time the past is dropped,
    /// for the client may go on.
    fn searchable(&self) -> Result<Game, NoSearch> {
        let game = self.record.game();
        match game.status() {
            Status::Ongoing => Ok(game.clone()),
            Status::ThreefoldRepetition => {
                Ok(Game::new(Arc::clone(&self.variant), *game.position()))
            }
            Status::Checkmate
            | Status::Stalemate
            | Status::FiftyMoves
            | Status::InsufficientMaterial => {
                let any = game.position().legal_moves(&self.variant).first().copied();
                Err(NoSearch::Over(any))
            }
        }
    }

    /// Leaves evaluated at once: as set, or two for each of several threads, and many for a GPU.
    fn batch(&self) -> usize {
        const FOR_A_GPU: usize = 64;
        match (self.settings.batch, self.settings.threads) {
            (0, _) if !self.device.is_cpu() => FOR_A_GPU,
            (0, 1) => 1,
            (0, threads) => 2 * threads,
            (batch, _) => batch,
        }
    }

    /// Whether a search is under way and not yet reported as done.
    pub fn is_searching(&self) -> bool {
        self.current.is_some()
    }

    /// Stops the search that is under way.
    pub fn stop(&self) {
        if let Some((_, control)) = &self.current {
            control.stop();
        }
    }

    /// The move that the search under way has been expecting has come.
    pub fn ponder_hit(&self) {
        if let Some((_, control)) = &self.current {
            control.ponder_hit();
        }
    }

    /// Notes that a search has ended; whether it was the one begun last.
    pub fn finish(&mut self, job: u64) -> bool {
        let is_current = self.current.as_ref().is_some_and(|(id, _)| *id == job);
        if is_current {
            self.lag.end();
            self.current = None;
        }
        is_current
    }

    /// Whether a report is about the search begun last.
    pub fn is_current(&self, job: u64) -> bool {
        self.current.as_ref().is_some_and(|(id, _)| *id == job)
    }
}

/// The memory that the options allow.
fn bytes(settings: &Settings) -> usize {
    settings.hash_mib << 20
}

/// Why a move is not legal, as far as that can be said in a few words.
pub(super) fn why_illegal(game: &Game, from: Option<rules::Square>, text: &str) -> String {
    let (position, variant) = (game.position(), game.variant());
    let turn = position.turn();
    match game.status() {
        Status::Ongoing | Status::ThreefoldRepetition => {}
        over => return over_because(over, turn).to_owned(),
    }
    if text.contains('@') {
        return match position.entries_due(turn) {
            0 => "nothing may be entered now".to_owned(),
            _ => "men enter on empty squares of their home rank".to_owned(),
        };
    }
    let Some(from) = from else {
        return format!("`{}` is not a move", excerpt(text));
    };
    let Some(piece) = position.piece_at(from) else {
        return "there is no man on that square".to_owned();
    };
    if piece.color != turn {
        return format!("it is {}'s turn", color_name(turn));
    }
    let name = &variant.roles()[piece.role.index()].name;
    match position.is_check(variant) {
        true => format!("the king is in check, and the {name} does not help so"),
        false => format!("the {name} does not go there, or its king would be attacked"),
    }
}

/// The reason why a game is over, for people.
pub(super) fn over_because(status: Status, turn: Color) -> &'static str {
    match (status, turn) {
        (Status::Ongoing, _) => "the game goes on",
        (Status::Checkmate, Color::White) => "Black mates",
        (Status::Checkmate, Color::Black) => "White mates",
        (Status::Stalemate, _) => "stalemate",
        (Status::FiftyMoves, _) => "too many moves without capture or pawn move",
        (Status::ThreefoldRepetition, _) => "third repetition",
        (Status::InsufficientMaterial, _) => "nobody can mate",
    }
}

/// A side's name for people.
pub(super) fn color_name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}
