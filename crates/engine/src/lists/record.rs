//! The stored record of a list apart from its rows: its description, the uploads it consists of, and the remaining work of its
//! job.

use model::ids::AppId;
use model::static_list::ListDetails;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::lists::Member;

use crate::{Error, Result};

/// The state of a list between an upload and all of its members having its term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStatus {
    Ready,
    /// An upload is coming in or being applied.
    Processing,
    /// The last upload failed. The content before it is still there.
    Failure,
}

impl ListStatus {
    pub const fn name(self) -> &'static str {
        match self {
            ListStatus::Ready => "ready",
            ListStatus::Processing => "processing",
            ListStatus::Failure => "failure",
        }
    }
}

/// Uploads are identified by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) details: ListDetails,
    pub(super) updated: UtcMillis,
    /// The number of the newest upload.
    pub(super) newest: i64,
    /// Uploads whose rows are still coming in.
    pub(super) receiving: Vec<Receiving>,
    /// The upload whose rows are the list.
    pub(super) content: Option<i64>,
    /// How far the rows of the content have been applied.
    pub(super) applied: Applied,
    /// Former contents, whose members may still have the list's term.
    pub(super) replaced: Vec<i64>,
    /// Uploads that failed. They never had members.
    pub(super) discarded: Vec<i64>,
    pub(super) last_failed: bool,
    pub(super) n_bad_rows: u64,
    pub(super) is_deleted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receiving {
    pub(super) number: i64,
    /// When rows last came, give or take a minute.
    pub(super) heard: UtcMillis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Applied {
    Nothing,
    Through { kind: String, identifier: String },
    Everything,
}

/// One thing left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Put the rows of the content after one of them on the list.
    Apply {
        content: i64,
        after: Option<Member>,
    },
    /// Remove channels that are not in the content from the list, and delete the rows.
    Withdraw {
        replaced: i64,
    },
    DeleteRows {
        discarded: i64,
    },
}

impl Record {
    pub(super) fn new(details: ListDetails, now: UtcMillis) -> Self {
        Self {
            details,
            updated: now,
            newest: 0,
            receiving: Vec::new(),
            content: None,
            applied: Applied::Everything,
            replaced: Vec::new(),
            discarded: Vec::new(),
            last_failed: false,
            n_bad_rows: 0,
            is_deleted: false,
        }
    }

    pub(super) fn of(document: &Document) -> Result<Self> {
        serde_json::from_str(&document.body).map_err(Error::internal)
    }

    pub(super) fn load(tx: &mut Tx<'_>, app: AppId, name: &str) -> Result<Option<Self>> {
        documents::get(tx, app, DocumentKind::List, name)?.as_ref().map(Self::of).transpose()
    }

    /// The list of this name, or its remains.
    pub(super) fn load_even_deleted(tx: &mut Tx<'_>, app: AppId, name: &str) -> Result<Option<Self>> {
        if let Some(record) = Self::load(tx, app, name)? {
            return Ok(Some(record));
        }
        documents::get(tx, app, DocumentKind::DeletedList, name)?.as_ref().map(Self::of).transpose()
    }

    pub(super) fn save(&self, tx: &mut Tx<'_>, app: AppId, name: &str, now: UtcMillis) -> Result<()> {
        let kind = if self.is_deleted { DocumentKind::DeletedList } else { DocumentKind::List };
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, kind, name, &body, now)?)
    }

    pub(super) fn status(&self) -> ListStatus {
        if !self.receiving.is_empty() || self.applied != Applied::Everything || !self.replaced.is_empty() {
            ListStatus::Processing
        } else if self.last_failed {
            ListStatus::Failure
        } else {
            ListStatus::Ready
        }
    }

    /// Begins an upload and returns its number.
    pub(super) fn receive(&mut self, now: UtcMillis) -> i64 {
        self.newest += 1;
        self.receiving.push(Receiving { number: self.newest, heard: now });
        self.newest
    }

    /// All rows of an upload are there: they are the list from now on.
    pub(super) fn complete(&mut self, number: i64, n_bad_rows: u64, now: UtcMillis) {
        self.receiving.retain(|upload| upload.number != number);
        self.replaced.extend(self.content.replace(number));
        self.applied = Applied::Nothing;
        self.last_failed = false;
        self.n_bad_rows = n_bad_rows;
        self.updated = now;
    }

    pub(super) fn discard(&mut self, number: i64) {
        self.receiving.retain(|upload| upload.number != number);
        self.discarded.push(number);
        self.last_failed = true;
    }

    /// The remains of a deleted list.
    pub(super) fn deleted(&self) -> Self {
        let mut rest = Self::new(ListDetails::default(), self.updated);
        rest.newest = self.newest;
        rest.replaced = self.replaced.iter().copied().chain(self.content).collect();
        rest.discarded = self.discarded.clone();
        rest.discarded.extend(self.receiving.iter().map(|upload| upload.number));
        rest.is_deleted = true;
        rest
    }

    pub(super) fn next_task(&self) -> Option<Task> {
        if let Some(content) = self.content {
            match &self.applied {
                Applied::Nothing => return Some(Task::Apply { content, after: None }),
                Applied::Through { kind, identifier } => {
                    let after = Member { kind: kind.clone(), identifier: identifier.clone() };
                    return Some(Task::Apply { content, after: Some(after) });
                }
                Applied::Everything => {}
            }
        }
        if let Some(replaced) = self.replaced.first() {
            return Some(Task::Withdraw { replaced: *replaced });
        }
        self.discarded.first().map(|discarded| Task::DeleteRows { discarded: *discarded })
    }
}
