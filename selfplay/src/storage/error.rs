//! Storage failures in the user's terms: which object, what happened, what to do.

use std::error::Error;
use std::io;

/// Why a storage call failed. Every variant's message names the object or location and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The location is neither a folder nor a URL that this build knows.
    #[error("cannot use {location:?} as a run's storage: {reason}")]
    BadLocation {
        /// As the user wrote it.
        location: String,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// There is no such object.
    #[error("{object} does not exist; check the run's URL, or whether the run has got that far")]
    NotFound {
        /// Full URL.
        object: String,
    },
    /// The disk or the quota is used up.
    #[error("no space left for {object}: free some disk space or raise the quota, then go on")]
    Full {
        /// Full URL.
        object: String,
        /// What the store said.
        #[source]
        source: object_store::Error,
    },
    /// The user may not do that there.
    #[error(
        "access to {object} is denied: check the folder's owner and permissions, or the store's credentials"
    )]
    Denied {
        /// Full URL.
        object: String,
        /// What the store said.
        #[source]
        source: object_store::Error,
    },
    /// The object was read but does not hold what it should.
    #[error(
        "{object} is damaged or of another version: {reason}; {}",
        remedy(object)
    )]
    Malformed {
        /// Full URL.
        object: String,
        /// Where and how it departs from what was expected.
        reason: String,
    },
    /// Anything else: network, timeout, hardware.
    #[error("cannot reach {object}: {source}; check the disk or the network and try again")]
    Unavailable {
        /// Full URL.
        object: String,
        /// What the store said.
        #[source]
        source: object_store::Error,
    },
    /// The system refused the thread that drives the store.
    #[error("cannot start the storage thread: {source}; raise the limit on threads")]
    Runtime {
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl StorageError {
    /// Sorts a store's error by what the user can do about it.
    pub(super) fn from_store(object: String, source: object_store::Error) -> Self {
        match &source {
            object_store::Error::NotFound { .. } => return Self::NotFound { object },
            object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. } => {
                return Self::Denied { object, source };
            }
            _ => {}
        }
        match io_kind(&source) {
            Some(
                io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::FileTooLarge,
            ) => Self::Full { object, source },
            Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
                Self::Denied { object, source }
            }
            _ => Self::Unavailable { object, source },
        }
    }
}

/// The kind of the I/O error at the bottom of the chain, if there is one.
fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        current = error.source();
    }
    None
}

/// What to do about a damaged object of a run.
fn remedy(object: &str) -> &'static str {
    let is = |name: &str| object.ends_with(name);
    if is("/arena/ladder.json") {
        "delete it, and the nets to come are rated anew"
    } else if is("/nets/current.json") {
        "`falconzero train --resume` writes it again"
    } else if is("/run.json") {
        "restore it from a copy"
    } else {
        "restore it from a copy, or delete it"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_io(kind: io::ErrorKind) -> StorageError {
        let source = object_store::Error::Generic {
            store: "LocalFileSystem",
            source: Box::new(io::Error::from(kind)),
        };
        StorageError::from_store("runs/x/games/w/000001.parquet".to_owned(), source)
    }

    /// A worker waits on a full disk and a user reads the remedy, so both depend on the sorting.
    #[test]
    fn causes_are_told_apart() {
        let full = from_io(io::ErrorKind::StorageFull);
        assert!(matches!(full, StorageError::Full { .. }));
        assert!(full.to_string().contains("runs/x/games/w/000001.parquet"));
        assert!(full.to_string().contains("free some disk space"));
        let denied = from_io(io::ErrorKind::ReadOnlyFilesystem);
        assert!(matches!(denied, StorageError::Denied { .. }));
        let other = from_io(io::ErrorKind::TimedOut);
        assert!(matches!(other, StorageError::Unavailable { .. }));
    }
}
