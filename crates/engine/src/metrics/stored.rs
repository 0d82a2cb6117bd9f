//! What the database says for a scrape. It is read as a whole before any of it is shown.

use std::collections::HashMap;

use base::Result;
use events::WebhookLag;
use model::app::AppKey;
use model::ids::AppId;
use model::time::UtcMillis;
use sending::PlatformNotice;
use store::followers::{self, Lag};
use store::{Part, Tx, jobs};

use super::Exposition;
use super::readers::MOST_SHOWN;
use crate::Engine;

/// A larger backlog is no worse, and costs more to count.
const COUNTED_JOBS: u32 = 10_000;

/// What waits, and how large the database is.
pub(crate) struct Backlog {
    /// Counted up to [`COUNTED_JOBS`].
    pub(crate) n_overdue: i64,
    /// For how long the first of them is due.
    pub(crate) overdue_seconds: i64,
    database_bytes: i64,
}

pub(super) struct Stored {
    now: UtcMillis,
    backlog: Backlog,
    keys: HashMap<AppId, AppKey>,
    followers: Vec<Lag>,
    /// How far each audience index of this process is behind the head of its log.
    indexes: Vec<(AppId, i64)>,
    /// Only if it is time to look at them again.
    credentials: Option<Vec<PlatformNotice>>,
    health: Vec<PlatformNotice>,
    webhooks: Vec<WebhookLag>,
    n_events_in_memory: usize,
}

impl Engine {
    pub(super) async fn read_stored(&self) -> Result<Stored> {
        let (rooms, now) = (&self.rooms, self.rooms.clock.now());
        let lags = |tx: &mut Tx<'_>, part: &Part| followers::furthest_behind(tx, part, MOST_SHOWN);
        let credentials = match rooms.exposition.platforms.should_examine(now) {
            true => Some(rooms.sending.credential_notices().await?),
            false => None,
        };
        Ok(Stored {
            now,
            backlog: self.backlog().await?,
            keys: rooms.tenancy.apps().await?.into_iter().map(|app| (app.id, app.key)).collect(),
            followers: rooms.store.read_all(lags).await?,
            indexes: rooms.index.records_behind().await?,
            credentials,
            health: rooms.sending.health_notices().await?,
            webhooks: rooms.events.webhook_lags().await?,
            n_events_in_memory: rooms.events.n_events_in_memory(),
        })
    }

    /// The jobs that wait for a worker, and the room that the database takes.
    pub(crate) async fn backlog(&self) -> Result<Backlog> {
        // By a clock that is ahead, work that others are doing would be overdue.
        let now = self.rooms.shared_clock.now();
        let read = move |tx: &mut Tx<'_>, part: &Part| {
            let jobs = jobs::backlog(tx, part, now, COUNTED_JOBS)?;
            Ok::<_, store::Error>(vec![(jobs, tx.database_bytes()?)])
        };
        let (mut n_overdue, mut longest_due, mut database_bytes) = (0, None, 0);
        for (of_part, bytes) in self.rooms.store.read_all(read).await? {
            n_overdue += of_part.n_overdue;
            longest_due = longest_due.into_iter().chain(of_part.longest_due).min();
            database_bytes = bytes;
        }
        let overdue_seconds = longest_due.map_or(0, |due| (now.0 - due.0) / 1000);
        Ok(Backlog { n_overdue, overdue_seconds, database_bytes })
    }
}

impl Exposition {
    /// Replaces what is shown of the database. Nothing is while it cannot be asked.
    pub(super) fn show_stored(&self, stored: Option<Stored>) {
        let Some(stored) = stored else { return self.forget_stored() };
        self.jobs_overdue.set(Some(stored.backlog.n_overdue));
        self.jobs_overdue_seconds.set(Some(stored.backlog.overdue_seconds));
        self.database_bytes.set(Some(stored.backlog.database_bytes));
        self.readers.set(&stored.keys, stored.followers, stored.indexes);
        if let Some(credentials) = stored.credentials {
            self.platforms.set_credentials(credentials, stored.now);
        }
        self.platforms.set_health(stored.health);
        self.webhooks.set(stored.webhooks, stored.n_events_in_memory);
    }

    fn forget_stored(&self) {
        for gauge in self.stored() {
            gauge.set(None);
        }
        self.readers.forget();
        self.platforms.forget();
        self.webhooks.forget();
    }
}
