//! A portion of the work on one table. It is searched in a transaction that only reads, so that nobody waits for the search;
//! another transaction changes what was found, after a second look at those rows.

use model::ids::AppId;
use model::privacy::Redaction;

use super::plan::{By, Entry, PLAN, Treatment};
use super::{Person, cleaning, lists, outcomes, owned, webhooks};
use crate::db::copying::Table;
use crate::{Error, Result, Tx, Value, faces, inbox_users};

/// The key of the last row that was looked at.
pub type After = Vec<Value>;

/// What a search has found in some rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Whether rows are to be deleted by an id of the person.
    pub is_by_id: bool,
    /// The keys of rows about the person, or that name the person.
    pub keys: Vec<After>,
    /// Where to go on; `None` at the end.
    pub next: Option<After>,
}

impl Found {
    pub fn is_empty(&self) -> bool {
        !self.is_by_id && self.keys.is_empty()
    }
}

/// Some rows of a table that were exported.
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

/// Searches some rows of a table for the person, in a transaction that only reads. The log and the sealed answers are left to the
/// caller.
pub fn search(tx: &mut Tx<'_>, work: &Work<'_>, entry: &Entry, after: Option<&After>) -> Result<Found> {
    let is_first = after.is_none();
    let by_id = |is_by_id| Ok(Found { is_by_id, ..Found::default() });
    let by_key = |(keys, next)| Found { is_by_id: false, keys, next };
    match entry.treatment {
        Treatment::Owned(finders) => by_id(owned::count(tx, work.app, work.person, entry.table, finders)? > 0),
        Treatment::Inboxes => by_id(!work.person.inbox_users.is_empty()),
        Treatment::Exports => by_id(true),
        Treatment::Cleaned(cleaned) => cleaning::search(tx, work, entry.table, cleaned, after).map(by_key),
        Treatment::Documents => cleaning::search(tx, work, entry.table, cleaning::DOCUMENTS, after).map(by_key),
        Treatment::Faces => {
            let found = cleaning::search(tx, work, entry.table, cleaning::FACES, after).map(by_key)?;
            Ok(Found { is_by_id: is_first, ..found })
        }
        Treatment::Sandbox => {
            let found = cleaning::search(tx, work, entry.table, cleaning::SANDBOX, after).map(by_key)?;
            Ok(Found { is_by_id: is_first, ..found })
        }
        Treatment::ListMembers => lists::search(tx, work.app, work.person, after).map(by_key),
        Treatment::DeadLetters => webhooks::search_letters(tx, work, after).map(by_key),
        Treatment::History => webhooks::search_history(tx, work, after).map(by_key),
        Treatment::Outcomes => outcomes::search(tx, work, after).map(by_key),
        Treatment::Log | Treatment::Answers | Treatment::Kept(_) => Ok(Found::default()),
    }
}

/// Erases what a search has found, as far as it is still there and about the person; returns how many rows that were. Safe to
/// repeat: what is gone is not found again. The log, the outcomes, the documents and the sealed answers are left to the caller.
pub fn erase(tx: &mut Tx<'_>, work: &Work<'_>, entry: &Entry, found: &Found) -> Result<u64> {
    let (table, keys) = (entry.table, found.keys.as_slice());
    match entry.treatment {
        Treatment::Owned(finders) => owned::delete(tx, work, table, finders),
        Treatment::Inboxes => {
            for user in work.person.values(By::InboxUser) {
                inbox_users::erase_login(tx, work.app, user)?;
            }
            owned::delete(tx, work, table, owned::INBOXES)
        }
        Treatment::Exports => owned::delete_exports(tx, work),
        Treatment::Cleaned(cleaned) => cleaning::clean(tx, work, table, cleaned, keys),
        Treatment::Faces => {
            let n_deleted = if found.is_by_id { forget_faces(tx, work)? } else { 0 };
            Ok(n_deleted + cleaning::clean(tx, work, table, cleaning::FACES, keys)?)
        }
        Treatment::Sandbox => {
            let n_deleted = if found.is_by_id { owned::delete(tx, work, table, owned::SANDBOX)? } else { 0 };
            Ok(n_deleted + cleaning::clean(tx, work, table, cleaning::SANDBOX, keys)?)
        }
        Treatment::ListMembers => lists::delete(tx, work.app, keys),
        Treatment::DeadLetters => webhooks::delete_letters(tx, work, keys),
        Treatment::History => webhooks::delete_history(tx, work, keys),
        Treatment::Log | Treatment::Answers | Treatment::Outcomes | Treatment::Documents | Treatment::Kept(_) => Ok(0),
    }
}

/// Deletes what the channels of the person looked like, and forgets that others were the person's.
fn forget_faces(tx: &mut Tx<'_>, work: &Work<'_>) -> Result<u64> {
    let mut n_deleted = 0;
    for channel in &work.person.channels {
        n_deleted += faces::forget(tx, work.app, channel.ordinal)?;
    }
    for user in work.person.values(By::NamedUser) {
        n_deleted += faces::forget_user(tx, work.app, user)?;
    }
    Ok(n_deleted)
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
        Treatment::Documents => cleaning::tell_some(tx, work, entry.table, cleaning::DOCUMENTS, after, lines),
        Treatment::Faces => owned::export(tx, work, entry.table, owned::BY_ORDINAL, lines).map(|()| None),
        Treatment::ListMembers => lists::export_some(tx, work, after, lines),
        Treatment::Inboxes => owned::export(tx, work, entry.table, owned::INBOXES, lines).map(|()| None),
        Treatment::Sandbox => owned::export(tx, work, entry.table, owned::SANDBOX, lines).map(|()| None),
        Treatment::DeadLetters => webhooks::export_some_letters(tx, work, after, lines),
        Treatment::History => webhooks::export_some_history(tx, work, after, lines),
        Treatment::Outcomes => outcomes::tell(tx, work, after, lines),
        Treatment::Exports | Treatment::Log | Treatment::Answers | Treatment::Kept(_) => Ok(None),
    }?;
    Ok(Portion { n_found: (lines.len() - n_before) as u64, next })
}
