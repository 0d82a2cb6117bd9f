//! Pipelines that may send only at some times of the day: channels that are due at another time keep waiting, or are left out.

use std::collections::BTreeMap;

use audience::index::Index;
use audience::plan::Plan;
use base::Result;
use model::ids::AppId;
use model::pipeline::{ByClock, Miss, Pipeline};
use model::property::{DeviceClock, device_clocks};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use sending::part::channels_using;
use store::Tx;
use targeting::Planner;

use super::fire::Firing;
use super::timers::{Canceling, StandIns, Waiting};
use crate::Campaigns;

/// Channels by their clocks; `None`, which is UTC, for channels whose clock is not known.
pub(super) type ByClocks = Vec<(Option<&'static DeviceClock>, RoaringBitmap)>;

/// Whether the clocks of channels decide when they are sent to.
pub(super) fn go_by_devices(pipeline: &Pipeline) -> bool {
    pipeline.dayparts.as_ref().is_some_and(|dayparts| dayparts.by == ByClock::Local)
}

impl Campaigns {
    /// The channels that may be sent to now. The others wait for their next time, if they may.
    pub(super) fn wait_for_daypart(
        &self,
        tx: &mut Tx<'_>,
        firing: &Firing<'_>,
        Waiting { channels, causes }: &Waiting,
    ) -> Result<RoaringBitmap> {
        let channels = channels.clone();
        let Some(dayparts) = &firing.pipeline.dayparts else { return Ok(channels) };
        let groups = match dayparts.by {
            ByClock::Utc => vec![(None, channels)],
            ByClock::Local => firing.by_clocks(tx, channels),
        };
        let mut ready = RoaringBitmap::new();
        let mut later: BTreeMap<UtcMillis, RoaringBitmap> = BTreeMap::new();
        for (clock, group) in groups {
            // A channel within a window can wait for the preferred time of the window and misses nothing.
            let may_wait = match dayparts.miss {
                Miss::Wait => true,
                Miss::Cancel => dayparts.allow(clock, firing.now),
            };
            match dayparts.next(clock, firing.now) {
                Some(at) if at <= firing.now => ready |= group,
                Some(at) if may_wait => *later.entry(at).or_default() |= group,
                Some(_) | None => {}
            }
        }
        for (at, group) in later.into_iter().filter(|(_, group)| !group.is_empty()) {
            let waiting = Waiting { causes: causes.within(&group), channels: group };
            let list = (firing.list, Canceling::of(firing.pipeline));
            // Before that time they would have to wait for it again.
            self.add_waiting(tx, firing.app, list, (at, StandIns::After), &waiting)?;
        }
        Ok(ready)
    }
}

/// Asks for each of hundreds of clocks which of the channels go by it.
pub(super) fn by_clocks(
    tx: &mut Tx<'_>,
    app: AppId,
    index: &Index,
    channels: RoaringBitmap,
    now: UtcMillis,
) -> ByClocks {
    let planner = Planner::new(tx, app, index, now, Vec::new());
    let mut groups = Vec::new();
    let mut left = channels;
    for clock in device_clocks() {
        if left.is_empty() {
            break;
        }
        let plan = Plan::And(vec![Plan::Set(left.clone()), channels_using(&planner, clock)]).normalize();
        let group = index.resolve(&plan);
        if !group.is_empty() {
            left -= &group;
            groups.push((Some(clock), group));
        }
    }
    groups.push((None, left));
    groups
}
