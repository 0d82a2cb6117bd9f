//! Receiving a list: its rows become the list when all of them are there.

use base::{Error, Result, readable};
use boxed::boxed;
use devices::{MOST_BAD_ROWS, ReceivedFile, Receiver, Receiving};
use model::ids::AppId;
use model::static_list::{ListName, Member};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind};
use store::lists::{self, Upload, UploadNumber};
use store::privacy::{self, PersonUpload};

use super::record::Record;
use super::{apply, content, refuse_reserved};
use crate::Targeting;

/// A row that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRow {
    pub line: u64,
    pub problem: String,
}

/// A list that is being received. A dropped one is cleaned up within hours.
pub struct ListUpload {
    file: ReceivedFile<StaticList>,
    app: AppId,
    list: ListName,
    bad_rows: Vec<BadRow>,
    n_bad_rows: u64,
}

/// An uploaded list by its name.
#[derive(Clone)]
struct StaticList(ListName);

#[boxed]
impl Targeting {
    pub async fn begin_list_upload(&self, app: AppId, list: ListName) -> Result<ListUpload> {
        refuse_reserved(&list)?;
        let (store, clock) = (self.0.store.clone(), self.0.clock.clone());
        let file = ReceivedFile::begin(store, clock, app, StaticList(list.clone())).await?;
        Ok(ListUpload { file, app, list, bad_rows: Vec::new(), n_bad_rows: 0 })
    }

    /// Gives up uploads whose process has died.
    pub async fn discard_dead_uploads(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        let all = self.0.store.read(move |tx| documents::list(tx, app, DocumentKind::List)).await?;
        for document in all {
            let record = readable(DocumentKind::List, &document.id, Record::of(&document));
            if !record.is_some_and(|record| record.receiving.iter().any(|upload| upload.is_dead(now))) {
                continue;
            }
            let name = document.id;
            let write = move |tx: &mut Tx<'_>| {
                let Some(mut record) = Record::load(tx, app, &name)? else { return Ok(()) };
                for upload in record.receiving.clone().iter().filter(|upload| upload.is_dead(now)) {
                    record.discard(upload.number);
                }
                record.save(tx, app, &name, now)?;
                apply::enqueue(tx, app, &name, now)
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
        self.file.add(content::stored(&member)).await
    }

    /// Leaves a row out and counts it, with the problem of the first ones.
    pub fn leave_out(&mut self, line: u64, problem: String) {
        self.n_bad_rows += 1;
        if self.bad_rows.len() < MOST_BAD_ROWS {
            self.bad_rows.push(BadRow { line, problem });
        }
    }

    /// Makes the rows the content of the list and returns how many were left out.
    pub async fn finish(self) -> Result<u64> {
        let Self { file, app, list: name, bad_rows, n_bad_rows } = self;
        let kept = serde_json::to_string(&bad_rows).map_err(Error::internal)?;
        let is_clean = bad_rows.is_empty();
        file.finish(move |tx, record: &mut Record, number, now| {
            record.complete(number, n_bad_rows, now);
            if is_clean {
                documents::delete(tx, app, DocumentKind::ListErrors, name.as_str())?;
            } else {
                documents::put(tx, app, DocumentKind::ListErrors, name.as_str(), &kept, now)?;
            }
            apply::enqueue(tx, app, name.as_str(), now)
        })
        .await?;
        Ok(n_bad_rows)
    }

    /// Ends the upload without any effect on the list but its status.
    pub async fn give_up(self) -> Result<()> {
        self.file.give_up().await
    }
}

impl Receiver for StaticList {
    type Row = lists::Member;
    type Record = Record;

    fn load(&self, tx: &mut Tx<'_>, app: AppId) -> Result<Record> {
        Record::load(tx, app, self.0.as_str())?.ok_or(Error::NotFound("list"))
    }

    fn save(&self, tx: &mut Tx<'_>, app: AppId, record: Record, now: UtcMillis) -> Result<()> {
        record.save(tx, app, self.0.as_str(), now)
    }

    fn receive(record: &mut Record, now: UtcMillis) -> UploadNumber {
        record.receive(now)
    }

    fn receiving(record: &mut Record) -> &mut Vec<Receiving> {
        &mut record.receiving
    }

    fn discard(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        record: &mut Record,
        number: UploadNumber,
        now: UtcMillis,
    ) -> Result<()> {
        record.discard(number);
        apply::enqueue(tx, app, self.0.as_str(), now)
    }

    fn add(&self, tx: &mut Tx<'_>, app: AppId, number: UploadNumber, rows: &[lists::Member]) -> Result<()> {
        let upload = Upload { list: self.0.as_str(), number };
        let rows = privacy::without_erased(tx, app, upload, rows.to_vec())?;
        Ok(lists::add(tx, app, upload, &rows)?)
    }
}
