//! Where pawns start, promote and capture en passant.

use super::compile::Source;
use crate::attacks::invert;
use crate::betza::{Motion, Reach};
use crate::tables::{MoveTable, SquareSets, empty_sets, ray, turned};
use crate::{Bitboard, ByColor, Color, Role, RoleInfo, Square, VariantError};

/// Where pawns start, promote and cannot be.
pub(super) struct PawnZones {
    pub start: ByColor<Bitboard>,
    pub promotion: ByColor<Bitboard>,
    pub forbidden: ByColor<Bitboard>,
}

/// What a pawn may become.
pub(super) fn promotion_roles(
    source: &Source,
    roles: &[RoleInfo],
) -> Result<Vec<Role>, VariantError> {
    let Some(promotion) = &source.file.promotion else {
        return Ok(Vec::new());
    };
    let to = &promotion.get_ref().to;
    let list = source.role_list(to, "promotion.to")?;
    let odd = |role: &&Role| roles[role.index()].is_royal || roles[role.index()].is_pawn;
    if let Some(role) = list.iter().find(odd) {
        let message = format!("a pawn cannot become a {}", roles[role.index()].name);
        return Err(source.error(to.span(), "promotion.to", message));
    }
    if list.is_empty() {
        let message = "name at least one piece, or leave [promotion] out";
        return Err(source.error(to.span(), "promotion.to", message));
    }
    Ok(list)
}

/// Compiles the zones of pawns; `moves` are the tables by side and role.
pub(super) fn zones(
    source: &Source,
    roles: &[RoleInfo],
    moves: &ByColor<Vec<Vec<MoveTable>>>,
) -> Result<PawnZones, VariantError> {
    let ranks = source.ranks();
    let promotion = source.file.promotion.as_ref();
    let rank = match promotion.and_then(|promotion| promotion.get_ref().rank.as_ref()) {
        Some(rank) => source.grid_rank(rank, "promotion.rank")?,
        None => ranks - 1,
    };
    let board = source.start.board;
    let own = |color: Color, zone: Bitboard| match color {
        Color::White => zone,
        Color::Black => zone.mirror_ranks(ranks),
    };
    let pawn_ranks = |color: Color| -> Vec<u8> {
        let pawns = (0..roles.len()).filter(|&index| roles[index].is_pawn);
        let squares = pawns.flat_map(|i| source.start_squares(color, Role(i as u8)));
        let mut ranks: Vec<u8> = squares.map(Square::rank).collect();
        ranks.dedup();
        ranks
    };
    let start = ByColor::from_fn(|color| {
        let rows = pawn_ranks(color).into_iter().map(Bitboard::rank);
        rows.fold(Bitboard::EMPTY, |all, row| all | row) & board
    });
    let promotion = ByColor::from_fn(|color| match promotion {
        Some(_) => own(color, Bitboard::rank(rank)) & board,
        None => Bitboard::EMPTY,
    });
    let pawns = || (0..roles.len()).filter(|&index| roles[index].is_pawn);
    let stuck = |color: Color| -> Bitboard {
        let goes_on = |square: Square| {
            let mut tables = pawns().flat_map(|index| &moves[color][index]);
            tables.any(|table| table.quiet && table.reach(square, 0) != 0)
        };
        let zone = promotion[color].into_iter();
        zone.filter(|&square| !goes_on(square)).collect()
    };
    let ends = stuck(Color::White) | stuck(Color::Black);
    let forbidden = ByColor::from_fn(|color| ends & !start[color]);
    Ok(PawnZones {
        start,
        promotion,
        forbidden,
    })
}

/// Squares from which each role captures en passant.
pub(super) fn ep_sources(
    board: Bitboard,
    motions: &[Vec<Motion>],
    color: Color,
) -> Vec<(Role, SquareSets)> {
    let mut all = Vec::new();
    for (index, motions) in motions.iter().enumerate() {
        let mut targets = empty_sets();
        let leaps = motions
            .iter()
            .filter(|m| m.en_passant && m.reach == Reach::Leap);
        for motion in leaps {
            for from in board {
                targets[from.index()] |= ray(board, from, turned(motion.step, color), 1);
            }
        }
        if targets.iter().any(|&set| set != 0) {
            all.push((Role(index as u8), invert(&targets)));
        }
    }
    all
}

/// Squares from which a side's pawns may make a double step straight ahead, by side: their `start`, or all of them.
pub(super) fn double_steps(
    board: Bitboard,
    start: ByColor<Bitboard>,
    roles: &[RoleInfo],
    motions: &[Vec<Motion>],
) -> ByColor<Bitboard> {
    let pawns = (0..roles.len()).filter(|&index| roles[index].is_pawn);
    let mut steps = pawns.flat_map(|index| &motions[index]);
    match steps.any(|motion| is_double_step(motion) && !motion.initial) {
        true => ByColor::from_fn(|_| board),
        false => start,
    }
}

/// Whether it is the double step that can be captured en passant.
fn is_double_step(motion: &Motion) -> bool {
    let straight = match motion.reach {
        Reach::Lame { .. } => motion.step == (0, 2),
        Reach::Ride { limit } => motion.step == (0, 1) && limit == 2,
        Reach::Leap | Reach::Hop { .. } => false,
    };
    straight && motion.quiet && !motion.capture
}

/// Whether it is another quiet first step, or could be taken for a double step.
fn is_another_long_step(motion: &Motion) -> bool {
    let far = match motion.reach {
        Reach::Leap | Reach::Lame { .. } => motion.step == (0, 2),
        Reach::Ride { .. } | Reach::Hop { .. } => motion.step == (0, 1),
    };
    (far || motion.initial && motion.quiet) && !is_double_step(motion)
}

/// En passant needs a double step straight ahead, so that one square tells where the pawn is.
pub(super) fn check_en_passant(
    source: &Source,
    roles: &[RoleInfo],
    motions: &[Vec<Motion>],
) -> Result<(), VariantError> {
    for (index, piece) in source.file.piece.iter().enumerate() {
        let span = piece.get_ref().betza.span();
        let captures = motions[index].iter().any(|motion| motion.en_passant);
        if captures && !roles[index].is_pawn {
            let message = "`e` is for pawns; add `pawn = true` or leave `e` out";
            return Err(source.error(span, "piece.betza", message));
        }
        let pawns = || (0..roles.len()).filter(|&index| roles[index].is_pawn);
        let steps = || pawns().flat_map(|index| &motions[index]);
        if captures && (!steps().any(is_double_step) || steps().any(is_another_long_step)) {
            let message = "`e` needs pawns that may go `ifmnD` or `fmnD` and nothing else that far; leave `e` out";
            return Err(source.error(span, "piece.betza", message));
        }
    }
    Ok(())
}
