//! Stored documents that cannot be read, such as those of a newer version that ran before this one. One of them neither hides nor
//! stops the others.

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
