//! Bare group commits, the reference of everything durable: rows that are ready, with nothing to parse, look up or compute.

use std::path::Path;

use anyhow::Result;
use model::ids::AppId;
use store::{Store, Tx, Value};

use crate::clients::{self, Until, Work};
use crate::loading;
use crate::usage::Process;

/// A database of its own, with the same schema and settings as that of a server.
pub(crate) struct Commits {
    store: Store,
    app: AppId,
}

impl Commits {
    /// The folder must hold a database that a server has used.
    pub(crate) async fn open(folder: &Path) -> Result<Self> {
        let (store, app) = loading::open(folder).await?;
        let create = "create table if not exists bare (id integer primary key, body blob not null)";
        store.write(app, move |tx| tx.execute(create, &[])).await?;
        Ok(Self { store, app })
    }

    pub(crate) async fn close(self) {
        self.store.close().await;
    }

    /// One value of `n_bytes` per command, from many callers at once.
    pub(crate) async fn of_bytes(&self, until: Until, n_callers: usize, n_bytes: usize) -> Result<Work> {
        self.of(until, n_callers, move |_, _| {
            let value = [Value::from(vec![7; n_bytes])];
            move |tx: &mut Tx<'_>| {
                tx.execute("insert into bare (body) values ($1)", &value)?;
                Ok(())
            }
        })
        .await
    }

    /// Commands made from the app and the number of the call, from many callers at once.
    pub(crate) async fn of<Body>(
        &self,
        until: Until,
        n_callers: usize,
        command: impl Fn(AppId, u64) -> Body + Clone + Send + 'static,
    ) -> Result<Work>
    where
        Body: Fn(&mut Tx<'_>) -> Result<()> + Send + 'static,
    {
        let (store, app) = (self.store.clone(), self.app);
        clients::crowd(Process::own(), until, vec![(); n_callers], async move |(), n| {
            store.write(app, command(app, n)).await
        })
        .await
    }
}
