//! What operators are told of platforms by lines of the log that have names: once, and once more when it is over.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::on_each_database;

use crate::hindered_platforms::{kiosk, metric, notices, path, push, state};
use crate::logs::Log;
use crate::platform_credentials::certificate;

const WAITING: &str = "platform.waiting";
const PAUSED: &str = "platform.paused";
const RESUMED: &str = "platform.resumed";
const END: &str = "credentials.end";

#[tokio::test]
async fn a_provider_that_is_down_is_told_of_once_and_once_more_when_it_is_back() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        let log = Log::begin();
        receiver.answer_with([503; 6]);
        let id = push(&app, "open::kiosk", json!({})).await;
        app.step_all().await;
        app.advance(Duration::from_secs(2));
        app.step_all().await;
        assert_eq!(notices(&app).await, json!([]), "two failures are a hiccup");
        for wait in [4, 8, 16] {
            app.advance(Duration::from_secs(wait));
            app.step_all().await;
        }
        let told = log.events(WAITING);
        assert_eq!(told.len(), 1, "{told:?}");
        let fields = &told[0]["fields"];
        assert_eq!((&told[0]["level"], &fields["app"]), (&json!("WARN"), &json!(app.app.key)));
        assert_eq!(fields["platform"], "open::kiosk");
        assert!(fields["reason"].as_str().unwrap().contains("503"), "{fields}");
        assert_eq!(log.events(RESUMED).len(), 0);

        let app = app.restart().await;
        let waiting = notices(&app).await[0].clone();
        assert_eq!((&waiting["type"], &waiting["platform"]), (&json!("waiting"), &json!("open::kiosk")));
        assert_eq!((&waiting["app"], &waiting["since"]), (&json!(app.app.key), &json!("2024-05-01T12:00:06")));
        let shown = app.operator().get(&path(&app, "open::kiosk")).await.expect(200);
        assert_eq!((&shown["waiting"]["since"], &shown["paused"]), (&waiting["since"], &Value::Null));
        let gauge = format!(
            "aerogram_platform_waiting_since_timestamp_seconds{{app=\"{}\",platform=\"open::kiosk\"}} 1714564806",
            app.app.key
        );
        assert_eq!(metric(&app, "aerogram_platform_waiting_since").await, Some(gauge));

        app.advance(Duration::from_secs(32));
        app.step_all().await;
        let retried = "aerogram_deliveries_total{device_type=\"open\",transport=\"open\",outcome=\"retried\"}";
        assert_eq!(metric(&app, retried).await, Some(format!("{retried} 1")), "since the restart");
        app.advance(Duration::from_secs(64));
        app.step_all().await;
        assert_eq!(state(&app, &id).await, "done");
        assert_eq!(notices(&app).await, json!([]));
        assert_eq!(metric(&app, "aerogram_platform_waiting_since").await, None);
        let back = log.events(RESUMED);
        assert_eq!(back.len(), 1, "{back:?}");
        assert_eq!((&back[0]["level"], &back[0]["fields"]["after_s"]), (&json!("INFO"), &json!(120)));
        assert_eq!(log.events(WAITING).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_refuses_us_is_told_of_until_it_takes_messages() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        let log = Log::begin();
        receiver.answer_with([401]);
        let id = push(&app, "open::kiosk", json!({})).await;
        app.step_all().await;
        assert_eq!(notices(&app).await[0]["by"], "provider");
        let told = log.events(PAUSED);
        assert_eq!(told.len(), 1, "{told:?}");
        let fields = &told[0]["fields"];
        assert_eq!((&told[0]["level"], &fields["app"]), (&json!("ERROR"), &json!(app.app.key)));
        assert_eq!(fields["platform"], "open::kiosk");
        assert!(fields["reason"].as_str().unwrap().contains("401"), "{fields}");
        assert_eq!(log.events(RESUMED).len(), 0);

        app.operator().post(&format!("{}/resume", path(&app, "open::kiosk")), "").await.expect(200);
        app.step_all().await;
        assert_eq!(state(&app, &id).await, "done");
        let back = log.events(RESUMED);
        assert_eq!(back.len(), 1, "{back:?}");
        assert_eq!((&back[0]["level"], &back[0]["fields"]["platform"]), (&json!("INFO"), &json!("open::kiosk")));
        assert_eq!(log.events(PAUSED).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn credentials_that_end_are_told_of_in_the_log() {
    on_each_database(async |app| {
        let (certificate, private_key) = certificate(2024, 6);
        let body = json!({"topic": "com.example.app", "certificate": certificate, "key": private_key});
        app.operator().put(&path(&app, "apns"), &body).await.expect(200);
        let (log, hour) = (Log::begin(), Duration::from_secs(60 * 60));
        // It is looked for every ten minutes, and told once when there are 30, 7 and 1 days left.
        for (later, expected) in
            [(hour, vec![]), (12 * hour, vec![30]), (hour, vec![30]), (24 * 24 * hour, vec![30, 7])]
        {
            app.advance(later);
            app.step_all().await;
            let told = log.events(END);
            let days: Vec<i64> = told.iter().map(|line| line["fields"]["days"].as_i64().unwrap()).collect();
            assert_eq!(days, expected, "{told:?}");
        }
        let told = &log.events(END)[0];
        let fields = &told["fields"];
        assert_eq!((&told["level"], &fields["app"]), (&json!("WARN"), &json!(app.app.key)));
        assert_eq!((&fields["platform"], &fields["ends"]), (&json!("apns"), &json!("2024-06-01T00:00:00")));
    })
    .await;
}
