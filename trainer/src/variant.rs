//! Variants by name or by file.

use anyhow::Context;
use rules::{Position, Variant};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// Bytes of a variant's file, at most.
const LONGEST_FILE: u64 = 1 << 20;

/// Loads a variant: a name that is built in, or the path of a TOML file.
///
/// # Errors
/// If there is no such name or file, or the file is not a variant.
pub fn load(name_or_path: &str) -> anyhow::Result<Arc<Variant>> {
    if Variant::builtin_names().contains(&name_or_path) {
        return Ok(Variant::by_name(name_or_path)?);
    }
    let looks_like_a_file = name_or_path.ends_with(".toml") || name_or_path.contains(['/', '\\']);
    if !looks_like_a_file {
        let names = Variant::builtin_names().join(", ");
        anyhow::bail!(
            "there is no variant '{name_or_path}'; use one of {names}, or give the path of a variant's TOML file"
        );
    }
    let text = read_file(name_or_path)?;
    let invalid = || format!("'{name_or_path}' is not a valid variant");
    let variant = Variant::from_toml(&text).with_context(invalid)?;
    check_name(&variant).with_context(invalid)?;
    Ok(variant)
}

/// The text of a variant's file.
///
/// # Errors
/// If it cannot be read, or is longer than any variant.
pub fn read_file(path: &str) -> anyhow::Result<String> {
    let cannot = || format!("cannot read the variant file '{path}'; check the path");
    let mut text = String::new();
    // A device may have no end.
    let file = File::open(path).with_context(cannot)?;
    file.take(LONGEST_FILE + 1)
        .read_to_string(&mut text)
        .with_context(cannot)?;
    anyhow::ensure!(
        text.len() as u64 <= LONGEST_FILE,
        "'{path}' is longer than a variant's file can be, {LONGEST_FILE} bytes"
    );
    Ok(text)
}

/// Checks that a variant does not bear the name of a built-in one that is another game: nets, games and programs would be
/// taken for that one's.
///
/// # Errors
/// If it does.
pub fn check_name(variant: &Variant) -> anyhow::Result<()> {
    let name = variant.name();
    let builtin = Variant::by_name(name).ok();
    anyhow::ensure!(
        builtin.is_none_or(|builtin| builtin.toml() == variant.toml()),
        "`name`: {name} is a built-in variant; give yours a name of its own"
    );
    Ok(())
}

/// The position of a FEN, or the variant's start position.
///
/// # Errors
/// If the FEN is not one of this variant.
pub fn position(variant: &Variant, fen: Option<&str>) -> anyhow::Result<Position> {
    let Some(fen) = fen else {
        return Ok(variant.start());
    };
    Position::from_fen(variant, fen).with_context(|| {
        format!(
            "'{fen}' is not a position of {}; a FEN of it looks like '{}'",
            variant.name(),
            variant.start_fen()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mistyped name lists what there is; a missing file is named.
    #[test]
    fn errors_help() {
        let unknown = format!("{:#}", load("falcn").unwrap_err());
        assert!(
            unknown.contains("falcon-xboard") && unknown.contains("'falcn'"),
            "{unknown}"
        );
        let missing = format!("{:#}", load("no/such.toml").unwrap_err());
        assert!(missing.contains("no/such.toml"), "{missing}");
    }
}
