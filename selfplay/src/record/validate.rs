//! What every record must satisfy, whether it is about to be written or has just been read.

use super::{GameRecord, PlyRecord, RecordError};

/// Rounding of f32 sums over a few hundred moves stays far below this.
const SUM_TOLERANCE: f32 = 1e-2;
const VALUE_TOLERANCE: f32 = 1e-3;

/// Checks one game.
///
/// # Errors
/// [`RecordError::Game`] with the first departure.
pub(crate) fn validate(game: &GameRecord) -> Result<(), RecordError> {
    let fail = |ply: usize, reason: String| RecordError::Game {
        game_id: game.game_id.clone(),
        ply,
        reason,
    };
    if game.game_id.is_empty() {
        return Err(fail(0, "game_id is empty".to_owned()));
    }
    if game.plies.is_empty() {
        return Err(fail(0, "the game has no plies".to_owned()));
    }
    for (index, ply) in game.plies.iter().enumerate() {
        check_ply(ply).map_err(|reason| fail(index, reason))?;
    }
    Ok(())
}

fn check_ply(ply: &PlyRecord) -> Result<(), String> {
    if ply.fen.is_empty() || ply.mv.is_empty() {
        return Err("fen or move is empty".to_owned());
    }
    if ply.repetitions == 0 {
        return Err("repetitions is 0, but counts this occurrence".to_owned());
    }
    // Ranges are asked for membership, which NaN never has.
    if !(-1.0 - VALUE_TOLERANCE..=1.0 + VALUE_TOLERANCE).contains(&ply.root_q) {
        return Err(format!("root_q is {}, outside -1..1", ply.root_q));
    }
    let raw = [ply.raw_value.win, ply.raw_value.draw, ply.raw_value.loss];
    check_distribution("raw_win, raw_draw, raw_loss", raw)?;
    if ply.policy.is_empty() {
        return match ply.full_search {
            true => Err("a full search without policy_probs".to_owned()),
            false => Ok(()),
        };
    }
    check_distribution("policy_probs", ply.policy.iter().map(|(_, prob)| *prob))
}

fn check_distribution(what: &str, probs: impl IntoIterator<Item = f32>) -> Result<(), String> {
    let mut sum = 0.0;
    for prob in probs {
        if !(-VALUE_TOLERANCE..=1.0 + VALUE_TOLERANCE).contains(&prob) {
            return Err(format!("{what} has the entry {prob}, outside 0..1"));
        }
        sum += prob;
    }
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(format!("{what} add up to {sum} instead of 1"));
    }
    Ok(())
}
