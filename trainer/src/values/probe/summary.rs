//! From single men to values: over all positions, over parts of the games, by way, and by square.

use super::{ProbeResult, Reading, Way};
use crate::values::bootstrap::Bootstrap;
use crate::values::estimate::{Evidence, HeatMap, HeatSquare, Men, Method, Sampled, Scales, ratio};
use crate::values::phase::Slice;
use rules::{Color, Square, Variant};
use std::collections::BTreeMap;

/// Removals that a square needs before it is shown.
const LEAST_ON_SQUARE: u64 = 20;

/// All values; `None` without readings.
pub(super) fn summarise(
    variant: &Variant,
    men: Men<'_>,
    readings: &[Reading],
    bootstrap: Bootstrap,
) -> Option<ProbeResult> {
    if readings.is_empty() {
        return None;
    }
    let [whole, exchanged, added] =
        Way::ALL.map(|way| sampled(men, readings, (way, &|_| true), bootstrap));
    let slices = Slice::ALL.into_iter().filter_map(|slice| {
        let is_in = |reading: &Reading| slice.has(reading.part);
        readings.iter().any(is_in).then(|| {
            (
                slice,
                sampled(men, readings, (Way::Removal, &is_in), bootstrap),
            )
        })
    });
    // Where the pawn may be worth nothing, nothing is worth so many of it.
    let has_unit = men
        .pawn()
        .is_some_and(|pawn| whole.estimate.values[pawn].pawns.is_some());
    let heat = match has_unit {
        true => heat(variant, men, readings),
        false => Vec::new(),
    };
    Some(ProbeResult {
        slices: slices.collect(),
        ways: vec![(Way::Exchange, exchanged), (Way::Addition, added)],
        heat,
        whole,
    })
}

/// The values in some of the positions. All games take part in the resampling, so that draws of different selections
/// belong together.
fn sampled(
    men: Men<'_>,
    readings: &[Reading],
    (way, is_wanted): (Way, &dyn Fn(&Reading) -> bool),
    bootstrap: Bootstrap,
) -> Sampled {
    let mut games: BTreeMap<usize, GameSums> = BTreeMap::new();
    let mut positions = 0;
    for reading in readings {
        let sums = games
            .entry(reading.game)
            .or_insert_with(|| GameSums::new(men));
        if is_wanted(reading) {
            sums.add(men, &drops(men, reading, way));
            sums.positions += 1;
            positions += 1;
        }
    }
    let games: Vec<GameSums> = games.into_values().collect();
    let once = vec![1.0; games.len()];
    let draws = bootstrap.over_games(games.len(), |multiplicities| {
        scales(men, &games, multiplicities)
    });
    let count = |man: usize| games.iter().map(|sums| sums.alone[man].1).sum::<f64>() as u64;
    let evidence = Evidence {
        games: games.iter().filter(|sums| sums.positions > 0).count() as u64,
        positions,
        of_men: (0..men.roles().count()).map(count).collect(),
    };
    let point = scales(men, &games, &once);
    Sampled::new(Method::CounterfactualProbe, men, &evidence, point, draws)
}

/// The net's drop of value for each man of a position, in logits; `None` for men that it says nothing about.
type Drops = Vec<Option<f64>>;

/// Drops of a man that both sides have are averaged.
fn drops(men: Men<'_>, reading: &Reading, way: Way) -> Drops {
    let mut sums = vec![(0.0, 0u32); men.roles().count()];
    for (measure, drop) in reading
        .measures
        .iter()
        .filter(|(measure, _)| measure.way == way)
    {
        sums[measure.man].0 += drop;
        sums[measure.man].1 += 1;
    }
    let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
    sums.into_iter().map(mean).collect()
}

/// Sums over the positions of one game, for means and paired ratios.
#[derive(Debug, Clone)]
struct GameSums {
    positions: u64,
    /// Drop of each man, and the number of positions.
    alone: Vec<(f64, f64)>,
    /// Drop of each man and of the pawn, over positions with both.
    with_pawn: Vec<(f64, f64)>,
    /// Drop of each man and of the knight, over positions with both.
    with_knight: Vec<(f64, f64)>,
}

impl GameSums {
    fn new(men: Men<'_>) -> GameSums {
        let zeros = vec![(0.0, 0.0); men.roles().count()];
        GameSums {
            positions: 0,
            alone: zeros.clone(),
            with_pawn: zeros.clone(),
            with_knight: zeros,
        }
    }

    fn add(&mut self, men: Men<'_>, drops: &Drops) {
        let drop_of = |man: Option<usize>| man.and_then(|man| drops[man]);
        let (pawn, knight) = (drop_of(men.pawn()), drop_of(men.knight()));
        for (man, drop) in drops.iter().enumerate() {
            let Some(drop) = *drop else { continue };
            for (sums, unit) in [
                (&mut self.alone, Some(1.0)),
                (&mut self.with_pawn, pawn),
                (&mut self.with_knight, knight),
            ] {
                if let Some(unit) = unit {
                    sums[man].0 += drop;
                    sums[man].1 += unit;
                }
            }
        }
    }
}

fn scales(men: Men<'_>, games: &[GameSums], multiplicities: &[f64]) -> Scales {
    let ratios = |part: fn(&GameSums) -> &Vec<(f64, f64)>| -> Vec<Option<f64>> {
        (0..men.roles().count())
            .map(|man| {
                let weighted = games
                    .iter()
                    .zip(multiplicities)
                    .map(|(sums, m)| (m * part(sums)[man].0, m * part(sums)[man].1));
                let (drop, unit) =
                    weighted.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
                ratio(Some(drop), Some(unit))
            })
            .collect()
    };
    Scales {
        logits: ratios(|sums| &sums.alone),
        pawns: ratios(|sums| &sums.with_pawn),
        knights: ratios(|sums| &sums.with_knight),
        bishop_pair: None,
    }
}

/// The mean drop of each man on each square, in mean drops of a pawn, Black's men turned to White's side.
fn heat(variant: &Variant, men: Men<'_>, readings: &[Reading]) -> Vec<HeatMap> {
    let roles = men.roles().count();
    let mut sums = vec![vec![(0.0, 0u64); Square::COUNT]; roles];
    let removals = readings.iter().flat_map(|reading| &reading.measures);
    for (removal, drop) in removals.filter(|(measure, _)| measure.way == Way::Removal) {
        let square = match removal.owner {
            Color::White => Some(removal.square),
            Color::Black => {
                let rank = variant.ranks() - 1 - removal.square.rank();
                Square::new(removal.square.file(), rank)
            }
        };
        if let Some(square) = square {
            let (sum, count) = &mut sums[removal.man][square.index()];
            *sum += drop;
            *count += 1;
        }
    }
    let pawn = men.pawn().map(|man| {
        let all = sums[man].iter();
        all.fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    });
    let Some(pawn) = pawn
        .filter(|(sum, _)| *sum > 0.0)
        .map(|(sum, count)| sum / count as f64)
    else {
        return Vec::new();
    };
    let map = |(man, (_, info)): (usize, (rules::Role, &rules::RoleInfo))| {
        let squares = variant.board().into_iter().filter_map(|square| {
            let (sum, count) = sums[man][square.index()];
            (count >= LEAST_ON_SQUARE).then(|| HeatSquare {
                square: variant.square_name(square),
                pawns: sum / count as f64 / pawn,
                positions: count,
            })
        });
        HeatMap {
            letter: info.letter,
            name: info.name.clone(),
            squares: squares.collect(),
        }
    };
    men.roles().enumerate().map(map).collect()
}
