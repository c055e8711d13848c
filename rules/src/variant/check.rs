//! All mistakes of a variant's file at once, for its author.

use super::compile::{Source, move_tables};
use super::{castling, entry, pawns};
use crate::VariantError;

/// The mistakes of a text that does not compile, in the order of its lines; `first` is the one that compiling ended with.
///
/// What depends on a part that is wrong itself is not looked at, so that no mistake is reported that mending another
/// would remove.
pub(super) fn mistakes(text: &str, first: VariantError) -> Vec<VariantError> {
    let Ok(mut source) = Source::new(text) else {
        return vec![first];
    };
    let mut found = vec![first];
    let mut add = |result: Result<(), VariantError>| -> bool {
        let error = result.err();
        let fine = error.is_none();
        found.extend(error);
        fine
    };
    add(source.check_name());
    let board_is_fine = add(source.read_board());
    let mut pieces_are_fine = add(source.check_number_of_pieces());
    for index in 0..source.file.piece.len() {
        pieces_are_fine &= add(source.role_of_table(index).map(drop));
        add(source.motions_of_table(index).map(drop));
    }
    pieces_are_fine &= add(source.check_royal());
    if pieces_are_fine {
        if let Ok(roles) = source.roles() {
            add(pawns::promotion_roles(&source, &roles).map(drop));
        }
        if board_is_fine && add(source.check_men()) {
            let castlings = castling::compile(&source);
            if let (Ok(roles), Ok(motions)) = (source.roles(), source.motions()) {
                let moves = move_tables(source.start.board, &motions);
                add(pawns::zones(&source, &roles, &moves).map(drop));
                add(pawns::check_en_passant(&source, &roles, &motions));
                if let Ok((_, rights)) = &castlings {
                    add(source.check_first_moves(&roles, &motions, rights));
                }
            }
            add(castlings.map(drop));
            add(entry::compile(&source).map(drop));
        }
    }
    found.sort_by_key(|error| (line(error), error.to_string()));
    found.dedup();
    found
}

fn line(error: &VariantError) -> usize {
    match error {
        VariantError::Toml { line, .. } | VariantError::Field { line, .. } => *line,
        VariantError::Unknown { .. } => 0,
    }
}
