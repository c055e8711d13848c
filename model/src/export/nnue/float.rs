//! The net in floats, with few parameters: what learning works on.

use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rules::Position;

use super::{
    ACTIVATION_ONE, BUCKETS, Features, HALF, LayerStacks, NnueNet, OUTPUT_SCALE, UNITS_PER_ONE,
    View,
};

/// Bound of the random weights at the start, and the bias: activations then start between their two limits.
const FIRST_WEIGHTS: f32 = 0.05;
const FIRST_BIAS: f32 = 0.3;

/// A net whose transformer has a row for each man on each square and one for each man, square and *zone* of the own king, instead of one
/// for each man, square and square of the king: the file's row is the sum of the two. Some hundred thousand positions say little about
/// a man on one square with the king on another, but much about its sum with its neighbours.
///
/// Zones are the thirds of the files times the first rank, the second, and the rest.
#[derive(Debug)]
pub struct FloatNnue {
    features: Features,
    /// `[rows, WIDTH]`: men on squares, then the same for each zone, then the bias.
    pub input: Vec<f32>,
    /// What comes behind.
    pub layers: LayerStacks,
}

/// The rows of [`FloatNnue::input`] that one view of a position switches on.
#[derive(Clone, Debug)]
pub struct InputRows {
    zone: u8,
    /// Rows of men on squares; those of the zone lie as far behind its first.
    men: Box<[u16]>,
}

impl FloatNnue {
    /// Zones of the own king.
    const ZONES: usize = 9;
    /// Numbers in a row: outputs, then a piece–square value for each bucket.
    pub const WIDTH: usize = HALF + BUCKETS;

    /// A fresh net whose piece–square values are `units`, a man's value by its place in Fairy-Stockfish's order in that program's units.
    pub fn new(
        features: Features,
        units: &dyn Fn(usize) -> i32,
        seed: u64,
        device: &Device,
    ) -> FloatNnue {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let layers = LayerStacks::new(&mut rng, device);
        let men = man_rows(&features);
        let mut input = vec![0.0; ((1 + Self::ZONES) * men + 1) * Self::WIDTH];
        for (row, numbers) in input.chunks_exact_mut(Self::WIDTH).take(men).enumerate() {
            let (weights, psqt) = numbers.split_at_mut(HALF);
            weights.fill_with(|| rng.random_range(-FIRST_WEIGHTS..FIRST_WEIGHTS));
            let plane = row / features.squares();
            if plane < features.king_plane() {
                let sign = if plane.is_multiple_of(2) { 1.0 } else { -1.0 };
                psqt.fill(sign * units(plane / 2) as f32 / UNITS_PER_ONE as f32);
            }
        }
        let bias = input.len() - Self::WIDTH;
        input[bias..bias + HALF].fill(FIRST_BIAS);
        FloatNnue {
            features,
            input,
            layers,
        }
    }

    /// The features that this net reads.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The rows that a view switches on.
    pub fn rows(&self, view: &View) -> InputRows {
        let row = |man: &super::Man| self.man_row(view.king, *man) as u16;
        InputRows {
            zone: zone(&self.features, view.king) as u8,
            men: view.men.iter().map(row).collect(),
        }
    }

    /// The rows of a position, as the side to move and the other side see it.
    pub fn position_rows(&self, position: &Position) -> [InputRows; 2] {
        let turn = position.turn();
        [turn, !turn].map(|side| self.rows(&self.features.view(position, side)))
    }

    /// The sums of the rows: `[positions, 2, WIDTH]`.
    pub fn accumulate(&self, positions: &[&[InputRows; 2]]) -> Vec<f32> {
        let width = Self::WIDTH;
        let mut sums = vec![0.0; positions.len() * 2 * width];
        let views = positions.par_iter().flat_map_iter(|views| views.iter());
        let views: Vec<&InputRows> = views.collect();
        let fill = |(sums, rows): (&mut [f32], &&InputRows)| {
            sums.copy_from_slice(&self.input[self.input.len() - width..]);
            for row in self.all_rows(rows) {
                let numbers = &self.input[row * width..][..width];
                sums.iter_mut().zip(numbers).for_each(|(sum, n)| *sum += n);
            }
        };
        sums.par_chunks_exact_mut(width).zip(&views).for_each(fill);
        sums
    }

    /// The gradient of [`FloatNnue::input`] from that of the sums, `[positions, 2, WIDTH]`.
    pub fn input_gradient(&self, positions: &[&[InputRows; 2]], of_sums: &[f32]) -> Vec<f32> {
        let width = Self::WIDTH;
        let men = man_rows(&self.features);
        let mut gradient = vec![0.0; self.input.len()];
        let bias = gradient.len() - width;
        let (rest, of_bias) = gradient.split_at_mut(bias);
        let (of_men, of_zones) = rest.split_at_mut(men * width);
        let views = || positions.iter().flat_map(|views| views.iter());
        let add = |to: &mut [f32], row: usize, from: &[f32]| {
            let numbers = &mut to[row * width..][..width];
            numbers.iter_mut().zip(from).for_each(|(sum, n)| *sum += n);
        };
        rayon::join(
            || {
                for (rows, from) in views().zip(of_sums.chunks_exact(width)) {
                    add(of_bias, 0, from);
                    rows.men
                        .iter()
                        .for_each(|&row| add(of_men, row.into(), from));
                }
            },
            || {
                for (rows, from) in views().zip(of_sums.chunks_exact(width)) {
                    let first = usize::from(rows.zone) * men;
                    for &row in &rows.men {
                        add(of_zones, first + usize::from(row), from);
                    }
                }
            },
        );
        gradient
    }

    /// Values of positions for the side to move, in Fairy-Stockfish's units.
    pub fn evaluate(&self, positions: &[Position], device: &Device) -> Vec<f32> {
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_by_key(|&index| self.features.bucket(&positions[index]));
        let mut counts = [0; BUCKETS];
        for position in positions {
            counts[self.features.bucket(position)] += 1;
        }
        let rows: Vec<[InputRows; 2]> = order
            .iter()
            .map(|&index| self.position_rows(&positions[index]))
            .collect();
        let sums = self.accumulate(&rows.iter().collect::<Vec<_>>());
        let shape = [positions.len(), 2, Self::WIDTH];
        let sums = Tensor::from_data(TensorData::new(sums, shape), device);
        let values: Vec<f32> = self
            .layers
            .forward(sums, &counts)
            .without_autodiff()
            .try_into_vec_as()
            .expect("the device hands back what it has computed");
        let mut answers = vec![0.0; positions.len()];
        for (&index, value) in order.iter().zip(values) {
            answers[index] = value * UNITS_PER_ONE as f32;
        }
        answers
    }

    /// The net in integers.
    pub fn quantise(&self, description: &str) -> NnueNet {
        let features = &self.features;
        let (squares, width) = (features.squares(), Self::WIDTH);
        let bias = &self.input[self.input.len() - width..][..HALF];
        let word = |value: f32| (value * ACTIVATION_ONE as f32).round() as i16;
        let mut weights = Vec::with_capacity(features.count() * HALF);
        let mut psqt = Vec::with_capacity(features.count() * BUCKETS);
        for king in 0..squares {
            let first = (1 + zone(features, king)) * man_rows(features);
            for plane in 0..features.planes() {
                for square in 0..squares {
                    let row = self.man_row(king, super::Man { plane, square });
                    let base = &self.input[row * width..][..width];
                    let zone = &self.input[(first + row) * width..][..width];
                    let sums = base.iter().zip(zone).map(|(base, zone)| base + zone);
                    weights.extend(sums.clone().take(HALF).map(word));
                    let number =
                        |value: f32| (value * (UNITS_PER_ONE * OUTPUT_SCALE) as f32).round() as i32;
                    psqt.extend(sums.skip(HALF).map(number));
                }
            }
        }
        NnueNet {
            description: description.to_owned(),
            biases: bias.iter().copied().map(word).collect(),
            weights,
            psqt,
            stacks: self.layers.quantise(),
        }
    }

    /// Both rows of each man.
    fn all_rows<'a>(&self, rows: &'a InputRows) -> impl Iterator<Item = usize> + use<'a> {
        let first = (1 + usize::from(rows.zone)) * man_rows(&self.features);
        let men = rows.men.iter().map(|&row| usize::from(row));
        men.flat_map(move |row| [row, first + row])
    }

    /// The row of a man; the enemy's king has a plane of its own here.
    fn man_row(&self, king: usize, man: super::Man) -> usize {
        let is_enemy_king = man.plane == self.features.king_plane() && man.square != king;
        (man.plane + usize::from(is_enemy_king)) * self.features.squares() + man.square
    }
}

/// Rows of men on squares.
fn man_rows(features: &Features) -> usize {
    (features.planes() + 1) * features.squares()
}

fn zone(features: &Features, king: usize) -> usize {
    let (file, rank) = (king % features.files(), king / features.files());
    3 * rank.min(2) + 3 * file / features.files()
}
