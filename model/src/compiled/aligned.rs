//! Floats that start on a cache line.

use std::ops::{Deref, DerefMut};

/// A fixed number of floats whose first lies on a 64-byte boundary, so that no vector load of a
/// full cache line is split in two.
pub struct AlignedFloats {
    storage: Vec<f32>,
    start: usize,
    len: usize,
}

const LINE_BYTES: usize = 64;
const LINE_FLOATS: usize = LINE_BYTES / size_of::<f32>();

impl AlignedFloats {
    /// `len` zeros.
    pub fn zeros(len: usize) -> AlignedFloats {
        let storage = vec![0.0; len + LINE_FLOATS];
        // `align_offset` may decline; then the floats are merely slower.
        let start = match storage.as_ptr().align_offset(LINE_BYTES) {
            offset if offset <= LINE_FLOATS => offset,
            _ => 0,
        };
        AlignedFloats {
            storage,
            start,
            len,
        }
    }
}

impl Deref for AlignedFloats {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.storage[self.start..][..self.len]
    }
}

impl DerefMut for AlignedFloats {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.storage[self.start..][..self.len]
    }
}
