//! The stored record of a list apart from its rows: its description, the uploads it consists of, and the remaining work of its
//! job. Of a deleted list only that work is left.

use base::Result;
use devices::Receiving;
use model::ids::AppId;
use model::static_list::ListDetails;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{Document, DocumentKind};
use store::lists::{Member, UploadNumber};

use super::stored;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) details: ListDetails,
    pub(super) updated: UtcMillis,
    /// The newest upload; 0 before the first.
    pub(super) newest: UploadNumber,
    /// Uploads whose rows are still coming in.
    pub(super) receiving: Vec<Receiving>,
    /// The upload whose rows are the list.
    pub(super) content: Option<Content>,
    pub(super) leftovers: Leftovers,
    pub(super) last_failed: bool,
    pub(super) n_bad_rows: u64,
}

/// A deleted list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remains {
    /// When the list was last updated.
    pub(super) updated: UtcMillis,
    pub(super) newest: UploadNumber,
    pub(super) leftovers: Leftovers,
}

pub(super) enum ListOrRemains {
    List(Record),
    Remains(Remains),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) upload: UploadNumber,
    pub(super) applied: Applied,
}

/// How far the rows of the content have been applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Applied {
    Nothing,
    Through { kind: String, identifier: String },
    Everything,
}

/// Uploads that are not the list, but have rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leftovers {
    /// Former contents, whose members may still have the list's term.
    pub(super) replaced: Vec<UploadNumber>,
    /// Uploads that failed. They never had members.
    pub(super) discarded: Vec<UploadNumber>,
}

/// One thing left to do, and where its progress is noted.
pub(super) enum Task<'r> {
    /// Put the rows of the content after one of them on the list.
    Apply {
        content: &'r mut Content,
        after: Option<Member>,
    },
    /// Remove the members of an upload that are not in the content from the list, and delete the rows.
    Withdraw {
        upload: UploadNumber,
        content: Option<UploadNumber>,
        replaced: &'r mut Vec<UploadNumber>,
    },
    DeleteRows {
        upload: UploadNumber,
        discarded: &'r mut Vec<UploadNumber>,
    },
}

impl Record {
    pub(super) fn new(details: ListDetails, now: UtcMillis) -> Self {
        Self {
            details,
            updated: now,
            newest: UploadNumber(0),
            receiving: Vec::new(),
            content: None,
            leftovers: Leftovers::default(),
            last_failed: false,
            n_bad_rows: 0,
        }
    }

    pub(super) fn of(document: &Document) -> Result<Self> {
        stored::read(document)
    }

    pub(super) fn load(tx: &mut Tx<'_>, app: AppId, name: &str) -> Result<Option<Self>> {
        stored::load(tx, app, DocumentKind::List, name)
    }

    pub(super) fn save(self, tx: &mut Tx<'_>, app: AppId, name: &str, now: UtcMillis) -> Result<()> {
        stored::save(tx, app, DocumentKind::List, name, self, now)
    }

    pub(super) fn status(&self) -> ListStatus {
        let is_applied = self.content.as_ref().is_none_or(|content| content.applied == Applied::Everything);
        if !self.receiving.is_empty() || !is_applied || !self.leftovers.replaced.is_empty() {
            ListStatus::Processing
        } else if self.last_failed {
            ListStatus::Failure
        } else {
            ListStatus::Ready
        }
    }

    /// Begins an upload and returns its number.
    pub(super) fn receive(&mut self, now: UtcMillis) -> UploadNumber {
        self.newest = UploadNumber(self.newest.0 + 1);
        self.receiving.push(Receiving { number: self.newest, heard: now });
        self.newest
    }

    /// All rows of an upload are there: they are the list from now on.
    pub(super) fn complete(&mut self, upload: UploadNumber, n_bad_rows: u64, now: UtcMillis) {
        self.receiving.retain(|receiving| receiving.number != upload);
        let former = self.content.replace(Content { upload, applied: Applied::Nothing });
        self.leftovers.replaced.extend(former.map(|content| content.upload));
        self.last_failed = false;
        self.n_bad_rows = n_bad_rows;
        self.updated = now;
    }

    pub(super) fn discard(&mut self, upload: UploadNumber) {
        self.receiving.retain(|receiving| receiving.number != upload);
        self.leftovers.discarded.push(upload);
        self.last_failed = true;
    }

    /// What is left when the list is deleted.
    pub(super) fn into_remains(self) -> Remains {
        let mut leftovers = self.leftovers;
        leftovers.replaced.extend(self.content.map(|content| content.upload));
        leftovers.discarded.extend(self.receiving.iter().map(|upload| upload.number));
        Remains { updated: self.updated, newest: self.newest, leftovers }
    }

    fn next_task(&mut self) -> Option<Task<'_>> {
        let upload = self.content.as_ref().map(|content| content.upload);
        if let Some(content) = &mut self.content {
            match &content.applied {
                Applied::Nothing => return Some(Task::Apply { content, after: None }),
                Applied::Through { kind, identifier } => {
                    let after = Member { kind: kind.clone(), identifier: identifier.clone() };
                    return Some(Task::Apply { content, after: Some(after) });
                }
                Applied::Everything => {}
            }
        }
        self.leftovers.next_task(upload)
    }
}

impl Remains {
    pub(super) fn save(self, tx: &mut Tx<'_>, app: AppId, name: &str, now: UtcMillis) -> Result<()> {
        stored::save(tx, app, DocumentKind::DeletedList, name, self, now)
    }
}

impl ListOrRemains {
    pub(super) fn load(tx: &mut Tx<'_>, app: AppId, name: &str) -> Result<Option<Self>> {
        if let Some(record) = Record::load(tx, app, name)? {
            return Ok(Some(ListOrRemains::List(record)));
        }
        Ok(stored::load(tx, app, DocumentKind::DeletedList, name)?.map(ListOrRemains::Remains))
    }

    pub(super) fn save(self, tx: &mut Tx<'_>, app: AppId, name: &str, now: UtcMillis) -> Result<()> {
        match self {
            ListOrRemains::List(record) => record.save(tx, app, name, now),
            ListOrRemains::Remains(remains) => remains.save(tx, app, name, now),
        }
    }

    pub(super) fn next_task(&mut self) -> Option<Task<'_>> {
        match self {
            ListOrRemains::List(record) => record.next_task(),
            ListOrRemains::Remains(remains) => remains.leftovers.next_task(None),
        }
    }
}

impl Leftovers {
    fn next_task(&mut self, content: Option<UploadNumber>) -> Option<Task<'_>> {
        if let Some(upload) = self.replaced.first().copied() {
            return Some(Task::Withdraw { upload, content, replaced: &mut self.replaced });
        }
        let upload = self.discarded.first().copied()?;
        Some(Task::DeleteRows { upload, discarded: &mut self.discarded })
    }
}
