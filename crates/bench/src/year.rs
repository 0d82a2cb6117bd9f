//! A year of counts and pushes, the same in every run: every hour counts everything on three platforms, and pushes are opened
//! for some hours.

use std::collections::BTreeMap;

use anyhow::Result;
use model::device_type::DeviceType;
use model::ids::{AppId, Offset, OperationId, PipelineId, PushId};
use model::origin::{Origin, Part, Provenance};
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use store::counters::{self, Metric};
use store::event_counters::{self, Conversion, Counted, Sum};
use store::pushes::{self, PushRow, PushState, PushTexts};
use store::{Store, Tx, origins};
use uuid::Uuid;

use crate::loading::{self, Place};
use crate::report::progress;

const DEVICE_TYPES: [DeviceType; 3] = [DeviceType::Ios, DeviceType::Android, DeviceType::Web];
const EVENTS: [&str; 10] =
    ["open_cart", "purchase", "search", "share", "login", "logout", "rate", "invite", "watch", "listen"];

/// How busy the year is.
#[derive(Clone, Copy)]
pub(crate) struct Busy {
    /// 366, but a trial has fewer.
    pub(crate) days: u32,
    pub(crate) pushes_per_day: u32,
    /// For how many hours each push is opened.
    pub(crate) open_hours: i64,
}

impl Busy {
    pub(crate) fn n_pushes(self) -> u32 {
        self.days * self.pushes_per_day
    }
}

pub(crate) struct Year {
    /// Hour, metric, platform and number, as they were counted.
    pub(crate) counts: Vec<(i64, Metric, usize, u64)>,
    pub(crate) n_pushes: u32,
}

impl Year {
    /// Writes a year that begins on some day into a database.
    pub(crate) async fn load(place: &Place<'_>, begins: UtcMillis, busy: Busy) -> Result<Self> {
        let (store, app) = loading::open_at(place).await?;
        let first = counters::hour(begins);
        let mut counts = Vec::new();
        for day in 0..busy.days {
            if day % 60 == 0 {
                progress(&format!("counting day {day}"));
            }
            let hours = first + i64::from(day) * 24;
            let of_day: Vec<_> = (hours..hours + 24).flat_map(counts_of_hour).collect();
            counts.extend(of_day.iter().copied());
            write_day(&store, app, day, hours, of_day, busy).await?;
        }
        store.close().await;
        Ok(Self { counts, n_pushes: busy.n_pushes() })
    }

    pub(crate) fn sends_by_day(&self) -> BTreeMap<(i64, usize), u64> {
        let mut days = BTreeMap::new();
        for (hour, metric, device_type, n) in &self.counts {
            if *metric == Metric::Sends {
                *days.entry((hour / 24, *device_type)).or_default() += n;
            }
        }
        days
    }
}

fn counts_of_hour(hour: i64) -> impl Iterator<Item = (i64, Metric, usize, u64)> {
    let every = Metric::ALL.into_iter().enumerate();
    every.flat_map(move |(place, metric)| {
        let n = move |device_type: usize| (hour.unsigned_abs() * 31 + place as u64 * 7 + device_type as u64) % 1000 + 1;
        (0..DEVICE_TYPES.len()).map(move |device_type| (hour, metric, device_type, n(device_type)))
    })
}

async fn write_day(
    store: &Store,
    app: AppId,
    day: u32,
    first_hour: i64,
    counts: Vec<(i64, Metric, usize, u64)>,
    busy: Busy,
) -> Result<()> {
    let write = store.write(app, move |tx| {
        for (hour, metric, device_type, n) in &counts {
            counters::add(tx, app, *metric, UtcMillis::of_hour(*hour), &DEVICE_TYPES[*device_type], *n)?;
        }
        for hour in first_hour..first_hour + 24 {
            write_events(tx, app, hour)?;
        }
        for number in day * busy.pushes_per_day..(day + 1) * busy.pushes_per_day {
            write_push(tx, app, number, first_hour + i64::from(number % 24), busy.open_hours)?;
        }
        Ok::<_, store::Error>(())
    });
    Ok(write.await?)
}

fn write_events(tx: &mut Tx<'_>, app: AppId, hour: i64) -> store::Result<()> {
    let at = UtcMillis::of_hour(hour);
    let mut named =
        EVENTS.iter().flat_map(|name| Conversion::ALL.map(|conversion| Counted::at(at, name, conversion, None)));
    named.try_for_each(|counted| event_counters::add(tx, app, counted, Sum { n: 5, millionths: 12_500_000.0 }))
}

fn write_push(tx: &mut Tx<'_>, app: AppId, number: u32, hour: i64, open_hours: i64) -> store::Result<()> {
    let (id, created) = (push_id(number), UtcMillis::of_hour(hour));
    let row = PushRow {
        id,
        operation: OperationId::from_uuid(id.uuid()),
        created,
        expires: None,
        push_type: PushType::BroadcastPush,
        state: PushState::Done,
        paused: false,
        accepted_at: Offset(0),
        redact: false,
        payload: Some(r#"{"audience":"all","device_types":"all","notification":{"alert":"Hello"}}"#.to_owned()),
    };
    let texts = PushTexts { alert: Some(format!("Hello number {number}")), ..PushTexts::default() };
    pushes::insert(tx, app, &row, &texts)?;
    if number % 2 == 1 {
        let origin = Origin::Pipeline(pipeline());
        origins::insert(tx, app, id, &Provenance { origin, run: None, part: Part::Triggered })?;
        let counted = Counted::at(created, EVENTS[number as usize % EVENTS.len()], Conversion::Direct, Some(id));
        event_counters::add(tx, app, counted, Sum { n: 5, millionths: 12_500_000.0 })?;
    }
    for device_type in &DEVICE_TYPES {
        for metric in [Metric::Sends, Metric::AlertingSends] {
            counters::add_of_push(tx, app, id, metric, created, device_type, 10_000)?;
        }
        for later in 0..open_hours {
            let at = UtcMillis::of_hour(hour + later);
            counters::add_of_push(tx, app, id, Metric::DirectResponses, at, device_type, 50)?;
            counters::add_of_push(tx, app, id, Metric::InfluencedResponses, at, device_type, 80)?;
        }
    }
    Ok(())
}

/// The origin of every other push.
pub(crate) fn pipeline() -> PipelineId {
    PipelineId::from_uuid(Uuid::from_u128(u128::MAX / 3))
}

pub(crate) fn push_id(number: u32) -> PushId {
    PushId::from_uuid(Uuid::from_u128(u128::from(number) + 1))
}
