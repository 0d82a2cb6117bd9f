//! How much a node asks of a PostgreSQL server.

use std::time::Duration;

/// The connections of a node, and the time limit of its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresSettings {
    /// All connections that the node keeps.
    pub n_connections: usize,
    /// How long a statement of a request or a job may take. The options of a URL come first.
    pub statement_limit: Duration,
}

impl PostgresSettings {
    /// One to write, one to read, and one to hear of the other nodes.
    pub const FEWEST_CONNECTIONS: usize = 3;
    pub const MOST_CONNECTIONS: usize = 200;
    pub const CONNECTIONS: usize = 9;
    pub const STATEMENT_SECONDS: u64 = 60;

    /// For a command beside the nodes.
    pub fn least() -> Self {
        Self { n_connections: Self::FEWEST_CONNECTIONS, ..Self::default() }
    }

    /// Each app always uses the same one, so that its changes share commits instead of waiting for each other's locks.
    pub(crate) fn n_writers(self) -> usize {
        (self.shared() / 2).max(1)
    }

    pub(crate) fn n_readers(self) -> usize {
        self.shared() - self.n_writers()
    }

    /// Without the one that hears of the other nodes.
    fn shared(self) -> usize {
        self.n_connections.clamp(Self::FEWEST_CONNECTIONS, Self::MOST_CONNECTIONS) - 1
    }
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self { n_connections: Self::CONNECTIONS, statement_limit: Duration::from_secs(Self::STATEMENT_SECONDS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_shared_out_evenly_and_none_is_missing() {
        for n_connections in PostgresSettings::FEWEST_CONNECTIONS..=PostgresSettings::MOST_CONNECTIONS {
            let settings = PostgresSettings { n_connections, ..PostgresSettings::default() };
            let (n_writers, n_readers) = (settings.n_writers(), settings.n_readers());
            assert_eq!(n_writers + n_readers + 1, n_connections);
            assert!(n_writers >= 1 && (n_writers..=n_writers + 1).contains(&n_readers), "{n_writers} and {n_readers}");
        }
    }
}
