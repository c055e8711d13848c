//! Which kernels evaluate positions, and with which numbers.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::compiled::{Precision, SimdLevel};
use crate::{DeviceChoice, ModelError};

/// How nets are evaluated, as the user names it: `auto`, `int8`, `bf16`, `f32` or `burn`.
///
/// Games depend on it, if only a little: the same seed, net and configuration give the same games
/// with the same kind of inference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Inference {
    /// On a CPU the fastest kernels that it has instructions for: `int8`, then `f32`. On a GPU
    /// `burn`.
    #[default]
    Auto,
    /// Kernels of our own for CPUs, with numbers of 8 bits in the convolutions.
    Int8,
    /// Kernels of our own for CPUs with AVX-512 BF16, with bfloat16 in the convolutions.
    Bf16,
    /// Kernels of our own for CPUs, in single precision.
    F32,
    /// burn's operations, on any device.
    Burn,
}

/// All names with what they stand for.
const NAMES: [(&str, Inference); 5] = [
    ("auto", Inference::Auto),
    ("int8", Inference::Int8),
    ("bf16", Inference::Bf16),
    ("f32", Inference::F32),
    ("burn", Inference::Burn),
];

/// What a choice of inference and device comes down to. Its `Display` says what and why.
#[derive(Clone, Debug)]
pub struct InferenceChoice {
    pub(crate) backend: Backend,
    reason: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Compiled(SimdLevel, Precision),
    BurnCpu,
    BurnGpu(Device),
}

impl Inference {
    /// What this comes down to on `device`. Kernels for CPUs that are asked for by name leave a GPU
    /// that is not asked for by number alone.
    ///
    /// # Errors
    /// [`ModelError::Device`] if the device is not there or cannot do what is asked of it.
    pub fn choose(self, device: DeviceChoice) -> Result<InferenceChoice, ModelError> {
        let named = match self {
            Inference::Auto | Inference::Burn => None,
            Inference::Int8 => Some(Precision::Int8),
            Inference::Bf16 => Some(Precision::Bf16),
            Inference::F32 => Some(Precision::F32),
        };
        let refuse = |reason: &str| ModelError::Device {
            device: format!("{device} with inference `{self}`"),
            reason: reason.to_owned(),
        };
        let level = SimdLevel::best();
        let (backend, reason) = match (named, device) {
            (Some(_), DeviceChoice::Gpu(_)) => {
                return Err(refuse(
                    "these kernels are for CPUs; set inference to `auto` or `burn`, or the device to `cpu`",
                ));
            }
            (Some(precision), DeviceChoice::Auto | DeviceChoice::Cpu) => {
                if !Precision::available(level).contains(&precision) {
                    return Err(refuse(
                        "this CPU does not multiply bfloat16 (AVX-512 BF16); set inference to `auto`, `int8` or `f32`",
                    ));
                }
                (Backend::Compiled(level, precision), "asked for")
            }
            (None, _) => match (device.gpu()?, self) {
                (Some(gpu), Inference::Burn) => (Backend::BurnGpu(gpu), "asked for"),
                (Some(gpu), _) => (Backend::BurnGpu(gpu), "the choice of `auto` for GPUs"),
                (None, Inference::Burn) => (Backend::BurnCpu, "asked for"),
                (None, _) => (
                    Backend::Compiled(level, fastest(level)),
                    "the choice of `auto`, fastest of this CPU",
                ),
            },
        };
        Ok(InferenceChoice { backend, reason })
    }
}

/// The precision that is fastest at `level`.
fn fastest(level: SimdLevel) -> Precision {
    let fast = |precision: &Precision| precision.is_fast(level);
    let precisions = Precision::available(level);
    precisions.into_iter().rfind(fast).unwrap_or(Precision::F32)
}

impl InferenceChoice {
    /// Level and precision of the kernels of our own, if it is these.
    pub fn kernels(&self) -> Option<(SimdLevel, Precision)> {
        match self.backend {
            Backend::Compiled(level, precision) => Some((level, precision)),
            Backend::BurnCpu | Backend::BurnGpu(_) => None,
        }
    }

    /// Whether positions are evaluated on the CPU: self-play and matches then use a thread a core,
    /// each with an evaluator of its own.
    pub fn on_cpu(&self) -> bool {
        !matches!(self.backend, Backend::BurnGpu(_))
    }
}

impl fmt::Display for InferenceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.backend {
            Backend::Compiled(level, precision) => {
                write!(f, "{precision}, {}", precision.instructions(*level))?;
            }
            Backend::BurnCpu => f.write_str("burn on the CPU")?,
            Backend::BurnGpu(_) => f.write_str("burn on the GPU")?,
        }
        write!(f, " ({})", self.reason)
    }
}

impl fmt::Display for Inference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, inference)| inference == self);
        f.write_str(name.expect("every kind has a name").0)
    }
}

impl FromStr for Inference {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Inference, ModelError> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found
            .map(|&(_, inference)| inference)
            .ok_or_else(|| ModelError::Inference(text.to_owned()))
    }
}

impl TryFrom<String> for Inference {
    type Error = ModelError;

    fn try_from(text: String) -> Result<Inference, ModelError> {
        text.parse()
    }
}

impl From<Inference> for String {
    fn from(inference: Inference) -> String {
        inference.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_others_are_refused_with_the_names() {
        for (name, inference) in NAMES {
            assert_eq!(name.parse::<Inference>().ok(), Some(inference));
            assert_eq!(inference.to_string(), name);
        }
        let error = "int4".parse::<Inference>().expect_err("no such kind");
        assert!(error.to_string().contains("`bf16`"), "{error}");
    }

    #[test]
    fn what_is_chosen_can_be_run_or_is_refused_with_the_remedy() {
        for (_, inference) in NAMES {
            match inference.choose(DeviceChoice::Cpu) {
                Ok(choice) => assert!(choice.on_cpu(), "{choice}"),
                Err(error) => {
                    assert_eq!(inference, Inference::Bf16);
                    assert!(error.to_string().contains("`int8`"), "{error}");
                }
            }
        }
        let error = Inference::Int8
            .choose(DeviceChoice::Gpu(0))
            .expect_err("a GPU");
        assert!(error.to_string().contains("`burn`"), "{error}");
    }
}
