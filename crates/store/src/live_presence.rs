//! Which channels have live connections, as each node says of its own: a set for each app, and when it was last true. The sets are
//! serialized and opaque to the store.

use std::time::Duration;

use model::ids::AppId;
use model::time::UtcMillis;

use crate::nodes::Node;
use crate::{Result, Tx};

/// A node that has said nothing for so long is gone, and its connections with it.
const STALE: Duration = Duration::from_secs(15);
/// Nobody asks what a node said that is gone for so long.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60);

/// Writes who is connected to a node, and forgets nodes that are long gone.
pub fn put(tx: &mut Tx<'_>, app: AppId, node: Node, connected: Vec<u8>, now: UtcMillis) -> Result<()> {
    let forgotten = now.minus(FORGOTTEN);
    tx.write("delete from live_presence where app = $1 and seen < $2", &[app.into(), forgotten.into()])?;
    let sql = "insert into live_presence (app, node, connected, seen) values ($1, $2, $3, $4)
               on conflict (app, node) do update set connected = excluded.connected, seen = excluded.seen";
    tx.write(sql, &[app.into(), node.0.into(), connected.into(), now.into()])
}

/// Notes that what a node has written is still so. Returns whether it was there.
pub fn confirm(tx: &mut Tx<'_>, app: AppId, node: Node, now: UtcMillis) -> Result<bool> {
    let sql = "update live_presence set seen = $3 where app = $1 and node = $2";
    Ok(tx.execute(sql, &[app.into(), node.0.into(), now.into()])? > 0)
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, node: Node) -> Result<()> {
    tx.write("delete from live_presence where app = $1 and node = $2", &[app.into(), node.0.into()])
}

/// The sets of the nodes that are there.
pub fn connected(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<Vec<Vec<u8>>> {
    let sql = "select connected from live_presence where app = $1 and seen > $2";
    tx.query(sql, &[app.into(), now.minus(STALE).into()], |row| row.get(0))
}
