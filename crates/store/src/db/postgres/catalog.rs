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
