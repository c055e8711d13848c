//! Net files: safetensors, with what the net is in the header.
//!
//! The header's `__metadata__` has one entry, `falconzero`, a JSON object with the format version,
//! a [`NetMeta`] and a checksum of the weights. Tensors are 32-bit floats under the names of [`Weights`]. The same net and
//! metadata give the same bytes.

use std::collections::HashMap;

use burn::tensor::Device;
use rules::Variant;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::carry_over::{self, carry_over};
use crate::net::{Net, NetConfig, NetShape};
use crate::{Encoding, Fnv1a, ModelError, NamedTensor, Weights};

/// Version of the file format.
pub const NET_FORMAT: u32 = 1;

const METADATA_KEY: &str = "falconzero";

/// What a net is, beside its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetMeta {
    /// Name of the variant that the net plays.
    pub variant: String,
    /// The variant's rules as TOML.
    pub variant_toml: String,
    /// [`Encoding::VERSION`] when the net was made.
    pub encoding_version: u32,
    /// [`Encoding::hash`] of the variant when the net was made, in hexadecimal.
    pub encoding_hash: String,
    /// Size of the net.
    pub net: NetConfig,
    /// The net's name, unique within its run.
    pub net_id: String,
    /// Training steps behind it.
    pub step: u64,
}

impl NetMeta {
    /// The metadata of a net for `variant`.
    pub fn new(variant: &Variant, net: NetConfig, net_id: impl Into<String>, step: u64) -> NetMeta {
        NetMeta {
            variant: variant.name().to_owned(),
            variant_toml: variant.toml().to_owned(),
            encoding_version: Encoding::VERSION,
            encoding_hash: format!("{:016x}", Encoding::new(variant).hash()),
            net,
            net_id: net_id.into(),
            step,
        }
    }

    fn encoding(&self) -> String {
        format!("v{} {}", self.encoding_version, self.encoding_hash)
    }

    fn check(&self, origin: &str, variant: &Variant) -> Result<(), ModelError> {
        self.check_variant(origin, variant)?;
        self.check_encoding(origin, variant)?;
        if self.variant_toml != variant.toml() {
            tracing::warn!(
                net = origin,
                variant = self.variant,
                "the variant's TOML has changed since this net was made"
            );
        }
        Ok(())
    }

    fn check_variant(&self, origin: &str, variant: &Variant) -> Result<(), ModelError> {
        match self.variant == variant.name() {
            true => Ok(()),
            false => Err(ModelError::Variant {
                origin: origin.into(),
                found: self.variant.clone(),
                expected: variant.name().to_owned(),
            }),
        }
    }

    fn check_encoding(&self, origin: &str, variant: &Variant) -> Result<(), ModelError> {
        let wanted = NetMeta::new(variant, self.net, "", 0);
        match self.encoding() == wanted.encoding() {
            true => Ok(()),
            false => Err(ModelError::Encoding {
                origin: origin.into(),
                found: self.encoding(),
                expected: wanted.encoding(),
            }),
        }
    }
}

/// The metadata entry as it is stored: the version first, read before all else.
#[derive(Serialize)]
struct Header<'a> {
    format: u32,
    meta: &'a RawValue,
    checksum: String,
    meta_checksum: String,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredHeader<'a> {
    #[serde(rename = "format")]
    _format: u32,
    #[serde(borrow)]
    meta: &'a RawValue,
    /// Files made before there were checksums have none.
    #[serde(default)]
    checksum: Option<String>,
    /// Of the text of `meta`. Files made before the metadata had one have none.
    #[serde(default)]
    meta_checksum: Option<String>,
}

/// The bytes of a net file.
///
/// # Errors
/// [`ModelError::Weights`] if the weights cannot be put into a file.
pub fn save_net(net: &Net, meta: &NetMeta) -> Result<Vec<u8>, ModelError> {
    save_weights(&net.weights(), meta)
}

/// The bytes of a net file for weights that are not on a device, such as averaged ones.
///
/// # Errors
/// [`ModelError::Weights`] if the weights cannot be put into a file.
pub fn save_weights(weights: &Weights, meta: &NetMeta) -> Result<Vec<u8>, ModelError> {
    let failed = |reason: String| ModelError::Weights {
        origin: format!("net {}", meta.net_id),
        reason,
    };
    if let Some(name) = not_finite(weights) {
        return Err(failed(format!(
            "tensor {name} has numbers that are not finite"
        )));
    }
    let meta = serde_json::value::to_raw_value(meta).map_err(|error| failed(error.to_string()))?;
    let header = Header {
        format: NET_FORMAT,
        meta: &meta,
        checksum: checksum(weights),
        meta_checksum: meta_checksum(&meta),
    };
    let header = serde_json::to_string(&header).map_err(|error| failed(error.to_string()))?;
    let bytes: Vec<(&str, &[usize], Vec<u8>)> = weights
        .iter()
        .map(|(name, tensor)| {
            let bytes = tensor.data.iter().flat_map(|x| x.to_le_bytes()).collect();
            (name, tensor.shape.as_slice(), bytes)
        })
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((*name, TensorView::new(Dtype::F32, shape.to_vec(), bytes)?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(|error| failed(error.to_string()))?;
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), header)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| failed(error.to_string()))
}

/// Reads a net file, for inference on `device` or, if that has autodiff, for training.
///
/// `origin` is the name that errors give to the bytes: a file name or URL.
///
/// # Errors
/// As [`load_weights`], and [`ModelError::Weights`] if the weights do not fit the configuration.
pub fn load_net(
    bytes: &[u8],
    origin: &str,
    variant: &Variant,
    device: &Device,
) -> Result<(Net, NetMeta), ModelError> {
    let (weights, meta) = load_weights(bytes, origin, variant)?;
    let net = Net::from_weights(&weights, meta.net, NetShape::new(variant), device)
        .map_err(|error| error.at_origin(origin))?;
    Ok((net, meta))
}

/// Reads a net file without building the net.
///
/// # Errors
/// [`ModelError::Corrupt`] for anything but a whole safetensors file of ours,
/// [`ModelError::Format`], [`ModelError::Variant`] or [`ModelError::Encoding`] for a net that this
/// program or this variant cannot use.
pub fn load_weights(
    bytes: &[u8],
    origin: &str,
    variant: &Variant,
) -> Result<(Weights, NetMeta), ModelError> {
    load_checked(bytes, origin, |meta| meta.check(origin, variant))
}

/// A net to begin with, see [`load_related`].
#[derive(Debug)]
pub struct RelatedNet {
    /// Weights that fit the game asked for.
    pub weights: Weights,
    /// What the net was made as.
    pub meta: NetMeta,
    /// Letters of the men that it had never seen.
    pub unknown_men: Vec<char>,
}

/// As [`load_weights`], for learning on: the net may be of another game, in which case its weights are rearranged for this
/// one. What both games have, men by letter and moves, keeps its weights, on boards of any size; a man that the net has
/// never seen begins as the mean of those that it has.
///
/// # Errors
/// As [`load_weights`], but for [`ModelError::Variant`]; [`ModelError::Encoding`] if the net's own game has changed since,
/// [`ModelError::Weights`] if the weights do not fit the configuration.
pub fn load_related(
    bytes: &[u8],
    origin: &str,
    variant: &Variant,
) -> Result<RelatedNet, ModelError> {
    let (mut weights, meta) = load_checked(bytes, origin, |_| Ok(()))?;
    let mut unknown_men = Vec::new();
    if meta.check_encoding(origin, variant).is_err() {
        let own = Variant::from_toml(&meta.variant_toml).map_err(|error| ModelError::Corrupt {
            origin: origin.into(),
            reason: format!("the variant in it is not understood: {error}"),
        })?;
        meta.check_encoding(origin, &own)?;
        weights = carry_over(&weights, &own, variant).map_err(|error| error.at_origin(origin))?;
        unknown_men = carry_over::unknown_men(&own, variant);
    }
    Net::from_weights(&weights, meta.net, NetShape::new(variant), &Device::flex())
        .map_err(|error| error.at_origin(origin))?;
    Ok(RelatedNet {
        weights,
        meta,
        unknown_men,
    })
}

fn load_checked(
    bytes: &[u8],
    origin: &str,
    check: impl FnOnce(&NetMeta) -> Result<(), ModelError>,
) -> Result<(Weights, NetMeta), ModelError> {
    let corrupt = |reason: String| ModelError::Corrupt {
        origin: origin.into(),
        reason,
    };
    // Reading the header alone first would accept a file that was cut short.
    let file = SafeTensors::deserialize(bytes).map_err(|error| corrupt(error.to_string()))?;
    let (meta, expected) = header(bytes, origin)?;
    check(&meta)?;
    meta.net
        .validate()
        .map_err(|error| corrupt(error.to_string()))?;
    let mut weights = Weights::default();
    for (name, view) in file.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(corrupt(format!(
                "tensor {name} is {:?}, not F32",
                view.dtype()
            )));
        }
        let floats = view.data().as_chunks::<4>().0;
        let data: Vec<f32> = floats.iter().map(|&x| f32::from_le_bytes(x)).collect();
        let shape = view.shape().to_vec();
        weights.insert(name, NamedTensor { shape, data });
    }
    if let Some(name) = not_finite(&weights) {
        return Err(corrupt(format!(
            "tensor {name} has numbers that are not finite"
        )));
    }
    if expected.is_some_and(|expected| expected != checksum(&weights)) {
        return Err(corrupt("its checksum is wrong".to_owned()));
    }
    Ok((weights, meta))
}

/// Whether a net file is whole, whatever its game: all that can be said of it without the rules.
///
/// # Errors
/// [`ModelError::Corrupt`] or [`ModelError::Format`] for anything but a whole file of ours.
pub fn check_net(bytes: &[u8], origin: &str) -> Result<(), ModelError> {
    load_checked(bytes, origin, |_| Ok(())).map(drop)
}

/// What a net file says that the net is, for whoever does not know yet which variant it plays. The rest of the file is not
/// looked at.
///
/// # Errors
/// [`ModelError::Corrupt`] or [`ModelError::Format`] if it is not the beginning of a net file of ours.
pub fn read_meta(bytes: &[u8], origin: &str) -> Result<NetMeta, ModelError> {
    header(bytes, origin).map(|(meta, _)| meta)
}

/// The metadata of a file and, unless it is an old one, the checksum.
fn header(bytes: &[u8], origin: &str) -> Result<(NetMeta, Option<String>), ModelError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| ModelError::Corrupt {
        origin: origin.into(),
        reason: error.to_string(),
    })?;
    let header = metadata
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(METADATA_KEY))
        .ok_or_else(|| ModelError::Format {
            origin: origin.into(),
            found: "of another program (no `falconzero` metadata)".into(),
            expected: NET_FORMAT,
        })?;
    read_header(header, origin)
}

/// The name of a tensor with a number that is infinite or none at all.
fn not_finite(weights: &Weights) -> Option<&str> {
    weights
        .iter()
        .find(|(_, tensor)| !tensor.data.iter().all(|x| x.is_finite()))
        .map(|(name, _)| name)
}

/// FNV-1a over names and numbers of the weights, which a flipped bit would otherwise change unnoticed.
pub(crate) fn checksum(weights: &Weights) -> String {
    let mut hash = Fnv1a::new();
    for (name, tensor) in weights.iter() {
        name.bytes().for_each(|byte| hash.add(byte.into()));
        tensor
            .data
            .iter()
            .for_each(|x| hash.add(x.to_bits().into()));
    }
    format!("{:016x}", hash.value())
}

/// FNV-1a over the metadata's text as it is in the file, so that fields added later change nothing for older files.
fn meta_checksum(meta: &RawValue) -> String {
    format!("{:016x}", Fnv1a::of(meta.get().as_bytes()))
}

/// The metadata and, unless the file is an old one, the checksum of the weights.
fn read_header(header: &str, origin: &str) -> Result<(NetMeta, Option<String>), ModelError> {
    let corrupt = |error: serde_json::Error| ModelError::Corrupt {
        origin: origin.into(),
        reason: format!("metadata: {error}"),
    };
    let FormatOnly { format } = serde_json::from_str(header).map_err(corrupt)?;
    if format != NET_FORMAT {
        return Err(ModelError::Format {
            origin: origin.into(),
            found: format.to_string(),
            expected: NET_FORMAT,
        });
    }
    let stored: StoredHeader = serde_json::from_str(header).map_err(corrupt)?;
    let found = meta_checksum(stored.meta);
    if stored.meta_checksum.is_some_and(|written| written != found) {
        return Err(ModelError::Corrupt {
            origin: origin.into(),
            reason: "the checksum of its metadata is wrong".to_owned(),
        });
    }
    let meta = serde_json::from_str(stored.meta.get()).map_err(corrupt)?;
    Ok((meta, stored.checksum))
}
