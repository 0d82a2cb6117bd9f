//! Keeps over a restart that the clock is in doubt: whoever restarts a service that says so does not want it to send a year of
//! schedules at once. There is one note for all nodes of an installation, so that a node that starts meanwhile waits as well.
//! Of two nodes in doubt, the first one that settles removes it: then one that restarts before its own clock is right believes it.

use base::{Error, Result};
use boxed::boxed;
use parking_lot::Mutex;
use store::Tx;
use store::documents::{self, DocumentKind};
use tenancy::OPERATOR;

use crate::Engine;

const ID: &str = "clock";

/// What is noted in the database, as far as this process knows: by how many milliseconds the clock has jumped.
pub(crate) type NotedDoubt = Mutex<Option<i64>>;

#[boxed]
impl Engine {
    /// Looks at the clock, notes a change of whether it is in doubt, and wakes what a wrong one has put off. To be done about
    /// every second.
    pub async fn look_at_clock(&self) {
        self.jobs.end_stranded_waits().await;
        let doubt = self.rooms.clock_watch.doubt();
        if *self.rooms.noted_doubt.lock() == doubt {
            return;
        }
        let now = self.rooms.clock.now();
        let write = move |tx: &mut Tx<'_>| match doubt {
            Some(off_by) => documents::put(tx, OPERATOR, DocumentKind::ClockDoubt, ID, &off_by.to_string(), now),
            None => documents::delete(tx, OPERATOR, DocumentKind::ClockDoubt, ID).map(drop),
        };
        // A database that takes no changes is told of elsewhere, and it is tried again.
        if self.rooms.store.write(OPERATOR, write).await.is_ok() {
            *self.rooms.noted_doubt.lock() = doubt;
        }
    }

    /// At the start. A note that cannot be read is a doubt as well.
    pub(crate) async fn resume_doubt(&self) -> Result<()> {
        let read = |tx: &mut Tx<'_>| documents::get(tx, OPERATOR, DocumentKind::ClockDoubt, ID);
        let Some(noted) = self.rooms.store.read(read).await.map_err(Error::from)? else { return Ok(()) };
        let off_by = noted.body.parse().unwrap_or(i64::MAX);
        *self.rooms.noted_doubt.lock() = Some(off_by);
        self.rooms.clock_watch.go_on_doubting(off_by);
        Ok(())
    }
}
