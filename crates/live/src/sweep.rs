//! What happens to connections every second, or every few of them where there are many: pings, the end of tokens, of channels and
//! of apps, and writing what was acknowledged and who is connected; and the end of all when the node stops.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use audience::plan::Plan;
use base::Result;
use boxed::boxed;
use index::term_plan;
use model::ids::Ordinal;
use model::term::{LiveTerm, Term};
use roaring::RoaringBitmap;
use store::{Tx, channels};
use tenancy::Caller;

use crate::hub::Hub;
use crate::line::Line;
use crate::{End, Live};

const EVERY: Duration = Duration::from_secs(1);
/// Connections looked at in a second: this part of them, and so many at least.
const PARTS: usize = 8;
const LEAST: usize = 4_096;
/// Devices come back over so many milliseconds after a node has stopped.
const SPREAD: u32 = 30_000;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Of the golden ratio, which spreads consecutive numbers evenly.
const SPREADING: u32 = 2_654_435_769;

#[boxed]
impl Live {
    /// Looks at the connections of an app every second.
    pub(crate) async fn watch(&self, hub: &Hub) {
        loop {
            tokio::time::sleep(EVERY).await;
            if let Err(error) = self.sweep(hub).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "live connections could not be looked at");
            }
        }
    }

    /// Writes every second what devices have said. Messages do not wait for it, however long the database takes.
    pub(crate) async fn write_along(&self, hub: &Hub) {
        loop {
            tokio::time::sleep(EVERY).await;
            let _turn = hub.writing.lock().await;
            let written = self.write_acks(hub).await;
            if let Err(error) = written.and(self.write_presence(hub).await) {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "what devices have acknowledged, or that they are here, could not be written");
            }
        }
    }

    /// Writes what is left when nobody is connected any more.
    pub(crate) async fn write_last(&self, hub: &Hub) {
        let _turn = hub.writing.lock().await;
        let written = self.write_acks(hub).await;
        if let Err(error) = written.and(self.forget_presence(hub).await) {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what devices have acknowledged, or that they are gone, could not be written");
        }
    }

    async fn sweep(&self, hub: &Hub) -> Result<()> {
        let (now, instant, settled) = (self.0.clock.now(), Instant::now(), hub.inboxes.lock().settled());
        let mut callers: Vec<Caller> = Vec::new();
        let look = |line: &Line| {
            line.check(now, instant, settled);
            line.note_caller(&mut callers);
        };
        hub.some_lines(hub.n_lines().div_ceil(PARTS).max(LEAST), look).await;
        for caller in callers {
            if !self.0.tenancy.is_current(&caller).await? {
                self.end_standing(hub, &caller).await;
            }
        }
        self.end_gone(hub).await?;
        hub.lines.lock().forget_openings(instant);
        Ok(())
    }

    /// Ends the connections of channels that are no longer live.
    async fn end_gone(&self, hub: &Hub) -> Result<()> {
        let connected = hub.lines.lock().connected.clone();
        if connected.is_empty() {
            return Ok(());
        }
        let index = self.0.index.current(hub.app).await?;
        let live = term_plan(&index, &Term::Live(LiveTerm::Any));
        let live = index.resolve(&Plan::And(vec![Plan::Set(connected.clone()), live]).normalize());
        let gone: RoaringBitmap = connected - live;
        if gone.is_empty() {
            return Ok(());
        }
        let (app, ordinals): (_, Vec<Ordinal>) = (hub.app, gone.iter().map(Ordinal).collect());
        let rows = self.0.store.read(move |tx: &mut Tx<'_>| channels::by_ordinals(tx, app, &ordinals)).await?;
        let installed: RoaringBitmap = rows.iter().filter(|row| row.installed).map(|row| row.ordinal.0).collect();
        let lines = hub.lines.lock();
        for ordinal in gone {
            let end = if installed.contains(ordinal) { End::NotLive } else { End::Uninstalled };
            lines.of(Ordinal(ordinal)).for_each(|line| line.end(end));
        }
        Ok(())
    }

    /// Tells every device that the node stops, and waits until all of them have gone.
    pub async fn stop(&self) {
        // As long as somebody has them, they are not let go before what was acknowledged is written.
        let kept = self.hubs();
        self.0.is_stopping.store(true, Ordering::Relaxed);
        for hub in self.hubs() {
            let end = |line: &Line| {
                line.end(End::Restart { retry: line.ordinal.0.wrapping_mul(SPREADING) % SPREAD });
            };
            hub.each_line(end).await;
        }
        while self.n_connected() > 0 {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        for hub in self.hubs() {
            self.write_last(&hub).await;
        }
        drop(kept);
    }
}

impl Live {
    /// The app is gone, or the secret by which they were known was replaced.
    async fn end_standing(&self, hub: &Hub, caller: &Caller) {
        let has_app = self.0.tenancy.remembered_app(caller.app().key.as_str()).is_some();
        let end = if has_app { End::Credentials } else { End::NotLive };
        let look = |line: &Line| {
            if line.stands_as(caller) {
                line.end(end);
            }
        };
        hub.each_line(look).await;
    }
}
