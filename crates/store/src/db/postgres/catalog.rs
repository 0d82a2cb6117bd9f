//! Our advisory locks, and what PostgreSQL is asked about itself and about who uses it.

/// The number is arbitrary; only our own programs take this lock.
pub(in crate::db) const LOCK: &str = "select pg_advisory_xact_lock(4703278012655316)";
/// Held until the connection ends.
pub(in crate::db) const LOCK_FOR_COPY: &str = "select pg_try_advisory_lock(4703278012655317)";
/// The first half of the locks of nodes; the second is the number of the node.
pub(in crate::db) const NODE_LOCKS: i32 = 470_327_801;
/// The second halves of the locks of nodes that are held in this database.
pub(in crate::db) const LIVING_NODES: &str = "select cast(objid as bigint) from pg_locks
     where locktype = 'advisory' and cast(classid as bigint) = $1 and granted
     and database = (select oid from pg_database where datname = current_database())";
/// Without the connections that are kept for superusers. Whose sessions they are is not shown to everybody, but that they are.
pub(in crate::db) const SERVER_FACTS: &str = "select current_setting('server_version'), count(datid),
     cast(current_setting('max_connections') as bigint) - cast(current_setting('superuser_reserved_connections') as bigint)
     from pg_stat_activity";
/// The application name of our connections; if the URL sets another, this connection has the same.
pub(in crate::db) const IS_SERVED: &str = "select count(*) > 0 from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
     and application_name in ('aerogram', current_setting('application_name'))";
/// The values that a new session has, whatever this one has set.
pub(in crate::db) const SETTINGS: &str =
    "select cast(name as pg_catalog.text), cast(reset_val as pg_catalog.text) from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'idle_session_timeout',
     'idle_in_transaction_session_timeout', 'transaction_timeout')";
/// Whether tables can be made, and how many of those that there are cannot be used.
pub(in crate::db) const PRIVILEGES: &str = "select coalesce(
     (select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'aerogram'),
     has_database_privilege(current_database(), 'create')),
     (select count(*) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'aerogram' and relkind in ('r', 'p') and not (has_table_privilege(pg_class.oid, 'select')
      and has_table_privilege(pg_class.oid, 'insert') and has_table_privilege(pg_class.oid, 'update')
      and has_table_privilege(pg_class.oid, 'delete')))";
pub(in crate::db) const BIGGEST_TABLES: &str = "select cast(relname as pg_catalog.text), n_live_tup, n_dead_tup
     from pg_stat_user_tables where schemaname = 'aerogram' order by pg_total_relation_size(relid) desc limit 5";
/// Only shown to roles that may see the sessions of others. A standby that has caught up has no lag.
pub(in crate::db) const STANDBYS: &str = "select cast(coalesce(application_name, '') as pg_catalog.text),
     cast(coalesce(extract(epoch from replay_lag), 0) * 1000 as bigint) from pg_stat_replication where state is not null";
/// The time of the server in milliseconds, and not that at which the transaction began.
pub(in crate::db) const TIME: &str = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
pub(in crate::db) const NOTHING: &str = "select cast(1 as bigint)";
