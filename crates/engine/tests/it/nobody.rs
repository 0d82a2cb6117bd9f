//! What the status of a push says when it went to nobody, or to devices that were gone.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::devices::{push, register, status};

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn reason(app: &TestApp, audience: Value, device_types: Value) -> String {
    let body = json!({"audience": audience, "device_types": device_types, "notification": {"alert": "Hi"}});
    let id = push(app, body).await;
    reason_of(app, &id).await
}

async fn reason_of(app: &TestApp, id: &str) -> String {
    app.step_all().await;
    let done = status(app, id).await;
    assert_eq!((&done["state"], &done["total"]["targeted"]), (&json!("done"), &json!(0)), "{done}");
    done["total"]["reason"].as_str().unwrap_or_else(|| panic!("{done}")).to_owned()
}

#[tokio::test]
async fn a_push_that_goes_to_nobody_says_why() {
    on_each_database(async |app| {
        let nobody = "Nobody matches the audience; aerogram audience explain and POST /api/audience/explain show why.";
        assert_eq!(reason(&app, json!("all"), json!("all")).await, nobody);
        let silent = register(&app, "ios", "A0", json!({"opt_in": false})).await;
        register(&app, "ios", "A1", json!({"opt_in": false})).await;
        let unknown = register(&app, "ios", "A2", json!({"push_address": null})).await;
        let all = reason(&app, json!("all"), json!("all")).await;
        assert_eq!(all, "3 match the audience: 2 opted out, 1 without an address.");
        let one = reason(&app, json!({"channel": silent}), json!("all")).await;
        assert_eq!(one, "1 matches the audience: 1 opted out.");
        let other_type = reason(&app, json!({"channel": silent}), json!(["android"])).await;
        assert_eq!(other_type, "1 matches the audience: 1 of other device types.");
        register(&app, "android", "B0", json!({"opt_in": false})).await;
        let narrow = reason(&app, json!("all"), json!(["android"])).await;
        assert_eq!(narrow, "4 match the audience: 1 opted out, 3 of other device types.");
        let uninstall = json!({"channel_id": unknown, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        assert_eq!(reason(&app, json!({"channel": unknown}), json!("all")).await, nobody);

        let segment = json!({"display_name": "Short-lived", "criteria": {"tag": "x"}});
        let segment = app.master().post("/api/segments", segment).await.expect(201)["segment_id"].clone();
        let segment = segment.as_str().unwrap();
        assert_eq!(reason(&app, json!({"segment": segment}), json!("all")).await, nobody);
        let to_it = json!({"audience": {"segment": segment}, "device_types": "all", "notification": {"alert": "Hi"}});
        let id = push(&app, to_it).await;
        app.master().delete(&format!("/api/segments/{segment}")).await.expect(204);
        app.step_all().await;
        let expected = format!("Nobody matches the audience: there is no segment {segment}.");
        assert_eq!(status(&app, &id).await["total"]["reason"], expected);
    })
    .await;
}

#[tokio::test]
async fn who_takes_no_background_pushes_is_not_called_opted_out() {
    on_each_database(async |app| {
        register(&app, "ios", "A0", json!({"opt_in": true, "background": false})).await;
        let silent = json!({"ios": {"content_available": true, "extra": {"k": "v"}}});
        let id = push(&app, json!({"audience": "all", "device_types": ["ios"], "notification": silent})).await;
        assert_eq!(reason_of(&app, &id).await, "1 matches the audience: 1 not taking background pushes.");
    })
    .await;
}

#[tokio::test]
async fn a_variant_without_recipients_says_how_many_match_the_whole_audience() {
    on_each_database(async |app| {
        register(&app, "ios", "A0", json!({})).await;
        let variants = ["One", "Two"].map(|alert| json!({"push": {"notification": {"alert": alert}}}));
        let body = json!({"name": "Test", "audience": "all", "device_types": "all", "variants": variants});
        let created = app.master().post("/api/experiments", body).await.expect(201);
        app.step_all().await;
        let path = format!("/api/experiments/{}/results", created["experiment_id"].as_str().unwrap());
        let results = app.master().get(&path).await.expect(200);
        let mut reasons = Vec::new();
        for variant in results["variants"].as_array().unwrap() {
            let done = status(&app, variant["push_ids"][0].as_str().unwrap()).await;
            reasons.extend(done["total"]["reason"].as_str().map(str::to_owned));
        }
        assert_eq!(reasons, ["1 matches the audience, none in this variant."]);
    })
    .await;
}

#[tokio::test]
async fn a_wave_without_recipients_says_how_many_match_the_whole_audience() {
    on_each_database(async |app| {
        let tokyo = register(&app, "ios", "A0", json!({"timezone": "Asia/Tokyo"})).await;
        register(&app, "ios", "A1", json!({"timezone": "Europe/Berlin"})).await;
        register(&app, "ios", "A2", json!({"timezone": "America/New_York"})).await;
        let body = json!({
            "schedule": {"local_scheduled_time": "2024-05-02T09:00"},
            "push": {"audience": {"channel": tokyo}, "device_types": "all", "notification": {"alert": "Hi"}},
        });
        app.master().post("/api/schedules", body).await.expect(201);
        let next = async || {
            let listed = app.master().get("/api/schedules").await.expect(200);
            listed["schedules"][0]["push_ids"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned()
        };
        // The clock begins at 2024-05-01 12:00:00; it is nine at midnight in Tokyo, and seven hours later in Berlin.
        app.advance(12 * HOUR);
        app.step_all().await;
        let in_berlin = next().await;
        app.advance(7 * HOUR);
        assert_eq!(reason_of(&app, &in_berlin).await, "1 matches the audience, none in the time zones of this push.");
        let travelled =
            json!({"device_type": "ios", "opt_in": true, "push_address": "A0", "timezone": "America/New_York"});
        app.device().put(&format!("/api/channels/{tokyo}"), json!({ "channel": travelled })).await.expect(200);
        let in_new_york = next().await;
        app.advance(6 * HOUR);
        let served = "1 matches the audience: 1 with another push of the same run.";
        assert_eq!(reason_of(&app, &in_new_york).await, served);
    })
    .await;
}

#[tokio::test]
async fn a_message_in_inboxes_is_told_of_beside_those_who_were_not_notified() {
    on_each_database(async |app| {
        register(&app, "ios", "A0", json!({"opt_in": false, "background": false})).await;
        let body = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "Hi"},
            "message": {"title": "Hi", "body": "Hello"},
        });
        let id = push(&app, body).await;
        app.step_all().await;
        let told = status(&app, &id).await["total"]["reason"].clone();
        assert_eq!(told, "1 matches the audience: 1 opted out. Its message is in the inboxes of 1.");
    })
    .await;
}

#[tokio::test]
async fn a_push_to_devices_that_are_gone_says_what_that_means() {
    on_each_database(async |app| {
        let device = register(&app, "ios", "A0", json!({})).await;
        let body = json!({"audience": {"channel": device}, "device_types": "all", "notification": {"alert": "Hi"}});
        let id = push(&app, body).await;
        // The audience is chosen; nothing has been sent yet.
        assert!(app.engine().worker().step().await.unwrap());
        let uninstall = json!({"channel_id": device, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["gone"]), (&json!("done"), &json!(1)), "{done}");
        assert!(done["platforms"]["ios"]["reason"].as_str().unwrap().starts_with("Gone: "), "{done}");
    })
    .await;
}
