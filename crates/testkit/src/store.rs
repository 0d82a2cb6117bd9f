//! Fresh, empty stores for tests, on either database.

use ::store::{DatabaseUrl, Store};
use tempfile::TempDir;

use crate::postgres;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// The home of the data of a test's store. The data vanishes with it, or with the process.
pub struct Home {
    pub url: DatabaseUrl,
    _folder: Option<TempDir>,
}

/// The databases to test with.
pub fn databases() -> Vec<Database> {
    if postgres::is_skipped() { vec![Database::Sqlite] } else { vec![Database::Sqlite, Database::Postgres] }
}

impl Home {
    pub fn new(database: Database) -> Self {
        match database {
            Database::Sqlite => {
                let folder = tempfile::tempdir().expect("a temporary folder can be made");
                Self { url: DatabaseUrl::Sqlite(folder.path().join("test.db")), _folder: Some(folder) }
            }
            Database::Postgres => {
                Self { url: DatabaseUrl::Postgres(postgres::cluster().fresh_database()), _folder: None }
            }
        }
    }

    /// A database that the test has made.
    pub fn at(url: &str) -> Self {
        Self { url: DatabaseUrl::parse(url).unwrap_or_else(|error| panic!("{error}")), _folder: None }
    }

    /// Opens the store that lives here.
    pub async fn open(&self) -> Store {
        Store::open(&self.url).await.unwrap_or_else(|error| panic!("{}: {error}", self.url))
    }
}

pub async fn fresh(database: Database) -> (Store, Home) {
    let home = Home::new(database);
    (home.open().await, home)
}
