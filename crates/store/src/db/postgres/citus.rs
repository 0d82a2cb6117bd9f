//! Citus: PostgreSQL that spreads tables over several servers, by the app of their rows. All rows of an app are on one server.
//!
//! Tables with a column `app` are spread. The others are small and stay on the coordinator, which all nodes are connected to: as
//! reference tables every server would have a copy of them, and no app or inbox could be made while any of the servers is away.

use super::PostgresConnection;
use crate::db::Tx;
use crate::error::{Error, Result};

/// All other tables are spread as this one is.
const FIRST: &str = "app_numbers";

const IS_KNOWN: &str = "select to_regclass('pg_catalog.pg_dist_partition') is not null";
const IS_SPREAD: &str = "select count(*) > 0 from pg_catalog.pg_dist_partition p
     where p.logicalrelid = to_regclass('aerogram.app_numbers')";
/// Tables of apps that are still on the coordinator, the first one first.
const TOGETHER: &str = "select cast(t.relname as pg_catalog.text) from pg_catalog.pg_class t
     join pg_catalog.pg_namespace n on n.oid = t.relnamespace
     join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attname = 'app' and not a.attisdropped
     where n.nspname = 'aerogram' and t.relkind = 'r'
     and not exists (select 1 from pg_catalog.pg_dist_partition p where p.logicalrelid = t.oid)
     order by t.relname <> 'app_numbers', t.relname";

/// All apps with their servers. Those of Citus have numbers.
pub(in crate::db) const PLACES: &str = "select a.id, cast(p.groupid as pg_catalog.int8)
     from (select id from app union all select 0) as a (id) join pg_catalog.pg_dist_placement p
     on p.shardid = pg_catalog.get_shard_id_for_distribution_column(cast('aerogram.app_numbers' as pg_catalog.regclass), a.id)
     order by a.id";

/// What the connections of a node are told beside the rest. Plans depend on the app, so none can serve for all. A server that is
/// away without refusing connections must not keep apps of other servers waiting for half a minute. One connection to a worker is
/// enough for a connection of ours.
pub(super) const SESSION: &str = "set plan_cache_mode = force_custom_plan; set citus.node_connection_timeout = 3000;
                                  set citus.max_adaptive_executor_pool_size = 1";

/// Whether the tables of this database are spread.
pub(in crate::db) fn is_spread(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(tx.query_one(IS_KNOWN, &[], |row| row.get(0))? && tx.query_one(IS_SPREAD, &[], |row| row.get(0))?)
}

/// Makes sure that the extension is there, with servers to spread tables over.
pub(in crate::db) fn prepare(tx: &mut Tx<'_>) -> Result<()> {
    if !tx.query_one(IS_KNOWN, &[], |row| row.get::<bool>(0))? {
        tx.execute("create extension if not exists citus", &[])?;
    }
    let sql = "select count(*) from pg_catalog.pg_dist_node where isactive and shouldhaveshards";
    if tx.query_one(sql, &[], |row| row.get::<i64>(0))? == 0 {
        return Err(Error::corrupt("Citus has no workers: add some with citus_add_node, then migrate again"));
    }
    Ok(())
}

/// Spreads the next table with the rows that it has. False when all are.
pub(in crate::db) fn spread_next(tx: &mut Tx<'_>) -> Result<bool> {
    let Some(table) = tx.query(TOGETHER, &[], |row| row.get::<String>(0))?.into_iter().next() else { return Ok(false) };
    let colocation = if table == FIRST { "none" } else { "aerogram.app_numbers" };
    // One connection to each worker is enough.
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'", &[])?;
    let name = format!("aerogram.{table}");
    let spread = "select cast(create_distributed_table(cast(cast($1 as pg_catalog.text) as regclass), 'app',
                                                       colocate_with => cast($2 as pg_catalog.text)) as pg_catalog.text)";
    tx.query_one(spread, &[name.as_str().into(), colocation.into()], |_| Ok(()))?;
    let forget =
        "select cast(truncate_local_data_after_distributing_table(cast(cast($1 as pg_catalog.text) as regclass))
                              as pg_catalog.text)";
    tx.query_one(forget, &[name.as_str().into()], |_| Ok(()))?;
    tracing::info!(table, "the rows of a table were spread over the servers of Citus");
    Ok(true)
}

impl PostgresConnection {
    /// Whether apps are spread over several servers.
    pub(in crate::db) fn is_spread(&self) -> bool {
        self.server.is_spread()
    }

    /// Whether the connection is gone, and not only what lies behind the server.
    pub(in crate::db) fn is_lost(&self) -> bool {
        self.link.as_ref().is_none_or(|link| link.client.is_closed())
    }
}
