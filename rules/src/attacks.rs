//! Attack tables seen from the square under attack.
//!
//! "Is this square attacked?" is asked far more often than "where can this piece go?", so every
//! capturing motion of a side is also compiled backwards: from a square to the places where an
//! attacker could stand. Riders that share directions, such as rook and queen, share one group.

use crate::betza::{Motion, Reach};
use crate::tables::{
    Axis, Lame, MoveTable, Shape, SquareSets, add_ray, axis_of, empty_lines, empty_sets, turned,
};
use crate::{Bitboard, Color, Role};

/// How all men of one side attack, seen from the attacked square.
#[derive(Clone, Debug)]
pub(crate) struct AttackTables {
    pub leaps: Vec<LeapAttack>,
    pub lines: Vec<LineAttack>,
    pub lames: Vec<LameAttack>,
}

/// Squares from which a role leaps to a square.
#[derive(Clone, Debug)]
pub(crate) struct LeapAttack {
    pub role: Role,
    pub initial: bool,
    pub sources: SquareSets,
}

/// Axes on which a set of roles attacks a square.
#[derive(Clone, Debug)]
pub(crate) struct LineAttack {
    pub roles: Vec<Role>,
    pub initial: bool,
    pub axes: Vec<Axis>,
    /// All squares of all axes.
    pub sources: SquareSets,
}

/// Lame leaps by which a role attacks a square.
#[derive(Clone, Debug)]
pub(crate) struct LameAttack {
    pub role: Role,
    pub initial: bool,
    pub sources: Lame,
}

impl AttackTables {
    /// Compiles the attacks of one side; `motions` and `tables` are indexed by role.
    pub fn new(
        board: Bitboard,
        motions: &[Vec<Motion>],
        tables: &[Vec<MoveTable>],
        color: Color,
    ) -> AttackTables {
        let mut leaps = Vec::new();
        let mut lames = Vec::new();
        for (index, tables) in tables.iter().enumerate() {
            let role = Role(index as u8);
            for table in tables.iter().filter(|table| table.capture) {
                let initial = table.initial;
                match &table.shape {
                    Shape::Leap(targets) => leaps.push(LeapAttack {
                        role,
                        initial,
                        sources: invert(targets),
                    }),
                    Shape::Lame(lame) => lames.push(LameAttack {
                        role,
                        initial,
                        sources: lame.inverted(),
                    }),
                    Shape::Line(_) => {}
                }
            }
        }
        AttackTables {
            leaps,
            lines: line_attacks(board, motions, color),
            lames,
        }
    }
}

/// From "where it goes" to "where it comes from".
pub(crate) fn invert(targets: &SquareSets) -> SquareSets {
    let mut sources = empty_sets();
    for from in Bitboard::GRID {
        for to in Bitboard(targets[from.index()]) {
            sources[to.index()] |= Bitboard::from(from).0;
        }
    }
    sources
}

/// A direction of riding and the roles that have it.
struct Direction {
    step: (i8, i8),
    limit: u8,
    initial: bool,
    roles: u16,
}

fn line_attacks(board: Bitboard, motions: &[Vec<Motion>], color: Color) -> Vec<LineAttack> {
    let mut groups: Vec<(u16, bool, Vec<Direction>)> = Vec::new();
    for direction in directions(motions, color) {
        let key = (direction.roles, direction.initial);
        match groups.iter_mut().find(|(r, i, _)| (*r, *i) == key) {
            Some((_, _, members)) => members.push(direction),
            None => groups.push((key.0, key.1, vec![direction])),
        }
    }
    groups
        .into_iter()
        .map(|(roles, initial, members)| {
            let axes = axes(board, &members);
            let mut sources = empty_sets();
            for axis in &axes {
                for (all, line) in sources.iter_mut().zip(axis.iter()) {
                    *all |= line.lower | line.upper;
                }
            }
            LineAttack {
                roles: (0..Role::MAX as u8)
                    .filter(|role| roles >> role & 1 != 0)
                    .map(Role)
                    .collect(),
                initial,
                axes,
                sources,
            }
        })
        .collect()
}

fn directions(motions: &[Vec<Motion>], color: Color) -> Vec<Direction> {
    let mut directions: Vec<Direction> = Vec::new();
    for (index, motions) in motions.iter().enumerate() {
        for motion in motions.iter().filter(|motion| motion.capture) {
            let Reach::Ride { limit } = motion.reach else {
                continue;
            };
            let step = turned(motion.step, color);
            let known = directions.iter_mut().find(|known| {
                (known.step, known.limit, known.initial) == (step, limit, motion.initial)
            });
            match known {
                Some(known) => known.roles |= 1 << index,
                None => directions.push(Direction {
                    step,
                    limit,
                    initial: motion.initial,
                    roles: 1 << index,
                }),
            }
        }
    }
    directions
}

/// The lines of a group, both directions of an axis in one; the steps are taken backwards.
fn axes(board: Bitboard, members: &[Direction]) -> Vec<Axis> {
    let mut axes: Vec<((i8, i8), Box<Axis>)> = Vec::new();
    for member in members {
        let back = (-member.step.0, -member.step.1);
        let axis = axis_of(back);
        let at = axes.iter().position(|(known, _)| *known == axis);
        let at = at.unwrap_or_else(|| {
            axes.push((axis, empty_lines()));
            axes.len() - 1
        });
        add_ray(&mut axes[at].1, board, back, member.limit);
    }
    axes.into_iter().map(|(_, lines)| *lines).collect()
}
