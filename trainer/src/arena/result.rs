//! What a match has given, as data.

use super::config::MatchConfig;
use super::elo::EloEstimate;
use super::external::time_use::TimeUse;
use super::pentanomial::{GameScore, Pentanomial};
use super::sprt::SprtState;
use rules::{Move, Status, Variant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON form of [`MatchResult`].
pub const MATCH_VERSION: u32 = 2;

/// Why a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GameEnd {
    /// By the rules of the variant; never [`Status::Ongoing`].
    Rules(Status),
    /// It reached the greatest number of plies.
    MaxPlies,
    /// Both contestants agreed on the winner.
    Adjudicated,
    /// A contestant lost it away from the board.
    Forfeit(Forfeit),
}

/// How an engine can lose a game without being mated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forfeit {
    /// It exceeded its time.
    Time,
    /// It did not answer, though no clock ran.
    Silent,
    /// Its process ended.
    Crashed,
    /// It proposed an illegal move.
    IllegalMove,
    /// It resigned.
    Resigned,
    /// It refused a legal move, or claimed a result that the rules do not give.
    Protocol,
}

impl GameEnd {
    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            GameEnd::Rules(Status::Ongoing) => "ongoing",
            GameEnd::Rules(Status::Checkmate) => "checkmate",
            GameEnd::Rules(Status::Stalemate) => "stalemate",
            GameEnd::Rules(Status::FiftyMoves) => "fifty-moves",
            GameEnd::Rules(Status::ThreefoldRepetition) => "repetition",
            GameEnd::Rules(Status::InsufficientMaterial) => "insufficient-material",
            GameEnd::MaxPlies => "max-plies",
            GameEnd::Adjudicated => "adjudicated",
            GameEnd::Forfeit(Forfeit::Time) => "time",
            GameEnd::Forfeit(Forfeit::Silent) => "silent",
            GameEnd::Forfeit(Forfeit::Crashed) => "crashed",
            GameEnd::Forfeit(Forfeit::IllegalMove) => "illegal-move",
            GameEnd::Forfeit(Forfeit::Resigned) => "resigned",
            GameEnd::Forfeit(Forfeit::Protocol) => "protocol",
        }
    }
}

/// One game of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameResult {
    /// For the first contestant.
    pub score: GameScore,
    /// Whether the first contestant had White.
    pub a_is_white: bool,
    /// Length in plies, the opening's included.
    pub plies: u32,
    /// Why it ended.
    pub end: GameEnd,
    /// What happened, where a contestant lost the game away from the board.
    pub reason: Option<String>,
    /// All moves, the opening's included.
    pub moves: Vec<Move>,
}

/// Two games from one opening with the colours swapped; the first contestant has White in the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairResult {
    /// Number of the pair, and of its opening, from 0.
    pub number: usize,
    /// The opening's moves, as text.
    pub opening: Vec<String>,
    /// The game in which the first contestant has White, then the other.
    pub games: [GameResult; 2],
}

/// A match from the first contestant's view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchResult {
    /// [`MATCH_VERSION`].
    pub version: u32,
    /// The variant's name.
    pub variant: String,
    /// Name of the first contestant.
    pub a: String,
    /// Name of the second contestant.
    pub b: String,
    /// How the match was played.
    pub config: MatchConfig,
    /// False if the match was stopped before its last pair.
    pub complete: bool,
    /// Games that the first contestant won.
    pub wins: u64,
    /// Drawn games, those cut short by the greatest number of plies included.
    pub draws: u64,
    /// Games that the first contestant lost.
    pub losses: u64,
    /// Points over games, 0 to 1; `None` without a finished pair.
    pub score: Option<f64>,
    /// The same for whoever had White.
    pub white_score: Option<f64>,
    /// `[LL, LD, DD or WL, WD, WW]`.
    pub pentanomial: Pentanomial,
    /// The difference in strength, with its errors.
    pub elo: EloEstimate,
    /// Games by the way they ended.
    pub ends: BTreeMap<String, u64>,
    /// Mean length of a game in plies, the opening's included.
    pub mean_plies: Option<f64>,
    /// What limited the engines' searches, if engines played.
    #[serde(default)]
    pub limit: Option<String>,
    /// Time that the two contestants used, where it was measured.
    #[serde(default)]
    pub time: Option<[TimeUse; 2]>,
    /// Where the sequential test stands, if there is one.
    #[serde(default)]
    pub sprt: Option<SprtState>,
    /// Every finished pair, in order.
    pub pairs: Vec<PairRow>,
}

/// `= 3.2e-5`, or a bound where the normal approximation has nothing more to say.
fn p_value_text(p_value: f64) -> String {
    const LEAST: f64 = 1e-12;
    match p_value {
        p if p < LEAST => format!("< {LEAST:e}"),
        p if p < 0.01 => format!("= {p:.1e}"),
        p => format!("= {p:.2}"),
    }
}

/// A pair in the JSON form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairRow {
    /// Number of the pair, from 0.
    pub number: usize,
    /// The opening's moves, as text.
    pub opening: Vec<String>,
    /// The first contestant's scores, first as White and then as Black.
    pub scores: [GameScore; 2],
    /// Lengths of the two games in plies.
    pub plies: [u32; 2],
    /// How the two games ended, by [`GameEnd::name`].
    pub ends: [String; 2],
    /// What happened in games that were lost away from the board.
    #[serde(default)]
    pub reasons: [Option<String>; 2],
}

impl MatchResult {
    /// Sums up the pairs of a match between the contestants `names`.
    pub fn new(
        variant: &Variant,
        config: &MatchConfig,
        names: (String, String),
        pairs: Vec<PairResult>,
    ) -> MatchResult {
        let mut pentanomial = Pentanomial::default();
        let mut ends = BTreeMap::new();
        for pair in &pairs {
            pentanomial.record(pair.games[0].score, pair.games[1].score);
            for game in &pair.games {
                *ends.entry(game.end.name().to_owned()).or_insert(0) += 1;
            }
        }
        let games = || pairs.iter().flat_map(|pair| &pair.games);
        let count = |score| games().filter(|game| game.score == score).count() as u64;
        let mean = |sum: f64| (!pairs.is_empty()).then(|| sum / (2.0 * pairs.len() as f64));
        let white_points = games().map(|game| {
            let score = if game.a_is_white {
                game.score
            } else {
                game.score.reversed()
            };
            f64::from(score.half_points()) / 2.0
        });
        MatchResult {
            version: MATCH_VERSION,
            variant: variant.name().to_owned(),
            a: names.0,
            b: names.1,
            config: config.clone(),
            complete: pairs.len() == config.pairs(),
            wins: count(GameScore::Win),
            draws: count(GameScore::Draw),
            losses: count(GameScore::Loss),
            score: pentanomial.score(),
            white_score: mean(white_points.sum()),
            pentanomial,
            elo: EloEstimate::of(&pentanomial),
            ends,
            mean_plies: mean(games().map(|game| f64::from(game.plies)).sum()),
            limit: None,
            time: None,
            sprt: None,
            pairs: pairs.iter().map(PairRow::new).collect(),
        }
    }
}

impl PairRow {
    fn new(pair: &PairResult) -> PairRow {
        let [first, second] = &pair.games;
        PairRow {
            number: pair.number,
            opening: pair.opening.clone(),
            scores: [first.score, second.score],
            plies: [first.plies, second.plies],
            ends: [first.end.name().to_owned(), second.end.name().to_owned()],
            reasons: [first.reason.clone(), second.reason.clone()],
        }
    }
}

impl std::fmt::Display for MatchResult {
    /// The summary that people read, a few lines without a final line break.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let games = self.wins + self.draws + self.losses;
        writeln!(
            f,
            "{} against {} on {}: {games} games",
            self.a, self.b, self.variant
        )?;
        let Some(score) = self.score else {
            return write!(f, "no pair was finished");
        };
        let percent = |share: f64| 100.0 * share;
        writeln!(
            f,
            "score        {:.1}%   +{} ={} -{}   (White scored {:.1}%)",
            percent(score),
            self.wins,
            self.draws,
            self.losses,
            percent(self.white_score.unwrap_or(0.5))
        )?;
        let Self { elo, .. } = self;
        writeln!(f, "Elo          {elo}   95% interval")?;
        writeln!(
            f,
            "normalised   {:+.1} ± {:.1}",
            elo.normalised, elo.normalised_error
        )?;
        writeln!(
            f,
            "superiority  {:.1}%   p {} against 50%",
            percent(elo.superiority),
            p_value_text(elo.p_value)
        )?;
        let [ll, ld, even, wd, ww] = self.pentanomial.counts();
        writeln!(
            f,
            "pairs        LL {ll}  LD {ld}  DD/WL {even}  WD {wd}  WW {ww}"
        )?;
        let ends: Vec<String> = self
            .ends
            .iter()
            .map(|(end, count)| format!("{end} {count}"))
            .collect();
        write!(
            f,
            "ends         {}   mean length {:.0} plies",
            ends.join(", "),
            self.mean_plies.unwrap_or(0.0)
        )?;
        if let Some(sprt) = &self.sprt {
            write!(f, "\nSPRT         {sprt}")?;
        }
        if let Some(times) = &self.time {
            for (name, time) in [&self.a, &self.b].into_iter().zip(times) {
                write!(f, "\ntime         {name}: {time}")?;
            }
        }
        self.write_reasons(f)
    }
}

/// Games lost away from the board that are told one by one; the JSON form has all.
const REASONS_SHOWN: usize = 8;

impl MatchResult {
    fn write_reasons(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let games = self.pairs.iter().flat_map(|pair| {
            let games = pair.reasons.iter().zip(pair.scores).zip(&pair.ends);
            games
                .enumerate()
                .map(move |(index, game)| (pair.number + 1, index + 1, game))
        });
        let told = games.filter_map(|(pair, game, ((reason, score), end))| {
            let loser = match score {
                GameScore::Loss => &self.a,
                GameScore::Win | GameScore::Draw => &self.b,
            };
            let reason = reason.as_ref()?;
            Some(format!("game {pair}.{game}: {loser} lost, {end}: {reason}"))
        });
        let told: Vec<String> = told.collect();
        for line in told.iter().take(REASONS_SHOWN) {
            write!(f, "\n{line}")?;
        }
        match told.len().saturating_sub(REASONS_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more games lost away from the board"),
        }
    }
}
