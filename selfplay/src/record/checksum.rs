//! A checksum over a game file's data.
//!
//! Parquet's own checksums are optional and few readers verify them; without one, a flipped bit
//! becomes another FEN or another probability and nobody notices.

use parquet::file::metadata::KeyValue;
use twox_hash::XxHash64;

use super::RecordError;

/// Key of the checksum in the file's key-value metadata.
const KEY: &str = "falconzero.checksum";

/// XXH64 over the file's first `length` bytes: everything before the page index and the footer.
pub(super) struct Checksum {
    length: usize,
    hash: u64,
}

impl Checksum {
    /// Of a file that has all of its data, but no footer yet.
    pub fn of(data: &[u8]) -> Self {
        Self {
            length: data.len(),
            hash: XxHash64::oneshot(0, data),
        }
    }

    pub fn to_pair(&self) -> KeyValue {
        KeyValue::new(
            KEY.to_owned(),
            format!("xxh64:{}:{:016x}", self.length, self.hash),
        )
    }

    /// Compares with the metadata. A file without a checksum (rewritten by another tool) passes.
    ///
    /// # Errors
    /// [`RecordError::Checksum`] when it differs or is unreadable.
    pub fn check(pairs: &[KeyValue], file: &[u8]) -> Result<(), RecordError> {
        let Some(pair) = pairs.iter().find(|pair| pair.key == KEY) else {
            return Ok(());
        };
        let found = pair.value.as_deref().and_then(Self::parse);
        match found.and_then(|found| Some((found.hash, file.get(..found.length)?))) {
            Some((hash, data)) if XxHash64::oneshot(0, data) == hash => Ok(()),
            _ => Err(RecordError::Checksum),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (length, hash) = text.strip_prefix("xxh64:")?.split_once(':')?;
        Some(Self {
            length: length.parse().ok()?,
            hash: u64::from_str_radix(hash, 16).ok()?,
        })
    }
}
