//! Memory that training steps hand on to the next.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use crate::compiled::aligned::AlignedFloats;

/// A net's spare buffers. All activations of a net have the same layout, whose borders are zero
/// and stay so, so a buffer can serve again without being cleared; fresh memory would have to be
/// mapped and cleared by the operating system, which costs as much as a convolution.
#[derive(Clone, Default)]
pub struct Buffers(Arc<Mutex<Vec<AlignedFloats>>>);

impl std::fmt::Debug for Buffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Buffers")
    }
}

impl Buffers {
    /// Activations of `len` floats with zero borders and anything within.
    pub fn take(&self, len: usize) -> Buffer {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Spares of another length are of another batch size, which does not come back soon.
        spare.retain(|floats| floats.len() == len);
        let floats = spare.pop().unwrap_or_else(|| AlignedFloats::zeros(len));
        Buffer {
            floats: Some(floats),
            home: self.clone(),
        }
    }
}

/// Activations that go back to their net's spares when dropped.
pub struct Buffer {
    floats: Option<AlignedFloats>,
    home: Buffers,
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.floats.as_ref().expect("a buffer before its drop")
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.floats.as_mut().expect("a buffer before its drop")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let spare = &self.home.0;
        let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(self.floats.take());
    }
}
