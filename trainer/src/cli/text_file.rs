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
    // What `fill` itself fails with is not the disk's fault.
    let fill = |file: &mut BufWriter<File>| {
        fill(file).map_err(|error| match error.is::<std::io::Error>() {
            true => error.context(problem()),
            false => error,
        })
    };
    if !is_replaceable(path) {
        // A device, a pipe or a link such as /dev/stdout: renaming another file over it would destroy it.
        let mut file = BufWriter::new(File::create(path).with_context(problem)?);
        fill(&mut file)?;
        return file.flush().with_context(problem);
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
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

/// Whether two names mean the same file, as far as the file system tells.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Whether there is a plain file, or nothing yet.
fn is_replaceable(path: &Path) -> bool {
    path.symlink_metadata()
        .map_or(true, |about| about.is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// `--pgn /dev/stdout` must not replace the link by a file.
    #[test]
    fn links_and_devices_are_written_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        write(&link, "text").expect("written");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&target).expect("read"), "text");
        write(Path::new("/dev/null"), "text").expect("written");
        assert!(!Path::new("/dev/null").is_file());
    }
}
