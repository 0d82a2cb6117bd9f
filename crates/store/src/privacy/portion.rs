//! A portion of the work on one table: what a transaction reads and changes at once.

use model::ids::AppId;
use model::privacy::Redaction;

use super::plan::{By, Entry, PLAN, Treatment};
use super::{Person, cleaning, lists, owned, webhooks};
use crate::db::copying::Table;
use crate::{Error, Result, Tx, Value, faces, inbox_users};

/// The key of the last row that was looked at.
pub type After = Vec<Value>;

/// Some of the work on a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portion {
    /// Rows about the person.
    pub n_found: u64,
    /// Where to go on; `None` at the end.
    pub next: Option<After>,
}

/// Whose rows are looked for.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    pub app: AppId,
    pub person: &'a Person,
    pub redaction: &'a Redaction,
    pub catalog: &'a Catalog,
}

/// The tables with their columns and keys.
#[derive(Clone, Debug)]
pub struct Catalog(Vec<Table>);

impl Catalog {
    pub fn read(tx: &mut Tx<'_>) -> Result<Self> {
        tx.tables().map(Self)
    }

    pub(super) fn table(&self, name: &str) -> Result<&Table> {
        let found = self.0.iter().find(|table| table.name == name);
        found.ok_or_else(|| Error::corrupt(format!("there is no table {name}")))
    }
}

/// Erases some of the rows of a table. Safe to repeat: what is gone is not found again. The log and the sealed answers are left to
/// the caller.
pub fn erase_some(tx: &mut Tx<'_>, work: &Work<'_>, entry: &Entry, after: Option<&After>) -> Result<Portion> {
    let found = |n_found| Portion { n_found, next: None };
    match entry.treatment {
        Treatment::Owned(finders) => owned::delete(tx, work, entry.table, finders).map(found),
        Treatment::Cleaned(cleaned) => cleaning::clean_some(tx, work, entry.table, cleaned, after),
        Treatment::Faces => erase_faces(tx, work, entry.table, after),
        Treatment::ListMembers => lists::delete_some(tx, work, after),
        Treatment::Inboxes => {
            for user in work.person.values(By::InboxUser) {
                inbox_users::erase_login(tx, work.app, user)?;
            }
            owned::delete(tx, work, entry.table, owned::INBOXES).map(found)
        }
        Treatment::Sandbox => erase_sandbox(tx, work, entry.table, after),
        Treatment::DeadLetters => webhooks::delete_some_letters(tx, work, after),
        Treatment::History => webhooks::delete_some_history(tx, work, after),
        Treatment::Exports => owned::delete_exports(tx, work).map(found),
        Treatment::Log | Treatment::Answers | Treatment::Kept(_) => Ok(Portion::default()),
    }
}

/// Deletes the rows that are found by the name of the user.
pub fn erase_by_name(tx: &mut Tx<'_>, app: AppId, person: &Person) -> Result<()> {
    for entry in PLAN {
        if let Treatment::Owned(finders) = entry.treatment {
            owned::delete_by(tx, app, person, By::NamedUser, entry.table, finders)?;
        }
    }
    Ok(())
}

/// How many rows of a table are found by an id of the person; `None` for tables where they are found otherwise.
pub fn count_owned(tx: &mut Tx<'_>, app: AppId, person: &Person, entry: &Entry) -> Result<Option<u64>> {
    match entry.treatment {
        Treatment::Owned(finders) => owned::count(tx, app, person, entry.table, finders).map(Some),
        _ => Ok(None),
    }
}

/// Writes some of the rows of a table as lines of JSON, each with the name of its `table`.
pub fn export_some(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    entry: &Entry,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Portion> {
    let n_before = lines.len();
    let next = match entry.treatment {
        Treatment::Owned(finders) => owned::export(tx, work, entry.table, finders, lines).map(|()| None),
        Treatment::Cleaned(cleaned) => cleaning::tell_some(tx, work, entry.table, cleaned, after, lines),
        Treatment::Faces => owned::export(tx, work, entry.table, owned::BY_ORDINAL, lines).map(|()| None),
        Treatment::ListMembers => lists::export_some(tx, work, after, lines),
        Treatment::Inboxes => owned::export(tx, work, entry.table, owned::INBOXES, lines).map(|()| None),
        Treatment::Sandbox => owned::export(tx, work, entry.table, owned::SANDBOX, lines).map(|()| None),
        Treatment::DeadLetters => webhooks::export_some_letters(tx, work, after, lines),
        Treatment::History => webhooks::export_some_history(tx, work, after, lines),
        Treatment::Exports | Treatment::Log | Treatment::Answers | Treatment::Kept(_) => Ok(None),
    }?;
    Ok(Portion { n_found: (lines.len() - n_before) as u64, next })
}

/// First the deliveries to the person's channels, then those to others that name the person.
fn erase_sandbox(tx: &mut Tx<'_>, work: &Work<'_>, table: &str, after: Option<&After>) -> Result<Portion> {
    let n_found = if after.is_none() { owned::delete(tx, work, table, owned::SANDBOX)? } else { 0 };
    let portion = cleaning::clean_some(tx, work, table, cleaning::SANDBOX, after)?;
    Ok(Portion { n_found: n_found + portion.n_found, ..portion })
}

/// First those of the person's channels, then those of others that name the person.
fn erase_faces(tx: &mut Tx<'_>, work: &Work<'_>, table: &str, after: Option<&After>) -> Result<Portion> {
    let mut n_found = 0;
    if after.is_none() {
        for channel in &work.person.channels {
            n_found += faces::forget(tx, work.app, channel.ordinal)?;
        }
        for user in work.person.values(By::NamedUser) {
            n_found += faces::forget_user(tx, work.app, user)?;
        }
    }
    let portion = cleaning::clean_some(tx, work, table, cleaning::FACES, after)?;
    Ok(Portion { n_found: n_found + portion.n_found, ..portion })
}
