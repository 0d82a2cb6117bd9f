//! What devices cannot do however often they try: upload all the time, and make up names without end.

use std::time::Duration;

use serde_json::{Value, json};
use store::event_counters::MOST_NAMES;
use testkit::app::{START, on_each_database};

use super::{event, event_at, id_of, register, told, upload, upload_with};

#[tokio::test]
async fn a_channel_that_uploads_all_the_time_is_told_to_wait() {
    on_each_database(async |app| {
        let (busy, other) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        app.advance(Duration::from_secs(20));
        for _ in 0..60 {
            upload(&app, &busy, json!([])).await;
        }
        let headers = [("X-UA-App-Key", app.app.key.as_str()), ("X-UA-Channel-ID", &busy)];
        let body = json!([event("app_foreground", json!({}))]).to_string().into_bytes();
        let refused = upload_with(&app, &headers, body.clone()).await;
        assert_eq!(refused.expect(429)["error_code"], 42901);
        let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((40..=41).contains(&wait), "{wait}");
        upload(&app, &other, json!([event("app_foreground", json!({"session_id": "other"}))])).await;
        app.advance(Duration::from_secs(wait));
        upload_with(&app, &headers, body).await.expect(200);
        let openings = told(&app).await;
        let channels: Vec<&Value> = openings.iter().map(|event| &event["device"]["channel"]).collect();
        assert_eq!(channels, [&other, &busy], "nothing was lost and nothing counts twice");
    })
    .await;
}

#[tokio::test]
async fn names_that_devices_make_up_are_counted_together_beyond_a_number() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let custom = |name: &str, millis: i64| event_at("custom_event", millis, json!({"event_name": name}));
        let names: Vec<String> = (0..MOST_NAMES + 200).map(|n| format!("name-{n:04}")).collect();
        for names in names.chunks(400) {
            let events: Vec<Value> = names.iter().map(|name| custom(name, START.0)).collect();
            upload(&app, &channel, json!(events)).await;
        }
        // A name that is counted goes on being counted, one that is not stays with the others, and a new day has room again.
        let more = [custom("name-0007", START.0 + 1), custom("name-1100", START.0 + 1), custom("(other)", START.0 + 1)];
        upload(&app, &channel, json!(more)).await;
        app.advance(Duration::from_secs(24 * 60 * 60));
        upload(&app, &channel, json!([custom("name-1100", START.0 + 24 * 3_600_000)])).await;

        let app = app.restart().await;
        let mut counted = Vec::new();
        let mut path = "/api/reports/events?start=2024-05-01&end=2024-05-02&precision=DAILY&page_size=100".to_owned();
        loop {
            let page = app.master().get(&path).await.expect(200);
            assert_eq!(page["total_count"], MOST_NAMES + 203);
            for event in page["events"].as_array().unwrap() {
                counted.push((event["name"].as_str().unwrap().to_owned(), event["count"].as_u64().unwrap()));
            }
            let Some(next) = page["next_page"].as_str() else { break };
            path = next.strip_prefix(&app.url("")).unwrap().to_owned();
        }
        assert_eq!(counted.len(), MOST_NAMES as usize + 1);
        let count = |name: &str| counted.iter().filter(|(known, _)| known == name).map(|(_, n)| *n).collect::<Vec<_>>();
        assert_eq!((count("name-0000"), count("name-0007"), count("name-1100")), (vec![1], vec![2], vec![]));
        assert_eq!(count("(other)"), [202]);
        let tomorrow = app.master().get("/api/reports/events?start=2024-05-02&end=2024-05-03&precision=DAILY").await;
        assert_eq!(tomorrow.expect(200)["events"][0]["name"], "name-1100");
        // What is told is told under its own name all the same.
        let all = app.master().get("/api/events?follow=false&types=CUSTOM").await;
        assert_eq!(all.text().matches("\"name\":\"name-1100\"").count(), 3);
        let id = id_of(&app).await;
        let sql = "select count(*) from event_counter where app = $1";
        let read = move |tx: &mut store::Tx<'_>| tx.query_one(sql, &[id.into()], |row| row.get::<i64>(0));
        let n_rows: store::Result<i64> = app.engine().store().read(read).await;
        assert_eq!(n_rows.unwrap(), i64::from(MOST_NAMES) + 2);
    })
    .await;
}
