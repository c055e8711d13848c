//! The integers of a net and what they make of a position.

use rules::Position;

use super::{
    ACTIVATION_ONE, BUCKETS, Features, HALF, HIDDEN, OUTPUT_SCALE, UNITS_PER_PAWN, WEIGHT_BITS,
};

/// A net as Fairy-Stockfish computes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NnueNet {
    /// A text for people.
    pub description: String,
    /// Of the feature transformer: `[HALF]`.
    pub biases: Vec<i16>,
    /// `[features, HALF]`
    pub weights: Vec<i16>,
    /// Piece–square weights: `[features, BUCKETS]`.
    pub psqt: Vec<i32>,
    /// One for each bucket.
    pub stacks: Vec<Stack>,
}

/// The layers of one bucket: 2 · [`HALF`] → [`HIDDEN`] → 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The two hidden layers.
    pub hidden: [Dense; 2],
    /// The last layer.
    pub output: Dense,
}

/// A layer of 8-bit weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dense {
    /// `[outputs]`
    pub biases: Vec<i32>,
    /// `[outputs, inputs]`
    pub weights: Vec<i8>,
}

/// What a net says of a position, for the side to move, in sums of the output layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NnueEvaluation {
    /// The stack of layers that was used.
    pub bucket: usize,
    /// Of the piece–square weights.
    pub psqt: i32,
    /// Of the layers.
    pub positional: i32,
}

impl NnueEvaluation {
    /// The value in Fairy-Stockfish's own units, of which [`UNITS_PER_PAWN`] are a pawn.
    pub fn value(self) -> i32 {
        self.psqt.wrapping_add(self.positional) / OUTPUT_SCALE
    }

    /// The value in pawns.
    pub fn pawns(self) -> f64 {
        f64::from(self.value()) / f64::from(UNITS_PER_PAWN)
    }
}

impl NnueNet {
    /// A net that counts men alone: `units` is a man's value by its place in Fairy-Stockfish's order, in that program's units.
    pub fn material(features: &Features, units: &dyn Fn(usize) -> i32) -> NnueNet {
        let mut psqt = Vec::with_capacity(features.count() * BUCKETS);
        for _ in 0..features.squares() {
            for plane in 0..features.planes() {
                // A man counts for its owner and against its enemy, and the two sides' sums are halved: see `evaluate`.
                let sum = match plane {
                    plane if plane == features.king_plane() => 0,
                    plane if plane % 2 == 0 => units(plane / 2) * OUTPUT_SCALE,
                    plane => -units(plane / 2) * OUTPUT_SCALE,
                };
                psqt.resize(psqt.len() + features.squares() * BUCKETS, sum);
            }
        }
        let zeros = |inputs: usize, outputs: usize| Dense {
            biases: vec![0; outputs],
            weights: vec![0; inputs * outputs],
        };
        let stack = Stack {
            hidden: [zeros(2 * HALF, HIDDEN[0]), zeros(HIDDEN[0], HIDDEN[1])],
            output: zeros(HIDDEN[1], 1),
        };
        NnueNet {
            description: String::new(),
            biases: vec![0; HALF],
            weights: vec![0; features.count() * HALF],
            psqt,
            stacks: vec![stack; BUCKETS],
        }
    }

    /// Evaluates a position exactly as Fairy-Stockfish does, before it scales for its search.
    ///
    /// # Panics
    /// If the net was read for other features.
    pub fn evaluate(&self, features: &Features, position: &Position) -> NnueEvaluation {
        let bucket = features.bucket(position);
        let turn = position.turn();
        let mut inputs = Vec::with_capacity(2 * HALF);
        let mut psqt = [0i32; 2];
        for (side, psqt) in [turn, !turn].into_iter().zip(&mut psqt) {
            let view = features.view(position, side);
            // Sums of 16 bits wrap, as the vector instructions do.
            let mut sums = self.biases.clone();
            for &man in &view.men {
                let feature = features.index(view.king, man);
                let row = &self.weights[feature * HALF..][..HALF];
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*weight);
                }
                *psqt = psqt.wrapping_add(self.psqt[feature * BUCKETS + bucket]);
            }
            inputs.extend(sums.into_iter().map(|sum| activation(i32::from(sum))));
        }
        NnueEvaluation {
            bucket,
            psqt: psqt[0].wrapping_sub(psqt[1]) / 2,
            positional: self.stacks[bucket].propagate(&inputs),
        }
    }
}

impl Stack {
    fn propagate(&self, inputs: &[u8]) -> i32 {
        let mut values = inputs.to_vec();
        for layer in &self.hidden {
            let sums = layer.sums(&values);
            values = sums.map(|sum| activation(sum >> WEIGHT_BITS)).collect();
        }
        self.output.sums(&values).sum()
    }
}

impl Dense {
    fn sums(&self, inputs: &[u8]) -> impl Iterator<Item = i32> {
        let rows = self.weights.chunks_exact(inputs.len());
        self.biases.iter().zip(rows).map(move |(&bias, row)| {
            let products = row.iter().zip(inputs);
            products.fold(bias, |sum, (&weight, &input)| {
                sum.wrapping_add(i32::from(weight) * i32::from(input))
            })
        })
    }
}

fn activation(sum: i32) -> u8 {
    sum.clamp(0, ACTIVATION_ONE) as u8
}
