//! Evidence that is not a man's worth: matches, tablebases, results, first moves.

use super::{Results, Verdict, within};
use crate::arena::elo::elo_of_score;
use crate::arena::normal::Z_95;
use crate::arena::sprt::{Sprt, Verdict as SprtVerdict};
use crate::values::estimate::Interval;
use crate::values::first_moves::{FirstMove, playable};
use crate::values::odds::{Handicap, OddsMatch};
use rules::Variant;
use rules::tablebase::{MaterialKey, Tablebases};

/// A score that somebody claims.
#[derive(Clone, Copy)]
pub(super) struct Claimed {
    /// The share of the points, 0 to 1.
    pub score: f64,
    /// Of how many games, if the claim says so.
    pub games: Option<u32>,
}

/// The sequential test of one half against the claimed score, and whether what has been scored agrees with the claim, within the
/// errors of both. A score of no number of games is claimed exactly.
pub(super) fn matched(
    handicap: &Handicap,
    Claimed { score, games }: Claimed,
    matches: &[OddsMatch],
) -> Option<(Verdict, String)> {
    let (pentanomial, shown) = matches.iter().find_map(|known| {
        let reversed = Handicap {
            first_lacks: known.handicap.second_lacks.clone(),
            second_lacks: known.handicap.first_lacks.clone(),
        };
        if known.handicap == *handicap {
            Some((known.pentanomial, handicap))
        } else {
            (reversed == *handicap).then(|| (known.pentanomial.reversed(), handicap))
        }
    })?;
    let state = Sprt::new(0.0, elo_of_score(score)?)
        .ok()?
        .state(&pentanomial);
    let (found, error) = (pentanomial.score()?, pentanomial.moments().standard_error());
    let claimed_error = games.map_or(0.0, |games| {
        (score * (1.0 - score) / f64::from(games)).sqrt()
    });
    let agrees = (found - score).abs() <= Z_95 * error.hypot(claimed_error);
    let verdict = match (state.verdict(), agrees) {
        (Some(SprtVerdict::Second), true) => Verdict::Supported,
        (Some(SprtVerdict::First), false) => Verdict::Rejected,
        _ => Verdict::Undecided,
    };
    let of = games.map_or_else(String::new, |games| {
        format!(" ± {:.1}% in {games} games", 100.0 * Z_95 * claimed_error)
    });
    let other = match (state.verdict(), agrees) {
        (Some(SprtVerdict::Second), false) if found > score => "; more than is claimed",
        (Some(SprtVerdict::Second), false) => "; more than half, but less than is claimed",
        (Some(SprtVerdict::First), true) => "; nearer to half, but not too far from the claim",
        _ => "",
    };
    let evidence = format!(
        "{shown}: {:.1}% ± {:.1}% in {} games, claimed {:.1}%{of}; log likelihood ratio {:+.2} of ±{:.2}{other}",
        100.0 * found,
        100.0 * Z_95 * error,
        2 * pentanomial.pairs(),
        100.0 * score,
        state.llr,
        state.bound
    );
    Some((verdict, evidence))
}

/// What a tablebase of the variant says.
pub(super) fn proved(
    variant: &std::sync::Arc<Variant>,
    material: &str,
    at_least: Option<f64>,
    at_most: Option<f64>,
) -> Option<(Verdict, String)> {
    let mut tables = Tablebases::new(variant);
    let key = MaterialKey::parse(variant, material).ok()?;
    tables.build(&key, &mut |_| {}).ok()?;
    let statistics = tables.get(&key)?.statistics(&tables);
    let white = &statistics.white;
    let share = white.won as f64 / (white.won + white.drawn + white.lost).max(1) as f64;
    let holds =
        at_least.is_none_or(|least| share >= least) && at_most.is_none_or(|most| share <= most);
    let longest = white
        .longest_win
        .as_ref()
        .map_or(0, |longest| longest.plies);
    Some((
        if holds {
            Verdict::Supported
        } else {
            Verdict::Rejected
        },
        format!(
            "tablebase {material}: White to move wins {} of {} positions ({:.2}%), in {longest} plies at most",
            white.won,
            white.won + white.drawn + white.lost,
            100.0 * share
        ),
    ))
}

/// The share of draws with Wilson's interval (1927).
pub(super) fn drawn(results: Results, at_most: f64) -> Option<(Verdict, String)> {
    let games = (results.white + results.drawn + results.black) as f64;
    if games == 0.0 {
        return None;
    }
    let p = results.drawn as f64 / games;
    let z2 = Z_95 * Z_95;
    let center = (p + z2 / (2.0 * games)) / (1.0 + z2 / games);
    let half =
        Z_95 * (p * (1.0 - p) / games + z2 / (4.0 * games * games)).sqrt() / (1.0 + z2 / games);
    let interval = Interval {
        value: p,
        low: center - half,
        high: center + half,
    };
    let evidence = format!(
        "{:.1}% ({:.1} … {:.1}) of {games} games from the array are drawn, claimed at most {:.0}%",
        100.0 * p,
        100.0 * interval.low,
        100.0 * interval.high,
        100.0 * at_most
    );
    Some((within(interval, f64::NEG_INFINITY, at_most), evidence))
}

/// Whether pawns of all files are among the playable first moves.
pub(super) fn opened(files: &str, moves: &[FirstMove]) -> Option<(Verdict, String)> {
    let good: Vec<&FirstMove> = playable(moves).collect();
    let best = good.first()?;
    let opens = |file: char| {
        good.iter()
            .any(|mv| mv.is_pawn && mv.text.starts_with(file))
    };
    let closed: String = files.chars().filter(|&file| !opens(file)).collect();
    // A net to which all moves are as good has not learnt to tell them apart.
    let verdict = match (closed.is_empty(), good.len() == moves.len()) {
        (true, true) => Verdict::Undecided,
        (true, false) => Verdict::Supported,
        (false, _) => Verdict::Rejected,
    };
    let except = match closed.is_empty() {
        true => format!("a pawn of each of the files {files} among them"),
        false => format!("no pawn of the files {closed} among them"),
    };
    Some((
        verdict,
        format!(
            "to the net {} of {} first moves are as good as the best ({}) to within {} of q, {except}",
            good.len(),
            moves.len(),
            best.text,
            crate::values::first_moves::PLAYABLE
        ),
    ))
}
