//! Live Activities and Live Updates that devices have told of, with the tokens of the former.

use model::channel::{LiveChange, LiveKey, LiveKind, LiveState};
use model::ids::{AppId, Ordinal};
use model::time::UtcMillis;

use crate::{Result, Tx, Value};

/// What is known of one, without its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub activity: Option<String>,
    /// By the clock of the device.
    pub changed: i64,
}

pub fn get(tx: &mut Tx<'_>, app: AppId, key: &LiveKey, channel: Ordinal) -> Result<Option<Known>> {
    tx.query_opt(
        "select activity, changed from live_token where app = $1 and kind = $2 and name = $3 and ordinal = $4",
        &[app.into(), key.kind.name().into(), key.name.as_str().into(), channel.into()],
        |row| Ok(Known { activity: row.next()?, changed: row.next()? }),
    )
}

pub fn put(tx: &mut Tx<'_>, app: AppId, channel: Ordinal, change: &LiveChange, now: UtcMillis) -> Result<()> {
    let (followed, token) = match &change.state {
        LiveState::On { token } => (1, token.as_deref()),
        LiveState::Off => (0, None),
    };
    tx.write(
        "insert into live_token (app, kind, name, ordinal, activity, token, followed, changed, received)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (app, kind, name, ordinal) do update set activity = excluded.activity, token = excluded.token,
             followed = excluded.followed, changed = excluded.changed, received = excluded.received",
        &[
            app.into(),
            change.key.kind.name().into(),
            change.key.name.as_str().into(),
            channel.into(),
            change.activity.as_deref().into(),
            token.into(),
            Value::from(followed),
            change.at.into(),
            now.into(),
        ],
    )
}

/// The channels that have it, in order.
pub fn followers(tx: &mut Tx<'_>, app: AppId, key: &LiveKey) -> Result<Vec<Ordinal>> {
    tx.query(
        "select ordinal from live_token where app = $1 and kind = $2 and name = $3 and followed = 1 order by ordinal",
        &[app.into(), key.kind.name().into(), key.name.as_str().into()],
        |row| row.get(0),
    )
}

/// Those of some channels that have it, with the tokens.
pub fn among(
    tx: &mut Tx<'_>,
    app: AppId,
    key: &LiveKey,
    channels: impl IntoIterator<Item = Ordinal>,
) -> Result<Vec<(Ordinal, Option<String>)>> {
    let sql = "select ordinal, token from live_token
               where app = $1 and kind = $2 and name = $3 and ordinal = $4 and followed = 1";
    let (kind, name) = (key.kind.name(), key.name.as_str());
    let keys = channels.into_iter().map(|channel| [app.into(), kind.into(), Value::from(name), channel.into()]);
    tx.query_many(sql, keys, |row| Ok((row.next()?, row.next()?)))
}

/// Notes of channels that the provider does not know their tokens any more, except for those that have told another since.
pub fn retire(tx: &mut Tx<'_>, app: AppId, key: &LiveKey, channels: &[(Ordinal, UtcMillis)]) -> Result<()> {
    for (channel, since) in channels {
        tx.write(
            "update live_token set followed = 0, token = null
             where app = $1 and kind = $2 and name = $3 and ordinal = $4 and received <= $5",
            &[app.into(), key.kind.name().into(), key.name.as_str().into(), (*channel).into(), (*since).into()],
        )?;
    }
    Ok(())
}

/// Makes room for another one of a channel that has as many as it may: deletes the oldest, and before it those that have ended.
pub fn make_room(tx: &mut Tx<'_>, app: AppId, channel: Ordinal, most: u32) -> Result<()> {
    tx.write(
        "delete from live_token where app = $1 and ordinal = $2 and (kind, name) in
         (select kind, name from live_token where app = $1 and ordinal = $2
          order by followed desc, received desc limit 1 offset $3)",
        &[app.into(), channel.into(), (most - 1).into()],
    )
}

/// Deletes all of a channel.
pub fn forget(tx: &mut Tx<'_>, app: AppId, channel: Ordinal) -> Result<()> {
    tx.write("delete from live_token where app = $1 and ordinal = $2", &[app.into(), channel.into()])
}

/// Deletes up to `at_most` that were told of before a time, and returns how many.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, kind: LiveKind, before: UtcMillis, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from live_token where app = $1 and kind = $2 and (name, ordinal) in
         (select name, ordinal from live_token where app = $1 and kind = $2 and received < $3 order by received limit $4)",
        &[app.into(), kind.name().into(), before.into(), at_most.into()],
    )
}
