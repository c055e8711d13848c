//! Which processor runs the tensors.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::ModelError;

/// A device as the user names it: `auto`, `cpu` or `gpu:0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The first GPU if the binary was built for GPUs and one works, the CPU otherwise.
    #[default]
    Auto,
    /// The CPU, which every binary can use.
    Cpu,
    /// A GPU by number, counted from 0.
    Gpu(usize),
}

impl DeviceChoice {
    /// Whether this binary was built with a GPU backend (cargo feature `wgpu` or `cuda`).
    pub const GPU_BUILT_IN: bool = cfg!(any(feature = "wgpu", feature = "cuda"));

    /// The device for inference; `.autodiff()` on the result gives the one for training.
    ///
    /// # Errors
    /// [`ModelError::Device`] if a GPU is asked for by number and is not there, or the binary has
    /// no GPU backend.
    pub fn device(self) -> Result<Device, ModelError> {
        Ok(self.gpu()?.unwrap_or_else(Device::flex))
    }

    /// Whether the choice comes down to the CPU: self-play then uses a thread a core, each with an
    /// evaluator of its own.
    pub fn is_cpu(self) -> bool {
        matches!(self.gpu(), Ok(None))
    }

    /// The GPU that the choice comes down to, none if it is the CPU.
    pub(crate) fn gpu(self) -> Result<Option<Device>, ModelError> {
        match self {
            DeviceChoice::Cpu => Ok(None),
            DeviceChoice::Gpu(index) => open_gpu(index).map(Some),
            DeviceChoice::Auto if !Self::GPU_BUILT_IN => Ok(None),
            DeviceChoice::Auto => match open_gpu(0) {
                Ok(device) => Ok(Some(device)),
                Err(error) => {
                    tracing::warn!("{error}; using the CPU");
                    Ok(None)
                }
            },
        }
    }
}

#[cfg(feature = "cuda")]
fn open_gpu(index: usize) -> Result<Device, ModelError> {
    probe(index, move || Device::cuda(index))
}

#[cfg(all(feature = "wgpu", not(feature = "cuda")))]
fn open_gpu(index: usize) -> Result<Device, ModelError> {
    use burn::tensor::DeviceKind;
    probe(index, move || {
        // The default adapter may be software Vulkan, which the numbered kinds leave out. Burn's own
        // `webgpu` device is the browser's and does not exist here.
        Device::wgpu(match index {
            0 => DeviceKind::DefaultDevice,
            _ => DeviceKind::DiscreteGpu(index),
        })
    })
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn open_gpu(index: usize) -> Result<Device, ModelError> {
    Err(ModelError::Device {
        device: DeviceChoice::Gpu(index).to_string(),
        reason: "this binary was built for the CPU alone; build it with `--features wgpu`, or \
                 set the device to `cpu`"
            .into(),
    })
}

/// Opens a device and computes a sum on it. Backends panic where there is no such device, which
/// becomes an error here.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn probe(
    index: usize,
    open: impl FnOnce() -> Device + std::panic::UnwindSafe,
) -> Result<Device, ModelError> {
    use burn::tensor::Tensor;
    let opened = std::panic::catch_unwind(|| {
        let device = open();
        let sum: f32 = Tensor::<1>::ones([4], &device).sum().into_scalar();
        (device, sum)
    });
    match opened {
        Ok((device, 4.0)) => Ok(device),
        Ok(_) | Err(_) => Err(ModelError::Device {
            device: DeviceChoice::Gpu(index).to_string(),
            reason: "there is no such GPU, or its driver does not work; check it with \
                     `vulkaninfo` or `nvidia-smi`, or set the device to `cpu`"
                .into(),
        }),
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Gpu(index) => write!(f, "gpu:{index}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<DeviceChoice, ModelError> {
        let gpu = |index: &str| index.parse().ok().map(DeviceChoice::Gpu);
        match text {
            "auto" => Some(DeviceChoice::Auto),
            "cpu" => Some(DeviceChoice::Cpu),
            "gpu" => Some(DeviceChoice::Gpu(0)),
            _ => text.strip_prefix("gpu:").and_then(gpu),
        }
        .ok_or_else(|| ModelError::Device {
            device: format!("`{text}`"),
            reason: "not a device; write `auto`, `cpu` or `gpu:0`".into(),
        })
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = ModelError;

    fn try_from(text: String) -> Result<DeviceChoice, ModelError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> String {
        choice.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_the_binary_cannot_use_is_an_error_that_says_what_to_do() {
        if !DeviceChoice::GPU_BUILT_IN {
            let error = DeviceChoice::Gpu(0).device().expect_err("no GPU backend");
            assert!(error.to_string().contains("--features wgpu"), "{error}");
        }
    }

    #[test]
    fn names_parse_back() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Gpu(3)] {
            assert_eq!(
                choice.to_string().parse::<DeviceChoice>().ok(),
                Some(choice)
            );
        }
        let error = "gpu:x".parse::<DeviceChoice>().expect_err("no number");
        assert!(error.to_string().contains("`gpu:x`"), "{error}");
        let error = "tpu".parse::<DeviceChoice>().expect_err("no such device");
        assert!(
            error.to_string().contains("`auto`, `cpu` or `gpu:0`"),
            "{error}"
        );
    }
}
