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
    /// The first GPU if the binary was built for GPUs, the CPU otherwise.
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

    /// Whether the choice comes down to the CPU in this binary.
    pub fn is_cpu(self) -> bool {
        match self {
            DeviceChoice::Auto => !Self::GPU_BUILT_IN,
            DeviceChoice::Cpu => true,
            DeviceChoice::Gpu(_) => false,
        }
    }

    /// The device for inference; `.autodiff()` on the result gives the one for training.
    ///
    /// # Errors
    /// [`ModelError::Device`] if a GPU is asked for and the binary has no GPU backend.
    pub fn device(self) -> Result<Device, ModelError> {
        match self {
            _ if self.is_cpu() => Ok(Device::flex()),
            DeviceChoice::Gpu(index) => gpu(index),
            DeviceChoice::Auto | DeviceChoice::Cpu => gpu(0),
        }
    }
}

#[cfg(feature = "cuda")]
fn gpu(index: usize) -> Result<Device, ModelError> {
    Ok(Device::cuda(index))
}

#[cfg(all(feature = "wgpu", not(feature = "cuda")))]
fn gpu(index: usize) -> Result<Device, ModelError> {
    use burn::tensor::DeviceKind;
    // The default adapter includes software Vulkan, which the numbered kinds leave out.
    let kind = match index {
        0 => DeviceKind::DefaultDevice,
        _ => DeviceKind::DiscreteGpu(index),
    };
    Ok(Device::webgpu(kind))
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn gpu(index: usize) -> Result<Device, ModelError> {
    Err(ModelError::Device {
        device: DeviceChoice::Gpu(index).to_string(),
        reason: "this binary was built for the CPU alone; build it with `--features wgpu`, or \
                 set the device to `cpu`"
            .into(),
    })
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
    fn names_parse_back() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Gpu(3)] {
            assert_eq!(
                choice.to_string().parse::<DeviceChoice>().ok(),
                Some(choice)
            );
        }
        let error = "tpu".parse::<DeviceChoice>().expect_err("no such device");
        assert!(
            error.to_string().contains("`auto`, `cpu` or `gpu:0`"),
            "{error}"
        );
    }
}
