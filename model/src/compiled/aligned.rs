//! Numbers that start on a cache line.

use std::ops::{Deref, DerefMut};

/// A fixed number of plain numbers whose first lies on a 64-byte boundary, so that no vector load
/// of a full cache line is split in two.
pub struct Aligned<T> {
    storage: Vec<T>,
    start: usize,
    len: usize,
}

/// Floats that start on a cache line.
pub type AlignedFloats = Aligned<f32>;

/// 32-bit words, of which each packs a few narrow numbers.
pub type AlignedWords = Aligned<u32>;

const LINE_BYTES: usize = 64;

impl<T: Copy + Default> Aligned<T> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Aligned<T> {
        let line = LINE_BYTES / size_of::<T>();
        let storage = vec![T::default(); len + line];
        // `align_offset` may decline; then the numbers are merely slower.
        let start = match storage.as_ptr().align_offset(LINE_BYTES) {
            offset if offset <= line => offset,
            _ => 0,
        };
        Aligned {
            storage,
            start,
            len,
        }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.storage[self.start..][..self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.storage[self.start..][..self.len]
    }
}
