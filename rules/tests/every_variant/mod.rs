//! The variants that properties must hold for: the built-in ones and the examples of user variants.

use rules::Variant;
use std::sync::Arc;

/// All of them, compiled.
pub fn every_variant() -> Vec<Arc<Variant>> {
    let built_in = Variant::builtin_names().iter();
    let built_in = built_in.map(|name| Variant::by_name(name).unwrap());
    let examples = [
        include_str!("../../../configs/examples/bison-riders.toml"),
        include_str!("../../../configs/examples/capablanca.toml"),
        include_str!("../../../configs/examples/grand-style.toml"),
    ];
    let examples = examples.map(|text| Variant::from_toml(text).unwrap());
    built_in.chain(examples).collect()
}
