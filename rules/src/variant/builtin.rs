//! The variants that come with the crate.

use std::sync::{Arc, OnceLock};

use super::compile::compile;
use crate::{Variant, VariantError};

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        pub(super) const NAMES: &[&str] = &[$($name),*];
        const TEXTS: &[&str] = &[
            $(include_str!(concat!("../../../configs/variants/", $name, ".toml"))),*
        ];
    };
}

builtin!(
    "chess",
    "falcon",
    "falcon-xboard",
    "falcon-free",
    "falcon-free2",
    "falcon-tournament",
    "falcon-9x10",
    "falcon-10x10",
    "falcon-10x10-p3",
    "falcon-8x8",
    "falcon-hunter",
    "falcon-hunter-promotion",
    "falcon-hunter-66",
    "hunter-chess",
    "decimal-falcon-hunter",
);

static COMPILED: [OnceLock<Arc<Variant>>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];

/// The variant of a name, compiled once a process.
pub(super) fn by_name(name: &str) -> Result<Arc<Variant>, VariantError> {
    let Some(index) = NAMES.iter().position(|known| *known == name) else {
        return Err(VariantError::Unknown {
            name: name.to_string(),
            known: NAMES.join(", "),
        });
    };
    if let Some(variant) = COMPILED[index].get() {
        return Ok(variant.clone());
    }
    let variant = Arc::new(compile(TEXTS[index])?);
    Ok(COMPILED[index].get_or_init(|| variant).clone())
}
