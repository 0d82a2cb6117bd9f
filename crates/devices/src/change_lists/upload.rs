//! Receiving the file of a tag list or an attribute list: rows are stored as they arrive, a few thousand to a transaction, and are
//! applied only when all of them are there.

use std::collections::HashSet;
use std::time::Duration;

use base::{Error, Result, readable};
use boxed::boxed;
use model::change_list::{ChangeFault, ChangeKind, ChangeRow, ChangeTarget};
use model::ids::AppId;
use model::static_list::ListName;
use model::time::UtcMillis;
use store::Tx;
use store::documents;
use store::list_changes::{self, ChangeOwner, ListChange};
use store::lists::{Member, Upload, UploadNumber};
use store::privacy::{self, PersonUpload};

use super::record::{self, Receiving, Record, RowProblem, list_kind, row_key};
use crate::Devices;

const ROWS_PER_TRANSACTION: usize = 2000;
/// Bad rows that are remembered. All are counted.
const MOST_BAD_ROWS: usize = 1000;
/// The precision of the time at which an upload was last alive.
const NOTE_LIFE_EVERY: Duration = Duration::from_secs(60);
/// The edge gives up on a sender who is silent for a minute, so an upload this old has died with its process.
const DEAD_AFTER: Duration = Duration::from_secs(60 * 60);

/// A file that is being received. A dropped one is cleaned up within hours.
pub struct ChangeUpload {
    devices: Devices,
    app: AppId,
    kind: ChangeKind,
    list: ListName,
    number: UploadNumber,
    batch: Vec<ListChange>,
    bad_rows: Vec<RowProblem>,
    n_bad_rows: u64,
}

#[boxed]
impl Devices {
    pub async fn begin_change_upload(&self, app: AppId, kind: ChangeKind, list: ListName) -> Result<ChangeUpload> {
        let (name, now) = (list.clone(), self.0.clock.now());
        let begin = move |tx: &mut Tx<'_>| {
            let mut record = Record::load_shown(tx, app, kind, &name)?;
            if kind == ChangeKind::Tags && record.tags.operations().is_empty() {
                let text = "The list changes no tags; create one that has 'add', 'remove' or 'set'.";
                return Err(Error::invalid("", text));
            }
            let number = record.receive(now);
            record.save(tx, app, kind, name.as_str(), now)?;
            Ok(number)
        };
        let number = self.0.store.write(app, begin).await?;
        let batch = Vec::with_capacity(ROWS_PER_TRANSACTION);
        let devices = self.clone();
        Ok(ChangeUpload { devices, app, kind, list, number, batch, bad_rows: Vec::new(), n_bad_rows: 0 })
    }

    /// Gives up uploads whose process has died.
    pub async fn discard_dead_uploads(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        let is_dead = move |upload: &Receiving| upload.heard < now.minus(DEAD_AFTER);
        for kind in [ChangeKind::Tags, ChangeKind::Attributes] {
            let all = self.0.store.read(move |tx| documents::list(tx, app, list_kind(kind))).await?;
            for document in all {
                let record = readable(list_kind(kind), &document.id, Record::of(&document));
                if !record.is_some_and(|record| record.receiving.iter().any(is_dead)) {
                    continue;
                }
                let name = document.id;
                let discard = move |tx: &mut Tx<'_>| {
                    let Some(mut record) = Record::load(tx, app, kind, &name)? else { return Ok(()) };
                    for upload in record.receiving.clone().into_iter().filter(is_dead) {
                        record.discard(upload.number);
                    }
                    record.save(tx, app, kind, &name, now)?;
                    super::apply::enqueue(tx, app, kind, &name, now)
                };
                self.0.store.write(app, discard).await?;
            }
        }
        Ok(())
    }
}

/// The uploads of all lists whose rows are coming in.
pub fn uploads_under_way(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<PersonUpload>> {
    let mut uploads = Vec::new();
    for kind in [ChangeKind::Tags, ChangeKind::Attributes] {
        for document in documents::list(tx, app, list_kind(kind))? {
            let Some(record) = readable(list_kind(kind), &document.id, Record::of(&document)) else { continue };
            let list = || row_key(kind, &document.id);
            uploads.extend(record.receiving.iter().map(|upload| PersonUpload { list: list(), number: upload.number }));
        }
    }
    Ok(uploads)
}

#[boxed]
impl ChangeUpload {
    pub async fn add(&mut self, row: ChangeRow) -> Result<()> {
        let line = i64::try_from(row.line).map_err(Error::internal)?;
        let owner = match row.target {
            ChangeTarget::Channel(id) => ChangeOwner::Channel(id),
            ChangeTarget::NamedUser(id) => ChangeOwner::NamedUser(id),
        };
        let cells = serde_json::to_string(&row.cells).map_err(Error::internal)?;
        self.batch.push(ListChange { line, owner, cells });
        if self.batch.len() < ROWS_PER_TRANSACTION {
            return Ok(());
        }
        let rows = std::mem::replace(&mut self.batch, Vec::with_capacity(ROWS_PER_TRANSACTION));
        self.change(rows, |_, record, number, now| {
            let upload = record.receiving.iter_mut().find(|upload| upload.number == number);
            match upload.filter(|upload| upload.heard < now.minus(NOTE_LIFE_EVERY)) {
                Some(upload) => upload.heard = now,
                None => return Ok(Changed::No),
            }
            Ok(Changed::Yes)
        })
        .await
    }

    /// Leaves a row out and counts it, with the problem of the first ones.
    pub fn leave_out(&mut self, ChangeFault { line, identifier, problem }: ChangeFault) {
        self.n_bad_rows += 1;
        if self.bad_rows.len() < MOST_BAD_ROWS {
            self.bad_rows.push(RowProblem { line, identifier, problem });
        }
    }

    /// Hands the rows to the job that applies them. After this the upload survives anything but the loss of the database.
    pub async fn finish(mut self, columns: Vec<String>) -> Result<()> {
        let rows = std::mem::take(&mut self.batch);
        let (app, kind, name, n_bad_rows) = (self.app, self.kind, self.list.clone(), self.n_bad_rows);
        let bad_rows = std::mem::take(&mut self.bad_rows);
        self.change(rows, move |tx, record, number, now| {
            record.complete(number, columns.clone(), n_bad_rows, now);
            record::put_errors(tx, app, kind, name.as_str(), bad_rows.clone(), now)?;
            super::apply::enqueue(tx, app, kind, name.as_str(), now)?;
            Ok(Changed::Yes)
        })
        .await
    }

    /// Ends the upload without any effect but on the status of the list.
    pub async fn give_up(self) -> Result<()> {
        let (app, kind, name) = (self.app, self.kind, self.list.clone());
        self.change(Vec::new(), move |tx, record, number, now| {
            record.discard(number);
            super::apply::enqueue(tx, app, kind, name.as_str(), now)?;
            Ok(Changed::Yes)
        })
        .await
    }

    /// Stores rows and changes the list's record in one transaction, unless the list or the upload is gone.
    async fn change(
        &self,
        rows: Vec<ListChange>,
        change: impl Fn(&mut Tx<'_>, &mut Record, UploadNumber, UtcMillis) -> Result<Changed> + Send + 'static,
    ) -> Result<()> {
        let (app, kind, list, number) = (self.app, self.kind, self.list.clone(), self.number);
        let now = self.devices.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            let mut record = Record::load_shown(tx, app, kind, &list)?;
            if !record.receiving.iter().any(|upload| upload.number == number) {
                return Err(Error::Conflict("This upload took too long and was given up; repeat it.".to_owned()));
            }
            let key = row_key(kind, list.as_str());
            let upload = Upload { list: &key, number };
            let rows = without_erased(tx, app, upload, &rows)?;
            list_changes::add(tx, app, upload, &rows)?;
            match change(tx, &mut record, number, now)? {
                Changed::Yes => record.save(tx, app, kind, list.as_str(), now),
                Changed::No => Ok(()),
            }
        };
        self.devices.0.store.write(app, write).await
    }
}

/// The rows that do not mean a person who is being erased.
fn without_erased(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, rows: &[ListChange]) -> Result<Vec<ListChange>> {
    // Whatever the type of a channel, its id means the person.
    let member = |row: &ListChange| match &row.owner {
        ChangeOwner::Channel(id) => Member { kind: "open_channel".to_owned(), identifier: id.to_string() },
        ChangeOwner::NamedUser(id) => Member { kind: "named_user".to_owned(), identifier: id.as_str().to_owned() },
    };
    let kept = privacy::without_erased(tx, app, upload, rows.iter().map(member).collect())?;
    let kept: HashSet<Member> = kept.into_iter().collect();
    Ok(rows.iter().filter(|row| kept.contains(&member(row))).cloned().collect())
}

/// Whether a record has to be written back.
enum Changed {
    Yes,
    No,
}
