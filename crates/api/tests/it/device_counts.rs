//! The reports of opted-in and opted-out devices: everybody counts once in an hour, a day and a month, however often they open the
//! app and however late that is told.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{START, TestApp, on_each_database};

use crate::events_intake::{event_at, upload};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

async fn register(app: &TestApp, address: &str, opt_in: bool) -> String {
    let device = json!({"channel": {"device_type": "ios", "opt_in": opt_in, "push_address": address}});
    app.device().post("/api/channels", device).await.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

/// Uploads openings at some times after the start, each with a session of its own that ends a second later.
async fn open(app: &TestApp, channel: &str, times: &[i64]) {
    let mut events = Vec::new();
    for time in times {
        let session = json!({"session_id": format!("{channel} {time}")});
        for (kind, after) in [("app_foreground", 0), ("app_background", 1000)] {
            let mut event = event_at(kind, START.0 + time + after, session.clone());
            let name = format!("{channel} {kind} {time}");
            event["event_id"] = json!(uuid::Uuid::new_v5(&uuid::Uuid::nil(), name.as_bytes()).to_string());
            events.push(event);
        }
    }
    upload(app, channel, json!(events)).await;
}

/// The figures of iOS in all rows of a report that are not zero.
async fn figures(app: &TestApp, report: &str, precision: &str) -> Vec<(String, u64)> {
    let path = format!("/api/reports/{report}?start=2024-04-01&end=2024-06-01&precision={precision}");
    let mut found = Vec::new();
    let mut next = Some(path);
    while let Some(path) = next {
        let answer = app.master().get(&path).await.expect(200);
        for row in answer[report].as_array().unwrap() {
            let n = row["ios"].as_u64().unwrap();
            found.extend((n > 0).then(|| (row["date"].as_str().unwrap().to_owned(), n)));
        }
        next = answer["next_page"].as_str().map(|url| url.strip_prefix(&app.url("")).unwrap().to_owned());
    }
    found
}

fn rows(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(date, n)| ((*date).to_owned(), *n)).collect()
}

#[tokio::test]
async fn a_device_counts_once_in_a_row_however_often_it_opens_the_app() {
    on_each_database(async |app| {
        app.advance(Duration::from_millis(u64::try_from(2 * DAY).unwrap()));
        let [often, once, out] =
            [register(&app, "a", true).await, register(&app, "b", true).await, register(&app, "c", false).await];
        // It is 12:00 on May 1. Three times in one hour, in one upload and in another, then in the next hour and the next day.
        open(&app, &often, &[0, 10 * MINUTE]).await;
        open(&app, &often, &[20 * MINUTE]).await;
        let app = app.restart().await;
        open(&app, &often, &[HOUR, HOUR + MINUTE, DAY]).await;
        open(&app, &once, &[30 * MINUTE]).await;
        open(&app, &out, &[0, 1, DAY, DAY + 2 * HOUR]).await;
        let hours = rows(&[("2024-05-01 12:00:00", 2), ("2024-05-01 13:00:00", 1), ("2024-05-02 12:00:00", 1)]);
        assert_eq!(figures(&app, "optins", "HOURLY").await, hours);
        let days = rows(&[("2024-05-01 00:00:00", 2), ("2024-05-02 00:00:00", 1)]);
        assert_eq!(figures(&app, "optins", "DAILY").await, days);
        assert_eq!(figures(&app, "optins", "MONTHLY").await, rows(&[("2024-05-01 00:00:00", 2)]));
        let hours = rows(&[("2024-05-01 12:00:00", 1), ("2024-05-02 12:00:00", 1), ("2024-05-02 14:00:00", 1)]);
        assert_eq!(figures(&app, "optouts", "HOURLY").await, hours);
        let days = rows(&[("2024-05-01 00:00:00", 1), ("2024-05-02 00:00:00", 1)]);
        assert_eq!(figures(&app, "optouts", "DAILY").await, days);
        assert_eq!(figures(&app, "optouts", "MONTHLY").await, rows(&[("2024-05-01 00:00:00", 1)]));
        assert_eq!(figures(&app, "opens", "MONTHLY").await, rows(&[("2024-05-01 00:00:00", 11)]), "all of them");
    })
    .await;
}

#[tokio::test]
async fn a_device_counts_by_its_state_at_the_first_opening_of_a_row() {
    on_each_database(async |app| {
        let channel = register(&app, "a", true).await;
        open(&app, &channel, &[0]).await;
        app.advance(Duration::from_secs(24 * 60 * 60));
        let change = json!({"channel": {"device_type": "ios", "opt_in": false, "push_address": "a"}});
        app.device().put(&format!("/api/channels/{channel}"), change).await.expect(200);
        open(&app, &channel, &[HOUR, DAY]).await;
        let first = rows(&[("2024-05-01 00:00:00", 1)]);
        assert_eq!(figures(&app, "optins", "DAILY").await, first, "the day began with it opted in");
        assert_eq!(figures(&app, "optouts", "DAILY").await, rows(&[("2024-05-02 00:00:00", 1)]));
        let hours = rows(&[("2024-05-01 13:00:00", 1), ("2024-05-02 12:00:00", 1)]);
        assert_eq!(figures(&app, "optouts", "HOURLY").await, hours);
        assert_eq!(figures(&app, "optins", "MONTHLY").await, first);
        assert_eq!(figures(&app, "optouts", "MONTHLY").await, rows(&[]));
    })
    .await;
}

#[tokio::test]
async fn what_is_told_late_counts_where_it_belongs_and_not_twice() {
    on_each_database(async |app| {
        let channel = register(&app, "a", true).await;
        open(&app, &channel, &[0]).await;
        // Days of April, told in May and in no order; two uploads tell of the same month and one day twice.
        open(&app, &channel, &[-2 * DAY, -10 * DAY, -2 * DAY + HOUR]).await;
        let app = app.restart().await;
        open(&app, &channel, &[-3 * DAY, -10 * DAY + MINUTE]).await;
        open(&app, &channel, &[2 * MINUTE, -2 * DAY]).await;
        let months = rows(&[("2024-04-01 00:00:00", 1), ("2024-05-01 00:00:00", 1)]);
        assert_eq!(figures(&app, "optins", "MONTHLY").await, months);
        let days: Vec<(String, u64)> = rows(&[
            ("2024-04-21 00:00:00", 1),
            ("2024-04-28 00:00:00", 1),
            ("2024-04-29 00:00:00", 1),
            ("2024-05-01 00:00:00", 1),
        ]);
        assert_eq!(figures(&app, "optins", "DAILY").await, days);
        let hours = figures(&app, "optins", "HOURLY").await;
        assert_eq!(hours.len(), 5, "{hours:?}");
        assert!(hours.iter().all(|(_, n)| *n == 1), "{hours:?}");
        let sessions =
            app.master().get("/api/reports/timeinapp?start=2024-04-01&end=2024-06-01&precision=MONTHLY").await;
        let sessions: Vec<Value> =
            sessions.expect(200)["timeinapp"].as_array().unwrap().iter().map(|row| row["ios"].clone()).collect();
        assert_eq!(sessions, [json!(1.0), json!(1.0)], "each ends, in whatever order they are told");
    })
    .await;
}
