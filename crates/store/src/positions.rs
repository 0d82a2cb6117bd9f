//! How far the log of each app has come, in a small file beside an SQLite database. SQLite takes a write-ahead log that is damaged
//! or gone for one that ended earlier, and says nothing; with this file the next start knows which log records are missing.
//!
//! The file is written after commits, so it never claims a record that was not stored. Removing it, as for a backup that is
//! restored on purpose, only means that nothing is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use model::ids::{AppId, Offset};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use crate::db::{Access, Connection, sqlite};
use crate::{Cause, Error, Result, Tx, apps, log};

/// Records that an app's log had and has no more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MissingRecords {
    /// The key of the app.
    pub app: String,
    /// The positions of the first and the last of them. At a single position there may be another record now.
    pub from: i64,
    pub to: i64,
}

/// The last record of an app's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AppPosition {
    id: i64,
    app: String,
    position: i64,
    /// Of the record at the position; empty if there is none.
    checksum: String,
}

/// By the numbers of the apps.
pub(crate) type Positions = BTreeMap<i64, AppPosition>;

#[derive(Serialize, Deserialize)]
struct Content {
    apps: Vec<AppPosition>,
}

/// Where the positions of a database are kept.
pub fn path(database: &Path) -> PathBuf {
    sqlite::path_with(database, ".positions")
}

/// Where the records are named that were missing at a start.
pub fn missing_path(database: &Path) -> PathBuf {
    sqlite::path_with(database, ".missing")
}

/// The records that were missing at any start since the file that names them was last removed.
pub fn read_missing(database: &Path) -> io::Result<Vec<MissingRecords>> {
    let text = match fs::read_to_string(missing_path(database)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
}

/// Compares a database that is just being opened with what was noted of it, and reports what is missing. Whatever keeps that from
/// being found out does not keep the service from starting.
pub(crate) fn compare(database: &Path, connection: &mut Connection) -> Vec<MissingRecords> {
    let saved = read(database).map_err(|error| Error::Unavailable(Cause::new("the file cannot be read", error)));
    let found = saved.and_then(|saved| match saved {
        Some(saved) => missing(&mut connection.begin(Access::Snapshot)?, &saved),
        None => Ok(Vec::new()),
    });
    let missing = found.unwrap_or_else(|error| {
        let (error, file) = (&error as &dyn std::error::Error, path(database));
        tracing::warn!(error, file = %file.display(), "whether log records are missing cannot be found out");
        Vec::new()
    });
    if let Some(first) = missing.first() {
        let n_records: i64 = missing.iter().map(|missing| missing.to - missing.from + 1).sum();
        let (apps, file) = (missing.len(), missing_path(database));
        let MissingRecords { app, from, to } = first;
        tracing::error!(
            apps, records = n_records, app, from, to, file = %file.display(),
            "LOG RECORDS ARE MISSING that were stored: the write-ahead log was damaged or removed, or another database put in \
             place; the file names them all, and `aerogram doctor` tells of it until you remove the file"
        );
        if let Err(error) = add_missing(database, &missing) {
            tracing::error!(%error, file = %file.display(), "the file cannot be written");
        }
    }
    missing
}

/// The positions of all apps. Of those that are `known` to be where they were, the checksum is not computed again.
pub(crate) fn current(tx: &mut Tx<'_>, known: &Positions) -> Result<Positions> {
    let sql =
        "select app.id, app.key, app_numbers.log_head from app cross join app_numbers where app_numbers.app = app.id";
    let heads = tx.query(sql, &[], |row| Ok((row.next::<i64>()?, row.next::<String>()?, row.next::<i64>()?)))?;
    let mut positions = Positions::new();
    for (id, app, position) in heads {
        let is_known = |known: &&AppPosition| known.position == position && known.app == app;
        let current = match known.get(&id).filter(is_known) {
            Some(known) => known.clone(),
            None => {
                let checksum = checksum_at(tx, AppId(id), position)?.unwrap_or_default();
                AppPosition { id, app, position, checksum }
            }
        };
        positions.insert(id, current);
    }
    Ok(positions)
}

/// Writes the file anew, so that it is whole at any time.
pub(crate) fn write(database: &Path, positions: &Positions) -> io::Result<()> {
    let content = serde_json::to_string(&Content { apps: positions.values().cloned().collect() })?;
    replace(&path(database), &content)
}

/// Forgets what was noted of a database that is about to be filled with another, and what was missing of it.
pub(crate) fn forget(database: &Path) -> io::Result<()> {
    for noted in [path(database), missing_path(database)] {
        match fs::remove_file(noted) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}

fn read(database: &Path) -> io::Result<Option<Vec<AppPosition>>> {
    let text = match fs::read_to_string(path(database)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let Content { apps } = serde_json::from_str(&text)?;
    Ok(Some(apps))
}

fn missing(tx: &mut Tx<'_>, saved: &[AppPosition]) -> Result<Vec<MissingRecords>> {
    let (n_made, found) = (apps::n_made(tx)?, current_heads(tx)?);
    let mut missing = Vec::new();
    for AppPosition { id, app, position, checksum } in saved {
        let from = match found.get(id) {
            // The app was deleted, unless the database is from before it was made.
            None if *id <= n_made => continue,
            None => 1,
            Some(head) if head < position => head + 1,
            Some(_) => match checksum_at(tx, AppId(*id), *position)? {
                Some(found) if !checksum.is_empty() && found != *checksum => *position,
                // Old records are deleted after some days.
                Some(_) | None => continue,
            },
        };
        if from <= *position {
            missing.push(MissingRecords { app: app.clone(), from, to: *position });
        }
    }
    Ok(missing)
}

fn current_heads(tx: &mut Tx<'_>) -> Result<BTreeMap<i64, i64>> {
    let sql = "select app, log_head from app_numbers";
    Ok(tx.query(sql, &[], |row| Ok((row.next()?, row.next()?)))?.into_iter().collect())
}

/// `None` when the log has no record there.
fn checksum_at(tx: &mut Tx<'_>, app: AppId, position: i64) -> Result<Option<String>> {
    let record = log::after(tx, app, Offset(position - 1), 1)?.pop().filter(|record| record.offset == Offset(position));
    Ok(record.map(|record| {
        let mut digest = Context::new(&SHA256);
        for part in [position.to_be_bytes(), record.at.0.to_be_bytes()] {
            digest.update(&part);
        }
        digest.update(&record.body);
        digest.finish().as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }))
}

fn add_missing(database: &Path, missing: &[MissingRecords]) -> io::Result<()> {
    // A file that somebody has edited is replaced.
    let mut all: BTreeSet<MissingRecords> = read_missing(database).unwrap_or_default().into_iter().collect();
    all.extend(missing.iter().cloned());
    let lines = all.iter().map(|missing| serde_json::to_string(missing).map(|line| line + "\n"));
    replace(&missing_path(database), &lines.collect::<serde_json::Result<String>>()?)
}

fn replace(path: &Path, content: &str) -> io::Result<()> {
    let aside = sqlite::path_with(path, ".new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    fs::rename(&aside, path)
}
