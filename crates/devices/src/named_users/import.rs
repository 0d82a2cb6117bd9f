//! Import of what named users hold themselves: hundreds of users in one transaction, read and written together. It writes no
//! events, as the import of channels does not: people have had these tags for long.

use std::collections::{HashMap, HashSet};

use base::{Error, Result};
use boxed::boxed;
use model::channel::{ImportedUser, TagOperation};
use model::ids::{AppId, NamedUserId};
use model::limits;
use model::subscription::Subscription;
use model::term::Term;
use store::attributes::{self, Owner, Write};
use store::{Tx, named_users};

use crate::attributes::{Attributes, read};
use crate::change_context::ChangeContext;
use crate::channels::RefusedRow;
use crate::holdings::Holdings;
use crate::room::{Full, Limit, Room};
use crate::{Author, Devices};

/// What a user holds, and the line of the file that tells of it.
#[derive(Clone, Debug)]
pub struct ImportUserRow {
    pub line: u64,
    pub user: ImportedUser,
}

/// What became of rows about users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportUsersReport {
    /// Users who have now what their rows say, whether or not anything about them is new.
    pub n_users: u64,
    pub refused: Vec<RefusedRow>,
}

#[boxed]
impl Devices {
    /// Imports what users hold, who are created if necessary. Repeating it changes nothing more.
    pub async fn import_users(&self, app: AppId, rows: Vec<ImportUserRow>) -> Result<ImportUsersReport> {
        let mut report = ImportUsersReport::default();
        for part in apart(rows) {
            let n_rows = part.len();
            let refused = self.change_audience(app, move |tx, context| import(tx, context, &part)).await?;
            report.n_users += (n_rows - refused.len()) as u64;
            report.refused.extend(refused);
        }
        Ok(report)
    }
}

/// Cuts rows into parts, each for a transaction of its own, in which no two rows are about the same user. Rows about one user keep
/// their order.
fn apart(rows: Vec<ImportUserRow>) -> Vec<Vec<ImportUserRow>> {
    let (mut parts, mut left) = (Vec::new(), rows);
    while !left.is_empty() {
        let mut users = HashSet::new();
        let (part, later) = left.into_iter().partition(|row: &ImportUserRow| users.insert(row.user.id.clone()));
        parts.push(part);
        left = later;
    }
    parts
}

/// Nothing is written about a user whose row is refused.
fn import(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, rows: &[ImportUserRow]) -> Result<Vec<RefusedRow>> {
    let owners: Vec<Owner> = rows.iter().map(|row| Owner::NamedUser(row.user.id.clone())).collect();
    let held = attributes::of_owners(tx, context.app, &owners)?;
    let (mut admitted, mut refused) = (Vec::with_capacity(rows.len()), Vec::new());
    for ((row, owner), held) in rows.iter().zip(&owners).zip(held) {
        let held = read(held)?;
        match room_for_attributes(&held, &row.user) {
            Ok(()) => admitted.push((row, owner, held)),
            Err(full) => refused.push(refusal(row, full)),
        }
    }

    let by_id: HashMap<&NamedUserId, &ImportedUser> =
        admitted.iter().map(|(row, ..)| (&row.user.id, &row.user)).collect();
    let said = by_id.values().flat_map(|user| {
        let mut said = Holdings::default();
        give(user, &mut said);
        said.terms()
    });
    context.look_up_numbers(tx, said)?;
    let ids: Vec<NamedUserId> = admitted.iter().map(|(row, ..)| row.user.id.clone()).collect();
    let full = context.change_or_create(tx, &ids, Author::Servers, |id, holdings| {
        if let Some(user) = by_id.get(id) {
            give(user, holdings);
        }
    })?;
    let mut full: HashMap<NamedUserId, Full> = full.into_iter().collect();

    let mut writes = Vec::new();
    for (row, owner, held) in &admitted {
        match full.remove(&row.user.id) {
            Some(full) => refused.push(refusal(row, full)),
            None => {
                let new = new_attributes(context, held, &row.user)?;
                if !new.is_empty() {
                    named_users::touch(tx, context.app, &row.user.id, context.journal.now())?;
                }
                writes.extend(new.into_iter().map(|write| (*owner, write)));
            }
        }
    }
    attributes::set_all(tx, context.app, writes.iter().map(|(owner, write)| (*owner, write)))?;
    context.journal.forget_events();
    Ok(refused)
}

fn give(user: &ImportedUser, holdings: &mut Holdings) {
    TagOperation::Set(user.tags.clone()).apply(&mut holdings.tags);
    for (scope, lists) in &user.subscriptions {
        let terms = lists.iter().map(|list| Subscription { list: list.clone(), scope: Some(*scope) });
        holdings.memberships.extend(terms.map(Term::Subscription));
    }
}

fn room_for_attributes(held: &Attributes, user: &ImportedUser) -> Room {
    let n_new = user.attributes.keys().filter(|key| !held.contains_key(key.as_str())).count();
    Limit::whole(limits::ATTRIBUTES_PER_OWNER).check(held.len(), held.len() + n_new, "attributes", "attributes")
}

/// Those that are not held with the same values, and objects in any case, which last longer for it.
fn new_attributes(context: &ChangeContext<'_>, held: &Attributes, user: &ImportedUser) -> Result<Vec<Write>> {
    let now = context.journal.now();
    let mut writes = Vec::new();
    for (name, value) in &user.attributes {
        let expires = value.ends(now);
        if expires.is_some() || held.get(name.as_str()) != Some(value) {
            let value = serde_json::to_string(value).map_err(Error::internal)?;
            writes.push(Write { name: name.as_str().to_owned(), value: Some(value), at: now, expires });
        }
    }
    Ok(writes)
}

fn refusal(row: &ImportUserRow, full: Full) -> RefusedRow {
    let path = match full.path() {
        "" => "named_user.tags".to_owned(),
        path => format!("named_user.{path}"),
    };
    RefusedRow { line: row.line, path, message: full.into_message() }
}
