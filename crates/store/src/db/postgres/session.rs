//! What a connection sets for itself, according to its purpose.
//!
//! A statement that takes too long is ended by the server, so that it does not keep the connection, and everything that waits for
//! it, for good. The time of a commit does not count, which may wait for a standby, and what brings the tables up to date or copies
//! them has no limit.

use std::time::Duration;

/// Our tables have a schema to themselves. It comes before the system's, so that `text` means ours. JIT
/// compilation of a statement takes longer than running any of ours, and the planner would do it to every
/// recursive one.
const SESSION: &str = "set search_path = aerogram, pg_catalog; set jit = off";
/// Sets of rows are joined with the tables they are about, row by row and by an index, whatever the server believes about the size
/// of a table that was empty when the statement was first planned.
const WRITING_SESSION: &str = "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; \
                               set plan_cache_mode = force_generic_plan";
/// Notices are no changes: nobody has to wait for them to be on a disk.
const LISTENING_SESSION: &str = "set synchronous_commit = off";

/// For how long a statement waits for a lock, such as one that an administrator holds for a change of a table. Longer than a node
/// that stands still can keep the rows of its apps.
const LOCK_LIMIT: Duration = Duration::from_secs(15);
/// For how long a transaction that reads may do nothing: it keeps the server from cleaning up.
const IDLE_READER_LIMIT: Duration = Duration::from_secs(60);

/// For how long a transaction that writes may do nothing, whatever the URL says. A node that freezes or is cut off in the middle of
/// one has the rows of its apps locked, and all other nodes would wait for it. Leases of jobs last a little longer than this.
const IDLE_WRITER_LIMIT: Duration = Duration::from_secs(10);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    /// Batches of commands.
    Write,
    /// Hearing of the commits of other nodes.
    Listen,
    /// Bringing the tables up to date, and copying them. Nothing else waits for it, and it takes as long as it takes.
    Maintain,
}

/// The time limits of statements that serve requests and jobs.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    statement: Duration,
    /// Names of settings that the database URL has values of its own for.
    in_url: Vec<&'static str>,
}

const STATEMENT: &str = "statement_timeout";
const LOCK: &str = "lock_timeout";
const IDLE: &str = "idle_in_transaction_session_timeout";

impl Limits {
    pub(super) fn new(statement: Duration, url_options: Option<&str>) -> Self {
        // As PostgreSQL reads them: in any case, and with hyphens as well.
        let options = url_options.unwrap_or_default().to_ascii_lowercase().replace('-', "_");
        let in_url = [STATEMENT, LOCK, IDLE].into_iter().filter(|name| options.contains(name)).collect();
        Self { statement, in_url }
    }

    fn set(&self, name: &'static str, limit: Duration) -> String {
        if self.in_url.contains(&name) { String::new() } else { format!("; set {name} = {}", limit.as_millis()) }
    }
}

impl Purpose {
    /// The statements that a new connection begins with.
    pub(super) fn session(self, limits: &Limits) -> String {
        let of_statements = || limits.set(STATEMENT, limits.statement) + &limits.set(LOCK, LOCK_LIMIT);
        match self {
            Purpose::Read => format!("{SESSION}{}{}", of_statements(), limits.set(IDLE, IDLE_READER_LIMIT)),
            Purpose::Write => {
                let idle = format!("; set {IDLE} = {}", IDLE_WRITER_LIMIT.as_millis());
                format!("{SESSION}; {WRITING_SESSION}{}{idle}", of_statements())
            }
            Purpose::Listen => LISTENING_SESSION.to_owned(),
            Purpose::Maintain => format!("{SESSION}; set {STATEMENT} = 0; set {LOCK} = 0; set {IDLE} = 0"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_url_are_left_alone_but_not_for_maintenance() {
        let session = |purpose: Purpose, options| purpose.session(&Limits::new(Duration::from_secs(60), options));
        let usual = session(Purpose::Read, None);
        assert!(usual.ends_with(
            "; set statement_timeout = 60000; set lock_timeout = 15000; set idle_in_transaction_session_timeout = 60000"
        ));
        for options in ["-c statement_timeout=5s", "--statement-timeout=5s", "-c work_mem=8MB -cSTATEMENT_TIMEOUT=5s"] {
            for purpose in [Purpose::Read, Purpose::Write] {
                let own = session(purpose, Some(options));
                assert!(!own.contains("statement_timeout") && own.contains("lock_timeout"), "{options}: {own}");
            }
            assert!(session(Purpose::Maintain, Some(options)).contains("set statement_timeout = 0"), "{options}");
        }
        assert!(!session(Purpose::Write, Some("-c lock_timeout=1s")).contains("lock_timeout"));
    }
}
