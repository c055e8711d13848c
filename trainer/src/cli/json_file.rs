//! Results written as JSON files.

use super::text_file;
use anyhow::Context;
use serde::Serialize;
use std::path::Path;

/// Checks that [`write`] has a chance, before hours of work go into what it is to write.
///
/// # Errors
/// If there is no folder for the file, or a folder in its place.
pub fn check(path: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = path else {
        return Ok(());
    };
    let shown = path.display();
    anyhow::ensure!(
        !path.is_dir(),
        "cannot write '{shown}': it is a folder; name a file"
    );
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    anyhow::ensure!(
        folder.is_none_or(Path::is_dir),
        "cannot write '{shown}': its folder does not exist; create it first"
    );
    Ok(())
}

/// Writes `value` as indented JSON, under a temporary name first, so that the file is whole or not there.
///
/// # Errors
/// If the file cannot be written; the message names it.
pub fn write(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)
        .with_context(|| format!("cannot write '{}' as JSON", path.display()))?;
    text.push('\n');
    text_file::write(path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_and_bad_paths_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        write(&path, &[1, 2]).expect("written");
        write(&path, &[3]).expect("written again");
        let text = std::fs::read_to_string(&path).expect("read");
        assert_eq!(serde_json::from_str::<Vec<u8>>(&text).expect("JSON"), [3]);
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 1);
        let error = write(&folder.path().join("no/x.json"), &1)
            .expect_err("no folder")
            .to_string();
        assert!(error.contains("x.json"), "{error}");
        assert!(check(Some(&path)).is_ok() && check(None).is_ok());
        assert!(check(Some(Path::new("x.json"))).is_ok());
        assert!(check(Some(folder.path())).is_err());
        assert!(check(Some(&folder.path().join("no/x.json"))).is_err());
    }
}
