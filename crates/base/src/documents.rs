//! Reading stored documents. State is read by serde; a request body inside it, by the parser of requests. A document that cannot be
//! read, such as one of a newer version that ran before this one, neither hides nor stops the others.

use model::json::{self, At};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::value::RawValue;
use store::documents::DocumentKind;

use crate::Result;

/// The value of the document `id`; an unreadable one is reported in the log.
pub fn readable<T>(kind: DocumentKind, id: &str, read: Result<T>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(kind = kind.name(), id, error, "a stored document cannot be read and is passed over");
            None
        }
    }
}

/// Reads a request body inside stored state: an argument of `#[serde(deserialize_with = …)]`, together with the parser.
pub fn stored_body<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    read: fn(&At<'_>) -> Option<T>,
) -> std::result::Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    json::parse(text.get().as_bytes(), read).map_err(D::Error::custom)
}
