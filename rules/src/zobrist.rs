//! Random numbers behind [`Position::key`](crate::Position::key), the same in every process.

use crate::{Color, Role, Square};

/// One step of the SplitMix64 generator (Steele, Lea and Flood 2014) as a mixing function.
const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const MEN: usize = 2 * Role::MAX * Square::COUNT;

static MAN: [u64; MEN] = {
    let mut keys = [0; MEN];
    let mut at = 0;
    while at < MEN {
        keys[at] = mix(at as u64);
        at += 1;
    }
    keys
};

/// A man on a square.
#[inline]
pub(crate) fn man(color: Color, role: Role, square: Square) -> u64 {
    MAN[(color.index() * Role::MAX + role.index()) * Square::COUNT + square.index()]
}

/// Black to move.
pub(crate) const BLACK_TO_MOVE: u64 = mix(1 << 32);

/// An en passant capture that is legal.
#[inline]
pub(crate) fn en_passant(square: Square) -> u64 {
    mix((2 << 32) + square.index() as u64)
}

/// All rights together; 0 for none.
#[inline]
pub(crate) fn rights(squares: u128) -> u64 {
    if squares == 0 {
        return 0;
    }
    mix(squares as u64 ^ mix(3 << 32)) ^ mix((squares >> 64) as u64 ^ mix(4 << 32))
}

/// What one side holds in hand and has lost; 0 for nothing.
#[inline]
pub(crate) fn hand(color: Color, hand: u64, losses: u8) -> u64 {
    if hand == 0 && losses == 0 {
        return 0;
    }
    let side = mix((5 << 32) + color.index() as u64);
    mix(hand ^ side) ^ mix(u64::from(losses) ^ mix(side))
}
