//! How uploads arrive: encodings, who sends them, what is wrong with them, and what comes twice.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::app::Mode;
use model::ids::EventId;
use serde_json::{Value, json};
use store::counters::hour;
use store::{Tx, seen_events};
use testkit::app::{START, on_each_database};
use testkit::rows::row_counts;

use super::{bare_deflate, event, event_at, gzip, register, told, types, upload, upload_with, zlib};

const DAY: i64 = 24 * 3_600_000;

#[tokio::test]
async fn every_encoding_is_taken_and_the_answer_tunes_the_device() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let key = app.app.key.as_str();
        let plain =
            |n: u32| json!([event("screen_tracking", json!({"screen": format!("{n}"), "duration": "1"}))]).to_string();
        for (app_key, encoding, body) in [
            ("X-UA-App-Key", "identity", plain(0).into_bytes()),
            ("X-UA-Appkey", "gzip", gzip(&plain(1))),
            ("X-UA-App-Key", "deflate", zlib(&plain(2))),
            ("X-UA-App-Key", "deflate", bare_deflate(&plain(3))),
            ("X-UA-App-Key", "gzip", plain(4).into_bytes()),
        ] {
            let headers = [(app_key, key), ("X-UA-Channel-ID", &channel), ("Content-Encoding", encoding)];
            let reply = upload_with(&app, &headers, body).await;
            reply.expect(200);
            let tuning = ["x-ua-max-total", "x-ua-max-batch", "x-ua-min-batch-interval"].map(|name| reply.header(name));
            assert_eq!(tuning, [Some("5120"), Some("500"), Some("60")]);
        }
        let screens: Vec<_> = told(&app).await.iter().map(|event| event["body"]["viewed_screen"].clone()).collect();
        assert_eq!(screens, ["0", "1", "2", "3", "4"]);
        // Credentials, the path of browsers, and a single event that is not in an array.
        let single = event("app_foreground", json!({})).to_string();
        for caller in [app.device(), app.master()] {
            let request = caller.request(Method::POST, "/api/web-events").header("X-UA-Channel-ID", &channel);
            caller.send(request.body(Bytes::from(single.clone())).unwrap()).await.expect(200);
        }
        assert_eq!(types(&app).await.last().map(String::as_str), Some("OPEN"));
    })
    .await;
}

/// Android's library does not find them in any other spelling.
#[tokio::test]
async fn what_tunes_a_device_is_spelled_as_its_library_does() {
    on_each_database(async |app| {
        let request = format!(
            "POST /warp9/ HTTP/1.1\r\nHost: x\r\nX-UA-App-Key: {}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]",
            app.app.key
        );
        let address = app.url("").replacen("http://", "", 1);
        let talk = move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let answer = tokio::task::spawn_blocking(talk).await.unwrap();
        for line in ["X-UA-Max-Total: 5120", "X-UA-Max-Batch: 500", "X-UA-Min-Batch-Interval: 60"] {
            assert!(answer.contains(&format!("\r\n{line}\r\n")), "{answer}");
        }
        assert!(answer.contains("\r\nContent-Type: "), "{answer}");
    })
    .await;
}

#[tokio::test]
async fn strangers_and_nonsense_are_told_apart() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let stranger = app.another_app(Mode::Development).await;
        let (key, unknown) = (app.app.key.as_str(), "00000000-0000-4000-8000-000000000000");
        let body = json!([event("app_foreground", json!({}))]).to_string();
        let before = row_counts(app.engine().store()).await;
        for (headers, status) in [
            (vec![], 401),
            (vec![("X-UA-App-Key", "AAAAAAAAAAAAAAAAAAAAAA")], 401),
            (vec![("X-UA-App-Key", key), ("Authorization", "Basic QUFBOkE=")], 401),
            // What belongs to nobody is thrown away, because nobody could do better with it.
            (vec![("X-UA-App-Key", key)], 200),
            (vec![("X-UA-App-Key", key), ("X-UA-Channel-ID", "x")], 200),
            (vec![("X-UA-App-Key", key), ("X-UA-Channel-ID", unknown)], 200),
            (vec![("X-UA-App-Key", stranger.key.as_str()), ("X-UA-Channel-ID", channel.as_str())], 200),
        ] {
            let reply = upload_with(&app, &headers, body.clone().into_bytes()).await;
            assert_eq!(reply.status.as_u16(), status, "{headers:?}: {}", reply.text());
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
        let headers = [("X-UA-App-Key", key), ("X-UA-Channel-ID", channel.as_str())];
        for body in ["", "[", "nonsense", "7"] {
            upload_with(&app, &headers, body.as_bytes().to_vec()).await.expect(400);
        }
        upload_with(&app, &headers, b"[]".to_vec()).await.expect(200);
        app.master()
            .post("/api/channels/uninstall", json!([{"channel_id": channel, "device_type": "ios"}]))
            .await
            .expect(202);
        upload(&app, &channel, json!([event("app_foreground", json!({}))])).await;
        assert_eq!(types(&app).await, [""; 0]);
        let metrics = app.operator().get("/metrics").await;
        assert!(
            metrics.text().contains("aerogram_device_events_total{outcome=\"unknown_channel\"} 5"),
            "{}",
            metrics.text()
        );
    })
    .await;
}

#[tokio::test]
async fn bad_events_lose_only_themselves_and_unknown_ones_are_kept() {
    on_each_database(async |app| {
        let channel = register(&app, "android", "A1").await;
        let events = json!([
            {"type": 5}, 7, null, {"type": "custom_event", "data": {}},
            event("location", json!({"lat": "95", "long": "1"})),
            event("feature_flag_interaction", json!({"flag": "x"})),
            event("app_foreground", json!({"session_id": "s"})),
        ]);
        upload(&app, &channel, events).await;
        assert_eq!(types(&app).await, ["OPEN"]);
        let kept = row_counts(app.engine().store()).await["seen_upload"];
        assert_eq!(kept, 1);
    })
    .await;
}

#[tokio::test]
async fn what_comes_again_is_recognized_after_a_restart_too() {
    on_each_database(async |app| {
        let mut app = app;
        let channel = register(&app, "ios", "A1").await;
        let bought = event("enhanced_custom_event", json!({"event_name": "bought", "event_value": 1_000_000}));
        let batch = json!([event("app_foreground", json!({"session_id": "s"})), bought, bought]);
        upload(&app, &channel, batch.clone()).await;
        let before = told(&app).await;
        assert_eq!(before.len(), 2);
        upload(&app, &channel, batch.clone()).await;
        app = app.restart().await;
        upload(&app, &channel, batch.clone()).await;
        assert_eq!(told(&app).await.len(), before.len());
        // Ids are known for as long as such old events are taken, which is longer than events are kept.
        app.advance(Duration::from_secs(80 * 24 * 3600));
        app.step_all().await;
        let n_kept = told(&app).await.len();
        upload(&app, &channel, batch.clone()).await;
        assert_eq!(told(&app).await.len(), n_kept);
        app.advance(Duration::from_secs(20 * 24 * 3600));
        app.step_all().await;
        upload(&app, &channel, batch).await;
        assert_eq!(row_counts(app.engine().store()).await["seen_upload"], 0);
    })
    .await;
}

#[tokio::test]
async fn repeats_without_a_time_are_recognized_in_later_hours() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let mut with_id = event("screen_tracking", json!({"screen": "with an id", "duration": "1"}));
        with_id.as_object_mut().unwrap().remove("time");
        let mut unreadable =
            event("screen_tracking", json!({"screen": "with an id and a broken clock", "duration": "1"}));
        unreadable["time"] = json!("yesterday");
        let mut bare = event("screen_tracking", json!({"screen": "bare", "duration": "1"}));
        bare.as_object_mut().unwrap().retain(|key, _| key == "type" || key == "data");
        let batch = json!([with_id, unreadable, bare]);
        // Devices that get no answer try again, and the hour may have ended. What has no id can happen again, and an id is known
        // for a day at least.
        for (hours, n_told) in [(0, 3), (1, 3), (2, 4), (21, 5), (1, 5), (47, 8)] {
            app.advance(Duration::from_secs(hours * 3600));
            upload(&app, &channel, batch.clone()).await;
            assert_eq!(told(&app).await.len(), n_told, "{hours} hours later");
        }
    })
    .await;
}

#[tokio::test]
async fn clocks_of_devices_are_put_right() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let occurred = async |sent_at: Option<i64>, time: i64| {
            let sent_at = sent_at.map(|ahead| format!("{:.3}", (START.0 + ahead) as f64 / 1000.0));
            let mut headers = vec![("X-UA-App-Key", app.app.key.as_str()), ("X-UA-Channel-ID", channel.as_str())];
            headers.extend(sent_at.as_deref().map(|sent_at| ("X-UA-Sent-At", sent_at)));
            let body = json!([event_at("app_background", START.0 + time, json!({"at": time, "sent": sent_at}))]);
            let n_before = told(&app).await.len();
            upload_with(&app, &headers, body.to_string().into_bytes()).await.expect(200);
            told(&app).await.get(n_before).map(|event| event["occurred"].as_str().unwrap().to_owned())
        };
        for (sent_at, time, wanted) in [
            (None, -1500, Some("2024-05-01T11:59:58.500Z")),
            (Some(-2000), -3000, Some("2024-05-01T11:59:57.000Z")),
            (Some(-DAY), -DAY - 60_000, Some("2024-05-01T11:59:00.000Z")),
            (Some(DAY), DAY - 60_000, Some("2024-05-01T11:59:00.000Z")),
            (None, 240_000, Some("2024-05-01T12:04:00.000Z")),
            (None, 360_000, Some("2024-05-01T12:00:00.000Z")),
            (None, -89 * DAY, Some("2024-02-02T12:00:00.000Z")),
            (None, -91 * DAY, None),
        ] {
            assert_eq!(occurred(sent_at, time).await.as_deref(), wanted, "{sent_at:?} {time}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_old_devices_tell_in_headers_becomes_part_of_their_profile() {
    on_each_database(async |app| {
        let channel = register(&app, "android", "A1").await;
        let upload = async |language: &str, screen: &str| {
            let headers = [
                ("X-UA-App-Key", app.app.key.as_str()),
                ("X-UA-Channel-ID", &channel),
                ("X-UA-Locale-Language", language),
                ("X-UA-Locale-Country", "US"),
                ("X-UA-Timezone", "America/Los_Angeles"),
                ("X-UA-Lib-Version", "9.7.3"),
                ("X-UA-Package-Version", "2.1"),
                ("X-UA-Package-Name", "com.example.app"),
                ("X-UA-Android-Version-Code", "28"),
                ("X-UA-Location-Service-Enabled", "true"),
            ];
            let body = json!([event("screen_tracking", json!({"screen": screen, "duration": 1}))]);
            upload_with(&app, &headers, body.to_string().into_bytes()).await.expect(200);
        };
        upload("en", "1").await;
        let shown = app.master().get(&format!("/api/channels/{channel}")).await.expect(200);
        let groups = &shown["channel"]["tag_groups"];
        for (group, tag) in [
            ("ua_locale_language", "en"),
            ("ua_locale_country", "US"),
            ("timezone", "America/Los_Angeles"),
            ("ua_android_app_version", "2.1"),
            ("ua_location_enabled", "true"),
        ] {
            assert_eq!(groups[group], json!([tag]), "{group} in {groups}");
        }
        let n_records = row_counts(app.engine().store()).await["log"];
        upload("en", "2").await;
        assert_eq!(row_counts(app.engine().store()).await["log"], n_records + 1, "only the event is new");
        upload("de", "3").await;
        let shown = app.master().get(&format!("/api/channels/{channel}")).await.expect(200);
        assert_eq!(shown["channel"]["tag_groups"]["ua_locale_language"], json!(["de"]));
        let ids = json!({"com.urbanairship.aaid": "x", "crm": "7"});
        super::upload(&app, &channel, json!([event("associate_identifiers", ids.clone())])).await;
        super::upload(&app, &channel, json!([event("app_foreground", json!({"connection_type": "wifi"}))])).await;
        let last = told(&app).await.pop().unwrap();
        assert_eq!(last["device"]["identifiers"], ids, "{last}");
        let attributes = &last["device"]["attributes"];
        let shown = ["app_package_name", "connection_type", "locale_language_code"].map(|key| attributes[key].clone());
        assert_eq!(shown, [json!("com.example.app"), json!("wifi"), json!("de")].map(Value::from), "{attributes}");
    })
    .await;
}

#[tokio::test]
async fn equal_events_without_an_id_are_told_apart_by_their_channel() {
    on_each_database(async |app| {
        let event = json!([{"type": "screen_tracking", "time": "1714564800", "data": {"screen": "home"}}]);
        let channels = [register(&app, "ios", "A1").await, register(&app, "ios", "A2").await];
        for _ in 0..2 {
            for channel in &channels {
                upload(&app, channel, event.clone()).await;
            }
        }
        assert_eq!(types(&app).await, ["SCREEN_VIEWED"; 2]);
    })
    .await;
}

#[tokio::test]
async fn what_a_former_version_has_taken_is_recognized() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let (old, new) = (event("app_foreground", json!({})), event("app_background", json!({})));
        let id: EventId = old["event_id"].as_str().unwrap().parse().unwrap();
        let of = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let kept = move |tx: &mut Tx<'_>| seen_events::add(tx, of, &[(hour(START), id)]);
        app.engine().store().write(of, kept).await.unwrap();
        upload(&app, &channel, json!([old, new])).await;
        assert_eq!(types(&app).await, ["CLOSE"]);
    })
    .await;
}
