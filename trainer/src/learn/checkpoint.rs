//! All that a learner needs to go on as if never stopped, in one file.
//!
//! The file is safetensors: under each parameter's name, prefixed by `weights/`, `average/`, `mean/` and
//! `mean_square/`, the trained weights, the averaged weights and the optimizer's running means; in the metadata, as
//! JSON, the counters and the state of the random numbers, and a checksum of all of it.

use crate::learn::params::Slot;
use model::Fnv1a;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use thiserror::Error;

/// Version of the file's layout.
const VERSION: u32 = 1;
const METADATA_KEY: &str = "falconzero.checkpoint";

/// The state of a learner, its vectors in flat order.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Trained weights and running statistics.
    pub weights: Vec<f32>,
    /// Averaged weights and running statistics.
    pub average: Vec<f32>,
    /// The optimizer's running mean of gradients.
    pub mean: Vec<f32>,
    /// The optimizer's running mean of squared gradients.
    pub mean_square: Vec<f32>,
    /// Counters and random numbers.
    pub counters: Counters,
}

/// What a learner counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Layout of the file.
    pub version: u32,
    /// Training steps.
    pub steps: u64,
    /// Steps that the optimizer took; fewer if gradients were not finite.
    pub optimizer_steps: u64,
    /// Samples used, each as often as it was used.
    pub samples_used: u64,
    /// Nets published, the untrained one included.
    pub nets_published: u64,
    /// Seconds that the run has run.
    pub seconds: f64,
    /// The generator that draws the batches.
    pub rng: rand_chacha::ChaCha8Rng,
}

/// What the metadata hold.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    counters: Counters,
    checksum: String,
}

/// Why bytes are not a checkpoint to resume from.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The file is damaged or something else.
    #[error("the checkpoint '{origin}' cannot be read: {reason}")]
    Unreadable {
        /// Where the bytes came from.
        origin: String,
        /// What is wrong.
        reason: String,
    },
    /// It is of another net.
    #[error(
        "the checkpoint '{origin}' does not fit the net: {reason}; resume with the config that the run was started with"
    )]
    Mismatch {
        /// Where the bytes came from.
        origin: String,
        /// What is wrong.
        reason: String,
    },
}

/// A state of learning that nobody could go on with.
#[derive(Debug, Error)]
#[error("its {part} has numbers that are not finite")]
pub struct NotFinite {
    part: &'static str,
}

impl Counters {
    /// The counters of a learner that has not begun, drawing batches from `seed`.
    pub fn new(seed: u64) -> Counters {
        use rand::SeedableRng;
        Counters {
            version: VERSION,
            steps: 0,
            optimizer_steps: 0,
            samples_used: 0,
            nets_published: 0,
            seconds: 0.0,
            rng: rand_chacha::ChaCha8Rng::seed_from_u64(seed),
        }
    }
}

impl Checkpoint {
    /// Writes the file.
    ///
    /// # Errors
    /// [`NotFinite`], since [`from_bytes`](Checkpoint::from_bytes) would not read it.
    pub fn to_bytes(&self, slots: &[Slot]) -> Result<Vec<u8>, NotFinite> {
        self.check_finite()?;
        let mut bytes: Vec<(String, Vec<u8>, &Slot)> = Vec::new();
        for (prefix, vector) in self.vectors() {
            for slot in slots {
                let data = vector[slot.range.clone()]
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect();
                bytes.push((format!("{prefix}/{}", slot.name), data, slot));
            }
        }
        let views = bytes.iter().map(|(name, data, slot)| {
            let view = TensorView::new(Dtype::F32, slot.shape.clone(), data);
            (
                name.clone(),
                view.expect("a slot's range has the length of its shape"),
            )
        });
        let tensors = bytes
            .iter()
            .map(|(name, data, _)| (name.as_str(), &data[..]));
        let header = Header {
            checksum: checksum(&self.counters, tensors.collect()),
            counters: self.counters.clone(),
        };
        // One entry only: several would be written in any order.
        let metadata = HashMap::from([(METADATA_KEY.to_owned(), text(&header))]);
        Ok(safetensors::serialize(views, Some(metadata)).expect("the tensors are well formed"))
    }

    fn check_finite(&self) -> Result<(), NotFinite> {
        let vectors = self.vectors();
        let wrong = vectors
            .iter()
            .find(|(_, vector)| !vector.iter().all(|x| x.is_finite()));
        wrong.map_or(Ok(()), |&(part, _)| Err(NotFinite { part }))
    }

    /// Reads the file, which `origin` names in errors.
    ///
    /// # Errors
    /// If the file is damaged, of another version, or of another net than `slots`.
    pub fn from_bytes(
        bytes: &[u8],
        slots: &[Slot],
        origin: &str,
    ) -> Result<Checkpoint, CheckpointError> {
        let unreadable = |reason: String| CheckpointError::Unreadable {
            origin: origin.to_owned(),
            reason,
        };
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| unreadable(error.to_string()))?;
        let entries = metadata.metadata().as_ref();
        let text = entries
            .and_then(|entries| entries.get(METADATA_KEY))
            .ok_or_else(|| unreadable("it is not a checkpoint of falconzero".to_owned()))?;
        let (counters, expected) = match serde_json::from_str::<Header>(text) {
            Ok(header) => (header.counters, Some(header.checksum)),
            // The first versions wrote the counters alone.
            Err(_) => {
                let counters: Result<Counters, _> = serde_json::from_str(text);
                let counters = counters.map_err(|error| unreadable(error.to_string()))?;
                (counters, None)
            }
        };
        if counters.version != VERSION {
            return Err(unreadable(format!(
                "it has version {}, this program reads {VERSION}",
                counters.version
            )));
        }
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| unreadable(error.to_string()))?;
        let found = || {
            let tensors = tensors.iter().map(|(name, view)| (name, view.data()));
            checksum(&counters, tensors.collect())
        };
        if expected.is_some_and(|expected| expected != found()) {
            return Err(unreadable(
                "it is damaged: its checksum is another".to_owned(),
            ));
        }
        let vector = |prefix: &str| {
            read_vector(&tensors, prefix, slots).map_err(|reason| CheckpointError::Mismatch {
                origin: origin.to_owned(),
                reason,
            })
        };
        let checkpoint = Checkpoint {
            weights: vector("weights")?,
            average: vector("average")?,
            mean: vector("mean")?,
            mean_square: vector("mean_square")?,
            counters,
        };
        let finite = checkpoint.check_finite();
        finite.map_err(|error| unreadable(error.to_string()))?;
        Ok(checkpoint)
    }

    fn vectors(&self) -> [(&'static str, &[f32]); 4] {
        [
            ("weights", &self.weights),
            ("average", &self.average),
            ("mean", &self.mean),
            ("mean_square", &self.mean_square),
        ]
    }
}

/// Of the counters, and of the tensors' names and bytes in the order of their names.
fn checksum(counters: &Counters, mut tensors: Vec<(&str, &[u8])>) -> String {
    let mut hash = Fnv1a::new();
    let mut add = |bytes: &[u8]| bytes.iter().for_each(|&byte| hash.add(byte.into()));
    add(text(counters).as_bytes());
    tensors.sort_unstable();
    for (name, data) in tensors {
        add(name.as_bytes());
        add(data);
    }
    format!("{:016x}", hash.value())
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("counters are plain data")
}

fn read_vector(tensors: &SafeTensors, prefix: &str, slots: &[Slot]) -> Result<Vec<f32>, String> {
    let mut vector = Vec::new();
    for slot in slots {
        let name = format!("{prefix}/{}", slot.name);
        let tensor = tensors
            .tensor(&name)
            .map_err(|_| format!("it lacks '{name}'"))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != slot.shape {
            return Err(format!(
                "'{name}' has shape {:?}, the net {:?}",
                tensor.shape(),
                slot.shape
            ));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        vector.extend(numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)));
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> Vec<Slot> {
        let slot = |name: &str, range: std::ops::Range<usize>| Slot {
            name: name.into(),
            shape: vec![range.len()],
            range,
            trained: true,
        };
        vec![slot("a.weight", 0..2), slot("a.bias", 2..3)]
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            weights: vec![1.0, f32::MIN_POSITIVE, -0.0],
            average: vec![4.0, 5.0, 6.0],
            mean: vec![7.0, 8.0, 9.0],
            mean_square: vec![0.1, 0.2, 0.3],
            counters: Counters {
                steps: 7,
                seconds: 0.1 + 0.2,
                ..Counters::new(3)
            },
        }
    }

    /// Nothing changes on the way through the file, to the last bit.
    #[test]
    fn round_trips() {
        let checkpoint = checkpoint();
        let read =
            Checkpoint::from_bytes(&checkpoint.to_bytes(&slots()).unwrap(), &slots(), "test")
                .unwrap();
        assert_eq!(read, checkpoint);
    }

    /// A bit that has flipped on the way is found, wherever it is, and so is what nobody could go on with.
    #[test]
    fn damage_is_found() {
        let bytes = checkpoint().to_bytes(&slots()).unwrap();
        for place in 8..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let read = Checkpoint::from_bytes(&damaged, &slots(), "test");
            let is_found = matches!(read, Err(CheckpointError::Unreadable { .. }));
            // The last digit of a number may be beyond its precision.
            let is_whole = read.as_ref().is_ok_and(|read| *read == checkpoint());
            assert!(is_found || is_whole, "byte {place}: {read:?}");
        }
        let mut wrong = checkpoint();
        wrong.mean_square[1] = f32::INFINITY;
        let error = wrong.to_bytes(&slots()).unwrap_err().to_string();
        assert!(error.contains("mean_square"), "{error}");
    }

    /// Every way to be wrong is an error that names the file.
    #[test]
    fn bad_files_are_named() {
        let bytes = checkpoint().to_bytes(&slots()).unwrap();
        let mut other = slots();
        other[0].shape = vec![1, 2];
        for (bytes, slots, expected) in [
            (&bytes[..bytes.len() - 1], slots(), "cannot be read"),
            (&b"nonsense"[..], slots(), "cannot be read"),
            (&bytes[..], other, "a.weight"),
        ] {
            let message = Checkpoint::from_bytes(bytes, &slots, "my-file")
                .unwrap_err()
                .to_string();
            assert!(
                message.contains("my-file") && message.contains(expected),
                "{message}"
            );
        }
    }
}
