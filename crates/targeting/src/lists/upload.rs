//! Receiving a list: rows are stored as they arrive, a few thousand to a transaction, and become the list only when all of them
//! are there. Any error before that leaves the list as it was.

use std::time::Duration;

use base::{Error, Result, readable};
use boxed::boxed;
use model::ids::AppId;
use model::static_list::{ListName, Member};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind};
use store::lists::{self, Upload, UploadNumber};
use store::privacy::{self, PersonUpload};

use super::record::{Receiving, Record};
use super::{content, refuse_reserved};
use crate::Targeting;

const ROWS_PER_TRANSACTION: usize = 2000;
/// Bad rows that are kept for display. All are counted.
const MOST_BAD_ROWS: usize = 1000;
/// The precision of the time at which an upload was last alive.
const NOTE_LIFE_EVERY: Duration = Duration::from_secs(60);
/// The edge gives up on a sender who is silent for a minute, so an upload this old has died with its process.
const DEAD_AFTER: Duration = Duration::from_secs(60 * 60);

/// A row that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRow {
    pub line: u64,
    pub problem: String,
}

/// A list that is being received. A dropped one is cleaned up within hours.
pub struct ListUpload {
    targeting: Targeting,
    app: AppId,
    list: ListName,
    number: UploadNumber,
    batch: Vec<Member>,
    bad_rows: Vec<BadRow>,
    n_bad_rows: u64,
}

#[boxed]
impl Targeting {
    pub async fn begin_list_upload(&self, app: AppId, list: ListName) -> Result<ListUpload> {
        refuse_reserved(&list)?;
        let (name, now) = (list.clone(), self.0.clock.now());
        let number = self
            .0
            .store
            .write(app, move |tx| {
                let mut record = Record::load(tx, app, name.as_str())?.ok_or(Error::NotFound("list"))?;
                let number = record.receive(now);
                record.save(tx, app, name.as_str(), now)?;
                Ok::<_, Error>(number)
            })
            .await?;
        let (targeting, batch) = (self.clone(), Vec::with_capacity(ROWS_PER_TRANSACTION));
        Ok(ListUpload { targeting, app, list, number, batch, bad_rows: Vec::new(), n_bad_rows: 0 })
    }

    /// Gives up uploads whose process has died.
    pub async fn discard_dead_uploads(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        let is_dead = move |upload: &Receiving| upload.heard < now.minus(DEAD_AFTER);
        let all = self.0.store.read(move |tx| documents::list(tx, app, DocumentKind::List)).await?;
        for document in all {
            let record = readable(DocumentKind::List, &document.id, Record::of(&document));
            if !record.is_some_and(|record| record.receiving.iter().any(is_dead)) {
                continue;
            }
            let name = document.id;
            let write = move |tx: &mut Tx<'_>| {
                let Some(mut record) = Record::load(tx, app, &name)? else { return Ok(()) };
                for upload in record.receiving.clone().into_iter().filter(is_dead) {
                    record.discard(upload.number);
                }
                record.save(tx, app, &name, now)?;
                super::apply::enqueue(tx, app, &name, now)
            };
            self.0.store.write(app, write).await?;
        }
        Ok(())
    }
}

/// The uploads of all lists whose rows are coming in.
pub fn uploads_under_way(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<PersonUpload>> {
    let mut uploads = Vec::new();
    for document in documents::list(tx, app, DocumentKind::List)? {
        let Some(record) = readable(DocumentKind::List, &document.id, Record::of(&document)) else { continue };
        let list = || document.id.clone();
        uploads.extend(record.receiving.iter().map(|upload| PersonUpload { list: list(), number: upload.number }));
    }
    Ok(uploads)
}

#[boxed]
impl ListUpload {
    pub async fn add(&mut self, member: Member) -> Result<()> {
        self.batch.push(member);
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
    pub fn leave_out(&mut self, line: u64, problem: String) {
        self.n_bad_rows += 1;
        if self.bad_rows.len() < MOST_BAD_ROWS {
            self.bad_rows.push(BadRow { line, problem });
        }
    }

    /// Makes the rows the content of the list and returns how many were left out. After this the upload survives anything
    /// but the loss of the database.
    pub async fn finish(mut self) -> Result<u64> {
        let rows = std::mem::take(&mut self.batch);
        let (app, name, n_bad_rows) = (self.app, self.list.clone(), self.n_bad_rows);
        let bad_rows = serde_json::to_string(&self.bad_rows).map_err(Error::internal)?;
        let is_clean = self.bad_rows.is_empty();
        self.change(rows, move |tx, record, number, now| {
            record.complete(number, n_bad_rows, now);
            if is_clean {
                documents::delete(tx, app, DocumentKind::ListErrors, name.as_str())?;
            } else {
                documents::put(tx, app, DocumentKind::ListErrors, name.as_str(), &bad_rows, now)?;
            }
            super::apply::enqueue(tx, app, name.as_str(), now)?;
            Ok(Changed::Yes)
        })
        .await?;
        Ok(n_bad_rows)
    }

    /// Ends the upload without any effect on the list but its status.
    pub async fn give_up(self) -> Result<()> {
        let (app, name) = (self.app, self.list.clone());
        self.change(Vec::new(), move |tx, record, number, now| {
            record.discard(number);
            super::apply::enqueue(tx, app, name.as_str(), now)?;
            Ok(Changed::Yes)
        })
        .await
    }

    /// Stores rows and changes the list's record in one transaction, unless the list or the upload is gone.
    async fn change(
        &self,
        rows: Vec<Member>,
        change: impl Fn(&mut Tx<'_>, &mut Record, UploadNumber, UtcMillis) -> Result<Changed> + Send + 'static,
    ) -> Result<()> {
        let rows: Vec<lists::Member> = rows.iter().map(content::stored).collect();
        let (app, list, number, now) = (self.app, self.list.clone(), self.number, self.targeting.0.clock.now());
        self.targeting
            .0
            .store
            .write(app, move |tx| {
                let mut record = Record::load(tx, app, list.as_str())?.ok_or(Error::NotFound("list"))?;
                if !record.receiving.iter().any(|upload| upload.number == number) {
                    return Err(Error::Conflict("This upload took too long and was given up; repeat it.".to_owned()));
                }
                let upload = Upload { list: list.as_str(), number };
                let rows = privacy::without_erased(tx, app, upload, rows.clone())?;
                lists::add(tx, app, upload, &rows)?;
                match change(tx, &mut record, number, now)? {
                    Changed::Yes => record.save(tx, app, list.as_str(), now),
                    Changed::No => Ok(()),
                }
            })
            .await
    }
}

/// Whether a record has to be written back.
enum Changed {
    Yes,
    No,
}
