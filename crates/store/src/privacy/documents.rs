//! Documents that name the person. Nodes and devices keep some of them, so that the caller is told which were cleaned.

use super::cleaning::{DOCUMENTS, clean_rows};
use super::{After, Work};
use crate::documents::DocumentKind;
use crate::{Result, Tx, Value};

/// The kinds and ids of the documents that were cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanedDocuments(Vec<(String, String)>);

impl CleanedDocuments {
    pub fn has(&self, kind: DocumentKind) -> bool {
        self.ids(kind).next().is_some()
    }

    /// The ids of the cleaned documents of a kind.
    pub fn ids(&self, kind: DocumentKind) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(cleaned, _)| cleaned == kind.name()).map(|(_, id)| id.as_str())
    }

    /// How many documents there were.
    pub fn n(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Replaces the names in documents, as they are by now.
pub fn clean_documents(tx: &mut Tx<'_>, work: &Work<'_>, keys: &[After]) -> Result<CleanedDocuments> {
    let cleaned = clean_rows(tx, work, "document", DOCUMENTS, keys)?;
    let place = |key: After| match <[Value; 2]>::try_from(key) {
        Ok([Value::Text(kind), Value::Text(id)]) => Some((kind, id)),
        Ok(_) | Err(_) => None,
    };
    Ok(CleanedDocuments(cleaned.into_iter().filter_map(place).collect()))
}
