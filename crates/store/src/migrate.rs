//! The schema and its history. Every step is one text for both databases, applied once, in order, in a
//! transaction of its own; several nodes may start at once.

use ring::digest;

use crate::apps::OPERATOR;
use crate::audit::{self, Request};
use crate::db::{Access, Connection, Tx};
use crate::error::{Error, Result};

struct Step {
    name: &'static str,
    sql: &'static str,
}

/// In order; the version of a step is its place, counted from 1, with which its name begins. The schema of
/// 0.1.0 is one step per theme, and every later change is a step of its own. Released steps never change.
const STEPS: &[Step] = &[
    Step { name: "0001_apps", sql: include_str!("../migrations/0001_apps.sql") },
    Step { name: "0002_log", sql: include_str!("../migrations/0002_log.sql") },
    Step { name: "0003_channels", sql: include_str!("../migrations/0003_channels.sql") },
    Step { name: "0004_users", sql: include_str!("../migrations/0004_users.sql") },
    Step { name: "0005_audience", sql: include_str!("../migrations/0005_audience.sql") },
    Step { name: "0006_jobs", sql: include_str!("../migrations/0006_jobs.sql") },
    Step { name: "0007_pushes", sql: include_str!("../migrations/0007_pushes.sql") },
    Step { name: "0008_experiments", sql: include_str!("../migrations/0008_experiments.sql") },
    Step { name: "0009_pipelines", sql: include_str!("../migrations/0009_pipelines.sql") },
    Step { name: "0010_inboxes", sql: include_str!("../migrations/0010_inboxes.sql") },
    Step { name: "0011_reports", sql: include_str!("../migrations/0011_reports.sql") },
    Step { name: "0012_webhooks", sql: include_str!("../migrations/0012_webhooks.sql") },
    Step { name: "0013_contacts", sql: include_str!("../migrations/0013_contacts.sql") },
    Step { name: "0014_faces", sql: include_str!("../migrations/0014_faces.sql") },
    Step { name: "0015_outcomes", sql: include_str!("../migrations/0015_outcomes.sql") },
    Step { name: "0016_audit", sql: include_str!("../migrations/0016_audit.sql") },
    Step { name: "0017_push_texts", sql: include_str!("../migrations/0017_push_texts.sql") },
    Step { name: "0018_privacy", sql: include_str!("../migrations/0018_privacy.sql") },
    Step { name: "0019_timelines", sql: include_str!("../migrations/0019_timelines.sql") },
    Step { name: "0020_accounts", sql: include_str!("../migrations/0020_accounts.sql") },
    Step { name: "0021_audit_by_app", sql: include_str!("../migrations/0021_audit_by_app.sql") },
    Step { name: "0022_approval", sql: include_str!("../migrations/0022_approval.sql") },
    Step { name: "0023_server_tokens", sql: include_str!("../migrations/0023_server_tokens.sql") },
    Step { name: "0024_former_secrets", sql: include_str!("../migrations/0024_former_secrets.sql") },
    Step { name: "0025_live", sql: include_str!("../migrations/0025_live.sql") },
    Step { name: "0026_live_presence", sql: include_str!("../migrations/0026_live_presence.sql") },
    Step { name: "0027_browsers", sql: include_str!("../migrations/0027_browsers.sql") },
    Step { name: "0028_change_lists", sql: include_str!("../migrations/0028_change_lists.sql") },
    Step { name: "0029_bulk_and_journeys", sql: include_str!("../migrations/0029_bulk_and_journeys.sql") },
    Step { name: "0030_remote_data", sql: include_str!("../migrations/0030_remote_data.sql") },
    Step { name: "0031_live_tokens", sql: include_str!("../migrations/0031_live_tokens.sql") },
    Step { name: "0032_proof_keys", sql: include_str!("../migrations/0032_proof_keys.sql") },
    Step { name: "0033_attribute_expiry", sql: include_str!("../migrations/0033_attribute_expiry.sql") },
    Step { name: "0034_uninstalled", sql: include_str!("../migrations/0034_uninstalled.sql") },
    Step { name: "0035_seen_uploads", sql: include_str!("../migrations/0035_seen_uploads.sql") },
];

const HISTORY: &str = "create table if not exists schema_version (
    version bigint not null primary key,
    name text not null,
    checksum text not null
)";

/// The name of a step that a database has while it is the target of a copy, so that no node starts on a part
/// of an installation.
const UNFINISHED: &str = "unfinished copy";

/// Which steps a database has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// That many steps have been applied, all of them ours.
    Steps(usize),
    /// A copy of another database into this one was begun and has not ended.
    Unfinished,
}

impl History {
    pub(crate) const NEWEST: History = History::Steps(STEPS.len());
}

/// Where the history is kept.
pub(crate) const TABLE: &str = "schema_version";

/// The number of the step that makes the audit log.
const AUDIT: usize = 16;

/// Brings the database to the newest version. Refuses the target of a copy that was not finished. The audit log says on whose
/// behalf, if it is known.
pub(crate) fn run(connection: &mut Connection, request: Option<&Request>) -> Result<()> {
    run_steps(connection, request, |tx| match history(tx)? {
        History::Steps(version) => Ok(version),
        History::Unfinished => Err(unfinished_copy()),
    })
}

/// As [`run`], for the target of a copy that is just being made.
pub(crate) fn run_in_unfinished(connection: &mut Connection) -> Result<()> {
    run_steps(connection, None, |tx| n_steps(&applied(tx)?))
}

fn run_steps(
    connection: &mut Connection,
    request: Option<&Request>,
    version: fn(&mut Tx<'_>) -> Result<usize>,
) -> Result<()> {
    let mut first = None;
    loop {
        let mut tx = connection.begin(Access::Write(&[]))?;
        prepare_history(&mut tx)?;
        let version = version(&mut tx)?;
        // A first start is no upgrade, and its steps are not worth a line each.
        let is_new = *first.get_or_insert(version) == 0;
        let Some(step) = STEPS.get(version) else {
            tx.tune_tables()?;
            tx.commit()?;
            if is_new {
                tracing::info!(steps = version, "the tables of a new database were made");
            }
            return Ok(());
        };
        if !is_new {
            // Logged before it begins, because an index of a large table takes minutes.
            tracing::info!(step = step.name, "bringing the database up to date");
        }
        for statement in statements(step.sql) {
            tx.execute(statement, &[])?;
        }
        let number = i64::try_from(version + 1).map_err(|_| Error::corrupt("too many steps"))?;
        let insert = "insert into schema_version (version, name, checksum) values ($1, $2, $3)";
        tx.execute(insert, &[number.into(), step.name.into(), checksum(step.sql).into()])?;
        if let Some(request) = request.filter(|_| !is_new && version + 1 >= AUDIT) {
            audit::record(&mut tx, OPERATOR, request.again(), [("step", step.name)]);
        }
        tx.commit()?;
        if !is_new {
            tracing::info!(step = step.name, "the database was brought up to date");
        }
    }
}

fn prepare_history(tx: &mut Tx<'_>) -> Result<()> {
    tx.lock_database()?;
    tx.prepare_database()?;
    tx.execute(HISTORY, &[])?;
    Ok(())
}

/// Spreads the tables of apps over the servers of Citus.
pub(crate) fn spread(connection: &mut Connection) -> Result<()> {
    let mut tx = connection.begin(Access::Write(&[]))?;
    tx.lock_database()?;
    tx.prepare_spreading()?;
    tx.commit()?;
    spread_tables(connection)
}

/// Spreads tables that migrations have added, if those before were spread. Whether they were.
pub(crate) fn spread_new(connection: &mut Connection) -> Result<bool> {
    let mut tx = connection.begin(Access::Snapshot)?;
    let is_spread = tx.has_spread_tables()?;
    drop(tx);
    if is_spread {
        spread_tables(connection)?;
    }
    Ok(is_spread)
}

/// One table in each transaction.
fn spread_tables(connection: &mut Connection) -> Result<()> {
    loop {
        let mut tx = connection.begin(Access::Write(&[]))?;
        tx.lock_database()?;
        let is_any_left = tx.spread_next_table()?;
        tx.commit()?;
        if !is_any_left {
            return Ok(());
        }
    }
}

pub(crate) fn unfinished_copy() -> Error {
    Error::corrupt("a copy into it was begun and not finished; run `aerogram copy` again with --start-over")
}

/// Marks the target of a copy, so that no node starts on it. It may have no tables yet, and no mark.
pub(crate) fn mark_unfinished(tx: &mut Tx<'_>) -> Result<()> {
    prepare_history(tx)?;
    let insert = "insert into schema_version (version, name, checksum) values (0, $1, '')";
    tx.execute(insert, &[UNFINISHED.into()])?;
    Ok(())
}

/// Removes the mark of [`mark_unfinished`].
pub(crate) fn mark_finished(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute("delete from schema_version where version = 0 and name = $1", &[UNFINISHED.into()])?;
    Ok(())
}

/// Fails for a database that another program has made, or a newer one.
pub(crate) fn history(tx: &mut Tx<'_>) -> Result<History> {
    let applied = applied(tx)?;
    if applied.first().is_some_and(AppliedStep::is_mark) {
        return Ok(History::Unfinished);
    }
    n_steps(&applied).map(History::Steps)
}

/// A row of the history.
struct AppliedStep {
    name: String,
    checksum: String,
}

impl AppliedStep {
    fn is_mark(&self) -> bool {
        self.name == UNFINISHED
    }
}

fn applied(tx: &mut Tx<'_>) -> Result<Vec<AppliedStep>> {
    tx.query("select name, checksum from schema_version order by version", &[], |row| {
        Ok(AppliedStep { name: row.next()?, checksum: row.next()? })
    })
}

/// How many steps were applied, all of which have to be ours.
fn n_steps(applied: &[AppliedStep]) -> Result<usize> {
    let steps = || applied.iter().filter(|step| !step.is_mark());
    for (index, AppliedStep { name, checksum: applied_checksum }) in steps().enumerate() {
        let Some(step) = STEPS.get(index) else {
            return Err(Error::corrupt(format!(
                "it was brought to version {} ({name}) by a newer program, and this one knows versions up to {}; \
                 run the newer program",
                applied.len(),
                STEPS.len()
            )));
        };
        // The content of the file counts, not its name.
        if checksum(step.sql) != *applied_checksum {
            return Err(Error::corrupt(format!(
                "its step {name} is not the step {} of this program; it was made by another build",
                step.name
            )));
        }
    }
    Ok(steps().count())
}

/// A statement ends with a semicolon at the end of a line.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(|statement| statement.trim().trim_end_matches(';')).filter(|statement| {
        statement.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
    })
}

fn checksum(sql: &str) -> String {
    let digest = digest::digest(&digest::SHA256, sql.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_their_place() {
        for (place, step) in (1..).zip(STEPS) {
            assert!(step.name.starts_with(&format!("{place:04}_")), "{} is step {place}", step.name);
        }
    }
}
