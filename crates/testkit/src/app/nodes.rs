//! Nodes that die without warning, and others of the same installation.

use std::path::{Path, PathBuf};

use ::store::apps::OPERATOR;
use ::store::{DatabaseUrl, Error, Tx};
use model::time::{Clock, UtcMillis};

use super::{Parts, TestApp};
use crate::store::{Database, Home};

impl TestApp {
    /// Another node of the installation, which reaches the database by this URL.
    pub async fn join(&self, url: &str) -> Self {
        self.join_by(url, self.clock.clone()).await
    }

    /// As [`TestApp::join`], on a machine with a clock of its own, which is ahead of the database's, or behind it if negative.
    pub async fn join_apart(&self, url: &str, ahead_by_millis: i64) -> Self {
        let of_database = self.clock.now().0 - self.clock.set_apart_by().unwrap_or(0);
        let clock = Clock::stepped(UtcMillis(of_database));
        clock.set_apart(ahead_by_millis);
        self.join_by(url, clock).await
    }

    async fn join_by(&self, url: &str, clock: Clock) -> Self {
        let snapshots = tempfile::tempdir().expect("a temporary folder can be made");
        let home = Home::at(url);
        let parts = Parts::start(&home, &clock, snapshots.path(), self.setup).await;
        Self { caller: parts.caller(), home, clock, snapshots, setup: self.setup, parts, app: self.app.clone() }
    }

    /// Ends the node without a word, as SIGKILL or a power cut would, and starts it again. On SQLite the machine was just
    /// writing `torn` at the end of the write-ahead log.
    pub async fn crash(self, torn: &[u8]) -> Self {
        let Parts { engine, server, follower, .. } = self.parts;
        server.abort();
        follower.abort();
        let home = match &self.home.url {
            DatabaseUrl::Sqlite(from) => {
                let home = Home::new(Database::Sqlite);
                let DatabaseUrl::Sqlite(to) = home.url.clone() else { panic!("{} is a file", home.url) };
                keep_as_it_is(&engine, from.clone(), to, torn.to_vec()).await;
                home
            }
            DatabaseUrl::Postgres(_) => self.home,
        };
        engine.store().clone().close().await;
        drop(engine);
        let parts = Parts::start(&home, &self.clock, self.snapshots.path(), self.setup).await;
        Self { caller: parts.caller(), parts, home, ..self }
    }
}

/// Copies the files of a database as a power cut would leave them. Nothing is committed meanwhile, and what a checkpoint moves is
/// in the write-ahead log as well.
async fn keep_as_it_is(engine: &engine::Engine, from: PathBuf, to: PathBuf, torn: Vec<u8>) {
    let copy = move |tx: &mut Tx<'_>| {
        // Has this transaction be the one that writes.
        tx.execute("delete from app where id = -1", &[])?;
        std::fs::copy(&from, &to).expect("a file can be copied");
        let mut log = std::fs::read(beside(&from, "-wal")).unwrap_or_default();
        log.extend_from_slice(&torn);
        std::fs::write(beside(&to, "-wal"), log).expect("a file can be written");
        Ok::<_, Error>(())
    };
    engine.store().write(OPERATOR, copy).await.unwrap_or_else(|error| panic!("{error}"));
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
