//! Men in hand that enter in exchange for losses.

use super::compile::Source;
use crate::{Bitboard, ByColor, Color, Role, VariantError};

/// Men held in hand at the start and entered when losses have earned it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Roles whose loss earns an entry, as a bit set.
    pub earned_by: u16,
    /// Where men enter, by side.
    pub zone: ByColor<Bitboard>,
    /// The most entries a side can make: its men in hand at the start.
    pub most: ByColor<u8>,
    /// What each side holds at the start, four bits a role.
    pub start_hands: ByColor<u64>,
}

/// Compiles `[entry]` and the men in hand of the start position.
pub(super) fn compile(source: &Source) -> Result<Option<(Entry, Vec<Role>)>, VariantError> {
    let hand = &source.start.hand;
    let Some(entry) = &source.file.entry else {
        if hand.is_empty() {
            return Ok(None);
        }
        let message = "men in hand need an [entry] table that says when they enter";
        return Err(source.error(source.file.start.span(), "start", message));
    };
    if hand.is_empty() {
        let message = "nobody can enter; put men in hand, such as `[FHfh]`, into `start`";
        return Err(source.error(entry.span(), "entry", message));
    }
    let table = entry.get_ref();
    let earning = source.role_list(&table.earned_by, "entry.earned_by")?;
    let rank = match &table.rank {
        Some(rank) => source.grid_rank(rank, "entry.rank")?,
        None => 0,
    };
    let zone = Bitboard::rank(rank);
    let mut start_hands = ByColor::default();
    let mut most = ByColor::default();
    let mut roles = Vec::new();
    for letter in hand.chars() {
        let span = source.file.start.span();
        let role = source.role(letter.to_ascii_uppercase(), span.clone(), "start")?;
        let info = source.file.piece[role.index()].get_ref();
        if info.royal || info.pawn {
            let message = format!("a {} cannot be in hand", info.name);
            return Err(source.error(span, "start", message));
        }
        let color = if letter.is_ascii_uppercase() {
            Color::White
        } else {
            Color::Black
        };
        if start_hands[color] >> (4 * role.index()) & 15 == 15 {
            let message = "a side holds at most 15 men of a kind in hand";
            return Err(source.error(span, "start", message));
        }
        start_hands[color] += 1u64 << (4 * role.index());
        most[color] += 1u8;
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    roles.sort();
    let entry = Entry {
        earned_by: earning.iter().fold(0, |set, role| set | 1 << role.index()),
        zone: ByColor {
            white: zone & source.start.board,
            black: zone.mirror_ranks(source.ranks()) & source.start.board,
        },
        most,
        start_hands,
    };
    Ok(Some((entry, roles)))
}
