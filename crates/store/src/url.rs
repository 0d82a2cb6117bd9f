//! Where the data lives: the database URL of the settings, and how it is shown without its password.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::db::postgres::address;

#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of the embedded database.
    Sqlite(PathBuf),
    /// A PostgreSQL connection URL.
    Postgres(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidDatabaseUrl(String);

impl DatabaseUrl {
    pub fn parse(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            if path.is_empty() {
                return Err(InvalidDatabaseUrl(
                    "The database URL \"sqlite:\" needs the path of a file after it.".to_owned(),
                ));
            }
            return Ok(DatabaseUrl::Sqlite(PathBuf::from(path)));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return match address::describe(text) {
                Ok(_) => Ok(DatabaseUrl::Postgres(text.to_owned())),
                Err(why) => Err(InvalidDatabaseUrl(format!("The PostgreSQL URL cannot be read: {why}."))),
            };
        }
        let is_path = text.starts_with(['/', '.', '~']);
        // The text may hold a password, so no more than its scheme is repeated, unless it is a path.
        let but = match text.split_once(':') {
            Some((scheme, _)) if !is_path => format!("it begins with \"{scheme}:\""),
            None if !is_path => "it has no scheme".to_owned(),
            Some(_) | None => format!("for this file it is \"sqlite:{text}\""),
        };
        Err(InvalidDatabaseUrl(format!(
            "The database URL must be \"sqlite:PATH\" or begin with \"postgres://\" or \"postgresql://\"; {but}."
        )))
    }
}

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;
    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        Self::parse(text)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            DatabaseUrl::Postgres(url) => {
                f.write_str(&address::describe(url).unwrap_or_else(|_| "postgres:".to_owned()))
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}
