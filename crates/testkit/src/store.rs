//! Fresh, empty stores for tests, on either engine.

use ::store::{DatabaseUrl, Store};
use tempfile::TempDir;

use crate::postgres;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// The home of the data of a test's store. The data vanishes with it, or with the process.
pub struct Home {
    pub url: DatabaseUrl,
    _folder: Option<TempDir>,
}

/// The engines to test with.
pub fn engines() -> Vec<Engine> {
    if postgres::is_skipped() { vec![Engine::Sqlite] } else { vec![Engine::Sqlite, Engine::Postgres] }
}

impl Home {
    pub fn new(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => {
                let folder = tempfile::tempdir().expect("a temporary folder can be made");
                Self { url: DatabaseUrl::Sqlite(folder.path().join("test.db")), _folder: Some(folder) }
            }
            Engine::Postgres => {
                Self { url: DatabaseUrl::Postgres(postgres::cluster().fresh_database()), _folder: None }
            }
        }
    }

    /// Opens the store that lives here.
    pub async fn open(&self) -> Store {
        Store::open(&self.url).await.unwrap_or_else(|error| panic!("{}: {error}", self.url))
    }
}

pub async fn fresh(engine: Engine) -> (Store, Home) {
    let home = Home::new(engine);
    (home.open().await, home)
}
