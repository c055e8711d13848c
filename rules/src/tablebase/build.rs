//! Retrograde analysis: from the mates backwards, ply by ply.
//!
//! K. Thompson, *Retrograde Analysis of Certain Endgames*, ICCA Journal 9(3), 1986. Positions whose distance is known
//! are taken ply by ply. One that is lost makes all positions that lead to it won; one that is won makes those lost
//! that have no other move. Whether that is so is found by looking at all their moves again, which costs time but no
//! counters, and stays right where mirror images share a cell.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use rayon::prelude::*;

use super::geometry::Geometry;
use super::layout::{Layout, Places};
use super::sub::Sub;
use super::{Cell, ILLEGAL, MaterialKey, Tablebase};
use crate::{Bitboard, Color};

/// Cells between two reports of progress.
const BLOCK: usize = 1 << 20;

/// How far the building of a table is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The table.
    pub key: &'a MaterialKey,
    /// What is being done.
    pub stage: Stage,
    /// Cells done in this stage.
    pub done: u64,
    /// Cells of the table.
    pub all: u64,
}

/// The stages of building a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding the legal positions.
    Legal,
    /// Finding mates, stalemates and what captures lead to.
    Ends,
    /// Going back from the positions with mate in so many plies.
    Plies(u16),
}

/// The tables that a table's moves lead into: by captured man, and by pawn, captured man (or none) and new role.
#[derive(Default)]
pub(super) struct Subs {
    pub captures: HashMap<usize, Sub>,
    /// One for each role, by pawn and captured man.
    pub promotions: HashMap<(usize, Option<usize>), Vec<Sub>>,
}

/// Builds one table.
pub(super) fn build(
    geometry: &Geometry,
    key: &MaterialKey,
    layout: Layout,
    subs: &Subs,
    on_progress: &mut dyn FnMut(Progress),
) -> Tablebase {
    let cells = (0..layout.cells())
        .into_par_iter()
        .map(|_| AtomicU16::new(0));
    let builder = Builder {
        geometry,
        cells: cells.collect(),
        layout,
        subs,
    };
    let mut report = |stage, done: usize| {
        on_progress(Progress {
            key,
            stage,
            done: done as u64,
            all: builder.layout.cells() as u64,
        });
    };
    builder.each_cell(|index| builder.find_illegal(index), &mut |done| {
        report(Stage::Legal, done)
    });
    builder.each_cell(|index| builder.find_end(index), &mut |done| {
        report(Stage::Ends, done)
    });
    let mut dtm = 0;
    while dtm <= builder.longest() {
        let wanted = dtm + 1;
        builder.each_cell(
            |index| {
                if builder.cells[index].load(Relaxed) == wanted {
                    builder.go_back(index, dtm);
                }
            },
            &mut |done| report(Stage::Plies(dtm), done),
        );
        dtm += 1;
    }
    Tablebase {
        key: key.clone(),
        cells: builder
            .cells
            .into_iter()
            .map(AtomicU16::into_inner)
            .collect(),
        layout: builder.layout,
    }
}

struct Builder<'a> {
    geometry: &'a Geometry,
    layout: Layout,
    cells: Vec<AtomicU16>,
    subs: &'a Subs,
}

impl Builder<'_> {
    fn each_cell(&self, work: impl Fn(usize) + Sync, on_done: &mut dyn FnMut(usize)) {
        let all = self.layout.cells();
        for begin in (0..all).step_by(BLOCK) {
            let end = (begin + BLOCK).min(all);
            (begin..end)
                .into_par_iter()
                .with_min_len(1 << 12)
                .for_each(&work);
            on_done(end);
        }
    }

    /// The greatest distance to mate found so far.
    fn longest(&self) -> Cell {
        let cells = self.cells.par_iter().map(|cell| cell.load(Relaxed));
        let known = cells.filter(|&cell| cell != ILLEGAL).max();
        known.unwrap_or(0).saturating_sub(1)
    }

    fn find_illegal(&self, index: usize) {
        let (turn, places) = self.layout.position(index);
        let occupied = self.layout.occupied(places);
        let men = occupied.count_ones() as usize;
        let legal = men == self.layout.pieces.len()
            && self.layout.index(turn, places) == index
            && !self.has_misplaced_pawn(places)
            && !self.is_king_attacked(!turn, places, occupied);
        if !legal {
            self.cells[index].store(ILLEGAL, Relaxed);
        }
    }

    fn has_misplaced_pawn(&self, places: Places) -> bool {
        let mut men = self.layout.pieces.iter().zip(places);
        men.any(|(piece, square)| {
            self.geometry.is_pawn(piece.role)
                && self.geometry.no_pawn[piece.color] >> square & 1 != 0
        })
    }

    fn is_king_attacked(&self, color: Color, places: Places, occupied: u128) -> bool {
        let king = places[color.index()];
        let mut men = self.layout.pieces.iter().zip(places);
        men.any(|(piece, square)| {
            piece.color != color
                && self.geometry.capture[piece.color][piece.role.index()]
                    .is_open(square, king, occupied)
        })
    }

    /// Mates, and what captures and promotions alone decide. Wins by them may turn out to be shorter still.
    fn find_end(&self, index: usize) {
        if self.cells[index].load(Relaxed) == ILLEGAL {
            return;
        }
        let (turn, places) = self.layout.position(index);
        let mut best_win = Cell::MAX;
        let (mut any, mut all_lose, mut longest) = (false, true, 0);
        let _ = self.each_successor(turn, places, |cell, in_this_table| {
            any = true;
            if in_this_table || cell == 0 || cell % 2 == 1 {
                all_lose = false;
            } else {
                longest = longest.max(cell);
            }
            if !in_this_table && cell % 2 == 1 {
                best_win = best_win.min(cell + 1);
            }
            ControlFlow::Continue(())
        });
        let found = match any {
            false if self.is_king_attacked(turn, places, self.layout.occupied(places)) => 1,
            false => 0,
            true if best_win != Cell::MAX => best_win,
            true if all_lose => longest + 1,
            true => 0,
        };
        if found != 0 {
            self.cells[index].store(found, Relaxed);
        }
    }

    /// Takes back moves that lead to a position with mate in `dtm` plies.
    fn go_back(&self, index: usize, dtm: u16) {
        let (turn, places) = self.layout.position(index);
        let occupied = self.layout.occupied(places);
        for (at, piece) in self.layout.pieces.iter().enumerate() {
            if piece.color == turn {
                continue;
            }
            let lifted = occupied & !(1 << places[at]);
            let ways = &self.geometry.quiet[piece.color][piece.role.index()];
            for from in ways
                .sources(places[at], occupied)
                .filter(|&from| lifted >> from & 1 == 0)
            {
                let mut before = places;
                before[at] = from;
                let before_index = self.layout.index(!turn, before);
                match dtm % 2 {
                    0 => self.mark_won(before_index, dtm + 2),
                    _ => self.try_lost(before_index, before, !turn, dtm),
                }
            }
        }
    }

    fn mark_won(&self, index: usize, cell: Cell) {
        let known = self.cells[index].load(Relaxed);
        if known != ILLEGAL && (known == 0 || known > cell) {
            self.cells[index].store(cell, Relaxed);
        }
    }

    /// Marks a position lost if each of its moves leads to one that is won in at most `dtm` plies, or in any number of
    /// plies after a capture.
    fn try_lost(&self, index: usize, places: Places, turn: Color, dtm: u16) {
        if self.cells[index].load(Relaxed) != 0 {
            return;
        }
        let mut longest = 0;
        let escape = self.each_successor(turn, places, |cell, in_this_table| {
            let is_lost = cell != 0 && cell % 2 == 0 && (!in_this_table || cell <= dtm + 1);
            longest = longest.max(cell);
            match is_lost {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        if escape.is_continue() {
            self.cells[index].store(longest + 1, Relaxed);
        }
    }

    /// Calls `visit` with the cell of each legal move's result, and whether it is one of this table.
    #[inline]
    fn each_successor(
        &self,
        turn: Color,
        places: Places,
        mut visit: impl FnMut(Cell, bool) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let occupied = self.layout.occupied(places);
        let enemy_king = 1 << places[(!turn).index()];
        for (at, piece) in self.layout.pieces.iter().enumerate() {
            if piece.color != turn {
                continue;
            }
            let zone = match self.geometry.is_pawn(piece.role) {
                true => self.geometry.zone[turn],
                false => 0,
            };
            let role = piece.role.index();
            let mut next = places;
            let quiet = self.geometry.quiet[turn][role].targets(places[at], occupied) & !occupied;
            for to in Bitboard(quiet) {
                next[at] = to.index() as u8;
                if zone >> to.index() & 1 != 0 {
                    visit_all(&self.subs.promotions[&(at, None)], turn, next, &mut visit)?;
                } else {
                    let cell = self.cells[self.layout.index(!turn, next)].load(Relaxed);
                    if cell != ILLEGAL {
                        visit(cell, true)?;
                    }
                }
            }
            let prey = occupied & !enemy_king;
            let captures = self.geometry.capture[turn][role].targets(places[at], occupied) & prey;
            for to in Bitboard(captures) {
                next[at] = to.index() as u8;
                let victim = self.man_at(!turn, to.index() as u8, places);
                let Some(victim) = victim else { continue };
                let subs = match zone >> to.index() & 1 != 0 {
                    true => &self.subs.promotions[&(at, Some(victim))][..],
                    false => std::slice::from_ref(&self.subs.captures[&victim]),
                };
                visit_all(subs, turn, next, &mut visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn man_at(&self, color: Color, square: u8, places: Places) -> Option<usize> {
        let mut men = self.layout.pieces.iter().zip(places);
        men.position(|(piece, place)| piece.color == color && place == square)
    }
}

fn visit_all(
    subs: &[Sub],
    turn: Color,
    places: Places,
    visit: &mut impl FnMut(Cell, bool) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for sub in subs {
        let cell = sub.cell(!turn, places);
        if cell != ILLEGAL {
            visit(cell, false)?;
        }
    }
    ControlFlow::Continue(())
}
