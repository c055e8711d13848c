//! What the kernels are written in: vectors of one instruction set, and the numbers that they
//! multiply.
//!
//! What is made of them is inlined into one function that is compiled for their instructions (see
//! `x86.rs`). Whatever handles vectors must therefore be inlined always, and loops run over indices:
//! a closure or a method of an iterator may stay a function of its own, without the instructions,
//! and that is ten times as slow.

use super::super::conv::BLOCK;

/// A vector of floats, or of what else is computed with.
///
/// # Safety
/// All functions need a CPU with the instructions of the implementation.
pub trait Vector: Copy {
    /// Numbers in a vector.
    const LANES: usize;

    unsafe fn zero() -> Self;

    /// # Safety
    /// There is a vector's memory, with one.
    unsafe fn load(from: *const f32) -> Self;

    /// # Safety
    /// There is a vector's memory.
    unsafe fn store(self, to: *mut f32);

    unsafe fn add(self, other: Self) -> Self;

    unsafe fn sub(self, other: Self) -> Self;
}

/// A vector whose sums are the results.
///
/// # Safety
/// As for [`Vector`].
pub trait FloatVector: Vector {
    /// Zeros for what is negative.
    unsafe fn relu(self) -> Self;
}

/// How activations lie in memory, for vectors of channels.
///
/// # Safety
/// All functions need a CPU with the instructions of the vector.
pub trait Layout<V: Vector> {
    type Word;
    /// Words of a cell in a block of channels.
    const WORDS: usize;

    /// The channels from `channel` of a block on.
    ///
    /// # Safety
    /// `cell` is a cell of a block, which has that many more channels.
    unsafe fn load(cell: *const Self::Word, channel: usize) -> V;
}

/// Floats side by side.
pub struct Floats;

impl<V: Vector> Layout<V> for Floats {
    type Word = f32;
    const WORDS: usize = BLOCK;

    #[inline(always)]
    unsafe fn load(cell: *const f32, channel: usize) -> V {
        // SAFETY: the caller's promises.
        unsafe { V::load(cell.add(channel)) }
    }
}

/// Where the sums of a convolution go.
///
/// # Safety
/// All functions need a CPU with the instructions of the vector.
pub trait Destination {
    type Sums: Vector;

    /// Takes the sums of the outputs from `channel` on in a cell of the board, where the border
    /// counts as cells too.
    ///
    /// # Safety
    /// There are such a cell and channels.
    unsafe fn put(&mut self, channel: usize, cell: usize, sums: Self::Sums);
}

/// Vectors of sums in a strip of output channels: with two, an input that has been broadcast is
/// used twice.
pub const VECTORS: usize = 2;

/// What is multiplied, in words of 32 bits: a float, or a pair of narrow numbers.
///
/// # Safety
/// All functions need a CPU with the instructions of the implementation.
pub trait Numbers {
    /// Vectors in which inputs are transformed. No longer than a block of channels.
    type Inputs: Vector;
    /// Vectors in which products are summed.
    type Sums: Vector;
    /// A word for each of these sums.
    type Words: Copy;
    /// Input channels in a word.
    const INPUTS_PER_WORD: usize;
    /// Tiles whose sums fit into the registers together with weights and an input.
    const TILES: usize;

    /// Rounds inputs, if need be, and packs them.
    ///
    /// # Safety
    /// There is room for the words.
    unsafe fn store_inputs(inputs: Self::Inputs, to: *mut u32);

    /// # Safety
    /// There are as many words.
    unsafe fn load(from: *const u32) -> Self::Words;

    /// The same word everywhere.
    unsafe fn splat(word: u32) -> Self::Words;

    /// sums + inputs · weights
    unsafe fn multiply_add(
        sums: Self::Sums,
        inputs: Self::Words,
        weights: Self::Words,
    ) -> Self::Sums;

    /// Asks for the cache line of `_address`, which need not exist.
    #[inline(always)]
    unsafe fn prefetch(_address: *const u32) {}
}

/// Floats in plain Rust.
pub struct Portable;

/// Numbers in a vector of plain Rust.
pub const LANES: usize = 8;

/// Implements a vector by an array of numbers, which is kept in memory for floats.
macro_rules! array_vector {
    ($number:ty, |$a:ident, $b:ident| $add:expr, $sub:expr) => {
        // SAFETY, of all functions: the caller's promises.
        impl Vector for [$number; LANES] {
            const LANES: usize = LANES;

            #[inline(always)]
            unsafe fn zero() -> Self {
                [<$number>::default(); LANES]
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                unsafe { from.cast::<Self>().read() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                unsafe { to.cast::<Self>().write(self) }
            }

            #[inline(always)]
            unsafe fn add(mut self, other: Self) -> Self {
                for i in 0..LANES {
                    let ($a, $b) = (self[i], other[i]);
                    self[i] = $add;
                }
                self
            }

            #[inline(always)]
            unsafe fn sub(mut self, other: Self) -> Self {
                for i in 0..LANES {
                    let ($a, $b) = (self[i], other[i]);
                    self[i] = $sub;
                }
                self
            }
        }
    };
}
pub(super) use array_vector;

array_vector!(f32, |a, b| a + b, a - b);

impl FloatVector for [f32; LANES] {
    #[inline(always)]
    unsafe fn relu(mut self) -> Self {
        for value in &mut self {
            *value = value.max(0.0);
        }
        self
    }
}

impl Numbers for Portable {
    type Inputs = [f32; LANES];
    type Sums = [f32; LANES];
    type Words = [f32; LANES];
    const INPUTS_PER_WORD: usize = 1;
    const TILES: usize = 2;

    #[inline(always)]
    unsafe fn store_inputs(inputs: Self::Inputs, to: *mut u32) {
        // SAFETY: the caller's promise; a float is a word.
        unsafe { inputs.store(to.cast()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self::Words {
        // SAFETY: the caller's promise; every word is a float.
        unsafe { Vector::load(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self::Words {
        [f32::from_bits(word); LANES]
    }

    #[inline(always)]
    unsafe fn multiply_add(
        mut sums: Self::Sums,
        inputs: Self::Words,
        weights: Self::Words,
    ) -> Self::Sums {
        for i in 0..LANES {
            sums[i] += inputs[i] * weights[i];
        }
        sums
    }
}
