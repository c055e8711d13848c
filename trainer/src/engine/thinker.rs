//! The thread that searches.

mod mates;
mod progress;
mod think;

use super::control::Control;
use super::event::{Event, Report};
use super::limits::Limits;
use super::solved::SolvedEndings;
use model::{CachedEvaluator, Evaluator};
use rules::{Game, Move, Position};
use selfplay::search::{PuctConfig, Search};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// Bytes of a remembered evaluation: about forty moves with their logits, and the table's own.
const CACHE_ENTRY: usize = 600;

/// The part of the memory that remembers evaluations; the tree gets the rest.
const CACHE_SHARE: usize = 8;

/// A search to be made.
#[derive(Debug)]
pub(super) struct Job {
    /// A number that reports carry.
    pub id: u64,
    /// Where the game began.
    pub start: Position,
    /// All moves since.
    pub moves: Vec<Move>,
    /// The game after those moves; it goes on.
    pub game: Game,
    /// When to stop.
    pub limits: Limits,
    /// The line to this search.
    pub control: Arc<Control>,
    /// Lines to report.
    pub multipv: usize,
    /// Leaves to evaluate at once.
    pub batch: usize,
    /// How the search chooses where to look.
    pub puct: PuctConfig,
    /// Time lost on the way of each move.
    pub overhead: Duration,
}

/// Something for the thinker to do.
enum Order {
    /// Search.
    Job(Box<Job>),
    /// From now on judge with this.
    Evaluator(Box<dyn Evaluator>),
    /// From now on use so many bytes.
    Memory(usize),
    /// Drop the tree and the evaluations.
    Forget,
}

/// The protocol's end of the thread; dropping it ends the thread after the search under way.
pub(super) struct Thinker {
    orders: Sender<Order>,
}

impl Thinker {
    /// Starts the thread; its reports go to `events`.
    pub fn start(events: Sender<Event>, memory: usize) -> Thinker {
        let (orders, inbox) = mpsc::channel();
        std::thread::spawn(move || Worker::new(events, memory).run(&inbox));
        Thinker { orders }
    }

    /// Searches when all earlier orders are done. Every job is answered by one [`Event::Done`].
    pub fn search(&self, job: Job) {
        self.order(Order::Job(Box::new(job)));
    }

    /// Judges with another evaluator from now on.
    pub fn set_evaluator(&self, evaluator: Box<dyn Evaluator>) {
        self.order(Order::Evaluator(evaluator));
    }

    /// Uses at most about so many bytes from now on.
    pub fn set_memory(&self, bytes: usize) {
        self.order(Order::Memory(bytes));
    }

    /// Forgets all about earlier positions.
    pub fn forget(&self) {
        self.order(Order::Forget);
    }

    fn order(&self, order: Order) {
        // The thread outlives its end of the channel: its panics are caught.
        let _always_there = self.orders.send(order);
    }
}

/// The thread's own state.
struct Worker {
    events: Sender<Event>,
    memory: usize,
    evaluator: Option<CachedEvaluator<Box<dyn Evaluator>>>,
    tree: Option<Tree>,
    endings: SolvedEndings,
}

/// A search with the way to its root, so that it is known again.
struct Tree {
    start: Position,
    moves: Vec<Move>,
    /// Whether it has grown in search of a mate.
    mate: bool,
    search: Search,
}

/// Evaluations that are remembered with so many bytes for everything.
fn entries(memory: usize) -> usize {
    memory / CACHE_SHARE / CACHE_ENTRY
}

impl Worker {
    fn new(events: Sender<Event>, memory: usize) -> Worker {
        Worker {
            events,
            memory,
            evaluator: None,
            tree: None,
            endings: SolvedEndings::default(),
        }
    }

    fn run(&mut self, inbox: &Receiver<Order>) {
        for order in inbox {
            match order {
                Order::Job(job) => self.serve(&job),
                Order::Evaluator(evaluator) => {
                    self.evaluator = Some(CachedEvaluator::new(evaluator, entries(self.memory)));
                    self.tree = None;
                }
                Order::Memory(bytes) => {
                    self.memory = bytes;
                    self.tree = None;
                    if let Some(evaluator) = &mut self.evaluator {
                        evaluator.set_capacity(entries(bytes));
                    }
                }
                Order::Forget => {
                    self.tree = None;
                    if let Some(evaluator) = &mut self.evaluator {
                        evaluator.clear();
                    }
                }
            }
        }
    }

    /// Searches and reports, come what may.
    fn serve(&mut self, job: &Job) {
        let report = catch_unwind(AssertUnwindSafe(|| self.think(job))).unwrap_or_else(|panic| {
            self.tree = None;
            let message = format!("the search has failed: {}", panic_message(panic.as_ref()));
            self.send(Event::Warning(message));
            Report {
                job: job.id,
                variant: Arc::clone(job.game.variant()),
                position: *job.game.position(),
                lines: Vec::new(),
                deepest: 0,
                nodes: 0,
                elapsed: Duration::ZERO,
                fullness: 0.0,
            }
        });
        self.send(Event::Done(report));
    }

    fn send(&self, event: Event) {
        // Nobody listens any more when the engine has ended.
        let _nobody_to_tell = self.events.send(event);
    }
}

/// What a panic says.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("for no reason given").replace('\n', " ")
}
