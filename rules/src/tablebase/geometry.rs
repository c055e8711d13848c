//! What retrograde analysis needs to know of a variant.

use twox_hash::XxHash64;

use super::symmetry::{Map, moved};
use super::ways::{Way, Ways};
use crate::{Bitboard, ByColor, Color, Role, Variant};

/// Moves, zones and symmetries of a variant.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub board: Bitboard,
    pub files: u8,
    pub ranks: u8,
    pub royal: Role,
    pub quiet: ByColor<Vec<Ways>>,
    pub capture: ByColor<Vec<Ways>>,
    pub pawns: u16,
    pub promotion_roles: Vec<Role>,
    pub zone: ByColor<u128>,
    /// Where no pawn can stand.
    pub no_pawn: ByColor<u128>,
    pub has_en_passant: bool,
    /// Whether Black's moves are White's turned upside down, on a board that is the same upside down.
    pub flips: bool,
    /// Changes when anything changes that a table depends on.
    pub hash: u64,
}

impl Geometry {
    pub fn new(variant: &Variant) -> Geometry {
        let ways = ByColor::from_fn(|color| {
            let of_role = |role| Ways::of_role(variant, color, role);
            variant.role_ids().map(of_role).collect::<Vec<_>>()
        });
        let of = |kind: usize| {
            ByColor::from_fn(|color| ways[color].iter().map(|pair| pair[kind].clone()).collect())
        };
        let zone = ByColor::from_fn(|color| variant.promotion_zone[color].0);
        let mut geometry = Geometry {
            board: variant.board(),
            files: variant.files(),
            ranks: variant.ranks(),
            royal: variant.royal,
            quiet: of(0),
            capture: of(1),
            pawns: variant.pawns,
            promotion_roles: variant.promotion_roles.clone(),
            no_pawn: ByColor::from_fn(|color| zone[color] | variant.pawn_forbidden[color].0),
            zone,
            has_en_passant: variant.has_en_passant,
            flips: false,
            hash: 0,
        };
        geometry.flips = geometry.is_the_same_upside_down();
        geometry.hash = geometry.hash_with(variant);
        geometry
    }

    pub fn is_pawn(&self, role: Role) -> bool {
        self.pawns >> role.index() & 1 != 0
    }

    fn is_the_same_upside_down(&self) -> bool {
        let map = Map::upside_down(self.ranks);
        let (white, black) = (Color::White, Color::Black);
        let same_ways = |ways: &ByColor<Vec<Ways>>| {
            let pairs = ways[white].iter().zip(&ways[black]);
            pairs
                .into_iter()
                .all(|(w, b)| moved(&w.list, &map) == b.list)
        };
        map.set(self.board.0) == self.board.0
            && map.set(self.zone[white]) == self.zone[black]
            && map.set(self.no_pawn[white]) == self.no_pawn[black]
            && same_ways(&self.quiet)
            && same_ways(&self.capture)
    }

    fn hash_with(&self, variant: &Variant) -> u64 {
        let mut bytes = vec![self.files, self.ranks, self.royal.0];
        bytes.extend(self.board.0.to_le_bytes());
        bytes.extend(self.pawns.to_le_bytes());
        bytes.extend(self.promotion_roles.iter().map(|role| role.0));
        for color in Color::ALL {
            bytes.extend(self.zone[color].to_le_bytes());
            bytes.extend(self.no_pawn[color].to_le_bytes());
            for role in variant.role_ids() {
                bytes.push(variant.role_info(role).letter as u8);
                for ways in [&self.quiet, &self.capture] {
                    let list = &ways[color][role.index()].list;
                    list.iter().for_each(|way| push_way(way, &mut bytes));
                }
            }
        }
        XxHash64::oneshot(0, &bytes)
    }
}

fn push_way(way: &Way, bytes: &mut Vec<u8>) {
    bytes.extend([way.from, way.to]);
    bytes.extend(way.clear.to_le_bytes());
    bytes.extend(way.hurdle.to_le_bytes());
}
