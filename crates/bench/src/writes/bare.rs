//! The rows that writes leave, and bare commits of them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use model::event::RecordKind;
use model::ids::{AppId, ChannelId, Offset};
use model::time::Clock;
use store::channels::{self, Channel, Key};
use store::log::{self, NewRecord};
use store::{Tx, apps, terms};

use crate::clients::{CLIENTS, Until, Work};
use crate::commits::Commits;
use crate::loading::open;

const LOG_RECORDS: u32 = 200;
const SAMPLED: u32 = 10_000;

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
    pub(crate) channels: Arc<[ChannelId]>,
    registration: Trace,
}

/// The database after registrations and updates.
pub(crate) struct Prepared {
    pub(crate) channels: Arc<[ChannelId]>,
    pub(crate) registration: Trace,
    pub(crate) update: Trace,
    rows: Arc<[Channel]>,
}

pub(crate) async fn registered(folder: &Path) -> Result<Registered> {
    let (store, app) = open(folder).await?;
    let read = store.read(move |tx| {
        let row = channels::page(tx, app, None, 1)?.pop().context("nothing was registered")?;
        let keys = channels::keys_of(tx, app, row.ordinal)?;
        let records = last_of_each(tx, app, &[RecordKind::Terms, RecordKind::FirstOpen, RecordKind::TagChange])?;
        let ids =
            tx.query("select id from channel where app = $1 order by ordinal", &[app.into()], |row| row.get(0))?;
        Ok::<_, anyhow::Error>(Registered { channels: ids.into(), registration: Trace { row, keys, records } })
    });
    let registered = read.await?;
    store.close().await;
    Ok(registered)
}

pub(crate) async fn updated(folder: &Path, registered: Registered) -> Result<Prepared> {
    let (store, app) = open(folder).await?;
    let read = store.read(move |tx| {
        let rows = channels::page(tx, app, None, SAMPLED)?;
        let records = last_of_each(tx, app, &[RecordKind::Terms, RecordKind::TagChange])?;
        Ok::<_, anyhow::Error>((rows, records))
    });
    let (rows, records) = read.await?;
    store.close().await;
    let row = rows.first().context("nothing was registered")?.clone();
    let Registered { channels, registration } = registered;
    Ok(Prepared { channels, registration, update: Trace { row, keys: Vec::new(), records }, rows: rows.into() })
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

/// Writes the rows of a tag update, again and again.
pub(crate) async fn update_rows(commits: &Commits, until: Until, prepared: &Prepared) -> Result<Work> {
    let (rows, records) = (Arc::clone(&prepared.rows), prepared.update.records.clone());
    let command = move |app, n| {
        let position = usize::try_from(n % rows.len() as u64).unwrap_or(0);
        let (row, records) = (rows[position].clone(), records.clone());
        move |tx: &mut Tx<'_>| {
            channels::update(tx, app, &row)?;
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
            // As long as before, and unique.
            key.value.replace_range(..36, &id.to_string());
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
