//! Users of inboxes, their channels, and the messages they have read and deleted.

use model::app::AppKey;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, Ordinal};
use model::inbox::InboxUserId;
use model::time::UtcMillis;

use crate::apps::read_key;
use crate::{Error, Result, Row, Tx, Value, ordinals};

/// Whose a user is, and what proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxCredentials {
    pub app: AppId,
    pub app_key: AppKey,
    pub password_hash: [u8; 32],
}

/// The data of a user beside its password. The sets are serialized and opaque to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxUser {
    /// When the inbox last changed by something that was done to this user alone.
    pub changed: UtcMillis,
    pub read: Vec<u8>,
    pub deleted: Vec<u8>,
}

/// A channel of a user, as far as it matters to the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxChannel {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub device_type: DeviceType,
    pub language: Option<String>,
    pub country: Option<String>,
    pub installed: bool,
}

/// Fails with a conflict of the primary key of `inbox_login` when any app has a user of this id.
pub fn insert(
    tx: &mut Tx<'_>,
    app: AppId,
    id: &InboxUserId,
    password_hash: &[u8; 32],
    now: UtcMillis,
    nothing: Vec<u8>,
) -> Result<()> {
    tx.execute(
        "insert into inbox_login (id, owner, password_hash) values ($1, $2, $3)",
        &[id.as_str().into(), app.into(), password_hash.to_vec().into()],
    )?;
    tx.write(
        "insert into inbox_user (app, id, created, changed, read_messages, deleted_messages)
         values ($1, $2, $3, $3, $4, $4)",
        &[app.into(), id.as_str().into(), now.into(), nothing.into()],
    )
}

/// Like the key of an app, the id of a user is known before its app is.
pub fn credentials(tx: &mut Tx<'_>, id: &InboxUserId) -> Result<Option<InboxCredentials>> {
    let sql = "select l.owner, a.key, l.password_hash from inbox_login l join app a on a.id = l.owner where l.id = $1";
    tx.query_opt(sql, &[id.as_str().into()], |row| {
        let (app, app_key, hash) = (row.next()?, read_key(row.next()?)?, row.next::<&[u8]>()?);
        let password_hash = hash.try_into().map_err(|_| Error::corrupt("a password hash is not 32 bytes long"))?;
        Ok(InboxCredentials { app, app_key, password_hash })
    })
}

/// Deletes the passwords of the first users of an app that is gone, before these are deleted.
pub(crate) fn erase_logins(tx: &mut Tx<'_>, app: AppId, at_most: i64) -> Result<()> {
    let sql = "select id from inbox_user where app = $1 order by id limit $2";
    let ids: Vec<String> = tx.query(sql, &[app.into(), at_most.into()], |row| row.get(0))?;
    let delete = "delete from inbox_login where id = $1 and owner = $2";
    tx.execute_many(delete, ids.into_iter().map(|id| [id.into(), app.into()])).map(drop)
}

/// Deletes the password of a user whose row is about to be deleted.
pub(crate) fn erase_login(tx: &mut Tx<'_>, app: AppId, id: Value) -> Result<()> {
    tx.execute("delete from inbox_login where id = $1 and owner = $2", &[id, app.into()]).map(drop)
}

pub fn get(tx: &mut Tx<'_>, app: AppId, id: &InboxUserId) -> Result<Option<InboxUser>> {
    Ok(tx.query_opt(SELECT_USER, &[app.into(), id.as_str().into()], read_user)?.map(|(_, user)| user))
}

/// Those of some users that there are.
pub fn all<'u>(
    tx: &mut Tx<'_>,
    app: AppId,
    ids: impl IntoIterator<Item = &'u InboxUserId>,
) -> Result<Vec<(InboxUserId, InboxUser)>> {
    tx.query_many(SELECT_USER, ids.into_iter().map(|id| [app.into(), id.as_str().into()]), read_user)
}

pub fn save(tx: &mut Tx<'_>, app: AppId, id: &InboxUserId, user: &InboxUser) -> Result<()> {
    let params =
        [app.into(), id.as_str().into(), user.changed.into(), user.read.clone().into(), user.deleted.clone().into()];
    tx.write(
        "update inbox_user set changed = $3, read_messages = $4, deleted_messages = $5 where app = $1 and id = $2",
        &params,
    )?;
    Ok(())
}

/// Marks the inbox of a user as changed.
pub fn touch(tx: &mut Tx<'_>, app: AppId, id: &InboxUserId, now: UtcMillis) -> Result<()> {
    let sql = "update inbox_user set changed = $3 where app = $1 and id = $2 and changed < $3";
    tx.write(sql, &[app.into(), id.as_str().into(), now.into()])?;
    Ok(())
}

/// Gives a channel to a user. It is one user's at a time.
pub fn link(tx: &mut Tx<'_>, app: AppId, channel: Ordinal, id: &InboxUserId) -> Result<()> {
    tx.write(
        "insert into inbox_channel (app, ordinal, user_id) values ($1, $2, $3)
         on conflict (app, ordinal) do update set user_id = excluded.user_id",
        &[app.into(), channel.into(), id.as_str().into()],
    )?;
    Ok(())
}

pub fn unlink(tx: &mut Tx<'_>, app: AppId, channel: Ordinal) -> Result<()> {
    tx.write("delete from inbox_channel where app = $1 and ordinal = $2", &[app.into(), channel.into()])?;
    Ok(())
}

/// Whose a channel is.
pub fn owner(tx: &mut Tx<'_>, app: AppId, channel: Ordinal) -> Result<Option<InboxUserId>> {
    let sql = "select user_id from inbox_channel where app = $1 and ordinal = $2";
    tx.query_opt(sql, &[app.into(), channel.into()], read_id)
}

/// Whose some channels are, which are sorted, as far as they are anybody's.
pub fn owners(tx: &mut Tx<'_>, app: AppId, channels: &[Ordinal]) -> Result<Vec<InboxUserId>> {
    let mut owners = Vec::new();
    ordinals::visit_among(tx, "select user_id from inbox_channel where app = $1", app, channels, |row| {
        owners.push(read_id(row)?);
        Ok(())
    })?;
    Ok(owners)
}

/// The messages that the users of channels have read, for channels that are sorted and have a user.
pub fn read_of(tx: &mut Tx<'_>, app: AppId, channels: &[Ordinal]) -> Result<Vec<(Ordinal, Vec<u8>)>> {
    let select = "select i.ordinal, u.read_messages from inbox_channel i
                  join inbox_user u on u.app = i.app and u.id = i.user_id where i.app = $1";
    let mut found = Vec::new();
    ordinals::visit_among(tx, select, app, channels, |row| {
        found.push((row.next()?, row.next()?));
        Ok(())
    })?;
    Ok(found)
}

/// The channels of a user, in the order they were made.
pub fn channels(tx: &mut Tx<'_>, app: AppId, id: &InboxUserId) -> Result<Vec<InboxChannel>> {
    Ok(channels_of_all(tx, app, [id])?.into_iter().map(|(_, channel)| channel).collect())
}

/// The channels of some users, in the order they were made.
pub fn channels_of_all<'u>(
    tx: &mut Tx<'_>,
    app: AppId,
    ids: impl IntoIterator<Item = &'u InboxUserId>,
) -> Result<Vec<(InboxUserId, InboxChannel)>> {
    let sql =
        "select i.user_id, c.ordinal, c.id, c.device_type, c.language, c.country, c.installed from inbox_channel i
               join channel c on c.app = i.app and c.ordinal = i.ordinal
               where i.app = $1 and i.user_id = $2";
    let rows = ids.into_iter().map(|id| [app.into(), id.as_str().into()]);
    let mut channels = tx.query_many(sql, rows, |row| {
        let channel = InboxChannel {
            ordinal: row.get(1)?,
            id: row.get(2)?,
            device_type: row.get(3)?,
            language: row.get(4)?,
            country: row.get(5)?,
            installed: row.get(6)?,
        };
        Ok((read_id(row)?, channel))
    })?;
    // Not by the statement: SQLite would rather read all channels of the app in order than sort these few.
    channels.sort_unstable_by_key(|(_, channel)| channel.ordinal);
    Ok(channels)
}

const SELECT_USER: &str =
    "select id, changed, read_messages, deleted_messages from inbox_user where app = $1 and id = $2";

fn read_user(row: &Row<'_>) -> Result<(InboxUserId, InboxUser)> {
    let user = InboxUser { changed: row.get(1)?, read: row.get(2)?, deleted: row.get(3)? };
    Ok((read_id(row)?, user))
}

/// The first column.
fn read_id(row: &Row<'_>) -> Result<InboxUserId> {
    let id: &str = row.get(0)?;
    InboxUserId::new(id).ok_or_else(|| Error::corrupt(format!("inbox user {id:?}")))
}
