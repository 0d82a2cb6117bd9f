//! How many channels of an audience there are of each device type, and how these can be reached.

use audience::index::Index;
use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use index::term_plan;
use model::channel::DeliveryType;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::term::{LiveTerm, Reach, Term};
use roaring::RoaringBitmap;

use crate::Targeting;

/// The part of an audience that has one device type. Who is reachable, opted out or without an address adds up to who matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTypeCount {
    pub device_type: DeviceType,
    pub matched: u64,
    /// Would see a notification.
    pub reachable: u64,
    /// How many of these are reached by live connections of their own, whatever becomes of their provider.
    pub live: u64,
    /// Android devices that would see a notification, by the provider behind them. There are none of other types.
    pub deliveries: Vec<DeliveryCount>,
    /// Have an address but are not opted in.
    pub opted_out: u64,
    pub without_address: u64,
}

/// Android devices that one provider delivers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    pub delivery_type: DeliveryType,
    /// Would see a notification.
    pub reachable: u64,
    /// How many of these take messages over live connections.
    pub live: u64,
    /// How many of those have no address, so that the provider is not asked.
    pub live_only: u64,
}

#[boxed]
impl Targeting {
    /// Everybody of some device types, counted as in an explanation.
    pub async fn count_everyone(&self, app: AppId, types: Vec<DeviceType>) -> Result<Vec<DeviceTypeCount>> {
        let index = self.0.index.current(app).await?;
        let count = move || count_by_device_type(&index, &index.resolve(&Plan::Everyone), types);
        tokio::task::spawn_blocking(count).await.map_err(Error::internal)
    }
}

/// Channels that would see a notification, and those of them with live connections.
struct Alerted {
    all: RoaringBitmap,
    live: RoaringBitmap,
    live_only: RoaringBitmap,
}

pub(super) fn count_by_device_type(
    index: &Index,
    audience: &RoaringBitmap,
    types: Vec<DeviceType>,
) -> Vec<DeviceTypeCount> {
    let addressed = audience & holders(index, &Term::Reach(Reach::Addressed));
    let all = &addressed & holders(index, &Term::Reach(Reach::Alert));
    let live = &all & holders(index, &Term::Live(LiveTerm::Any));
    let live_only = &live & holders(index, &Term::Live(LiveTerm::Only));
    let alerted = Alerted { all, live, live_only };
    let counted = types.into_iter().map(|device_type| {
        let of_type = audience & holders(index, &Term::DeviceType(device_type.clone()));
        let (matched, with_address) = (of_type.len(), of_type.intersection_len(&addressed));
        let reachable = of_type.intersection_len(&alerted.all);
        let deliveries = match device_type {
            DeviceType::Android => deliveries(index, &of_type, &alerted),
            _ => Vec::new(),
        };
        DeviceTypeCount {
            device_type,
            matched,
            reachable,
            live: of_type.intersection_len(&alerted.live),
            deliveries,
            opted_out: with_address - reachable,
            without_address: matched - with_address,
        }
    });
    counted.filter(|count| count.matched > 0).collect()
}

/// Google delivers to those Android devices of which nothing else is known.
fn deliveries(index: &Index, channels: &RoaringBitmap, alerted: &Alerted) -> Vec<DeliveryCount> {
    let count = |delivery_type: DeliveryType, having: &RoaringBitmap| DeliveryCount {
        delivery_type,
        reachable: having.len(),
        live: having.intersection_len(&alerted.live),
        live_only: having.intersection_len(&alerted.live_only),
    };
    let mut of_google = channels & &alerted.all;
    let mut counts = Vec::new();
    for delivery_type in [DeliveryType::Adm, DeliveryType::Hms, DeliveryType::UnifiedPush] {
        let having = &of_google & holders(index, &Term::DeliveryType(delivery_type));
        of_google -= &having;
        counts.push(count(delivery_type, &having));
    }
    counts.push(count(DeliveryType::Fcm, &of_google));
    counts.retain(|count| count.reachable > 0);
    counts
}

fn holders(index: &Index, term: &Term) -> RoaringBitmap {
    index.resolve(&term_plan(index, term))
}
