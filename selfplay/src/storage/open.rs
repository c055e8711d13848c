//! From the user's words to an object store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;

use super::StorageError;

/// A store, and where in it the run lives.
pub(super) struct Opened {
    pub store: Arc<dyn ObjectStore>,
    pub prefix: ObjectPath,
    pub url: String,
    pub local_dir: Option<PathBuf>,
}

pub(super) fn open(location: &str) -> Result<Opened, StorageError> {
    let bad = |reason: &str| StorageError::BadLocation {
        location: location.to_owned(),
        reason: reason.to_owned(),
    };
    match location.split_once("://") {
        None if location.is_empty() => Err(bad("it is empty; give a folder such as runs/first")),
        None => local(location, Path::new(location)),
        Some(("file", path)) if path.starts_with('/') => local(path, Path::new(path)),
        Some(("file", _)) => Err(bad("a file URL has three slashes: file:///folder/run")),
        Some(("s3", rest)) => s3(location, rest),
        Some(_) => Err(bad("use a folder, file:///folder or s3://bucket/prefix")),
    }
}

pub(super) fn in_memory() -> Opened {
    Opened {
        store: Arc::new(InMemory::new()),
        prefix: ObjectPath::default(),
        url: "memory://".trim_end_matches('/').to_owned(),
        local_dir: None,
    }
}

fn local(location: &str, dir: &Path) -> Result<Opened, StorageError> {
    let bad = |reason: String| StorageError::BadLocation {
        location: location.to_owned(),
        reason,
    };
    std::fs::create_dir_all(dir)
        .map_err(|error| bad(format!("the folder cannot be created: {error}")))?;
    let store = LocalFileSystem::new_with_prefix(dir)
        .map_err(|error| bad(error.to_string()))?
        // A put that has returned has reached the disk: S3 promises it, so must a folder.
        .with_fsync(true);
    let url = location.trim_end_matches('/');
    Ok(Opened {
        store: Arc::new(store),
        prefix: ObjectPath::default(),
        url: if url.is_empty() { "/" } else { url }.to_owned(),
        local_dir: Some(dir.to_path_buf()),
    })
}

#[cfg(feature = "s3")]
fn s3(location: &str, rest: &str) -> Result<Opened, StorageError> {
    let bad = |reason: String| StorageError::BadLocation {
        location: location.to_owned(),
        reason,
    };
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(bad("name the bucket: s3://bucket/prefix".to_owned()));
    }
    let store = object_store::aws::AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .build()
        .map_err(|error| bad(format!("{error}; set the AWS_* variables")))?;
    Ok(Opened {
        store: Arc::new(store),
        prefix: ObjectPath::from(prefix),
        url: location.trim_end_matches('/').to_owned(),
        local_dir: None,
    })
}

#[cfg(not(feature = "s3"))]
fn s3(location: &str, _rest: &str) -> Result<Opened, StorageError> {
    Err(StorageError::BadLocation {
        location: location.to_owned(),
        reason: "this build has no S3 support; build with `--features s3`".to_owned(),
    })
}
