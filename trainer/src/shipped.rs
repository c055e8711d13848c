//! The nets that come with the program: `data/nets/VARIANT.safetensors`, embedded when it is built.

use crate::arena::spec::NetBytes;

/// Variants and the bytes of their nets, in alphabetical order; the build script lists them.
static NETS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/shipped_nets.rs"));

/// The variants that a net is shipped for.
pub fn variants() -> impl Iterator<Item = &'static str> {
    NETS.iter().map(|(variant, _)| *variant)
}

/// The net shipped for a variant, if there is one.
pub fn net(variant: &str) -> Option<NetBytes> {
    let (name, bytes) = NETS.iter().find(|(name, _)| *name == variant)?;
    Some(NetBytes {
        name: format!("shipped net for {name}"),
        origin: format!("the shipped net for {name}"),
        bytes: bytes.to_vec(),
        inference: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{load_weights, read_meta};
    use rules::Variant;

    /// A shipped net that the program itself refuses would only be noticed by users.
    #[test]
    fn every_shipped_net_is_of_the_variant_it_is_named_for() {
        for name in variants() {
            let variant = Variant::by_name(name).expect("nets are shipped for built-in variants");
            let net = net(name).expect("a net that is listed");
            load_weights(&net.bytes, &net.origin, &variant).expect("a net of this variant");
        }
        assert!(net("no such variant").is_none());
    }

    /// Rules that a bit has fallen out of are no rules to export.
    #[test]
    fn a_shipped_net_with_damaged_rules_is_refused() {
        for name in variants() {
            let mut net = net(name).expect("a net that is listed");
            let at = net.bytes.windows(4).position(|bytes| bytes == b"pawn");
            net.bytes[at.expect("the rules have pawns")] ^= 1;
            let error = read_meta(&net.bytes, &net.origin).expect_err("damage");
            assert!(error.to_string().contains("checksum"), "{name}: {error}");
        }
    }
}
