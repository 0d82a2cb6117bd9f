//! Channels: one row per installation, found by id, by ordinal, or by one of its keys (an address, an
//! identity hint).

mod holders;

use std::borrow::Cow;

use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal, TermId};
use model::time::UtcMillis;
use ring::digest;

use crate::{Part, Result, Row, Tx, Value, named_users, terms};

pub use holders::{Holder, holders};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub device_type: DeviceType,
    pub installed: bool,
    pub address: Option<String>,
    pub language: Option<String>,
    pub country: Option<String>,
    pub named_user: Option<NamedUserId>,
    pub created: UtcMillis,
    pub last_registration: Option<UtcMillis>,
    /// Everything the channel can be addressed by, sorted.
    pub terms: Vec<TermId>,
    /// The properties that the device reported, as JSON written by the caller.
    pub profile: String,
}

const COLUMNS: &str = "ordinal, id, device_type, installed, address, language, country, named_user, created,
                       last_registration, terms, profile";

/// Fails with a conflict of `channel_by_id` when the id is taken.
pub fn insert(tx: &mut Tx<'_>, app: AppId, channel: &Channel) -> Result<()> {
    tx.write(&insert_sql(), &values(app, channel))?;
    Ok(())
}

/// Inserts channels with keys that must be unused so far: for loading many at once.
pub fn insert_many(tx: &mut Tx<'_>, app: AppId, channels: &[(Channel, Vec<Key>)]) -> Result<()> {
    tx.write_many(&insert_sql(), channels.iter().map(|(channel, _)| values(app, channel)))?;
    let keys = channels.iter().flat_map(|(channel, keys)| keys.iter().map(|key| key_row(app, key, channel.ordinal)));
    tx.write_many("insert into channel_key (app, kind, value, ordinal) values ($1, $2, $3, $4)", keys)?;
    Ok(())
}

/// Writes everything that can change about a channel.
pub fn update(tx: &mut Tx<'_>, app: AppId, channel: &Channel) -> Result<()> {
    tx.write(
        "update channel set device_type = $4, installed = $5, address = $6, language = $7, country = $8,
                named_user = $9, created = $10, last_registration = $11, terms = $12, profile = $13
         where app = $1 and ordinal = $2 and id = $3",
        &values(app, channel),
    )?;
    Ok(())
}

/// Writes what a channel can be addressed by, and nothing else. By its id, because that is how its row was
/// just found: on SQLite every other index is one more page to read.
pub fn set_terms(tx: &mut Tx<'_>, app: AppId, id: ChannelId, held: &[TermId]) -> Result<()> {
    let sql = "update channel set terms = $3 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), id.into(), terms::encode(held).into()])?;
    Ok(())
}

pub fn by_id(tx: &mut Tx<'_>, app: AppId, id: ChannelId) -> Result<Option<Channel>> {
    let sql = format!("select {COLUMNS} from channel where app = $1 and id = $2");
    tx.query_opt(&sql, &[app.into(), id.into()], read_channel)
}

/// Those of the channels that there are, in the order in which they are asked for.
pub fn by_ids(tx: &mut Tx<'_>, app: AppId, ids: impl IntoIterator<Item = ChannelId>) -> Result<Vec<Channel>> {
    let sql = format!("select {COLUMNS} from channel where app = $1 and id = $2");
    tx.query_many(&sql, ids.into_iter().map(|id| [app.into(), id.into()]), read_channel)
}

/// The keys of the apps that have a channel of this id, which need not be the same channel.
pub fn apps_with(tx: &mut Tx<'_>, part: &Part, id: ChannelId) -> Result<Vec<String>> {
    if let Some(keys) = part.keys(tx)? {
        let mut params = vec![id.into()];
        let sql = part.narrow("select app from channel where id = $1", &mut params);
        let found: Vec<AppId> = tx.query(&sql, &params, |row| row.get(0))?;
        return Ok(keys.into_iter().filter(|(app, _)| found.contains(app)).map(|(_, key)| key.to_string()).collect());
    }
    // By way of the apps, so that the index of channels serves for each of them.
    let sql = "select app.key from app join channel on channel.app = app.id and channel.id = $1 order by app.id";
    tx.query(sql, &[id.into()], |row| row.get(0))
}

pub fn by_ordinal(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<Channel>> {
    let sql = format!("select {COLUMNS} from channel where app = $1 and ordinal = $2");
    tx.query_opt(&sql, &[app.into(), ordinal.into()], read_channel)
}

/// Those of the channels that there are, in the order in which they are asked for.
pub fn by_ordinals(tx: &mut Tx<'_>, app: AppId, ordinals: &[Ordinal]) -> Result<Vec<Channel>> {
    let sql = format!("select {COLUMNS} from channel where app = $1 and ordinal = $2");
    tx.query_many(&sql, ordinals.iter().map(|ordinal| [app.into(), (*ordinal).into()]), read_channel)
}

/// The channels of named users, in the order they were made.
pub(crate) fn by_named_users<'u>(
    tx: &mut Tx<'_>,
    app: AppId,
    users: impl IntoIterator<Item = &'u NamedUserId>,
) -> Result<Vec<Channel>> {
    let sql = format!("select {COLUMNS} from channel where app = $1 and named_user = $2");
    let mut channels = tx.query_many(&sql, users.into_iter().map(|user| [app.into(), user.into()]), read_channel)?;
    // Not by the statement: SQLite would rather read all channels of the app in order than sort these few.
    channels.sort_unstable_by_key(|channel| channel.ordinal);
    Ok(channels)
}

/// The ordinals of the installed channels of named users, for selectors.
pub fn ordinals_of_users(tx: &mut Tx<'_>, app: AppId, users: &[NamedUserId]) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from channel where app = $1 and named_user = $2 and installed = 1";
    tx.query_many(sql, users.iter().map(|user| [app.into(), user.into()]), |row| row.get(0))
}

/// Those of some channels that have a named user.
pub fn with_named_user(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinals: impl IntoIterator<Item = Ordinal>,
) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from channel where app = $1 and ordinal = $2 and named_user is not null";
    tx.query_many(sql, ordinals.into_iter().map(|ordinal| [app.into(), ordinal.into()]), |row| row.get(0))
}

const INSTALLED_BY_ID: &str = "select ordinal from channel where app = $1 and id = $2 and installed = 1";

/// The ordinal of an installed channel.
pub fn ordinal_of(tx: &mut Tx<'_>, app: AppId, id: ChannelId) -> Result<Option<Ordinal>> {
    tx.query_opt(INSTALLED_BY_ID, &[app.into(), id.into()], |row| row.get(0))
}

/// The ordinals of those channels that are installed, for selectors that name single channels.
pub fn ordinals_of(tx: &mut Tx<'_>, app: AppId, ids: &[ChannelId]) -> Result<Vec<Ordinal>> {
    tx.query_many(INSTALLED_BY_ID, ids.iter().map(|id| [app.into(), (*id).into()]), |row| row.get(0))
}

/// Those of the channels that were ever registered, and whether they still are.
pub fn installed(tx: &mut Tx<'_>, app: AppId, ids: &[ChannelId]) -> Result<Vec<(ChannelId, bool)>> {
    let sql = "select id, installed from channel where app = $1 and id = $2";
    let params = ids.iter().map(|id| [app.into(), (*id).into()]);
    tx.query_many(sql, params, |row| Ok((row.next()?, row.next()?)))
}

/// Up to `at_most` channels in the order they were made, beginning with the one named by `start`.
pub fn page(tx: &mut Tx<'_>, app: AppId, start: Option<ChannelId>, at_most: u32) -> Result<Vec<Channel>> {
    let first = match start {
        None => Ordinal(0),
        Some(id) => {
            let sql = "select ordinal from channel where app = $1 and id = $2";
            match tx.query_opt(sql, &[app.into(), id.into()], |row| row.get(0))? {
                Some(ordinal) => ordinal,
                None => return Ok(Vec::new()),
            }
        }
    };
    let sql = format!("select {COLUMNS} from channel where app = $1 and ordinal >= $2 order by ordinal limit $3");
    tx.query(&sql, &[app.into(), first.into(), at_most.into()], read_channel)
}

/// The channel that was made last, installed or not.
pub fn last(tx: &mut Tx<'_>, app: AppId) -> Result<Option<Ordinal>> {
    tx.query_opt("select ordinal from channel where app = $1 order by ordinal desc limit 1", &[app.into()], |row| {
        row.get(0)
    })
}

/// The first channel made at or after an instant. Ordinals are given out in the order of creation, so it is
/// found by halving; channels that were made within the same moments on different nodes may be taken for each
/// other.
pub fn first_since(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis) -> Result<Option<Ordinal>> {
    first_since_after(tx, app, instant, Ordinal(0))
}

/// As [`first_since`], where it is known that no channel before an ordinal was made at the instant or later.
pub fn first_since_after(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis, from: Ordinal) -> Result<Option<Ordinal>> {
    let Some(newest) = last(tx, app)? else { return Ok(None) };
    let created = "select created from channel where app = $1 and ordinal >= $2 order by ordinal limit 1";
    let (mut least, mut most) = (from.0.min(newest.0 + 1), newest.0 + 1);
    while least < most {
        let middle = least + (most - least) / 2;
        let created = tx.query_one::<UtcMillis>(created, &[app.into(), middle.into()], |row| row.get(0))?;
        if created < instant {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    Ok((least <= newest.0).then_some(Ordinal(least)))
}

/// The terms of up to `at_most` installed channels from an ordinal on, in order, including those of their
/// named users: the index is built from these.
pub fn terms_from(tx: &mut Tx<'_>, app: AppId, first: i64, at_most: u32) -> Result<Vec<(Ordinal, Vec<TermId>)>> {
    tx.query(
        "select c.ordinal, c.terms, u.terms from channel c
         left join named_user u on u.app = c.app and u.id = c.named_user
         where c.app = $1 and c.ordinal >= $2 and c.installed = 1 order by c.ordinal limit $3",
        &[app.into(), first.into(), at_most.into()],
        |row| {
            let (ordinal, mut held) = (row.next()?, terms::decode(row.next()?)?);
            if let Some(of_user) = row.next()? {
                held.extend(terms::decode(of_user)?);
                held.sort_unstable();
                held.dedup();
            }
            Ok((ordinal, held))
        },
    )
}

/// A way to find a channel other than its id. At most one channel of an app has a given key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub kind: String,
    pub value: String,
}

const BY_KEY: &str = "select ordinal from channel_key where app = $1 and kind = $2 and value = $3";

pub fn by_key(tx: &mut Tx<'_>, app: AppId, key: &Key) -> Result<Option<Ordinal>> {
    tx.query_opt(BY_KEY, &key_columns(app, key), |row| row.get(0))
}

/// The channels that have any of the keys.
pub fn by_keys(tx: &mut Tx<'_>, app: AppId, keys: impl IntoIterator<Item = Key>) -> Result<Vec<Ordinal>> {
    tx.query_many(BY_KEY, keys.into_iter().map(|key| key_columns(app, &key)), |row| row.get(0))
}

/// The channel that has each of the keys, in their order.
pub fn owners_of_keys(tx: &mut Tx<'_>, app: AppId, keys: &[Key]) -> Result<Vec<Option<Ordinal>>> {
    // The number of the key comes back with each row: keys that no channel has have none.
    let sql = "select cast($4 as bigint), ordinal from channel_key where app = $1 and kind = $2 and value = $3";
    let rows = (0_i64..).zip(keys).map(|(n, key)| {
        let [app, kind, value] = key_columns(app, key);
        [app, kind, value, n.into()]
    });
    let found = tx.query_many(sql, rows, |row| Ok((row.next::<i64>()?, row.next()?)))?;
    let mut owners = vec![None; keys.len()];
    for (n, ordinal) in found {
        if let Some(owner) = usize::try_from(n).ok().and_then(|n| owners.get_mut(n)) {
            *owner = Some(ordinal);
        }
    }
    Ok(owners)
}

/// The kinds of keys that channels of an app have, of those that begin with a text. They are skipped through, one row each.
pub fn kinds_of_keys(tx: &mut Tx<'_>, app: AppId, prefix: &str) -> Result<Vec<String>> {
    let sql = "select kind from channel_key where app = $1 and kind > $2 order by kind limit 1";
    let (mut kinds, mut last): (Vec<String>, _) = (Vec::new(), prefix.to_owned());
    while let Some(kind) = tx.query_opt(sql, &[app.into(), last.as_str().into()], |row| row.get::<String>(0))? {
        if !kind.starts_with(prefix) {
            break;
        }
        last.clone_from(&kind);
        kinds.push(kind);
    }
    Ok(kinds)
}

fn key_columns(app: AppId, key: &Key) -> [Value; 3] {
    [app.into(), key.kind.as_str().into(), stored_value(&key.value).as_ref().into()]
}

fn key_row(app: AppId, key: &Key, ordinal: Ordinal) -> [Value; 4] {
    let [app, kind, value] = key_columns(app, key);
    [app, kind, value, ordinal.into()]
}

/// All the keys of one channel, as stored: a long value is represented by its digest.
pub fn keys_of(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Vec<Key>> {
    let sql = "select kind, value from channel_key where app = $1 and ordinal = $2";
    let read = |row: &Row<'_>| Ok(Key { kind: row.next()?, value: row.next()? });
    let mut keys = tx.query(sql, &[app.into(), ordinal.into()], read)?;
    // Not by the statement: SQLite would rather read all keys of the app in order than sort these few.
    keys.sort_unstable();
    Ok(keys)
}

/// Makes `keys` exactly the keys of a channel. A key of another channel moves over; the channels that lost
/// one are returned.
pub fn replace_keys(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, keys: &[Key]) -> Result<Vec<(Ordinal, Key)>> {
    let current = keys_of(tx, app, ordinal)?;
    let is_same = |stored: &Key, key: &Key| stored.kind == key.kind && stored.value == stored_value(&key.value);
    for key in current.iter().filter(|stored| !keys.iter().any(|key| is_same(stored, key))) {
        tx.write(
            "delete from channel_key where app = $1 and kind = $2 and value = $3",
            &[app.into(), key.kind.as_str().into(), key.value.as_str().into()],
        )?;
    }
    add_keys(tx, app, ordinal, keys.iter().filter(|key| !current.iter().any(|stored| is_same(stored, key))))
}

/// Gives more keys to a channel. A key of another channel moves over; the channels that lost one are
/// returned.
pub fn add_keys<'k>(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinal: Ordinal,
    keys: impl IntoIterator<Item = &'k Key>,
) -> Result<Vec<(Ordinal, Key)>> {
    let mut previous_owners = Vec::new();
    for key in keys {
        let row = key_row(app, key, ordinal);
        match by_key(tx, app, key)? {
            None => tx.write("insert into channel_key (app, kind, value, ordinal) values ($1, $2, $3, $4)", &row)?,
            Some(previous) => {
                previous_owners.extend((previous != ordinal).then(|| (previous, key.clone())));
                tx.write("update channel_key set ordinal = $4 where app = $1 and kind = $2 and value = $3", &row)?;
            }
        }
    }
    Ok(previous_owners)
}

/// The value of a key as it is stored. PostgreSQL cannot index much more than this, and addresses may be
/// longer.
fn stored_value(value: &str) -> Cow<'_, str> {
    const LONGEST: usize = 1024;
    if value.len() <= LONGEST {
        return Cow::Borrowed(value);
    }
    let digest = digest::digest(&digest::SHA256, value.as_bytes());
    Cow::Owned(digest.as_ref().iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

fn insert_sql() -> String {
    format!("insert into channel (app, {COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)")
}

fn values(app: AppId, channel: &Channel) -> [Value; 13] {
    [
        app.into(),
        channel.ordinal.into(),
        channel.id.into(),
        channel.device_type.to_string().into(),
        channel.installed.into(),
        channel.address.clone().into(),
        channel.language.clone().into(),
        channel.country.clone().into(),
        channel.named_user.as_ref().map(|user| user.as_str().to_owned()).into(),
        channel.created.into(),
        channel.last_registration.into(),
        terms::encode(&channel.terms).into(),
        channel.profile.as_str().into(),
    ]
}

fn read_channel(row: &Row<'_>) -> Result<Channel> {
    Ok(Channel {
        ordinal: row.next()?,
        id: row.next()?,
        device_type: row.next()?,
        installed: row.next()?,
        address: row.next()?,
        language: row.next()?,
        country: row.next()?,
        named_user: row.next::<Option<&str>>()?.map(named_users::read_id).transpose()?,
        created: row.next()?,
        last_registration: row.next()?,
        terms: terms::decode(row.next()?)?,
        profile: row.next()?,
    })
}
