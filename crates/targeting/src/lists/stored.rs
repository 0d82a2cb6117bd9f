//! The JSON of a list's record and of a deleted list's remains. The names are stored: never change one.

use base::{Error, Result};
use devices::Receiving;
use model::ids::AppId;
use model::static_list::ListDetails;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::lists::UploadNumber;

use super::record::{Applied, Content, Leftovers, Record, Remains};

/// One form for both. A deleted list has no details, no content, and nothing that is coming in.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    details: ListDetails,
    updated: UtcMillis,
    newest: UploadNumber,
    receiving: Vec<Receiving>,
    content: Option<UploadNumber>,
    /// Of a list without content this says nothing.
    applied: Applied,
    replaced: Vec<UploadNumber>,
    discarded: Vec<UploadNumber>,
    last_failed: bool,
    n_bad_rows: u64,
    is_deleted: bool,
}

pub(super) fn read<T: From<Stored>>(document: &Document) -> Result<T> {
    serde_json::from_str::<Stored>(&document.body).map(T::from).map_err(Error::internal)
}

pub(super) fn load<T: From<Stored>>(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, name: &str) -> Result<Option<T>> {
    documents::get(tx, app, kind, name)?.as_ref().map(read).transpose()
}

pub(super) fn save(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: DocumentKind,
    name: &str,
    stored: impl Into<Stored>,
    now: UtcMillis,
) -> Result<()> {
    let body = serde_json::to_string(&stored.into()).map_err(Error::internal)?;
    Ok(documents::put(tx, app, kind, name, &body, now)?)
}

impl From<Stored> for Record {
    fn from(stored: Stored) -> Self {
        Self {
            details: stored.details,
            updated: stored.updated,
            newest: stored.newest,
            receiving: stored.receiving,
            content: stored.content.map(|upload| Content { upload, applied: stored.applied }),
            leftovers: Leftovers { replaced: stored.replaced, discarded: stored.discarded },
            last_failed: stored.last_failed,
            n_bad_rows: stored.n_bad_rows,
        }
    }
}

impl From<Record> for Stored {
    fn from(record: Record) -> Self {
        let (content, applied) = match record.content {
            Some(Content { upload, applied }) => (Some(upload), applied),
            None => (None, Applied::Everything),
        };
        Self {
            details: record.details,
            updated: record.updated,
            newest: record.newest,
            receiving: record.receiving,
            content,
            applied,
            replaced: record.leftovers.replaced,
            discarded: record.leftovers.discarded,
            last_failed: record.last_failed,
            n_bad_rows: record.n_bad_rows,
            is_deleted: false,
        }
    }
}

impl From<Stored> for Remains {
    fn from(stored: Stored) -> Self {
        let leftovers = Leftovers { replaced: stored.replaced, discarded: stored.discarded };
        Self { updated: stored.updated, newest: stored.newest, leftovers }
    }
}

impl From<Remains> for Stored {
    fn from(remains: Remains) -> Self {
        Self {
            details: ListDetails::default(),
            updated: remains.updated,
            newest: remains.newest,
            receiving: Vec::new(),
            content: None,
            applied: Applied::Everything,
            replaced: remains.leftovers.replaced,
            discarded: remains.leftovers.discarded,
            last_failed: false,
            n_bad_rows: 0,
            is_deleted: true,
        }
    }
}
