//! Attack tables seen from the square under attack.
//!
//! "Is this square attacked?" is asked far more often than "where can this piece go?", so every
//! capturing motion of a side is also compiled backwards: from a square to the places where an
//! attacker could stand. Riders that share directions, such as rook and queen, share one group.

use crate::betza::{Landing, Motion, Offset, Reach};
use crate::tables::{Axes, Axis, Lame, MoveTable, Shape, SquareSets, empty_sets, turned};
use crate::{Bitboard, Color, Role, Square};

/// How all men of one side attack, seen from the attacked square.
#[derive(Clone, Debug)]
pub(crate) struct AttackTables {
    pub leaps: Vec<LeapAttack>,
    pub lines: Vec<LineAttack>,
    pub hops: Vec<HopAttack>,
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

/// Axes on which a role attacks a square over one man.
#[derive(Clone, Debug)]
pub(crate) struct HopAttack {
    pub role: Role,
    pub initial: bool,
    pub landing: Landing,
    pub axes: Vec<Axis>,
    /// All squares of all axes.
    pub sources: SquareSets,
}

impl HopAttack {
    /// Where attackers of a square may stand.
    pub fn reach(&self, square: Square, occupied: u128) -> u128 {
        let lines = self.axes.iter().map(|axis| axis[square.index()]);
        lines.fold(0, |all, line| {
            all | line.hop_sources(occupied, self.landing)
        })
    }
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
                    Shape::Line(_) | Shape::Hop(..) => {}
                }
            }
        }
        AttackTables {
            leaps,
            lines: line_attacks(board, motions, color),
            hops: hop_attacks(board, motions, color),
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
    step: Offset,
    limit: u8,
    initial: bool,
    roles: u16,
}

fn line_attacks(board: Bitboard, motions: &[Vec<Motion>], color: Color) -> Vec<LineAttack> {
    let mut groups: Vec<(u16, bool, Axes)> = Vec::new();
    for direction in directions(motions, color) {
        let key = (direction.roles, direction.initial);
        let at = groups.iter().position(|(r, i, _)| (*r, *i) == key);
        let at = at.unwrap_or_else(|| {
            groups.push((key.0, key.1, Axes::default()));
            groups.len() - 1
        });
        groups[at]
            .2
            .add(board, back(direction.step), direction.limit);
    }
    groups
        .into_iter()
        .map(|(roles, initial, axes)| {
            let (axes, sources) = with_union(axes);
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

fn hop_attacks(board: Bitboard, motions: &[Vec<Motion>], color: Color) -> Vec<HopAttack> {
    let mut attacks = Vec::new();
    for (index, motions) in motions.iter().enumerate() {
        for landing in [Landing::Beyond, Landing::Behind] {
            for initial in [false, true] {
                let mut axes = Axes::default();
                let own = motions.iter().filter(|m| m.capture && m.initial == initial);
                for motion in own {
                    match motion.reach {
                        Reach::Hop { limit, landing: l } if l == landing => {
                            axes.add(board, back(turned(motion.step, color)), limit);
                        }
                        _ => {}
                    }
                }
                let (axes, sources) = with_union(axes);
                if !axes.is_empty() {
                    attacks.push(HopAttack {
                        role: Role(index as u8),
                        initial,
                        landing,
                        axes,
                        sources,
                    });
                }
            }
        }
    }
    attacks
}

/// The step that leads from a target to where the attacker stands.
fn back(step: Offset) -> Offset {
    (-step.0, -step.1)
}

/// The axes, and all squares of all of them.
fn with_union(axes: Axes) -> (Vec<Axis>, SquareSets) {
    let axes: Vec<Axis> = axes.into_lines().map(|lines| *lines).collect();
    let mut sources = empty_sets();
    for axis in &axes {
        for (all, line) in sources.iter_mut().zip(axis) {
            *all |= line.lower | line.upper;
        }
    }
    (axes, sources)
}
