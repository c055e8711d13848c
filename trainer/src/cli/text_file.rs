//! Results written as text files.

use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes a whole text.
///
/// # Errors
/// As [`write_with`].
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_with(path, |file| Ok(file.write_all(text.as_bytes())?))
}

/// Lets `fill` write a file, under a temporary name first, so that the file is whole or not there.
///
/// # Errors
/// If the file cannot be written, in a message that names it, or what `fill` fails with.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let problem = || {
        format!(
            "cannot write '{}'; check that its folder exists and the disk has room",
            path.display()
        )
    };
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let written = File::create(&temporary)
        .with_context(problem)
        .and_then(|file| {
            let mut file = BufWriter::new(file);
            fill(&mut file)?;
            file.flush().with_context(problem)
        });
    if written.is_err() {
        // What is left of a failed attempt is of no use; that it cannot be removed is of no interest.
        let _ = std::fs::remove_file(&temporary);
    }
    written?;
    std::fs::rename(&temporary, path).with_context(problem)
}
