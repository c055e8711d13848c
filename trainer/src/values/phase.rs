//! Parts of a game: by the pieces that are left, and by how crowded the board is.

use rules::{Position, Variant};
use serde::{Deserialize, Serialize};

/// Part of a game by the men other than kings and pawns that are left of the array's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// More than 80% of them.
    Opening,
    /// Between.
    Middlegame,
    /// At most 40%.
    Endgame,
}

/// How crowded the board is: men of all kinds left of the array's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crowding {
    /// More than 75%.
    Crowded,
    /// 50% to 75%.
    Half,
    /// At most 50%.
    Open,
}

/// Both parts of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// By pieces.
    pub phase: Phase,
    /// By men.
    pub crowding: Crowding,
}

/// A part by which positions are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Slice {
    /// Positions of a phase.
    Phase(Phase),
    /// Positions as crowded as this.
    Crowding(Crowding),
}

impl Slice {
    /// All of them.
    pub const ALL: [Slice; 6] = [
        Slice::Phase(Phase::Opening),
        Slice::Phase(Phase::Middlegame),
        Slice::Phase(Phase::Endgame),
        Slice::Crowding(Crowding::Crowded),
        Slice::Crowding(Crowding::Half),
        Slice::Crowding(Crowding::Open),
    ];

    /// Whether a position belongs to it.
    pub fn has(self, part: Part) -> bool {
        match self {
            Slice::Phase(phase) => phase == part.phase,
            Slice::Crowding(crowding) => crowding == part.crowding,
        }
    }

    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Slice::Phase(Phase::Opening) => "opening",
            Slice::Phase(Phase::Middlegame) => "middlegame",
            Slice::Phase(Phase::Endgame) => "endgame",
            Slice::Crowding(Crowding::Crowded) => "crowded",
            Slice::Crowding(Crowding::Half) => "half full",
            Slice::Crowding(Crowding::Open) => "open",
        }
    }
}

/// Which parts a position belongs to.
pub fn part_of(variant: &Variant, position: &Position) -> Part {
    let share = |count: fn(&Variant, &Position) -> u32| {
        f64::from(count(variant, position)) / f64::from(count(variant, &variant.start()).max(1))
    };
    let phase = match share(pieces) {
        share if share > 0.8 => Phase::Opening,
        share if share > 0.4 => Phase::Middlegame,
        _ => Phase::Endgame,
    };
    let crowding = match share(|_, position| position.occupied().count()) {
        share if share > 0.75 => Crowding::Crowded,
        share if share > 0.5 => Crowding::Half,
        _ => Crowding::Open,
    };
    Part { phase, crowding }
}

/// Men other than kings and pawns.
fn pieces(variant: &Variant, position: &Position) -> u32 {
    let plain = |square| {
        let piece = position.piece_at(square);
        piece.is_some_and(|piece| {
            let info = &variant.roles()[piece.role.index()];
            !info.is_royal && !info.is_pawn
        })
    };
    position
        .occupied()
        .into_iter()
        .filter(|&square| plain(square))
        .count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_by_what_is_left() {
        let chess = Variant::by_name("chess").expect("a shipped variant");
        let part = |fen| part_of(&chess, &Position::from_fen(&chess, fen).expect("a FEN"));
        let start = part_of(&chess, &chess.start());
        assert_eq!(
            start,
            Part {
                phase: Phase::Opening,
                crowding: Crowding::Crowded
            }
        );
        let rooks = part("4k2r/pppppppp/8/8/8/8/PPPPPPPP/4K2R w - - 0 1");
        assert_eq!(
            rooks,
            Part {
                phase: Phase::Endgame,
                crowding: Crowding::Half
            }
        );
        let few = part("4k3/8/8/8/8/8/8/4K2R w - - 0 1");
        assert_eq!(
            few,
            Part {
                phase: Phase::Endgame,
                crowding: Crowding::Open
            }
        );
        for slice in Slice::ALL {
            let json = serde_json::to_string(&slice).expect("plain data");
            assert_eq!(
                serde_json::from_str::<Slice>(&json).expect("our own"),
                slice
            );
        }
    }
}
