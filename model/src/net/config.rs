//! Sizes of nets.

use rules::Variant;
use serde::{Deserialize, Serialize};

use crate::{Encoding, ModelError, PolicyLayout};

/// How large a net is. Sizes that a file does not name are those of the preset `small`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetConfig {
    /// Channels of the residual tower: a multiple of 16 in 16..=512; multiples of 32 use the CPU
    /// kernels fully.
    pub channels: usize,
    /// Residual blocks, 1..=64. Every second one, from the second on, sees the whole board through
    /// global pooling.
    pub blocks: usize,
    /// Length of the query and key vectors of the policy: a multiple of 8 in 8..=128.
    pub policy_dim: usize,
    /// Channels of the value head: a multiple of 8 in 8..=128.
    pub value_channels: usize,
    /// Width of the value head's hidden layer, 8..=512.
    pub value_hidden: usize,
}

impl Default for NetConfig {
    fn default() -> NetConfig {
        NetConfig {
            channels: 32,
            blocks: 4,
            policy_dim: 32,
            value_channels: 32,
            value_hidden: 64,
        }
    }
}

impl NetConfig {
    /// Names of the presets, smallest first.
    pub const PRESETS: [&str; 4] = ["tiny", "small", "medium", "large"];

    /// A tower of this size with the usual heads.
    pub fn new(channels: usize, blocks: usize) -> NetConfig {
        NetConfig {
            channels,
            blocks,
            ..NetConfig::default()
        }
    }

    /// A preset: `tiny` 2×16 for tests, `small` 4×32 for laptops, `medium` 6×64, `large` 10×128
    /// for GPUs.
    ///
    /// # Errors
    /// [`ModelError::Config`] for any other name.
    pub fn preset(name: &str) -> Result<NetConfig, ModelError> {
        match name {
            "tiny" => Ok(NetConfig {
                policy_dim: 16,
                value_channels: 16,
                value_hidden: 32,
                ..NetConfig::new(16, 2)
            }),
            "small" => Ok(NetConfig::default()),
            "medium" => Ok(NetConfig::new(64, 6)),
            "large" => Ok(NetConfig::new(128, 10)),
            _ => Err(ModelError::Config(format!(
                "there is no size `{name}`; take one of {}",
                NetConfig::PRESETS.join(", ")
            ))),
        }
    }

    /// Checks every field's range.
    ///
    /// # Errors
    /// [`ModelError::Config`] naming the field and its range.
    pub fn validate(&self) -> Result<(), ModelError> {
        let checks = [
            ("channels", self.channels, 16, 16, 512),
            ("blocks", self.blocks, 1, 1, 64),
            ("policy_dim", self.policy_dim, 8, 8, 128),
            ("value_channels", self.value_channels, 8, 8, 128),
            ("value_hidden", self.value_hidden, 1, 8, 512),
        ];
        for (field, value, step, low, high) in checks {
            if value < low || value > high || value % step != 0 {
                return Err(ModelError::Config(format!(
                    "{field} = {value} is not a multiple of {step} in {low}..={high}"
                )));
            }
        }
        Ok(())
    }

    /// Whether block `block` (from 0) has global pooling.
    pub fn pools(&self, block: usize) -> bool {
        block % 2 == 1
    }
}

/// What a net must fit of its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetShape {
    /// Input planes.
    pub planes: usize,
    /// Files of the board's bounding rectangle.
    pub files: usize,
    /// Ranks of the board's bounding rectangle.
    pub ranks: usize,
    /// Squares that exist within it.
    pub squares: usize,
    /// Policy rows beyond the squares: roles that are entered from the hand.
    pub hand_rows: usize,
    /// Kinds of moves.
    pub kinds: usize,
}

impl NetShape {
    /// The shape for `variant`.
    pub fn new(variant: &Variant) -> NetShape {
        let layout = PolicyLayout::new(variant);
        NetShape {
            planes: Encoding::new(variant).planes(),
            files: usize::from(variant.files()),
            ranks: usize::from(variant.ranks()),
            squares: variant.board().count() as usize,
            hand_rows: layout.hand_rows(),
            kinds: layout.kinds(),
        }
    }

    /// Cells of the bounding rectangle, on which the tower works.
    pub fn cells(&self) -> usize {
        self.files * self.ranks
    }

    /// Whether cells of the rectangle are missing from the board.
    pub fn has_holes(&self) -> bool {
        self.squares < self.cells()
    }

    /// Rows of the policy's query matrix: a cell or a role to be entered.
    pub fn query_rows(&self) -> usize {
        self.cells() + self.hand_rows
    }
}
