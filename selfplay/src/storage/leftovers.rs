//! What killed writes leave behind in a folder.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::Storage;

impl Storage {
    /// Deletes files of writes that were killed before they were done, if they are older than `age`;
    /// returns how many. They are no objects, and nobody else would delete them. Only folders have
    /// any. What cannot be deleted stays.
    pub fn delete_leftovers(&self, age: Duration) -> usize {
        match (&self.inner.local_dir, SystemTime::now().checked_sub(age)) {
            (Some(folder), Some(before)) => delete_in(folder, before),
            _ => 0,
        }
    }
}

fn delete_in(folder: &Path, before: SystemTime) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => delete_in(&entry.path(), before),
            Ok(kind) if kind.is_file() && is_unfinished(&entry.file_name().to_string_lossy()) => {
                let modified = entry.metadata().and_then(|about| about.modified());
                let is_old = modified.is_ok_and(|at| at <= before);
                usize::from(is_old && std::fs::remove_file(entry.path()).is_ok())
            }
            _ => 0,
        })
        .sum()
}

/// `object_store` writes `name` under `name#1` first, or another number.
fn is_unfinished(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(_, number)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old leftovers go; young ones, which may be writes at work, and objects stay.
    #[test]
    fn only_old_leftovers_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let storage = Storage::open(&folder.path().to_string_lossy()).expect("storage");
        storage.put("nets/a.safetensors", "net").expect("written");
        let leftover = folder.path().join("nets/a.safetensors#1");
        std::fs::write(&leftover, "ne").expect("written");
        assert_eq!(storage.delete_leftovers(Duration::from_secs(600)), 0);
        assert!(leftover.exists());
        assert_eq!(storage.delete_leftovers(Duration::ZERO), 1);
        assert!(!leftover.exists());
        assert!(storage.exists("nets/a.safetensors").expect("listed"));
    }
}
