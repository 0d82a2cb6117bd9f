//! A year of counts, the same in every run: every hour counts everything on three platforms, and pushes are opened for twelve
//! hours.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use model::device_type::DeviceType;
use model::ids::{AppId, Offset, OperationId, PipelineId, PushId};
use model::origin::{Origin, Part, Provenance};
use model::payload::push_type::PushType;
use model::report::parse_date;
use model::time::UtcMillis;
use store::counters::{self, Metric};
use store::event_counters::{self, Conversion, Counted, Sum};
use store::pushes::{self, PushRow, PushState, PushTexts};
use store::{Store, Tx, origins};
use uuid::Uuid;

use crate::loading;
use crate::report::progress;

const DAYS: u32 = 366;
const PUSHES_PER_DAY: u32 = 100;
pub(super) const PUSHES: u32 = DAYS * PUSHES_PER_DAY;
const OPEN_HOURS: i64 = 12;
const DEVICE_TYPES: [DeviceType; 3] = [DeviceType::Ios, DeviceType::Android, DeviceType::Web];
const EVENTS: [&str; 10] =
    ["open_cart", "purchase", "search", "share", "login", "logout", "rate", "invite", "watch", "listen"];

pub(super) struct Year {
    /// Hour, metric, platform and number, as they were counted.
    pub(super) counts: Vec<(i64, Metric, usize, u64)>,
}

impl Year {
    pub(super) async fn load(folder: &Path) -> Result<Self> {
        let (store, app) = loading::open(folder).await?;
        let first = counters::hour(parse_date("2024-01-01").context("the year has a beginning")?);
        let mut counts = Vec::new();
        for day in 0..DAYS {
            if day % 60 == 0 {
                progress(&format!("counting day {day}"));
            }
            let hours = first + i64::from(day) * 24;
            let of_day: Vec<_> = (hours..hours + 24).flat_map(counts_of_hour).collect();
            counts.extend(of_day.iter().copied());
            write_day(&store, app, day, hours, of_day).await?;
        }
        store.close().await;
        Ok(Self { counts })
    }

    /// The requests: a name and a path each.
    pub(super) fn questions(&self) -> Vec<(&'static str, String)> {
        let year = "start=2024-01-01&end=2025-01-01";
        let report = |path: &str| format!("/api/reports/{path}");
        let (one, group) = (push_id(PUSHES / 2), pipeline());
        vec![
            ("sends by hour, the first 1,000", report(&format!("sends?{year}&precision=HOURLY"))),
            ("sends by day", report(&format!("sends?{year}&precision=DAILY"))),
            ("sends by month", report(&format!("sends?{year}&precision=MONTHLY"))),
            ("opens by day, cut within hours", report("opens?start=2024-01-01T10:30&end=2024-12-31T10:30")),
            ("time in app by day", report(&format!("timeinapp?{year}"))),
            ("responses by day", report(&format!("responses?{year}"))),
            ("opt-ins by month", report(&format!("optins?{year}&precision=MONTHLY"))),
            ("the newest 100 pushes", report(&format!("responses/list?{year}"))),
            ("one push", report(&format!("responses/{one}"))),
            ("details of one push", report(&format!("perpush/detail/{one}"))),
            ("one push by hour", report(&format!("perpush/series/{one}"))),
            ("a pipeline with half of the pushes", report(&format!("pergroup/detail/{group}"))),
            ("the same by day", report(&format!("pergroup/series/{group}?{year}&precision=DAILY"))),
            ("the same by hour, the first 1,000", report(&format!("pergroup/series/{group}?{year}&precision=HOURLY"))),
            ("its custom events", report(&format!("events/summary/pergroup/{group}"))),
            ("devices at the end of the year", report("devices?date=2024-12-31")),
            ("custom events of the year", report(&format!("events?{year}"))),
            ("activity, the newest 100 pushes", report(&format!("activity/details?{year}"))),
        ]
    }

    pub(super) fn sends_by_day(&self) -> BTreeMap<(i64, usize), u64> {
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
) -> Result<()> {
    let write = store.write(app, move |tx| {
        for (hour, metric, device_type, n) in &counts {
            counters::add(tx, app, *metric, UtcMillis::of_hour(*hour), &DEVICE_TYPES[*device_type], *n)?;
        }
        for hour in first_hour..first_hour + 24 {
            write_events(tx, app, hour)?;
        }
        for number in day * PUSHES_PER_DAY..(day + 1) * PUSHES_PER_DAY {
            write_push(tx, app, number, first_hour + i64::from(number % 24))?;
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

fn write_push(tx: &mut Tx<'_>, app: AppId, number: u32, hour: i64) -> store::Result<()> {
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
    pushes::insert(tx, app, &row, &PushTexts::default())?;
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
        for later in 0..OPEN_HOURS {
            let at = UtcMillis::of_hour(hour + later);
            counters::add_of_push(tx, app, id, Metric::DirectResponses, at, device_type, 50)?;
            counters::add_of_push(tx, app, id, Metric::InfluencedResponses, at, device_type, 80)?;
        }
    }
    Ok(())
}

/// The origin of every other push.
fn pipeline() -> PipelineId {
    PipelineId::from_uuid(Uuid::from_u128(u128::MAX / 3))
}

fn push_id(number: u32) -> PushId {
    PushId::from_uuid(Uuid::from_u128(u128::from(number) + 1))
}
