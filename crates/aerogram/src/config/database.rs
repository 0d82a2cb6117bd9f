//! Settings about the database: how much is asked of a PostgreSQL server, and when an SQLite file is checked.

use std::time::Duration;

use clap::Args;
use engine::PageCheckTimes;
use store::PostgresSettings;

use super::{HEADING, number_in};

/// How a node uses its database.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct DatabaseUse {
    /// How many connections the node keeps to a PostgreSQL server
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = PostgresSettings::CONNECTIONS,
        value_parser = number_in(PostgresSettings::FEWEST_CONNECTIONS..=PostgresSettings::MOST_CONNECTIONS)
    )]
    pub(crate) database_connections: usize,

    /// After how many seconds a PostgreSQL server ends a statement
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = PostgresSettings::STATEMENT_SECONDS,
        value_parser = number_in(1_u64..=86_400)
    )]
    pub(crate) database_statement_seconds: u64,

    /// How many hours lie between two checks of all pages of an SQLite file; 0 for none
    #[arg(long, value_name = "HOURS", default_value_t = PageCheckTimes::HOURS, value_parser = number_in(0_u64..=8760))]
    pub(crate) database_check_hours: u64,

    /// How many seconds after a start the first of these checks begins
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = PageCheckTimes::DELAY_SECONDS,
        value_parser = number_in(0_u64..=86_400)
    )]
    pub(crate) database_check_delay_seconds: u64,
}

impl DatabaseUse {
    pub(crate) fn settings(&self) -> PostgresSettings {
        PostgresSettings {
            n_connections: self.database_connections,
            statement_limit: Duration::from_secs(self.database_statement_seconds),
        }
    }

    pub(crate) fn page_checks(&self) -> PageCheckTimes {
        let hours = self.database_check_hours;
        PageCheckTimes {
            every: (hours > 0).then(|| Duration::from_secs(hours * 60 * 60)),
            first_after: Duration::from_secs(self.database_check_delay_seconds),
        }
    }
}
