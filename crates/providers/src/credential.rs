//! Text that proves who we are to another service and must never be logged or shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A password, key or token of a provider. Written only where it is stored, encrypted, and where it is used.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Credential(String);

impl Credential {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The caller must not print the result.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}
