//! Receiving the file of a tag list or an attribute list.

use std::collections::HashSet;

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

use super::apply;
use super::record::{self, LeftOut, Record, RowProblem, Waiting, list_kind, row_key};
use crate::Devices;
use crate::received_file::{MOST_BAD_ROWS, ReceivedFile, Receiver, Receiving};

/// A file that is being received. A dropped one is cleaned up within hours.
pub struct ChangeUpload {
    file: ReceivedFile<ChangeList>,
    list: ChangeList,
    app: AppId,
    bad_rows: Vec<RowProblem>,
    n_bad_rows: u64,
}

/// A tag list or an attribute list by its name.
#[derive(Clone)]
struct ChangeList {
    kind: ChangeKind,
    name: ListName,
}

#[boxed]
impl Devices {
    pub async fn begin_change_upload(&self, app: AppId, kind: ChangeKind, name: ListName) -> Result<ChangeUpload> {
        let list = ChangeList { kind, name };
        let file = ReceivedFile::begin(self.0.store.clone(), self.0.clock.clone(), app, list.clone()).await?;
        Ok(ChangeUpload { file, list, app, bad_rows: Vec::new(), n_bad_rows: 0 })
    }

    /// Gives up uploads whose process has died.
    pub async fn discard_dead_uploads(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        for kind in [ChangeKind::Tags, ChangeKind::Attributes] {
            let all = self.0.store.read(move |tx| documents::list(tx, app, list_kind(kind))).await?;
            for document in all {
                let record = readable(list_kind(kind), &document.id, Record::of(&document));
                if !record.is_some_and(|record| record.receiving.iter().any(|upload| upload.is_dead(now))) {
                    continue;
                }
                let name = document.id;
                let discard = move |tx: &mut Tx<'_>| {
                    let Some(mut record) = Record::load(tx, app, kind, &name)? else { return Ok(()) };
                    for upload in record.receiving.clone().iter().filter(|upload| upload.is_dead(now)) {
                        record.discard(upload.number);
                    }
                    record.save(tx, app, kind, &name, now)?;
                    apply::enqueue(tx, app, kind, &name, now)
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
        self.file.add(ListChange { line, owner, cells }).await
    }

    /// Leaves a row out and counts it, with the problem of the first ones.
    pub fn leave_out(&mut self, ChangeFault { line, identifier, problem }: ChangeFault) {
        self.n_bad_rows += 1;
        if self.bad_rows.len() < MOST_BAD_ROWS {
            self.bad_rows.push(RowProblem { line, identifier, problem });
        }
    }

    /// Hands the rows to the job that applies them.
    pub async fn finish(self, columns: Vec<String>) -> Result<()> {
        let Self { file, list: ChangeList { kind, name }, app, bad_rows, n_bad_rows } = self;
        file.finish(move |tx, record, number, now| {
            let left_out = LeftOut { n_rows: n_bad_rows, problems: bad_rows.clone() };
            if let Some(problems) = record.complete(Waiting { number, columns: columns.clone(), left_out }, now) {
                record::put_errors(tx, app, kind, name.as_str(), problems, now)?;
            }
            apply::enqueue(tx, app, kind, name.as_str(), now)
        })
        .await
    }

    /// Ends the upload without any effect but on the status of the list.
    pub async fn give_up(self) -> Result<()> {
        self.file.give_up().await
    }
}

impl Receiver for ChangeList {
    type Row = ListChange;
    type Record = Record;

    fn load(&self, tx: &mut Tx<'_>, app: AppId) -> Result<Record> {
        let record = Record::load_shown(tx, app, self.kind, &self.name)?;
        if self.kind == ChangeKind::Tags && record.tags.operations().is_empty() {
            let text = "The list changes no tags; create one that has 'add', 'remove' or 'set'.";
            return Err(Error::invalid("", text));
        }
        Ok(record)
    }

    fn save(&self, tx: &mut Tx<'_>, app: AppId, record: Record, now: UtcMillis) -> Result<()> {
        record.save(tx, app, self.kind, self.name.as_str(), now)
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
        apply::enqueue(tx, app, self.kind, self.name.as_str(), now)
    }

    fn add(&self, tx: &mut Tx<'_>, app: AppId, number: UploadNumber, rows: &[ListChange]) -> Result<()> {
        let key = row_key(self.kind, self.name.as_str());
        let upload = Upload { list: &key, number };
        let rows = without_erased(tx, app, upload, rows)?;
        Ok(list_changes::add(tx, app, upload, &rows)?)
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
