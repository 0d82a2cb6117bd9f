//! Who is connected: every node writes the channels that are connected to it, so that any node can tell of all, and the days on
//! which channels were.

use std::time::Duration;

use audience::codec;
use base::Result;
use boxed::boxed;
use devices::ChangeContext;
use index::term_plan;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::term::{DayKind, LiveTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, live_presence};
use targeting::{connected, types_of};

use crate::Live;
use crate::hub::Hub;

/// How often a node writes at most. Others wait three times as long before they take it for gone.
const WRITE_EVERY: Duration = Duration::from_secs(5);

/// The devices of an app that are connected now, to whichever node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    pub connected: u64,
    pub by_device_type: Vec<(DeviceType, u64)>,
    /// Channels that take live messages, connected or not.
    pub live_channels: u64,
}

/// What this node has written of the channels of an app.
#[derive(Default)]
pub(crate) struct Written {
    connected: RoaringBitmap,
    /// When, unless there is nothing in the database.
    at: Option<UtcMillis>,
    /// Channels that have connected since they were last written as seen.
    pub(crate) seen: RoaringBitmap,
    /// Those that are written as seen on a day.
    noted: (i32, RoaringBitmap),
}

impl Written {
    /// The channels that have connected, and those of whom a day is yet to be written.
    fn unnoted(&mut self, day: i32) -> (RoaringBitmap, RoaringBitmap) {
        if self.noted.0 != day {
            self.noted = (day, RoaringBitmap::new());
        }
        // Those that stay connected are seen every day.
        let new = (&self.seen | &self.connected) - &self.noted.1;
        (self.seen.clone(), new)
    }

    /// The day is written.
    fn note(&mut self, day: i32, seen: &RoaringBitmap, new: &RoaringBitmap) {
        self.seen -= seen;
        if self.noted.0 == day {
            self.noted.1 |= new;
        }
    }
}

#[boxed]
impl Live {
    pub async fn presence(&self, app: AppId) -> Result<Presence> {
        let now = self.0.clock.now();
        let connected = self.0.store.read(move |tx| connected(tx, app, now)).await?;
        let index = self.0.index.current(app).await?;
        let by_device_type: Vec<(DeviceType, u64)> =
            types_of(&index, &connected).into_iter().map(|(device_type, having)| (device_type, having.len())).collect();
        Ok(Presence {
            connected: by_device_type.iter().map(|(_, n)| n).sum(),
            by_device_type,
            live_channels: index.count(&term_plan(&index, &Term::Live(LiveTerm::Any)).normalize()),
        })
    }

    /// Writes who is connected if that has changed, that it is still so otherwise, and who was seen today.
    pub(crate) async fn write_presence(&self, hub: &Hub) -> Result<()> {
        let now = self.0.clock.now();
        let connected = hub.lines.lock().connected.clone();
        let (is_changed, is_written) = {
            let written = hub.written.lock();
            if written.at.is_some_and(|at| at <= now && now < at.plus(WRITE_EVERY)) {
                return Ok(());
            }
            (written.connected != connected, written.at.is_some())
        };
        let (app, node) = (hub.app, self.0.store.node());
        if connected.is_empty() && is_written {
            self.0.store.write(app, move |tx: &mut Tx<'_>| live_presence::delete(tx, app, node)).await?;
        } else if !connected.is_empty() {
            let set = codec::encode(&connected);
            let write = move |tx: &mut Tx<'_>| {
                if is_changed || !live_presence::confirm(tx, app, node, now)? {
                    live_presence::put(tx, app, node, set.clone(), now)?;
                }
                Ok::<_, store::Error>(())
            };
            self.0.store.write(app, write).await?;
        }
        {
            let mut written = hub.written.lock();
            (written.at, written.connected) = ((!connected.is_empty()).then_some(now), connected);
        }
        self.write_seen(hub, now).await
    }

    /// Notes the day for channels that have connected, once for each.
    async fn write_seen(&self, hub: &Hub, now: UtcMillis) -> Result<()> {
        let (seen, new) = hub.written.lock().unnoted(now.day());
        if !new.is_empty() {
            let noted = new.clone();
            let note =
                move |tx: &mut Tx<'_>, context: &mut ChangeContext<'_>| context.happened(tx, DayKind::Live, &noted);
            self.0.devices.change_audience(hub.app, note).await?;
        }
        hub.written.lock().note(now.day(), &seen, &new);
        Ok(())
    }

    /// Takes back what this node has written of an app that it has no connections of any more.
    pub(crate) async fn forget_presence(&self, hub: &Hub) -> Result<()> {
        if hub.written.lock().at.take().is_none() {
            return Ok(());
        }
        let (app, node) = (hub.app, self.0.store.node());
        self.0.store.write(app, move |tx: &mut Tx<'_>| live_presence::delete(tx, app, node)).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_that_could_not_be_written_is_written_the_next_time() {
        let mut written = Written { connected: [1].into(), seen: [2].into(), ..Written::default() };
        let (seen, new) = written.unnoted(5);
        assert_eq!(new, RoaringBitmap::from([1, 2]));
        assert_eq!(written.unnoted(5), (seen.clone(), new.clone()), "nothing was written");
        written.seen.insert(3);
        written.note(5, &seen, &new);
        assert_eq!(written.unnoted(5).1, RoaringBitmap::from([3]), "it came meanwhile");
        assert_eq!(written.unnoted(6).1, RoaringBitmap::from([1, 3]), "another day");
    }
}
