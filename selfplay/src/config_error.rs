//! The error of a setting that is out of its range.

use std::fmt::Debug;

use thiserror::Error;

/// A setting has a value that it must not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{field} = {value}` is out of range: it must be {allowed}")]
pub struct ConfigError {
    /// The field's path in the run's configuration.
    pub field: &'static str,
    /// The value found.
    pub value: String,
    /// What is allowed, in words.
    pub allowed: &'static str,
}

/// `Ok` if `ok`, else the error that names the field.
///
/// # Errors
/// If not `ok`.
pub fn require(
    ok: bool,
    field: &'static str,
    value: impl Debug,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    if ok {
        return Ok(());
    }
    Err(ConfigError {
        field,
        value: format!("{value:?}"),
        allowed,
    })
}
