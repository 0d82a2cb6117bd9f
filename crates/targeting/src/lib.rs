//! Who is meant: from audiences to plans over the index, segments and uploaded lists, and how an audience came about.

mod attributes;
mod channels_of;
mod check;
mod device_attributes;
mod device_types;
mod explain;
mod lifecycle;
mod lists;
mod membership;
mod online;
mod openings;
mod past_pushes;
mod places;
mod plan;
mod retention;
mod search;
mod segments;
mod tags_in_use;

use std::sync::Arc;

use base::{Base, PassedOver, SharedClock};
use devices::Devices;
use index::Indexes;
use model::time::Clock;
use store::Store;
use tenancy::Tenancy;

pub use audience::tally::TagCount;
pub use check::audience_problems;
pub use device_types::{device_types, open_types, types_of};
pub use explain::{AsOf, Clause, ClauseOfOne, DeliveryCount, DeviceTypeCount, Effect, Explanation, Moment, Warning};
pub use lists::{BadRow, ListContent, ListStatus, ListUpload, ListView, uploads_under_way};
pub use membership::apply_overrides;
pub use online::connected;
pub use past_pushes::{PastSets, unknown_push, unknown_pushes};
pub use plan::{Planner, Unknown, tag_plan};
pub use retention::Cohort;
pub use segments::{CreatedSegment, SegmentView, segment_by_place};
pub use store::documents::Order;
pub use tags_in_use::{GroupInUse, GroupsInUse, TagsInUse};

/// The audiences of the apps; clones share everything.
#[derive(Clone)]
pub struct Targeting(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    /// For leases of jobs, which other nodes judge.
    shared_clock: SharedClock,
    tenancy: Tenancy,
    index: Indexes,
    devices: Devices,
    explaining: explain::Turns,
    passed_over: PassedOver,
}

impl Targeting {
    pub fn new(base: &Base, tenancy: &Tenancy, index: &Indexes, devices: &Devices) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            shared_clock: base.shared_clock.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            devices: devices.clone(),
            explaining: explain::Turns::default(),
            passed_over: PassedOver::default(),
        }))
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 1] {
        [jobs::Kind::of::<lists::ApplyList>(self)]
    }
}
