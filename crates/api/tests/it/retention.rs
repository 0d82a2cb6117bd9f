//! Who comes back: cohorts of channels by when they registered, and when they opened the app after that.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn register(app: &TestApp, address: &str) -> String {
    let body = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": address}});
    app.device().post("/api/channels", body).await.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

async fn open(app: &TestApp, channel: &str) {
    let event = json!([{"type": "app_foreground", "time": app.clock().now().seconds().to_string(), "data": {}}]);
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
    app.nobody().send(request.body(Bytes::from(event.to_string())).unwrap()).await.expect(200);
}

/// The last cohorts: when each came, how many they are, and who came back.
async fn cohorts(app: &TestApp, query: &str) -> Vec<(String, u64, Value)> {
    let found = app.master().get(&format!("/api/reports/retention?{query}")).await.expect(200);
    let cohort = |cohort: &Value| {
        let date = cohort["date"].as_str().unwrap()[..10].to_owned();
        (date, cohort["channels"].as_u64().unwrap(), cohort["returned"].clone())
    };
    found["cohorts"].as_array().unwrap().iter().map(cohort).collect()
}

#[tokio::test]
async fn cohorts_are_counted_by_weeks_and_days() {
    on_each_database(async |app| {
        assert!(cohorts(&app, "").await.iter().all(|(_, n, _)| *n == 0));
        // A Wednesday: a, b and c came. A week later a opened the app, and d came; the day after, a and b opened it.
        let (a, b) = (register(&app, "aa").await, register(&app, "bb").await);
        register(&app, "cc").await;
        open(&app, &a).await;
        app.advance(7 * DAY);
        open(&app, &a).await;
        register(&app, "dd").await;
        app.advance(DAY);
        open(&app, &a).await;
        open(&app, &b).await;
        // Two weeks after that, nobody but b, who then leaves: what happened stays so.
        app.advance(14 * DAY);
        open(&app, &b).await;
        let gone = json!({"channel_id": b, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", gone).await.expect(202);
        let of = |date: &str, n: u64, returned: Value| (date.to_owned(), n, returned);
        let weeks = [
            of("2024-04-29", 3, json!([2, 0, 1])),
            of("2024-05-06", 1, json!([0, 0])),
            of("2024-05-13", 0, json!([0])),
            of("2024-05-20", 0, json!([])),
        ];
        assert_eq!(cohorts(&app, "cohort=week&cohorts=4").await, weeks);
        assert_eq!((cohorts(&app, "").await.len(), cohorts(&app, "cohort=day").await.len()), (8, 14));
        let days = cohorts(&app, "cohort=day&cohorts=23").await;
        assert_eq!((days[0].0.as_str(), days[0].1, days[7].1), ("2024-05-01", 3, 1));
        let returned: Vec<u64> = days[0].2.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!((returned.len(), returned[6], returned[7], returned[21]), (22, 1, 2, 1));
        assert_eq!(returned.iter().sum::<u64>(), 4);
        let csv = app.master().get("/api/reports/retention?cohorts=4&format=csv").await;
        assert_eq!(
            csv.text(),
            "date,channels,week 1,week 2,week 3\r\n2024-04-29 00:00:00,3,2,0,1\r\n2024-05-06 00:00:00,1,0,0\r\n\
             2024-05-13 00:00:00,0,0\r\n2024-05-20 00:00:00,0\r\n"
        );
        for wrong in ["cohort=month", "cohorts=0", "cohorts=14", "cohort=day&cohorts=32", "format=xml"] {
            app.master().get(&format!("/api/reports/retention?{wrong}")).await.expect(400);
        }
        // After a restart, the same is read from the database.
        let app = app.restart_without_snapshots().await;
        assert_eq!(cohorts(&app, "cohort=week&cohorts=4").await, weeks);
        app.stop().await;
    })
    .await;
}
