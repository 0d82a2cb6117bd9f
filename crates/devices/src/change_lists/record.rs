//! The stored record of a tag list or an attribute list apart from its rows: its description, its uploads, and what became of the
//! last one. The names are stored: never change one.

use base::{Error, Result};
use model::change_list::{ChangeKind, TagChanges};
use model::ids::AppId;
use model::static_list::{ListDetails, ListName};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::lists::UploadNumber;

use super::ChangeListView;
use crate::received_file::{MOST_BAD_ROWS, Receiving};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeListStatus {
    Ready,
    /// An upload is coming in or being applied.
    Processing,
    /// The last upload broke off, and changed nothing.
    Failure,
}

impl ChangeListStatus {
    pub const fn name(self) -> &'static str {
        match self {
            ChangeListStatus::Ready => "ready",
            ChangeListStatus::Processing => "processing",
            ChangeListStatus::Failure => "failure",
        }
    }
}

/// What became of the rows of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    pub channels: u64,
    pub named_users: u64,
    pub errors: u64,
}

impl ChangeCounts {
    pub(super) const fn beside(self, other: Self) -> Self {
        Self {
            channels: self.channels + other.channels,
            named_users: self.named_users + other.named_users,
            errors: self.errors + other.errors,
        }
    }
}

/// A row that was not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowProblem {
    pub line: u64,
    pub identifier: String,
    pub problem: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    details: ListDetails,
    pub(super) tags: TagChanges,
    updated: UtcMillis,
    /// The newest upload. Before the first it is as high as that of any deleted list, whose uploads may still come in.
    newest: UploadNumber,
    /// Uploads whose rows are still coming in.
    pub(super) receiving: Vec<Receiving>,
    /// Uploads that are complete and not applied yet, in their order.
    pub(super) waiting: Vec<Waiting>,
    /// Uploads that broke off. Their rows are only deleted.
    pub(super) discarded: Vec<UploadNumber>,
    last_failed: bool,
    /// Of the first upload that waits, or of the last one if none does; as are the errors that are kept for display.
    pub(super) counts: ChangeCounts,
    pub(super) is_deleted: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) number: UploadNumber,
    /// The names of the attributes, in the order of the cells.
    pub(super) columns: Vec<String>,
    /// Rows that were left out when it came in.
    #[serde(default)]
    pub(super) left_out: LeftOut,
}

/// Rows of an upload that were not stored, until it is the first that waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LeftOut {
    pub(super) n_rows: u64,
    /// Of the first ones.
    pub(super) problems: Vec<RowProblem>,
}

impl Record {
    pub(super) fn new(details: ListDetails, tags: TagChanges, newest: UploadNumber, now: UtcMillis) -> Self {
        Self {
            details,
            tags,
            updated: now,
            newest,
            receiving: Vec::new(),
            waiting: Vec::new(),
            discarded: Vec::new(),
            last_failed: false,
            counts: ChangeCounts::default(),
            is_deleted: false,
        }
    }

    pub(super) fn of(document: &Document) -> Result<Self> {
        serde_json::from_str(&document.body).map_err(Error::internal)
    }

    pub(super) fn load(tx: &mut Tx<'_>, app: AppId, kind: ChangeKind, name: &str) -> Result<Option<Self>> {
        documents::get(tx, app, list_kind(kind), name)?.as_ref().map(Self::of).transpose()
    }

    /// Of a list that callers see.
    pub(super) fn load_shown(tx: &mut Tx<'_>, app: AppId, kind: ChangeKind, name: &ListName) -> Result<Self> {
        let record = Self::load(tx, app, kind, name.as_str())?.filter(|record| !record.is_deleted);
        record.ok_or(Error::NotFound("list"))
    }

    pub(super) fn save(&self, tx: &mut Tx<'_>, app: AppId, kind: ChangeKind, name: &str, now: UtcMillis) -> Result<()> {
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, list_kind(kind), name, &body, now)?)
    }

    /// Begins an upload and returns its number.
    pub(super) fn receive(&mut self, now: UtcMillis) -> UploadNumber {
        self.newest = UploadNumber(self.newest.0 + 1);
        self.receiving.push(Receiving { number: self.newest, heard: now });
        self.newest
    }

    /// All rows of an upload are there. If no other waits, the errors to be shown are returned.
    pub(super) fn complete(&mut self, upload: Waiting, now: UtcMillis) -> Option<Vec<RowProblem>> {
        self.receiving.retain(|receiving| receiving.number != upload.number);
        self.waiting.push(upload);
        self.last_failed = false;
        self.updated = now;
        if self.waiting.len() == 1 { self.begin_first() } else { None }
    }

    /// The first upload that waits is applied. If another waits after it, the errors to be shown from now on are returned.
    pub(super) fn end_first(&mut self) -> Option<Vec<RowProblem>> {
        self.waiting.remove(0);
        self.begin_first()
    }

    fn begin_first(&mut self) -> Option<Vec<RowProblem>> {
        let LeftOut { n_rows, problems } = std::mem::take(&mut self.waiting.first_mut()?.left_out);
        self.counts = ChangeCounts { errors: n_rows, ..ChangeCounts::default() };
        Some(problems)
    }

    pub(super) fn discard(&mut self, number: UploadNumber) {
        self.receiving.retain(|receiving| receiving.number != number);
        self.discarded.push(number);
        self.last_failed = true;
    }

    /// Leaves nothing of a deleted list but the number that its uploads have reached.
    pub(super) fn forget(
        self,
        tx: &mut Tx<'_>,
        app: AppId,
        kind: ChangeKind,
        name: &str,
        now: UtcMillis,
    ) -> Result<()> {
        documents::delete(tx, app, list_kind(kind), name)?;
        let reached = reached_by_deleted(tx, app, kind)?.0.max(self.newest.0);
        Ok(documents::put(tx, app, DocumentKind::ChangeListNumbers, kind.path(), &reached.to_string(), now)?)
    }

    pub(super) fn delete(&mut self) {
        self.is_deleted = true;
        self.discarded.extend(self.receiving.drain(..).map(|receiving| receiving.number));
    }

    pub(super) fn into_view(self, document: Document) -> ChangeListView {
        let status = if !self.receiving.is_empty() || !self.waiting.is_empty() {
            ChangeListStatus::Processing
        } else if self.last_failed {
            ChangeListStatus::Failure
        } else {
            ChangeListStatus::Ready
        };
        ChangeListView {
            name: document.id,
            details: self.details,
            tags: self.tags,
            created: document.created,
            updated: self.updated,
            status,
            counts: self.counts,
        }
    }
}

pub(super) const fn list_kind(kind: ChangeKind) -> DocumentKind {
    match kind {
        ChangeKind::Tags => DocumentKind::TagList,
        ChangeKind::Attributes => DocumentKind::AttributeList,
    }
}

pub(super) const fn errors_kind(kind: ChangeKind) -> DocumentKind {
    match kind {
        ChangeKind::Tags => DocumentKind::TagListErrors,
        ChangeKind::Attributes => DocumentKind::AttributeListErrors,
    }
}

/// The list in the table of rows, in which both kinds are.
pub(super) fn row_key(kind: ChangeKind, name: &str) -> String {
    format!("{}/{name}", kind.path())
}

/// The highest number of the uploads of deleted lists. An upload that outlives its list must not be taken for one of a new list
/// with the same name.
pub(super) fn reached_by_deleted(tx: &mut Tx<'_>, app: AppId, kind: ChangeKind) -> Result<UploadNumber> {
    let kept = documents::get(tx, app, DocumentKind::ChangeListNumbers, kind.path())?;
    let number = kept.map(|kept| kept.body.parse()).transpose().map_err(Error::internal)?;
    Ok(UploadNumber(number.unwrap_or(0)))
}

pub(super) fn errors(tx: &mut Tx<'_>, app: AppId, kind: ChangeKind, name: &str) -> Result<Vec<RowProblem>> {
    let kept = documents::get(tx, app, errors_kind(kind), name)?;
    let kept = kept.map(|kept| serde_json::from_str(&kept.body)).transpose();
    Ok(kept.map_err(Error::internal)?.unwrap_or_default())
}

/// Keeps problems for display, the first of them.
pub(super) fn put_errors(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: ChangeKind,
    name: &str,
    mut problems: Vec<RowProblem>,
    now: UtcMillis,
) -> Result<()> {
    if problems.is_empty() {
        documents::delete(tx, app, errors_kind(kind), name)?;
        return Ok(());
    }
    problems.truncate(MOST_BAD_ROWS);
    let body = serde_json::to_string(&problems).map_err(Error::internal)?;
    Ok(documents::put(tx, app, errors_kind(kind), name, &body, now)?)
}
