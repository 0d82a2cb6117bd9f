//! Bulk sending: files of recipients with values for texts, and pushes to everybody in one.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;
use testkit::rows::row_counts;

use crate::lists::packed;
use crate::personalization::{kept, register};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

async fn upload(app: &TestApp, path: &str, file: impl Into<Bytes>) -> Reply {
    let request = app.master().request(Method::POST, path).header("content-type", "text/csv");
    app.master().send(request.body(file.into()).unwrap()).await
}

fn push(bulk: &Value, device_type: &str) -> Value {
    json!({"audience": {"bulk_id": bulk["bulk_id"]}, "device_types": [device_type],
           "notification": {"alert": "Hi {{$def name \"you\"}}{{#if day}}, {{day}}{{/if}}"}})
}

#[tokio::test]
async fn everybody_in_a_file_gets_the_text_of_their_row() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({"name": "an attribute", "day": "Monday"})).await;
        let lee = register(&app, "ios", "A2", json!({})).await;
        let other = register(&app, "ios", "A3", json!({"name": "Other"})).await;
        let android = register(&app, "android", "F1", json!({})).await;
        let file = format!(
            "\u{feff}name,ua_channel_id\r\nKim,{lee}\r\n\"Kim, K.\",{kim}\r\n,{lee}\r\nDroid,{android}\r\nNobody,{NOBODY}"
        );
        let reply = upload(&app, "/api/bulk/ios/", packed(file.as_bytes())).await;
        let bulk = reply.expect(200);
        assert_eq!((&bulk["ok"], &bulk["field_names"]), (&json!(true), &json!(["name", "ua_channel_id"])));
        app.master().post("/api/bulk-send/validate", push(&bulk, "ios")).await.expect(200);
        app.step_all().await;
        assert!(kept(&app).await.is_empty(), "checking sends nothing");

        let sent = app.master().post("/api/bulk-send", push(&bulk, "ios")).await.expect(202);
        app.step_all().await;
        let got = kept(&app).await;
        assert_eq!(got.len(), 2, "neither others nor devices of another type: {got:?}");
        assert_eq!(got[&kim]["aps"]["alert"], "Hi Kim, K., Monday");
        assert_eq!(
            got[&lee]["aps"]["alert"], "Hi you",
            "the last row of a channel counts, and an empty cell is no value"
        );
        assert!(!got.contains_key(&other));
        let status =
            app.master().get(&format!("/api/push/{}", sent["push_ids"][0].as_str().unwrap())).await.expect(200);
        assert_eq!((&status["push"]["total"]["targeted"], &status["push"]["state"]), (&json!(2), &json!("done")));
        let body =
            app.master().get(&format!("/api/reports/perpush/pushbody/{}", sent["push_ids"][0].as_str().unwrap())).await;
        assert_eq!(body.status, 200);
    })
    .await;
}

#[tokio::test]
async fn addresses_that_are_new_become_channels_and_schedules_find_the_file() {
    on_each_database(async |app| {
        register(&app, "open::kiosk", "known", json!({})).await;
        let bulk = upload(&app, "/api/bulk/open/kiosk", "ua_address,name\nknown,Kim\nnew,Lee\n").await.expect(200);
        let channels = app.master().get("/api/channels").await.expect(200)["channels"].clone();
        assert_eq!(channels.as_array().unwrap().len(), 2, "{channels}");
        let schedule =
            json!({"schedule": {"scheduled_time": "2024-05-02T00:00:00"}, "push": push(&bulk, "open::kiosk")});
        let made = app.master().post("/api/schedules/bulk-send", &schedule).await.expect(202);
        assert_eq!(made["schedules"][0]["push_ids"].as_array().unwrap().len(), 1);
        // A file may also take the place of the recipients that a push brings along.
        app.master().post("/api/create-and-send", push(&bulk, "open::kiosk")).await.expect(202);
        app.step_all().await;
        assert_eq!(kept(&app).await.len(), 2);
        app.master().delete("/api/sandbox").await.expect(204);
        app.advance(DAY);
        app.step_all().await;
        let texts: Vec<Value> =
            kept(&app).await.values().map(|body| body["values"][0]["payload"]["alert"].clone()).collect();
        assert!(texts.contains(&json!("Hi Kim")) && texts.contains(&json!("Hi Lee")), "{texts:?}");
    })
    .await;
}

#[tokio::test]
async fn files_that_cannot_be_used_leave_nothing_behind() {
    on_each_database(async |app| {
        let rows = |n: usize| (0..n).map(|n| format!("a{n}\n")).collect::<String>();
        for (path, file, status, code) in [
            ("/api/bulk/ios", "ua_address\nlobby\n".to_owned(), 400, 40013),
            ("/api/bulk/ios", String::new(), 400, 40013),
            ("/api/bulk/ios", "ua_channel_id,a,a\n".to_owned(), 400, 40017),
            ("/api/bulk/ios", "ua_channel_id\nlobby\n".to_owned(), 400, 40000),
            // More than one transaction of rows, and the last of them is wrong.
            ("/api/bulk/open/kiosk", format!("ua_address\n{}\u{1}\n", rows(1500)), 400, 40000),
            ("/api/bulk/open/a%20b", "ua_address\nlobby\n".to_owned(), 404, 40401),
            ("/api/bulk/toaster", "ua_channel_id\n".to_owned(), 404, 40401),
            ("/api/bulk/email", "ua_address\n".to_owned(), 404, 40402),
            ("/api/bulk/sms", "ua_msisdn\n".to_owned(), 404, 40402),
        ] {
            let refused = upload(&app, path, file).await.expect(status);
            assert_eq!(refused["error_code"], code, "{path}: {refused}");
        }
        assert_eq!(row_counts(app.engine().store()).await["bulk_row"], 0);
        let unknown = push(&json!({"bulk_id": NOBODY}), "ios");
        for path in ["/api/bulk-send", "/api/bulk-send/validate"] {
            let refused = app.master().post(path, &unknown).await.expect(400);
            assert_eq!(refused["details"]["path"], "audience.bulk_id", "{refused}");
        }
        app.device().post("/api/bulk-send", &unknown).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn a_file_is_kept_for_a_month_and_its_rows_go_with_a_person() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({})).await;
        let lee = register(&app, "ios", "A2", json!({})).await;
        let bulk =
            upload(&app, "/api/bulk/ios", format!("ua_channel_id,name\n{kim},Kim\n{lee},Lee\n")).await.expect(200);
        app.master().post("/api/privacy/erase", json!({"channel_id": kim})).await.expect(202);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["bulk_row"], 1);
        let later = json!({"schedule": {"scheduled_time": "2024-07-01T00:00:00"}, "push": push(&bulk, "ios")});
        app.master().post("/api/schedules/bulk-send", later).await.expect(202);
        for _ in 0..31 {
            app.advance(DAY);
            app.step_all().await;
        }
        assert_eq!(row_counts(app.engine().store()).await["bulk_row"], 0);
        let refused = app.master().post("/api/bulk-send", push(&bulk, "ios")).await.expect(400);
        assert!(refused["details"]["error"].as_str().unwrap().contains("30 days"), "{refused}");
        // A schedule that comes after that sends to nobody, and says why.
        for _ in 0..31 {
            app.advance(DAY);
            app.step_all().await;
        }
        assert!(kept(&app).await.is_empty());
        let listed = app.master().get("/api/pushes").await.expect(200)["pushes"][0].clone();
        let status = app.master().get(&format!("/api/push/{}", listed["push_id"].as_str().unwrap())).await.expect(200);
        let reason = status["push"]["total"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("there is no upload"), "{status}");
    })
    .await;
}
