//! Attributes of channels and named users: their data beyond tags, each a name with a JSON value.
//!
//! Every value carries the time at which it was set, and of two writes the later one wins, whichever arrives
//! first. For that a removal is remembered: it is a row whose value is JSON's null, which no attribute can
//! have.

mod instances;
mod names;
mod of_recipients;

use std::collections::BTreeMap;

use model::ids::{AppId, NamedUserId, Ordinal};
use model::time::UtcMillis;

use crate::{Error, Result, Tx, Value};

pub use instances::{for_each_instance, for_each_instance_of_users, is_of};
pub use names::{Sample, first_name, sample};
pub use of_recipients::{among, for_each_between, for_each_of_users_between, of_channel, of_each_channel};

/// Whose attribute it is. A channel goes by its ordinal, written so that text sorts like numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Channel(Ordinal),
    NamedUser(NamedUserId),
}

/// One attribute to be set, or to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    pub name: String,
    /// JSON of the caller's making, never null; `None` removes the attribute.
    pub value: Option<String>,
    pub at: UtcMillis,
    /// When the value ends, if it does.
    pub expires: Option<UtcMillis>,
}

/// Names with their values, which are JSON.
pub type Values = BTreeMap<String, String>;

const CHANNEL: &str = "channel";
const NAMED_USER: &str = "named_user";
const REMOVED: &str = "null";
/// Of how many removals of one owner the time is remembered: of the latest.
const MOST_REMOVALS: u32 = 1000;

/// Carries out the writes, except those that are older than the stored value.
pub fn write(tx: &mut Tx<'_>, app: AppId, owner: &Owner, writes: &[Write]) -> Result<()> {
    set_all(tx, app, writes.iter().map(|write| (owner, write)))?;
    if writes.iter().any(|write| write.value.is_none()) {
        forget_old_removals(tx, app, owner)?;
    }
    Ok(())
}

/// The same for many owners, each attribute of one of which comes once. Old removals are not looked for.
pub fn set_all<'w>(
    tx: &mut Tx<'_>,
    app: AppId,
    writes: impl IntoIterator<Item = (&'w Owner, &'w Write)>,
) -> Result<()> {
    let rows = writes.into_iter().map(|(owner, write)| {
        let value = write.value.as_deref().unwrap_or(REMOVED);
        let [kind, id] = owner.columns();
        let expires = write.expires.filter(|_| write.value.is_some());
        [app.into(), kind, id, write.name.as_str().into(), value.into(), write.at.into(), expires.into()]
    });
    tx.write_many(
        "insert into attribute (app, owner_kind, owner, name, value, set_at, expires) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (app, owner_kind, owner, name)
         do update set value = excluded.value, set_at = excluded.set_at, expires = excluded.expires
         where excluded.set_at >= attribute.set_at",
        rows,
    )?;
    Ok(())
}

pub fn of_owner(tx: &mut Tx<'_>, app: AppId, owner: &Owner) -> Result<Values> {
    let [kind, id] = owner.columns();
    let rows = tx.query(
        "select name, value from attribute where app = $1 and owner_kind = $2 and owner = $3 and value <> $4",
        &[app.into(), kind, id, REMOVED.into()],
        |row| Ok((row.next()?, row.next()?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// As [`of_owner`], with the removals, whose value is `None`, and with the times at which they were set.
pub fn dated_of_owner(tx: &mut Tx<'_>, app: AppId, owner: &Owner) -> Result<Vec<Write>> {
    let [kind, id] = owner.columns();
    tx.query(
        "select name, value, set_at, expires from attribute where app = $1 and owner_kind = $2 and owner = $3",
        &[app.into(), kind, id],
        |row| {
            let (name, value): (String, String) = (row.next()?, row.next()?);
            Ok(Write { name, value: (value != REMOVED).then_some(value), at: row.next()?, expires: row.next()? })
        },
    )
}

/// The attributes of each of several owners, in their order.
pub fn of_owners(tx: &mut Tx<'_>, app: AppId, owners: &[Owner]) -> Result<Vec<Values>> {
    // The number of the owner comes back with each row: owners without attributes have none.
    let rows = tx.query_many(
        "select cast($5 as bigint), name, value from attribute
         where app = $1 and owner_kind = $2 and owner = $3 and value <> $4",
        (0_i64..).zip(owners).map(|(n, owner)| {
            let [kind, id] = owner.columns();
            [app.into(), kind, id, REMOVED.into(), n.into()]
        }),
        |row| Ok((row.next::<i64>()?, row.next()?, row.next()?)),
    )?;
    let mut found = vec![Values::new(); owners.len()];
    for (n, name, value) in rows {
        if let Some(values) = usize::try_from(n).ok().and_then(|n| found.get_mut(n)) {
            values.insert(name, value);
        }
    }
    Ok(found)
}

/// The attributes of all channels of a range of ordinals; channels without any are left out.
pub fn of_channels(tx: &mut Tx<'_>, app: AppId, first: Ordinal, last: Ordinal) -> Result<BTreeMap<Ordinal, Values>> {
    let mut found: BTreeMap<Ordinal, Values> = BTreeMap::new();
    tx.for_each(
        "select owner, name, value from attribute
         where app = $1 and owner_kind = $2 and owner between $3 and $4 and value <> $5",
        &[app.into(), CHANNEL.into(), stored(first).into(), stored(last).into(), REMOVED.into()],
        |row| {
            found.entry(ordinal(row.next()?)?).or_default().insert(row.next()?, row.next()?);
            Ok(())
        },
    )?;
    Ok(found)
}

/// Forgets everything about an owner, removals included.
pub fn forget(tx: &mut Tx<'_>, app: AppId, owner: &Owner) -> Result<()> {
    let [kind, id] = owner.columns();
    tx.write("delete from attribute where app = $1 and owner_kind = $2 and owner = $3", &[app.into(), kind, id])?;
    Ok(())
}

/// Gives some attributes of one owner to another, with the times they were set; of two the later one stays.
pub fn hand_over<'n>(
    tx: &mut Tx<'_>,
    app: AppId,
    from: &Owner,
    to: &Owner,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Result<()> {
    let rows = names.clone().map(|name| {
        let ([from_kind, from_id], [kind, id]) = (from.columns(), to.columns());
        [app.into(), from_kind, from_id, name.into(), kind, id]
    });
    tx.write_many(
        "insert into attribute (app, owner_kind, owner, name, value, set_at, expires)
         select app, $5, $6, name, value, set_at, expires from attribute
         where app = $1 and owner_kind = $2 and owner = $3 and name = $4
         on conflict (app, owner_kind, owner, name)
         do update set value = excluded.value, set_at = excluded.set_at, expires = excluded.expires
         where excluded.set_at >= attribute.set_at",
        rows,
    )?;
    forget_some(tx, app, from, names)
}

/// Forgets some attributes of an owner.
pub fn forget_some<'n>(tx: &mut Tx<'_>, app: AppId, owner: &Owner, names: impl Iterator<Item = &'n str>) -> Result<()> {
    let rows = names.map(|name| {
        let [kind, id] = owner.columns();
        [app.into(), kind, id, name.into()]
    });
    tx.write_many("delete from attribute where app = $1 and owner_kind = $2 and owner = $3 and name = $4", rows)?;
    Ok(())
}

/// Deletes up to `at_most` values that have ended, and returns how many.
pub fn forget_ended(tx: &mut Tx<'_>, app: AppId, now: UtcMillis, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from attribute where app = $1 and (owner_kind, owner, name) in
         (select owner_kind, owner, name from attribute where app = $1 and expires <= $2 order by expires limit $3)",
        &[app.into(), now.into(), at_most.into()],
    )
}

/// Visits every channel that has an attribute of its own, in no order, with its value. There may be millions,
/// so they are not collected.
pub fn for_each_channel(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    mut visit: impl FnMut(Ordinal, &str) -> Result<()>,
) -> Result<()> {
    // Each length is that of an index, which has the short values in it.
    let short = "select owner, value from attribute
                 where app = $1 and name = $2 and owner_kind = $3 and value <> $4 and length(value) <= 300";
    let long = "select owner, value from attribute
                where app = $1 and name = $2 and owner_kind = $3 and value <> $4 and length(value) > 300";
    let params = [app.into(), name.into(), CHANNEL.into(), REMOVED.into()];
    for sql in [short, long] {
        tx.for_each(sql, &params, |row| visit(ordinal(row.next()?)?, row.next()?))?;
    }
    Ok(())
}

/// Visits the installed channels of every named user that has an attribute, with the user's value.
pub fn for_each_channel_of_users(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    mut visit: impl FnMut(Ordinal, &str) -> Result<()>,
) -> Result<()> {
    // A cross join, because SQLite would begin with all channels that have a user; written so, it begins with
    // the attribute.
    let short = "select c.ordinal, a.value from attribute a cross join channel c
                 where a.app = $1 and a.name = $2 and a.owner_kind = $3 and a.value <> $4 and length(a.value) <= 300
                 and c.app = a.app and c.named_user = a.owner and c.installed = 1";
    let long = "select c.ordinal, a.value from attribute a cross join channel c
                where a.app = $1 and a.name = $2 and a.owner_kind = $3 and a.value <> $4 and length(a.value) > 300
                and c.app = a.app and c.named_user = a.owner and c.installed = 1";
    let params = [app.into(), name.into(), NAMED_USER.into(), REMOVED.into()];
    for sql in [short, long] {
        tx.for_each(sql, &params, |row| visit(row.next()?, row.next()?))?;
    }
    Ok(())
}

/// Without this, removing ever new names would fill the table.
fn forget_old_removals(tx: &mut Tx<'_>, app: AppId, owner: &Owner) -> Result<()> {
    let [kind, id] = owner.columns();
    tx.write(
        "delete from attribute where app = $1 and owner_kind = $2 and owner = $3 and value = $4 and set_at <= (
             select set_at from attribute where app = $1 and owner_kind = $2 and owner = $3 and value = $4
             order by set_at desc limit 1 offset $5)",
        &[app.into(), kind, id, REMOVED.into(), MOST_REMOVALS.into()],
    )?;
    Ok(())
}

impl Owner {
    fn columns(&self) -> [Value; 2] {
        match self {
            Owner::Channel(ordinal) => [CHANNEL.into(), stored(*ordinal).into()],
            Owner::NamedUser(id) => [NAMED_USER.into(), id.into()],
        }
    }
}

pub(crate) fn stored(Ordinal(number): Ordinal) -> String {
    format!("{number:010}")
}

fn ordinal(stored: &str) -> Result<Ordinal> {
    stored.parse().map(Ordinal).map_err(|_| Error::corrupt(format!("an attribute of the channel {stored:?}")))
}
