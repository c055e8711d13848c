//! The move generator against a slow referee that shares nothing with it but the Betza parser.
//!
//! Protects checks, pins and blocks for shapes of movement that no published perft covers:
//! hoppers, riders of any step, lame leapers with several paths, men that capture differently.
//! The referee walks every motion square by square and looks for an attack on the king after
//! each move. En passant, castling and entries are left to the perft suites.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rules::betza::{self, Landing, Motion, Reach};
use rules::{Color, Move, Piece, Position, Square, Variant};

struct Referee {
    variant: Arc<Variant>,
    motions: Vec<Vec<Motion>>,
}

type Board = [Option<Piece>; Square::COUNT];

impl Referee {
    fn new(variant: Arc<Variant>) -> Referee {
        let roles = variant.roles().iter();
        let motions = roles
            .map(|role| betza::parse(&role.betza).unwrap())
            .collect();
        Referee { variant, motions }
    }

    fn board(position: &Position) -> Board {
        std::array::from_fn(|index| position.piece_at(Square::from_index(index).unwrap()))
    }

    fn at(&self, from: Square, (files, ranks): (i8, i8), color: Color) -> Option<Square> {
        let ranks = match color {
            Color::White => ranks,
            Color::Black => -ranks,
        };
        let to = from.offset(files, ranks)?;
        self.variant.board().contains(to).then_some(to)
    }

    /// All squares that one motion reaches, the first man in the way included.
    fn walk(&self, board: &Board, from: Square, motion: &Motion, color: Color) -> Vec<Square> {
        let empty = |square: Square| board[square.index()].is_none();
        let (files, ranks) = motion.step;
        let mut squares = Vec::new();
        match &motion.reach {
            Reach::Leap => squares.extend(self.at(from, motion.step, color)),
            Reach::Lame { paths } => {
                let open = |path: &Vec<(i8, i8)>| {
                    let mut way = path.iter().map(|&offset| self.at(from, offset, color));
                    way.all(|square| square.is_some_and(empty))
                };
                if paths.iter().any(open) {
                    squares.extend(self.at(from, motion.step, color));
                }
            }
            Reach::Ride { limit } => {
                for times in 1..=*limit as i8 {
                    let Some(to) = self.at(from, (files * times, ranks * times), color) else {
                        break;
                    };
                    squares.push(to);
                    if !empty(to) {
                        break;
                    }
                }
            }
            Reach::Hop { limit, landing } => {
                let mut hurdles = 0;
                for times in 1..=*limit as i8 {
                    let Some(to) = self.at(from, (files * times, ranks * times), color) else {
                        break;
                    };
                    if hurdles == 1 {
                        squares.push(to);
                        if *landing == Landing::Behind {
                            break;
                        }
                    }
                    hurdles += usize::from(!empty(to));
                    if hurdles == 2 {
                        break;
                    }
                }
            }
        }
        squares
    }

    /// Whether a first-move power still holds for the man on a square.
    fn unmoved(&self, position: &Position, square: Square, piece: Piece) -> bool {
        if !self.variant.roles()[piece.role.index()].is_pawn {
            return position.rights().contains(square);
        }
        let pawns = self.variant.start().pieces(piece.color, piece.role);
        pawns.into_iter().any(|start| start.rank() == square.rank())
    }

    fn king_attacked(&self, position: &Position, board: &Board, color: Color) -> bool {
        let royal = |piece: &Piece| self.variant.roles()[piece.role.index()].is_royal;
        for from in self.variant.board() {
            let Some(piece) = board[from.index()].filter(|piece| piece.color != color) else {
                continue;
            };
            for motion in &self.motions[piece.role.index()] {
                if !motion.capture || (motion.initial && !self.unmoved(position, from, piece)) {
                    continue;
                }
                for to in self.walk(board, from, motion, piece.color) {
                    let target = board[to.index()];
                    if target.is_some_and(|piece| piece.color == color && royal(&piece)) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// From and to of all legal steps but en passant.
    fn steps(&self, position: &Position) -> BTreeSet<(Square, Square)> {
        let board = Referee::board(position);
        let us = position.turn();
        let mut steps = BTreeSet::new();
        for from in position.by_color(us) {
            let piece = board[from.index()].unwrap();
            for motion in &self.motions[piece.role.index()] {
                if motion.initial && !self.unmoved(position, from, piece) {
                    continue;
                }
                for to in self.walk(&board, from, motion, us) {
                    let fits = match board[to.index()] {
                        None => motion.quiet,
                        Some(target) => motion.capture && target.color != us,
                    };
                    let mut after = board;
                    after[to.index()] = after[from.index()].take();
                    if fits && !self.king_attacked(position, &after, us) {
                        steps.insert((from, to));
                    }
                }
            }
        }
        steps
    }
}

fn compare(variant: Arc<Variant>, games: u64, plies: usize) {
    let referee = Referee::new(variant.clone());
    let mut checks = 0;
    for seed in 0..games {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut position = variant.start();
        for _ in 0..plies {
            let moves = position.legal_moves(&variant);
            let board = Referee::board(&position);
            let generated: BTreeSet<(Square, Square)> = moves
                .iter()
                .filter_map(|&mv| match mv {
                    Move::Step { from, to, .. } => Some((from, to)),
                    Move::Castle { .. } | Move::Drop { .. } => None,
                })
                .filter(|&(from, to)| {
                    let pawn = board[from.index()].map(|piece| piece.role);
                    let is_pawn = pawn.is_some_and(|role| variant.roles()[role.index()].is_pawn);
                    !(is_pawn && position.ep_square() == Some(to))
                })
                .collect();
            let expected = referee.steps(&position);
            let names = |steps: BTreeSet<(Square, Square)>| -> Vec<String> {
                let name = |(a, b)| variant.square_name(a) + &variant.square_name(b);
                steps.into_iter().map(name).collect()
            };
            let fen = position.fen(&variant);
            assert_eq!(
                names(generated),
                names(expected),
                "{} {fen}",
                variant.name()
            );
            let check = referee.king_attacked(&position, &board, position.turn());
            assert_eq!(
                position.is_check(&variant),
                check,
                "{} {fen}",
                variant.name()
            );
            checks += usize::from(check);
            if moves.is_empty() {
                break;
            }
            position = position.play(&variant, moves[rng.random_range(0..moves.len())]);
        }
    }
    assert!(checks > 10, "{}: only {checks} checks", variant.name());
}

#[test]
fn every_game_of_the_falcon_family() {
    for name in Variant::builtin_names() {
        compare(Variant::by_name(name).unwrap(), 4, 150);
    }
}

#[test]
fn a_man_of_every_shape() {
    let zoo = Variant::from_toml(include_str!("variants/zoo.toml")).unwrap();
    compare(zoo, 40, 120);
}
