//! Secrets by which browsers prove to be their channels, as hashes.

use model::ids::{AppId, ChannelId, Ordinal};

use crate::{Result, Tx, apps};

/// The secret of a new channel.
pub fn put(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, hash: &[u8; 32]) -> Result<()> {
    let sql = "insert into channel_secret (app, ordinal, hash) values ($1, $2, $3)";
    tx.write(sql, &[app.into(), ordinal.into(), hash.to_vec().into()])
}

/// The hash of the secret of a channel; `None` if it has none or is uninstalled.
pub fn of_channel(tx: &mut Tx<'_>, app: AppId, channel: ChannelId) -> Result<Option<[u8; 32]>> {
    let sql = "select s.hash from channel c join channel_secret s on s.app = c.app and s.ordinal = c.ordinal
               where c.app = $1 and c.id = $2 and c.installed = 1";
    tx.query_opt(sql, &[app.into(), channel.into()], |row| apps::read_hash(row.get(0)?))
}
