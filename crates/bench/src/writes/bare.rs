//! The rows that writes leave, and bare commits of them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use model::event::RecordKind;
use model::ids::{AppId, ChannelId, Offset, TermId};
use model::time::Clock;
use store::channels::{self, Channel, Key};
use store::log::{self, NewRecord};
use store::{Tx, apps, terms};

use crate::clients::{CLIENTS, Until, Work};
use crate::commits::Commits;
use crate::loading::open;

const LOG_RECORDS: u32 = 200;
/// Channels that are updated, of all that there are.
const UPDATED: usize = 100_000;
/// From one channel that is updated to the next. Callers do not come in the order of the rows, so no two channels of a commit
/// share a page.
const STRIDE: usize = 618_033;
/// How often one round may come past the same channel.
const MOST_LAPS: usize = 100;

/// The rows that one write leaves: a channel, its keys if they are new, and records of the log.
#[derive(Clone)]
pub(crate) struct Trace {
    row: Channel,
    keys: Vec<Key>,
    records: Vec<NewRecord>,
}

impl Trace {
    /// The texts and bytes of all rows, without the overhead of the database.
    pub(crate) fn n_bytes(&self) -> usize {
        let row = &self.row;
        let optional = [&row.address, &row.language, &row.country].into_iter().flatten().map(String::len);
        let row =
            row.profile.len() + terms::encode(&row.terms).len() + row.id.as_bytes().len() + optional.sum::<usize>();
        let keys = self.keys.iter().map(|key| key.kind.len() + key.value.len()).sum::<usize>();
        row + keys + self.records.iter().map(|record| record.body.len()).sum::<usize>()
    }
}

/// The database after registrations.
pub(crate) struct Registered {
    /// The channels to update.
    pub(crate) channels: Arc<[ChannelId]>,
    registration: Trace,
}

/// The database after registrations and updates.
pub(crate) struct Prepared {
    pub(crate) channels: Arc<[ChannelId]>,
    pub(crate) registration: Trace,
    pub(crate) update: Trace,
    /// What the updated channels hold.
    held: Arc<[(ChannelId, Vec<TermId>)]>,
}

pub(crate) async fn registered(folder: &Path) -> Result<Registered> {
    let (store, app) = open(folder).await?;
    let read = store.read(move |tx| {
        let row = channels::page(tx, app, None, 1)?.pop().context("nothing was registered")?;
        let keys = channels::keys_of(tx, app, row.ordinal)?;
        let records = last_of_each(tx, app, &[RecordKind::Terms, RecordKind::FirstOpen, RecordKind::TagChange])?;
        let ids: Vec<ChannelId> =
            tx.query("select id from channel where app = $1 order by ordinal", &[app.into()], |row| row.get(0))?;
        let channels = (0..UPDATED.min(ids.len())).map(|n| ids[n * STRIDE % ids.len()]).collect();
        Ok::<_, anyhow::Error>(Registered { channels, registration: Trace { row, keys, records } })
    });
    let registered = read.await?;
    store.close().await;
    Ok(registered)
}

pub(crate) async fn updated(folder: &Path, registered: Registered) -> Result<Prepared> {
    let (store, app) = open(folder).await?;
    let ids = Arc::clone(&registered.channels);
    let read = store.read(move |tx| {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids.iter() {
            rows.push(channels::by_id(tx, app, *id)?.context("a channel has gone")?);
        }
        let records = last_of_each(tx, app, &[RecordKind::Terms, RecordKind::TagChange])?;
        Ok::<_, anyhow::Error>((rows, records))
    });
    let (rows, records) = read.await?;
    store.close().await;
    let row = rows.first().context("nothing was registered")?.clone();
    let held = rows.into_iter().map(|row| (row.id, row.terms)).collect();
    let Registered { channels, registration } = registered;
    Ok(Prepared { channels, registration, update: Trace { row, keys: Vec::new(), records }, held })
}

/// The newest record of each kind.
fn last_of_each(tx: &mut Tx<'_>, app: AppId, kinds: &[RecordKind]) -> Result<Vec<NewRecord>> {
    let head = log::head(tx, app)?;
    let records = log::after(tx, app, Offset(head.0 - i64::from(LOG_RECORDS)), LOG_RECORDS)?;
    let last = |kind: &RecordKind| {
        let record = records.iter().rev().find(|record| record.kind == *kind);
        record.map(|record| NewRecord { kind: record.kind, ordinal: record.ordinal, body: record.body.clone() })
    };
    Ok(kinds.iter().filter_map(last).collect())
}

/// Writes the rows of a tag update, again and again. As over HTTP, each round leaves another tag: SQLite does not write a row
/// that stays as it is.
pub(crate) async fn update_rows(commits: &Commits, until: Until, prepared: &Prepared, round: usize) -> Result<Work> {
    let (held, records) = (Arc::clone(&prepared.held), prepared.update.records.clone());
    let command = move |app, n| {
        let n = usize::try_from(n).unwrap_or(0);
        let ((id, mut terms), records) = (held[n % held.len()].clone(), records.clone());
        if let Some(tag) = terms.last_mut() {
            tag.0 += 1 + u32::try_from(round * MOST_LAPS + n / held.len()).unwrap_or(0);
        }
        move |tx: &mut Tx<'_>| {
            channels::set_terms(tx, app, id, &terms)?;
            log::append(tx, app, Clock::System.now(), records.clone())?;
            Ok(())
        }
    };
    commits.of(until, CLIENTS, command).await
}

/// Writes the rows of a registration, again and again.
pub(crate) async fn insert_rows(commits: &Commits, until: Until, prepared: &Prepared) -> Result<Work> {
    let trace = prepared.registration.clone();
    let command = move |app, _| {
        let mut trace = trace.clone();
        let id = ChannelId::at(Clock::System.now());
        trace.row.id = id;
        for key in &mut trace.keys {
            // As long as before, unique, and like real keys in no order: the time is in front of an id.
            key.value.replace_range(..36, &id.to_string().chars().rev().collect::<String>());
        }
        move |tx: &mut Tx<'_>| {
            let ordinal = apps::take_ordinal(tx, app)?;
            let row = Channel { ordinal, ..trace.row.clone() };
            channels::insert_many(tx, app, &[(row, trace.keys.clone())])?;
            log::append(tx, app, Clock::System.now(), trace.records.clone())?;
            Ok(())
        }
    };
    commits.of(until, CLIENTS, command).await
}
