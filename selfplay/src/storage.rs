//! Where a run lives: one URL, a flat set of named objects, nothing else.
//!
//! Workers and trainer meet only here, so the interface is what every object store offers:
//! whole objects that are read, replaced, created, listed and deleted. There are no file locks,
//! no appends and no partial writes. A local folder and an S3 bucket behave alike, and a test
//! may use [`Storage::in_memory`].
//!
//! The calls block. Object stores speak async Rust; [`Storage`] owns the small runtime that
//! drives them, so that the rest of the program needs none.
//!
//! ```
//! use selfplay::storage::Storage;
//!
//! let storage = Storage::in_memory();
//! storage.put("nets/current.json", "{}")?;
//! assert_eq!(&storage.get("nets/current.json")?[..], b"{}");
//! assert!(!storage.put_if_absent("nets/current.json", "other")?);
//! assert_eq!(storage.list("nets")?.len(), 1);
//! # Ok::<(), selfplay::storage::StorageError>(())
//! ```

mod error;
mod leftovers;
mod open;
mod patience;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

pub use error::StorageError;

/// A run's storage. Cheap to clone; clones share the connection and may be used from any thread.
///
/// Object names are relative to the run's URL and use `/`: `games/w1/000003.parquet`.
#[derive(Clone)]
pub struct Storage {
    inner: Arc<Inner>,
    /// A write waits while the disk is full, until this flag is raised; without one it fails.
    waits_until: Option<Arc<AtomicBool>>,
}

struct Inner {
    store: Arc<dyn ObjectStore>,
    /// Prepended to every object name; empty for a local folder.
    prefix: ObjectPath,
    /// What the user calls this place, without a trailing slash.
    url: String,
    local_dir: Option<std::path::PathBuf>,
    runtime: Runtime,
}

/// One object as [`Storage::list`] and [`Storage::head`] see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Name relative to the run's URL.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Changes whenever the object is replaced.
    pub version: ObjectVersion,
    /// When the object was last replaced, by the store's clock.
    pub modified: SystemTime,
}

/// An opaque mark of an object's content: equal marks mean the same bytes.
///
/// The ETag where the store has one, else size and time of change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectVersion(String);

/// What [`Storage::get_if_changed`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// There is no such object.
    Missing,
    /// The object still has the version the caller knows.
    Unchanged,
    /// The object's bytes and their version.
    Changed(Bytes, ObjectVersion),
}

impl Storage {
    /// Opens the storage at `location`: a folder (`runs/x` or `file:///abs/x`, created if it is
    /// missing) or, with the cargo feature `s3`, `s3://bucket/prefix` with credentials and
    /// endpoint from the usual `AWS_*` environment variables.
    ///
    /// # Errors
    /// [`StorageError::BadLocation`] for a URL that is not understood, otherwise whatever keeps
    /// the folder or bucket from being used.
    pub fn open(location: &str) -> Result<Self, StorageError> {
        let opened = open::open(location)?;
        Self::with(opened)
    }

    /// An empty store that lives as long as its last clone, for tests.
    pub fn in_memory() -> Self {
        Self::with(open::in_memory()).expect("an in-memory store needs nothing but a thread")
    }

    fn with(opened: open::Opened) -> Result<Self, StorageError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("storage")
            .enable_all()
            .build()
            .map_err(|source| StorageError::Runtime { source })?;
        let open::Opened {
            store,
            prefix,
            url,
            local_dir,
        } = opened;
        Ok(Self {
            inner: Arc::new(Inner {
                store,
                prefix,
                url,
                local_dir,
                runtime,
            }),
            waits_until: None,
        })
    }

    /// The run's URL as the user knows it, for messages.
    pub fn url(&self) -> &str {
        &self.inner.url
    }

    /// The full URL of one object, for messages.
    pub fn object_url(&self, name: &str) -> String {
        format!("{}/{name}", self.inner.url)
    }

    /// The run's folder when it is a local one. Only for tools that cannot do without a file
    /// system (TensorBoard logs, printing a path); everything else goes through objects.
    pub fn local_dir(&self) -> Option<&Path> {
        self.inner.local_dir.as_deref()
    }

    /// The object's bytes.
    ///
    /// # Errors
    /// [`StorageError::NotFound`] when there is none; otherwise whatever kept it from being read.
    pub fn get(&self, name: &str) -> Result<Bytes, StorageError> {
        match self.fetch(name, GetOptions::default())? {
            Fetched::Changed(bytes, _) => Ok(bytes),
            Fetched::Missing | Fetched::Unchanged => Err(StorageError::NotFound {
                object: self.object_url(name),
            }),
        }
    }

    /// The object's bytes, or `None` when there is no such object.
    ///
    /// # Errors
    /// Whatever kept an existing object from being read.
    pub fn find(&self, name: &str) -> Result<Option<Bytes>, StorageError> {
        match self.fetch(name, GetOptions::default())? {
            Fetched::Changed(bytes, _) => Ok(Some(bytes)),
            Fetched::Missing | Fetched::Unchanged => Ok(None),
        }
    }

    /// The object's bytes unless it still has the version `known`.
    ///
    /// # Errors
    /// Whatever kept an existing object from being read.
    pub fn get_if_changed(
        &self,
        name: &str,
        known: Option<&ObjectVersion>,
    ) -> Result<Fetched, StorageError> {
        let options = GetOptions {
            if_none_match: known.map(|version| version.0.clone()),
            ..GetOptions::default()
        };
        match self.fetch(name, options)? {
            // Stores without ETags ignore the condition.
            Fetched::Changed(_, version) if Some(&version) == known => Ok(Fetched::Unchanged),
            fetched => Ok(fetched),
        }
    }

    /// Size, version and time of change, or `None` when there is no such object.
    ///
    /// # Errors
    /// Whatever kept the store from answering.
    pub fn head(&self, name: &str) -> Result<Option<ObjectInfo>, StorageError> {
        let path = self.path(name);
        match self.block_on(self.inner.store.head(&path)) {
            Ok(meta) => Ok(Some(self.info(&meta))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.error(name, error)),
        }
    }

    /// Whether there is such an object.
    ///
    /// # Errors
    /// Whatever kept the store from answering.
    pub fn exists(&self, name: &str) -> Result<bool, StorageError> {
        Ok(self.head(name)?.is_some())
    }

    /// Creates or replaces the object as a whole: a reader sees the old bytes or the new ones,
    /// and a failed or killed write leaves the old ones.
    ///
    /// # Errors
    /// [`StorageError::Full`], [`StorageError::Denied`] or whatever else kept it from being written.
    pub fn put(&self, name: &str, bytes: impl Into<Bytes>) -> Result<(), StorageError> {
        let bytes: Bytes = bytes.into();
        let path = self.path(name);
        self.patiently(|| {
            self.block_on(self.inner.store.put(&path, bytes.clone().into()))
                .map_err(|error| self.error(name, error))
        })?;
        Ok(())
    }

    /// Creates the object unless one of that name exists; says whether it did. Of several
    /// callers at once exactly one gets `true`.
    ///
    /// # Errors
    /// As [`Storage::put`].
    pub fn put_if_absent(&self, name: &str, bytes: impl Into<Bytes>) -> Result<bool, StorageError> {
        let bytes: Bytes = bytes.into();
        let path = self.path(name);
        self.patiently(|| {
            let options = PutOptions::from(PutMode::Create);
            let put = self
                .inner
                .store
                .put_opts(&path, bytes.clone().into(), options);
            match self.block_on(put) {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                Err(error) => Err(self.error(name, error)),
            }
        })
    }

    /// All objects below the folder `prefix` (whole path segments; `""` for everything), sorted
    /// by name.
    ///
    /// # Errors
    /// Whatever kept the store from answering.
    pub fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StorageError> {
        let path = self.path(prefix);
        let metas: Vec<ObjectMeta> = self
            .block_on(self.inner.store.list(Some(&path)).try_collect())
            .map_err(|error| self.error(prefix, error))?;
        let mut infos: Vec<ObjectInfo> = metas.iter().map(|meta| self.info(meta)).collect();
        infos.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(infos)
    }

    /// Deletes the object; one that is not there counts as deleted.
    ///
    /// # Errors
    /// Whatever kept the store from deleting it.
    pub fn delete(&self, name: &str) -> Result<(), StorageError> {
        let path = self.path(name);
        match self.block_on(self.inner.store.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.error(name, error)),
        }
    }

    /// Reads a JSON object, or `None` when there is none.
    ///
    /// # Errors
    /// [`StorageError::Malformed`] when the bytes are not the JSON that `T` asks for.
    pub fn find_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StorageError> {
        let Some(bytes) = self.find(name)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| StorageError::Malformed {
                object: self.object_url(name),
                reason: error.to_string(),
            })
    }

    /// Writes `value` as JSON with line breaks, so that people can read it.
    ///
    /// # Errors
    /// As [`Storage::put`].
    ///
    /// # Panics
    /// When `value` cannot be written as JSON (a map with keys that are no strings).
    pub fn put_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StorageError> {
        self.put(name, json_bytes(value))
    }

    fn fetch(&self, name: &str, options: GetOptions) -> Result<Fetched, StorageError> {
        let path = self.path(name);
        let fetched = self.block_on(async {
            let result = self.inner.store.get_opts(&path, options).await?;
            let version = version_of(&result.meta);
            let bytes = result.bytes().await?;
            Ok::<_, object_store::Error>((bytes, version))
        });
        match fetched {
            Ok((bytes, version)) => Ok(Fetched::Changed(bytes, version)),
            Err(object_store::Error::NotFound { .. }) => Ok(Fetched::Missing),
            Err(object_store::Error::NotModified { .. }) => Ok(Fetched::Unchanged),
            Err(error) => Err(self.error(name, error)),
        }
    }

    fn path(&self, name: &str) -> ObjectPath {
        self.inner
            .prefix
            .parts()
            .chain(ObjectPath::from(name).parts())
            .collect()
    }

    fn info(&self, meta: &ObjectMeta) -> ObjectInfo {
        let full = meta.location.as_ref();
        let name = full
            .strip_prefix(self.inner.prefix.as_ref())
            .map_or(full, |rest| rest.trim_start_matches('/'));
        ObjectInfo {
            name: name.to_owned(),
            size: meta.size,
            version: version_of(meta),
            modified: meta.last_modified.into(),
        }
    }

    fn error(&self, name: &str, source: object_store::Error) -> StorageError {
        StorageError::from_store(self.object_url(name), source)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.inner.runtime.block_on(future)
    }
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Storage").field(&self.inner.url).finish()
    }
}

/// `value` as indented JSON with a final line break.
pub(crate) fn json_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("status structs are plain JSON");
    bytes.push(b'\n');
    bytes
}

fn version_of(meta: &ObjectMeta) -> ObjectVersion {
    match &meta.e_tag {
        Some(tag) => ObjectVersion(tag.clone()),
        None => ObjectVersion(format!(
            "{}-{}",
            meta.size,
            meta.last_modified.timestamp_micros()
        )),
    }
}
