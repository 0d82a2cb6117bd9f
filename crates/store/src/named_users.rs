//! Named users: people with several channels, whose tags count for all of them.

use std::collections::HashMap;

use model::channel::{ChannelRef, ClaimedType};
use model::ids::{AppId, ChannelId, NamedUserId, TermId};
use model::named_user::Association;
use model::time::UtcMillis;

use crate::channels::{self, Channel};
use crate::{Error, Result, Row, Tx, Value, terms};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedUser {
    pub id: NamedUserId,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    /// The terms that the user's channels get from it, sorted.
    pub terms: Vec<TermId>,
}

const BY_ID: &str = "select id, created, modified, terms from named_user where app = $1 and id = $2";

pub fn get(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId) -> Result<Option<NamedUser>> {
    tx.query_opt(BY_ID, &[app.into(), id.into()], read_user)
}

/// The users that exist, out of those given.
pub fn among(tx: &mut Tx<'_>, app: AppId, ids: &[NamedUserId]) -> Result<Vec<NamedUser>> {
    tx.query_many(BY_ID, ids.iter().map(|id| [app.into(), id.into()]), read_user)
}

/// The user, created if it does not exist yet.
pub fn ensure(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId, now: UtcMillis) -> Result<NamedUser> {
    if let Some(user) = get(tx, app, id)? {
        return Ok(user);
    }
    let user = NamedUser { id: id.clone(), created: now, modified: now, terms: Vec::new() };
    tx.write(
        "insert into named_user (app, id, created, modified, terms) values ($1, $2, $3, $3, $4)",
        &[app.into(), id.into(), now.into(), terms::encode(&user.terms).into()],
    )?;
    Ok(user)
}

/// Creates users that do not exist yet, all with the same terms.
pub fn insert_many(tx: &mut Tx<'_>, app: AppId, ids: &[NamedUserId], terms: &[TermId], now: UtcMillis) -> Result<()> {
    let row = |id: &NamedUserId| [app.into(), id.into(), now.into(), terms::encode(terms).into()];
    let sql = "insert into named_user (app, id, created, modified, terms) values ($1, $2, $3, $3, $4)";
    tx.write_many(sql, ids.iter().map(row))?;
    Ok(())
}

/// Writes what can change about users.
pub fn save<'u>(tx: &mut Tx<'_>, app: AppId, users: impl IntoIterator<Item = &'u NamedUser>) -> Result<()> {
    let row = |user: &NamedUser| {
        [app.into(), (&user.id).into(), user.modified.into(), Value::from(terms::encode(&user.terms))]
    };
    let sql = "update named_user set modified = $3, terms = $4 where app = $1 and id = $2";
    tx.write_many(sql, users.into_iter().map(row))?;
    Ok(())
}

/// Notes that something about a user changed.
pub fn touch(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId, now: UtcMillis) -> Result<()> {
    let sql = "update named_user set modified = $3 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), id.into(), now.into()])?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId) -> Result<bool> {
    Ok(tx.execute("delete from named_user where app = $1 and id = $2", &[app.into(), id.into()])? > 0)
}

/// Up to `at_most` users in order of their ids, beginning with `start`.
pub fn page(tx: &mut Tx<'_>, app: AppId, start: Option<&NamedUserId>, at_most: u32) -> Result<Vec<NamedUser>> {
    let start = start.map_or("", NamedUserId::as_str);
    tx.query(
        "select id, created, modified, terms from named_user where app = $1 and id >= $2 order by id limit $3",
        &[app.into(), start.into(), at_most.into()],
        read_user,
    )
}

/// The channels of users, in the order they were made.
pub fn channels_of_all<'u>(
    tx: &mut Tx<'_>,
    app: AppId,
    ids: impl IntoIterator<Item = &'u NamedUserId>,
) -> Result<Vec<Channel>> {
    channels::by_named_users(tx, app, ids)
}

/// The channels of a user, in the order they were made.
pub fn channels_of(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId) -> Result<Vec<Channel>> {
    channels::by_named_users(tx, app, [id])
}

/// How many users an app has.
pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<u64> {
    let n_users: i64 =
        tx.query_one("select count(*) from named_user where app = $1", &[app.into()], |row| row.get(0))?;
    Ok(u64::try_from(n_users).unwrap_or(0))
}

/// How many channels a user has.
pub fn count_channels(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId) -> Result<usize> {
    let sql = "select count(*) from channel where app = $1 and named_user = $2";
    let n_channels: i64 = tx.query_one(sql, &[app.into(), id.into()], |row| row.get(0))?;
    Ok(usize::try_from(n_channels).unwrap_or(0))
}

/// How many channels each of several users has; those without channels are left out.
pub fn count_channels_of_all<'u>(
    tx: &mut Tx<'_>,
    app: AppId,
    ids: impl IntoIterator<Item = &'u NamedUserId>,
) -> Result<HashMap<NamedUserId, usize>> {
    let sql = "select named_user from channel where app = $1 and named_user = $2";
    let found = tx.query_many(sql, ids.into_iter().map(|id| [app.into(), id.into()]), |row| read_id(row.next()?))?;
    let mut counts = HashMap::new();
    for user in found {
        *counts.entry(user).or_default() += 1;
    }
    Ok(counts)
}

/// How many channels that have not registered yet are promised to a user.
pub fn count_pending(tx: &mut Tx<'_>, app: AppId, id: &NamedUserId) -> Result<usize> {
    let sql = "select count(*) from pending_association where app = $1 and named_user = $2";
    let n_channels: i64 = tx.query_one(sql, &[app.into(), id.into()], |row| row.get(0))?;
    Ok(usize::try_from(n_channels).unwrap_or(0))
}

/// Remembers an association for a channel that has not registered yet. The newest one counts.
pub fn put_pending(
    tx: &mut Tx<'_>,
    app: AppId,
    channel: &ChannelRef,
    user: &NamedUserId,
    now: UtcMillis,
) -> Result<()> {
    let claimed = channel.claimed.as_ref().map(ClaimedType::to_string);
    tx.write(
        "insert into pending_association (app, channel, named_user, created, device_type) values ($1, $2, $3, $4, $5)
         on conflict (app, channel) do update
         set named_user = excluded.named_user, created = excluded.created, device_type = excluded.device_type",
        &[app.into(), channel.id.into(), user.into(), now.into(), claimed.into()],
    )?;
    Ok(())
}

/// The association that waits for a channel.
pub fn pending(tx: &mut Tx<'_>, app: AppId, channel: ChannelId) -> Result<Option<Association>> {
    let sql = "select named_user, device_type from pending_association where app = $1 and channel = $2";
    tx.query_opt(sql, &[app.into(), channel.into()], |row| {
        let read_claim = |name| {
            ClaimedType::from_name(name)
                .ok_or_else(|| Error::corrupt(format!("device type {name:?} of an association")))
        };
        let named_user_id = read_id(row.next()?)?;
        let claimed = row.next::<Option<&str>>()?.map(read_claim).transpose()?;
        Ok(Association { channel: ChannelRef { id: channel, claimed }, named_user_id })
    })
}

/// The channels that an association waits for, of those given.
pub fn pending_among(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: impl IntoIterator<Item = ChannelId>,
) -> Result<Vec<ChannelId>> {
    let sql = "select channel from pending_association where app = $1 and channel = $2";
    tx.query_many(sql, channels.into_iter().map(|channel| [app.into(), channel.into()]), |row| row.get(0))
}

pub fn delete_pending(tx: &mut Tx<'_>, app: AppId, channel: ChannelId) -> Result<()> {
    let sql = "delete from pending_association where app = $1 and channel = $2";
    tx.write(sql, &[app.into(), channel.into()])?;
    Ok(())
}

/// Forgets the associations that wait for a user.
pub fn forget_pending(tx: &mut Tx<'_>, app: AppId, user: &NamedUserId) -> Result<()> {
    let sql = "delete from pending_association where app = $1 and named_user = $2";
    tx.write(sql, &[app.into(), user.into()])?;
    Ok(())
}

/// Forgets up to `at_most` associations that have waited since before an instant. Returns whether any may be
/// left.
pub fn forget_pending_before(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis, at_most: u32) -> Result<bool> {
    let sql = "delete from pending_association where app = $1 and channel in
               (select channel from pending_association where app = $1 and created < $2 order by created limit $3)";
    Ok(tx.execute(sql, &[app.into(), instant.into(), at_most.into()])? == u64::from(at_most))
}

fn read_user(row: &Row<'_>) -> Result<NamedUser> {
    Ok(NamedUser {
        id: read_id(row.next()?)?,
        created: row.next()?,
        modified: row.next()?,
        terms: terms::decode(row.next()?)?,
    })
}

pub(crate) fn read_id(text: &str) -> Result<NamedUserId> {
    NamedUserId::new(text).map_err(|_| Error::corrupt(format!("named user {text:?}")))
}
