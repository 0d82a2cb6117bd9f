//! Documents that name the person. Nodes keep some kinds in memory, so that the caller is told which kinds were cleaned.

use super::cleaning::{DOCUMENTS, clean_rows};
use super::{After, Work};
use crate::documents::DocumentKind;
use crate::{Result, Tx, Value};

/// The kinds of the documents that were cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanedDocuments(Vec<String>);

impl CleanedDocuments {
    pub fn has(&self, kind: DocumentKind) -> bool {
        self.0.iter().any(|cleaned| cleaned == kind.name())
    }

    /// How many documents there were.
    pub fn n(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Replaces the names in documents, as they are by now.
pub fn clean_documents(tx: &mut Tx<'_>, work: &Work<'_>, keys: &[After]) -> Result<CleanedDocuments> {
    let cleaned = clean_rows(tx, work, "document", DOCUMENTS, keys)?;
    let kind = |key: After| match key.into_iter().next() {
        Some(Value::Text(kind)) => Some(kind),
        Some(_) | None => None,
    };
    Ok(CleanedDocuments(cleaned.into_iter().filter_map(kind).collect()))
}
