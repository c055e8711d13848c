//! Memory that training steps hand on to the next.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use super::word::Word;
use crate::compiled::aligned::Aligned;

/// A net's spare buffers. All activations of a net have the same layout, whose borders are zero
/// and stay so, so a buffer can serve again without being cleared; fresh memory would have to be
/// mapped and cleared by the operating system, which costs as much as a convolution.
#[derive(Clone, Default)]
pub struct Buffers(Arc<Mutex<Spares>>);

/// Buffers that nobody uses.
#[derive(Default)]
pub struct Spares {
    pub floats: Vec<Aligned<f32>>,
    pub pairs: Vec<Aligned<u32>>,
}

impl std::fmt::Debug for Buffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Buffers")
    }
}

impl Buffers {
    /// Activations of `len` words with zero borders and anything within.
    pub fn take<W: Word>(&self, len: usize) -> Buffer<W> {
        let mut spares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spares = W::spares(&mut spares);
        // Spares of another length are of another batch size, which does not come back soon.
        spares.retain(|words| words.len() == len);
        let words = spares.pop().unwrap_or_else(|| Aligned::zeros(len));
        Buffer {
            words: Some(words),
            home: self.clone(),
        }
    }
}

/// Activations that go back to their net's spares when dropped.
pub struct Buffer<W: Word> {
    words: Option<Aligned<W>>,
    home: Buffers,
}

impl<W: Word> Deref for Buffer<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        self.words.as_ref().expect("a buffer before its drop")
    }
}

impl<W: Word> DerefMut for Buffer<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        self.words.as_mut().expect("a buffer before its drop")
    }
}

impl<W: Word> Drop for Buffer<W> {
    fn drop(&mut self) {
        let spares = &self.home.0;
        let mut spares = spares.lock().unwrap_or_else(PoisonError::into_inner);
        W::spares(&mut spares).extend(self.words.take());
    }
}
