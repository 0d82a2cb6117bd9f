//! Attributes as pushes read them: one name, for all channels of a range or for a few far apart; and all of one channel.

use std::collections::BTreeMap;

use model::ids::{AppId, Ordinal};

use super::{CHANNEL, NAMED_USER, Owner, REMOVED, Values, of_owner, of_owners, ordinal, stored};
use crate::{Result, Tx};

/// Visits the channels of a range that have an attribute of their own, in no order, with its value.
pub fn for_each_between(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    (first, last): (Ordinal, Ordinal),
    mut visit: impl FnMut(Ordinal, &str) -> Result<()>,
) -> Result<()> {
    // Each length is that of an index, which has the short values in it.
    let short = "select owner, value from attribute
                 where app = $1 and name = $2 and owner_kind = $3 and owner between $4 and $5 and value <> $6
                 and length(value) <= 300";
    let long = "select owner, value from attribute
                where app = $1 and name = $2 and owner_kind = $3 and owner between $4 and $5 and value <> $6
                and length(value) > 300";
    let params = [app.into(), name.into(), CHANNEL.into(), stored(first).into(), stored(last).into(), REMOVED.into()];
    for sql in [short, long] {
        tx.for_each(sql, &params, |row| visit(ordinal(row.next()?)?, row.next()?))?;
    }
    Ok(())
}

/// Visits the installed channels of a range whose named user has an attribute, with the user's value.
pub fn for_each_of_users_between(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    (first, last): (Ordinal, Ordinal),
    mut visit: impl FnMut(Ordinal, &str) -> Result<()>,
) -> Result<()> {
    // A cross join, so that SQLite begins with the channels, whose range is small.
    tx.for_each(
        "select c.ordinal, a.value from channel c cross join attribute a
         where c.app = $1 and c.ordinal between $2 and $3 and c.installed = 1
         and a.app = c.app and a.owner_kind = $4 and a.owner = c.named_user and a.name = $5 and a.value <> $6",
        &[app.into(), first.into(), last.into(), NAMED_USER.into(), name.into(), REMOVED.into()],
        |row| visit(row.next()?, row.next()?),
    )
}

/// The values of an attribute of each of some channels, their own or else that of their named user. Channels without one are left
/// out.
pub fn among(tx: &mut Tx<'_>, app: AppId, name: &str, channels: &[Ordinal]) -> Result<Vec<(Ordinal, String)>> {
    let of_users = tx.query_many(
        "select c.ordinal, a.value from channel c cross join attribute a
         where c.app = $1 and c.ordinal = $2 and c.installed = 1
         and a.app = c.app and a.owner_kind = $3 and a.owner = c.named_user and a.name = $4 and a.value <> $5",
        channels.iter().map(|channel| [app.into(), (*channel).into(), NAMED_USER.into(), name.into(), REMOVED.into()]),
        |row| Ok((row.next()?, row.next()?)),
    )?;
    let own: Vec<(String, String)> = tx.query_many(
        "select owner, value from attribute
         where app = $1 and owner_kind = $2 and owner = $3 and name = $4 and value <> $5",
        channels
            .iter()
            .map(|channel| [app.into(), CHANNEL.into(), stored(*channel).into(), name.into(), REMOVED.into()]),
        |row| Ok((row.next()?, row.next()?)),
    )?;
    let mut all: Vec<(Ordinal, String)> = of_users;
    for (owner, value) in own {
        all.push((ordinal(&owner)?, value));
    }
    Ok(all)
}

/// All attributes of an installed channel: its own, and those of its named user.
pub fn of_channel(tx: &mut Tx<'_>, app: AppId, channel: Ordinal) -> Result<[Values; 2]> {
    let of_user = tx.query(
        "select a.name, a.value from channel c cross join attribute a
         where c.app = $1 and c.ordinal = $2 and c.installed = 1
         and a.app = c.app and a.owner_kind = $3 and a.owner = c.named_user and a.value <> $4",
        &[app.into(), channel.into(), NAMED_USER.into(), REMOVED.into()],
        |row| Ok((row.next()?, row.next()?)),
    )?;
    Ok([of_owner(tx, app, &Owner::Channel(channel))?, of_user.into_iter().collect()])
}

/// As [`of_channel`], for each of several channels, which are different ones.
pub fn of_each_channel(tx: &mut Tx<'_>, app: AppId, channels: &[Ordinal]) -> Result<BTreeMap<Ordinal, [Values; 2]>> {
    let of_users: Vec<(Ordinal, String, String)> = tx.query_many(
        "select c.ordinal, a.name, a.value from channel c cross join attribute a
         where c.app = $1 and c.ordinal = $2 and c.installed = 1
         and a.app = c.app and a.owner_kind = $3 and a.owner = c.named_user and a.value <> $4",
        channels.iter().map(|channel| [app.into(), (*channel).into(), NAMED_USER.into(), REMOVED.into()]),
        |row| Ok((row.next()?, row.next()?, row.next()?)),
    )?;
    let owners: Vec<Owner> = channels.iter().copied().map(Owner::Channel).collect();
    let own = of_owners(tx, app, &owners)?.into_iter().map(|own| [own, Values::new()]);
    let mut found: BTreeMap<Ordinal, [Values; 2]> = channels.iter().copied().zip(own).collect();
    for (channel, name, value) in of_users {
        if let Some([_, of_user]) = found.get_mut(&channel) {
            of_user.insert(name, value);
        }
    }
    Ok(found)
}
