//! What follows from events: sessions, places, tags, and who is active.

use std::time::Duration;

use serde_json::{Value, json};
use store::counters::Metric;
use testkit::app::{START, TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{count, count_of_push, event, event_at, push_to, register, types, upload};

const MINUTE: i64 = 60_000;

async fn sessions(app: &TestApp) -> (i64, i64) {
    (count(app, Metric::Sessions, "ios").await, count(app, Metric::SessionSeconds, "ios").await)
}

#[tokio::test]
async fn sessions_are_measured_from_opening_to_closing() {
    on_each_database(async |app| {
        let mut app = app;
        let channel = register(&app, "ios", "A1").await;
        let at = |kind: &str, minutes: i64, session: &str| {
            event_at(kind, START.0 + minutes * MINUTE, json!({"session_id": session}))
        };
        // In one upload.
        upload(&app, &channel, json!([at("app_foreground", -60, "a"), at("app_background", -58, "a")])).await;
        assert_eq!(sessions(&app).await, (1, 120));
        assert_eq!(row_counts(app.engine().store()).await["session"], 1, "when it was opened last stays known");
        // In two, with a restart between them.
        upload(&app, &channel, json!([at("app_foreground", -50, "b")])).await;
        app = app.restart().await;
        upload(&app, &channel, json!([at("app_background", -49, "b"), at("app_foreground", -40, "c")])).await;
        assert_eq!(sessions(&app).await, (2, 180));
        // An end without a beginning, one before its beginning, and a session whose end was lost.
        upload(&app, &channel, json!([at("app_background", -39, "x"), at("app_background", -41, "c")])).await;
        upload(&app, &channel, json!([at("app_foreground", -30, "d"), at("app_foreground", -20, "e")])).await;
        upload(&app, &channel, json!([at("app_background", -19, "d")])).await;
        app.advance(Duration::from_secs(2 * 24 * 3600));
        upload(&app, &channel, json!([at("app_background", 25 * 60, "e")])).await;
        assert_eq!(sessions(&app).await, (2, 180));
        assert_eq!(count(&app, Metric::Opens, "ios").await, 5);
    })
    .await;
}

#[tokio::test]
async fn lifecycle_lists_follow_the_days_of_openings() {
    on_each_database(async |app| {
        let (today, days_ago, never) =
            (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await, register(&app, "ios", "A3").await);
        app.advance(Duration::from_secs(40 * 24 * 3600));
        let now = app.clock().now().0;
        upload(&app, &today, json!([event_at("app_foreground", now, json!({}))])).await;
        upload(&app, &days_ago, json!([event_at("app_foreground", now - 5 * 24 * 60 * MINUTE, json!({}))])).await;
        upload(&app, &never, json!([event_at("app_foreground", now - 39 * 24 * 60 * MINUTE, json!({}))])).await;
        let members = async |list: &str| {
            let list = app.master().get(&format!("/api/lists/{list}")).await.expect(200);
            list["channel_count"].as_i64().unwrap()
        };
        assert_eq!(members("ua_app_open_last_1_day").await, 1);
        assert_eq!(members("ua_app_open_last_7_days").await, 2);
        assert_eq!(members("ua_app_open_last_30_days").await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_location_puts_the_channel_into_the_audience_of_the_place() {
    on_each_database(async |app| {
        let (here, there) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let spot = |lat: &str, long: &str| event("location", json!({"lat": lat, "long": long, "foreground": "true"}));
        upload(&app, &here, json!([spot("45.523", "-122.676")])).await;
        upload(&app, &there, json!([spot("47.61", "-122.33")])).await;
        let portland = app.master().get("/api/location/?q=Portland&type=city").await.expect(200);
        let id = portland["features"][0]["id"].clone();
        let audience = json!({"location": {"id": id, "date": {"recent": {"days": 2}}}});
        let push = json!({"audience": audience, "device_types": ["ios"], "notification": {"alert": "Hi"}});
        app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let sandbox = app.master().get("/api/sandbox").await.expect(200);
        let reached: Vec<&Value> =
            sandbox["deliveries"].as_array().unwrap().iter().map(|it| &it["channel_id"]).collect();
        assert_eq!(reached, [&json!(here)]);
        assert_eq!(types(&app).await, ["LOCATION", "LOCATION"]);
    })
    .await;
}

#[tokio::test]
async fn all_places_of_an_upload_count_and_the_latest_is_the_last() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let spot = |hours_ago: i64, lat: &str, long: &str| {
            event_at("location", START.0 - hours_ago * 3_600_000, json!({"lat": lat, "long": long}))
        };
        let (portland, seattle) = (("45.523", "-122.676"), ("47.61", "-122.33"));
        let events = json!([
            spot(1, seattle.0, seattle.1),
            spot(50, portland.0, portland.1),
            spot(2, seattle.0, seattle.1),
            spot(49, portland.0, portland.1),
        ]);
        upload(&app, &channel, events.clone()).await;
        let explain = async |state: &str, date: Value| {
            let audience = json!({"location": {"us_state": state, "date": date}});
            let body = json!({"audience": audience, "device_types": ["ios"]});
            app.master().post("/api/audience/explain", body).await.expect(200)["matched"].as_u64().unwrap()
        };
        let rows = row_counts(app.engine().store()).await["place_day"];
        for _ in 0..2 {
            assert_eq!(explain("OR", json!({"days": {"start": "2024-04-29", "end": "2024-04-29"}})).await, 1);
            assert_eq!(explain("OR", json!({"recent": {"days": 2}})).await, 0);
            assert_eq!(explain("WA", json!({"recent": {"days": 1}})).await, 1);
            assert_eq!(explain("WA", json!({"recent": {"days": 3}, "last_seen": true})).await, 1);
            assert_eq!(explain("OR", json!({"recent": {"days": 3}, "last_seen": true})).await, 0);
            // The same upload once more changes nothing.
            upload(&app, &channel, events.clone()).await;
            assert_eq!(row_counts(app.engine().store()).await["place_day"], rows);
        }
    })
    .await;
}

#[tokio::test]
async fn buttons_change_tags_and_count_as_responses() {
    on_each_database(async |app| {
        let channel = register(&app, "android", "A1").await;
        let other = register(&app, "ios", "A2").await;
        let tag = json!({"audience": {"channel": channel}, "add": {"device": ["undecided"]}});
        app.master().post("/api/channels/tags", tag).await.expect(200);
        let push = push_to(&app, &[&channel, &other], json!({
            "alert": "Coming?",
            "interactive": {"type": "ua_yes_no_background", "button_actions": {
                "yes": {"add_tag": ["coming", "asked"], "remove_tag": "undecided"}, "no": {"add_tag": "asked"},
            }},
            "ios": {"interactive": {"type": "ua_yes_no_foreground", "button_actions": {"yes": {"add_tag": "apple"}}}},
        }))
        .await;
        let pressed = |button: &str, foreground: bool| {
            event("interactive_notification_action", json!({
                "button_group": "ua_yes_no_background", "button_id": button, "send_id": push, "foreground": foreground.to_string(),
            }))
        };
        let tags = async |channel: &str| {
            let shown = app.master().get(&format!("/api/channels/{channel}")).await.expect(200);
            shown["channel"]["tags"].clone()
        };
        upload(&app, &channel, json!([pressed("yes", false)])).await;
        assert_eq!(tags(&channel).await, json!(["asked", "coming"]));
        upload(&app, &other, json!([pressed("yes", true), pressed("maybe", true)])).await;
        assert_eq!(tags(&other).await, json!(["apple"]));
        assert_eq!(count_of_push(&app, &push, Metric::DirectResponses).await, 1, "an opening follows the other one");
        upload(&app, &channel, json!([pressed("no", false), pressed("yes", false), pressed("no", false)])).await;
        assert_eq!(tags(&channel).await, json!(["asked", "coming"]));
        let foreign = event("interactive_notification_action", json!({"button_id": "yes", "send_id": channel}));
        upload(&app, &channel, json!([foreign])).await;
        assert_eq!(tags(&channel).await, json!(["asked", "coming"]));
    })
    .await;
}
