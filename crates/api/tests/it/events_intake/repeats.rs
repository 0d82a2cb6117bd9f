//! What is remembered of a channel's events, so that those that come again are recognized, and how much of it an upload reads,
//! whatever the device says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{START, TestApp, on_each_database};
use testkit::rows::{all_rows, row_counts};

use super::{event_at, register, upload, upload_with};

const HOUR: i64 = 3_600_000;
/// Of an hour of a channel, in rows that are read as a whole.
const MOST_TOGETHER: usize = 256;
const MOST_ROWS: usize = 8;
const ID_BYTES: usize = 16;

/// An event like no other, in an hour before the start.
fn screen(n: usize, hours_ago: i64) -> Value {
    event_at("screen_tracking", START.0 - hours_ago * HOUR, json!({"screen": "cart", "n": n}))
}

async fn n_events(app: &TestApp, outcome: &str) -> usize {
    let (metrics, name) = (app.operator().get("/metrics").await, format!("{{outcome=\"{outcome}\"}} "));
    let line = metrics.text().lines().find(|line| line.contains("device_events_total") && line.contains(&name));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// The rows, and the bytes in each, that an upload about each hour reads.
async fn kept_by_hour(app: &TestApp) -> BTreeMap<i64, (usize, usize)> {
    let mut by_hour = BTreeMap::<i64, (usize, usize)>::new();
    for row in all_rows(app.engine().store()).await.remove("seen_upload").unwrap_or_default() {
        let [_, hour, _, _, ids] = &row[..] else { panic!("{row:?}") };
        let (store::Value::Int(hour), store::Value::Bytes(ids)) = (hour, ids) else { panic!("{row:?}") };
        let (n_rows, n_bytes) = by_hour.entry(*hour).or_default();
        (*n_rows, *n_bytes) = (*n_rows + 1, *n_bytes + ids.len());
    }
    by_hour
}

/// Uploads by chance, of which most have events that came before, beside a set of those that were sent.
#[tokio::test]
async fn each_event_counts_once_and_an_hour_has_few_rows_however_it_is_uploaded() {
    const POOL: usize = 900;
    const HOURS: i64 = 3;
    on_each_database(async |app| {
        let channels = [register(&app, "ios", "A1").await, register(&app, "ios", "A2").await];
        let (mut sent, mut n_sent, mut chance) = (BTreeSet::new(), 0, 7_u64);
        let mut below = |end: usize| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(chance >> 33).unwrap() % end
        };
        for n_upload in 0..90 {
            // Most events are of one hour, which is filled so.
            let picked: Vec<usize> = (0..=below(30)).map(|_| below(POOL)).collect();
            let of = |n: usize| if n < 600 { 0 } else { i64::try_from(n).unwrap() % HOURS };
            let channel = below(channels.len());
            n_sent += picked.len();
            sent.extend(picked.iter().map(|n| (channel, of(*n), *n)));
            let events: Vec<Value> = picked.iter().map(|n| screen(*n, of(*n))).collect();
            upload(&app, &channels[channel], json!(events)).await;
            assert_eq!(n_events(&app, "taken").await, sent.len(), "{n_upload}");
        }
        // Each in one upload of all that was sent, too.
        for (channel, id) in channels.iter().enumerate() {
            let all: Vec<_> = sent.iter().filter(|(of, ..)| *of == channel).collect();
            for part in all.chunks(500) {
                upload(&app, id, json!(part.iter().map(|(_, hour, n)| screen(*n, *hour)).collect::<Vec<_>>())).await;
            }
            n_sent += all.len();
        }
        assert_eq!(n_events(&app, "taken").await, sent.len());
        assert_eq!(n_events(&app, "repeated").await, n_sent - sent.len());
        let by_hour = kept_by_hour(&app).await;
        assert_eq!(by_hour.len(), 3);
        for (hour, (n_rows, n_bytes)) in by_hour {
            assert!(n_rows <= channels.len() * MOST_ROWS, "{hour}: {n_rows} rows");
            assert!(n_bytes <= channels.len() * MOST_TOGETHER * ID_BYTES, "{hour}: {n_bytes} bytes");
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_device_sends_beyond_hundreds_in_an_hour_is_looked_up_one_by_one() {
    const SENT: usize = 1_000;
    on_each_database(async |app| {
        let mut app = app;
        let [channel, other] = [register(&app, "ios", "A1").await, register(&app, "ios", "A2").await];
        let parts = || {
            let events = (0..SENT).map(|n| screen(n, 2)).collect::<Vec<_>>();
            events.chunks(400).map(<[Value]>::to_vec).collect::<Vec<_>>()
        };
        for _ in 0..2 {
            for part in parts() {
                upload(&app, &channel, json!(part)).await;
            }
            app = app.restart().await;
        }
        let counts = row_counts(app.engine().store()).await;
        assert_eq!(counts["seen_event"], i64::try_from(SENT - MOST_TOGETHER).unwrap());
        let by_hour = kept_by_hour(&app).await;
        assert_eq!(by_hour.values().map(|(_, n_bytes)| *n_bytes).collect::<Vec<_>>(), [MOST_TOGETHER * ID_BYTES]);
        // The same ids of another channel are other events.
        upload(&app, &other, json!(parts()[2])).await;
        assert_eq!(n_events(&app, "taken").await, 200);
        upload(&app, &other, json!(parts()[2])).await;
        assert_eq!(n_events(&app, "repeated").await, 200);
        // Those without a time may be known in any hour of a day, and all of them are taken, once.
        let without_time = |n: usize| {
            let mut event = screen(n, 0);
            event.as_object_mut().unwrap().remove("time");
            event
        };
        for _ in 0..3 {
            upload(&app, &other, json!((0..400).map(without_time).collect::<Vec<_>>())).await;
            app.advance(Duration::from_secs(12 * 3600));
        }
        assert_eq!([n_events(&app, "taken").await, n_events(&app, "repeated").await], [600, 1000]);
        // Nothing of it is kept for longer than other events.
        app.advance(Duration::from_secs(100 * 24 * 3600));
        app.step_all().await;
        let counts = row_counts(app.engine().store()).await;
        assert_eq!((counts["seen_event"], counts["seen_upload"]), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn nothing_is_lost_of_a_device_whose_clock_was_never_set() {
    const DAYS_BEHIND: i64 = 10_000;
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        // It was offline for a month, and used a lot in the last hour.
        let of_month = (0..720).map(|hour| screen(0, DAYS_BEHIND * 24 + hour));
        let of_hour = (1..=400).map(|n| screen(n, DAYS_BEHIND * 24));
        let events: Vec<Value> = of_month.chain(of_hour).collect();
        // It is put right a little differently each time, and goes on.
        for (round, (days, differs)) in [(0, 0), (0, 1_500), (0, -2_000), (5, 0)].into_iter().enumerate() {
            app.advance(Duration::from_secs(days * 24 * 3600));
            let now = app.clock().now().0;
            let sent_at = format!("{:.3}", (now - DAYS_BEHIND * 24 * HOUR + differs) as f64 / 1000.0);
            let headers = [
                ("X-UA-App-Key", app.app.key.as_str()),
                ("X-UA-Channel-ID", channel.as_str()),
                ("X-UA-Sent-At", sent_at.as_str()),
            ];
            for part in events.chunks(500) {
                upload_with(&app, &headers, json!(part).to_string().into_bytes()).await.expect(200);
            }
            let n = [n_events(&app, "taken").await, n_events(&app, "repeated").await];
            assert_eq!(n, [events.len(), round * events.len()], "round {round}");
        }
        let kept = kept_by_hour(&app).await;
        assert!(kept.len() <= 720 / 48 + 2, "{} spans", kept.len());
        for (hour, (n_rows, n_bytes)) in kept {
            assert!(n_rows <= MOST_ROWS && n_bytes <= MOST_TOGETHER * ID_BYTES, "{hour}: {n_rows}, {n_bytes}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_upload_from_hundreds_of_hours_is_taken_once() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let events: Vec<Value> = (0..500).map(|hour| screen(0, hour)).collect();
        for _ in 0..2 {
            upload(&app, &channel, json!(events)).await;
        }
        assert_eq!([n_events(&app, "taken").await, n_events(&app, "repeated").await], [500, 500]);
    })
    .await;
}
