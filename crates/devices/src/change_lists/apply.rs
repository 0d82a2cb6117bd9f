//! The job of a tag list or an attribute list: makes the changes of its uploads, one after the other and a slice at a time, and
//! deletes the rows.

use std::collections::{BTreeSet, HashMap};

use audience::index::Index;
use base::{Error, Result};
use jobs::{ClaimedJob, Job, LEASE, Left, Stop};
use model::attribute::AttributeOperation;
use model::change_list::{ChangeKind, EmptyCells, attribute_change};
use model::channel::{ChannelRef, TagOperation};
use model::ids::{AppId, ChannelId, Id, NamedUserId};
use model::static_list::ListName;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::channels::Holder;
use store::list_changes::{self, ChangeOwner, ListChange};
use store::lists::{Upload, UploadNumber};
use uuid::Uuid;

use super::record::{self, ChangeCounts, Record, RowProblem, Waiting, row_key};
use crate::Devices;
use crate::change_context::ChangeContext;
use crate::channels::OwnChange;

/// Rows in one transaction. Each may take a handful of statements, and nothing else of the app is written meanwhile.
const ROWS_PER_SLICE: u32 = 500;
/// Every list has one job at most: its id follows from the list's name.
const JOBS: Uuid = Uuid::from_u128(0x6368_616e_6765);

/// Adds the job to the transaction that changes the record of a list. An existing job has not finished, and sees the change before
/// it does.
pub(super) fn enqueue(tx: &mut Tx<'_>, app: AppId, kind: ChangeKind, list: &str, now: UtcMillis) -> Result<()> {
    let id = Id::from_uuid(Uuid::new_v5(&JOBS, row_key(kind, list).as_bytes()));
    jobs::enqueue_as(tx, app, id, now, &ApplyChanges { kind, list: list.to_owned() })
}

/// Applies the uploads of a list.
#[derive(Serialize, Deserialize)]
pub(crate) struct ApplyChanges {
    kind: ChangeKind,
    list: String,
}

impl Job for ApplyChanges {
    type Room = Devices;
    const NAME: &'static str = "apply_changes";

    /// Running it twice is harmless: a slice deletes its rows in the transaction that applies them.
    async fn run(self, devices: &Devices, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let (store, shared_clock) = (&devices.0.store, &devices.0.shared_clock);
        let next = || async {
            let index = devices.0.index.get(claimed.app).await?;
            let (job, kind, list) = (claimed.clone(), self.kind, self.list.clone());
            let (now, lease) = (devices.0.clock.now(), shared_clock.lease_begin().plus(LEASE));
            store.write(claimed.app, move |tx| slice(tx, (&job, lease), &index, kind, &list, now)).await
        };
        jobs::in_slices((store, shared_clock), claimed, stop, next).await
    }
}

fn slice(
    tx: &mut Tx<'_>,
    (claimed, lease): (&ClaimedJob, UtcMillis),
    index: &Index,
    kind: ChangeKind,
    list: &str,
    now: UtcMillis,
) -> Result<Left> {
    let app = claimed.app;
    let Some(mut record) = Record::load(tx, app, kind, list)? else { return end(tx, claimed) };
    let key = row_key(kind, list);
    let of_upload = |number: UploadNumber| Upload { list: &key, number };
    if let Some(Waiting { number, columns, .. }) = record.waiting.first().cloned() {
        jobs::renew(tx, claimed, lease)?;
        let rows = list_changes::first(tx, app, of_upload(number), ROWS_PER_SLICE)?;
        if rows.is_empty() {
            if let Some(problems) = record.end_first().filter(|_| !record.is_deleted) {
                record::put_errors(tx, app, kind, list, problems, now)?;
            }
        } else {
            let mut slice = Slice {
                context: ChangeContext::new(app, index, now),
                counts: ChangeCounts::default(),
                problems: Vec::new(),
            };
            match kind {
                ChangeKind::Tags => slice.tag(tx, &rows, &record.tags.operations())?,
                ChangeKind::Attributes => slice.change_attributes(tx, &rows, &columns, empty_cells(list)?)?,
            }
            list_changes::delete(tx, app, of_upload(number), &rows)?;
            slice.context.journal.write(tx, app)?;
            record.counts = slice.counts.beside(record.counts);
            if !slice.problems.is_empty() && !record.is_deleted {
                let mut problems = record::errors(tx, app, kind, list)?;
                problems.append(&mut slice.problems);
                record::put_errors(tx, app, kind, list, problems, now)?;
            }
        }
    } else if let Some(number) = record.discarded.first().copied() {
        jobs::renew(tx, claimed, lease)?;
        let rows = list_changes::first(tx, app, of_upload(number), ROWS_PER_SLICE)?;
        list_changes::delete(tx, app, of_upload(number), &rows)?;
        if rows.is_empty() {
            record.discarded.remove(0);
        }
    } else {
        if record.is_deleted {
            record.forget(tx, app, kind, list, now)?;
        }
        return end(tx, claimed);
    }
    record.save(tx, app, kind, list, now)?;
    Ok(Left::More)
}

fn end(tx: &mut Tx<'_>, claimed: &ClaimedJob) -> Result<Left> {
    jobs::settle(tx, claimed)?;
    Ok(Left::Nothing)
}

fn empty_cells(list: &str) -> Result<EmptyCells> {
    Ok(EmptyCells::of(&ListName::new(list).map_err(Error::internal)?))
}

/// One slice of work on one list.
struct Slice<'a> {
    context: ChangeContext<'a>,
    counts: ChangeCounts,
    problems: Vec<RowProblem>,
}

impl Slice<'_> {
    /// Everybody in the rows gets the same change, so that each is changed once.
    fn tag(&mut self, tx: &mut Tx<'_>, rows: &[ListChange], operations: &[TagOperation]) -> Result<()> {
        let channels = self.channels(tx, rows)?;
        let (mut changed, mut users) = (BTreeSet::new(), BTreeSet::new());
        for row in rows {
            match &row.owner {
                ChangeOwner::Channel(id) => match channels.get(id) {
                    Some(channel) if changed.insert(*id) => {
                        let room = self.context.try_change_own(tx, channel, &[OwnChange::Tags(operations)])?;
                        self.note(row, room.map_err(|full| full.into_message()));
                    }
                    Some(_) => self.note(row, Ok(())),
                    None => self.note(row, Err(UNKNOWN.to_owned())),
                },
                ChangeOwner::NamedUser(id) => {
                    users.insert(id.clone());
                }
            }
        }
        let users: Vec<NamedUserId> = users.into_iter().collect();
        let author = self.context.author();
        let full = self.context.change_or_create(tx, &users, author, |_, holdings| {
            for operation in operations {
                operation.apply(&mut holdings.tags);
            }
        })?;
        let full: HashMap<NamedUserId, String> =
            full.into_iter().map(|(user, full)| (user, full.into_message())).collect();
        for row in rows {
            if let ChangeOwner::NamedUser(id) = &row.owner {
                self.note(row, full.get(id).map_or(Ok(()), |why| Err(why.clone())));
            }
        }
        Ok(())
    }

    fn change_attributes(
        &mut self,
        tx: &mut Tx<'_>,
        rows: &[ListChange],
        columns: &[String],
        empty: EmptyCells,
    ) -> Result<()> {
        let channels = self.channels(tx, rows)?;
        for row in rows {
            let operations = match operations(row, columns, empty)? {
                Ok(operations) => operations,
                Err(problem) => {
                    self.note(row, Err(problem));
                    continue;
                }
            };
            let room = match &row.owner {
                ChangeOwner::Channel(id) => match channels.get(id) {
                    Some(channel) => self.context.try_change_attributes(tx, channel.ordinal, &operations)?,
                    None => {
                        self.note(row, Err(UNKNOWN.to_owned()));
                        continue;
                    }
                },
                ChangeOwner::NamedUser(id) => self.context.try_change_user_attributes(tx, id, &operations)?,
            };
            self.note(row, room.map_err(|full| full.into_message()));
        }
        Ok(())
    }

    /// The installed channels among the rows.
    fn channels(&self, tx: &mut Tx<'_>, rows: &[ListChange]) -> Result<HashMap<ChannelId, Holder>> {
        let ids: BTreeSet<ChannelId> = rows
            .iter()
            .filter_map(|row| match row.owner {
                ChangeOwner::Channel(id) => Some(id),
                ChangeOwner::NamedUser(_) => None,
            })
            .collect();
        let wanted: Vec<ChannelRef> = ids.into_iter().map(|id| ChannelRef { id, claimed: None }).collect();
        Ok(self.context.meant(tx, &wanted)?.installed.into_iter().map(|holder| (holder.id, holder)).collect())
    }

    fn note(&mut self, row: &ListChange, result: std::result::Result<(), String>) {
        match (&row.owner, result) {
            (ChangeOwner::Channel(_), Ok(())) => self.counts.channels += 1,
            (ChangeOwner::NamedUser(_), Ok(())) => self.counts.named_users += 1,
            (owner, Err(problem)) => {
                self.counts.errors += 1;
                let identifier = match owner {
                    ChangeOwner::Channel(id) => id.to_string(),
                    ChangeOwner::NamedUser(id) => id.as_str().to_owned(),
                };
                let line = row.line.unsigned_abs();
                self.problems.push(RowProblem { line, identifier, problem });
            }
        }
    }
}

const UNKNOWN: &str = "There is no such channel, or it was uninstalled.";

/// What a row changes, or what is wrong with it.
fn operations(
    row: &ListChange,
    columns: &[String],
    empty: EmptyCells,
) -> Result<std::result::Result<Vec<AttributeOperation>, String>> {
    let cells: Vec<String> = serde_json::from_str(&row.cells).map_err(Error::internal)?;
    let changes = columns.iter().zip(&cells).map(|(column, cell)| attribute_change(column, cell, empty));
    let changes: std::result::Result<Vec<_>, String> = changes.collect();
    Ok(changes.map(|changes| changes.into_iter().flatten().collect()))
}
