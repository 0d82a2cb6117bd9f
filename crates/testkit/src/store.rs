//! Fresh stores for tests, on either database.

use std::path::PathBuf;
use std::sync::OnceLock;

use ::store::{DatabaseUrl, Store};
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::postgres;

/// What the file of SQLite is called.
const FILE: &str = "test.db";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// The home of the data of a test's store. The data vanishes with it, or with the process.
pub struct Home {
    pub url: DatabaseUrl,
    folder: Option<TempDir>,
}

/// The databases to test with.
pub fn databases() -> Vec<Database> {
    if postgres::is_skipped() { vec![Database::Sqlite] } else { vec![Database::Sqlite, Database::Postgres] }
}

impl Home {
    /// A database without anything, as it is before the first start.
    pub fn new(database: Database) -> Self {
        match database {
            Database::Sqlite => {
                let folder = tempfile::tempdir().expect("a temporary folder can be made");
                Self { url: DatabaseUrl::Sqlite(folder.path().join(FILE)), folder: Some(folder) }
            }
            Database::Postgres => {
                Self { url: DatabaseUrl::Postgres(postgres::cluster().fresh_database()), folder: None }
            }
        }
    }

    /// A database as the first start leaves it: a copy of one that has all tables. To make them takes longer than most tests do.
    pub fn with_tables(database: Database) -> Self {
        match database {
            Database::Sqlite => {
                let home = Self::new(database);
                std::fs::write(home.file(), sqlite_template()).expect("a file can be written");
                home
            }
            Database::Postgres => {
                Self { url: DatabaseUrl::Postgres(postgres::cluster().copy_of(postgres_template())), folder: None }
            }
        }
    }

    /// A database that the test has made.
    pub fn at(url: &str) -> Self {
        Self { url: DatabaseUrl::parse(url).unwrap_or_else(|error| panic!("{error}")), folder: None }
    }

    fn file(&self) -> PathBuf {
        self.folder.as_ref().expect("the database is a file in a folder of its own").path().join(FILE)
    }

    /// Opens the store that lives here.
    pub async fn open(&self) -> Store {
        Store::open(&self.url).await.unwrap_or_else(|error| panic!("{}: {error}", self.url))
    }
}

pub async fn fresh(database: Database) -> (Store, Home) {
    let home = Home::with_tables(database);
    (home.open().await, home)
}

/// The content of a file with all tables.
fn sqlite_template() -> &'static [u8] {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let home = Home::new(Database::Sqlite);
        make_tables(&home.url);
        std::fs::read(home.file()).expect("closing a store leaves one file")
    })
}

/// The name of a database with all tables, which no store has open.
fn postgres_template() -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let (name, url) = postgres::cluster().template();
        make_tables(&DatabaseUrl::Postgres(url));
        name
    })
}

/// On a thread of its own, because the runtime of the test does not wait.
fn make_tables(url: &DatabaseUrl) {
    let make = async || Store::open(url).await.unwrap_or_else(|error| panic!("{url}: {error}")).close().await;
    std::thread::scope(|scope| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        let made = scope.spawn(move || runtime.block_on(make())).join();
        made.unwrap_or_else(|_| panic!("the tables cannot be made"));
    });
}
