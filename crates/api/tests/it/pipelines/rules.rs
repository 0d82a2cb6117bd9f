//! Who of those that wait gets it: conditions, cancellations, and channels that have not been active.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::on_each_database;

use super::{DAY, HOUR, count_after, create, delayed, open, outcome, pipeline, register, shown, tag};

const MINUTE: Duration = Duration::from_secs(60);

fn negated(name: &str) -> Value {
    json!({"tag": {"tag_name": name, "negated": true}})
}

#[tokio::test]
async fn conditions_hold_when_it_is_sent() {
    on_each_database(async |app| {
        let mut body = delayed(json!("first_open"), "One", HOUR);
        body["condition"] = json!({"AND": [{"tag": {"tag_name": "vip"}}, negated("bought")]});
        create(&app, body).await;
        let mut body = delayed(json!("first_open"), "Two", HOUR);
        body["condition"] = json!([
            {"or": [{"tag": {"tag_name": "vip"}}, {"subscription": {"list_name": "weekly"}}]},
            {"and": [negated("bought")]},
        ]);
        create(&app, body).await;
        let [vip, bought, nobody] =
            [register(&app, "a", &["vip"]).await, register(&app, "b", &["vip"]).await, register(&app, "c", &[]).await];
        let subscriber = register(&app, "d", &[]).await;
        app.step_all().await;
        let app = app.restart().await;
        tag(&app, &bought, "add", "bought").await;
        let lists = json!([{"action": "subscribe", "list_id": "weekly"}]);
        let body = json!({"audience": {"channel": subscriber}, "subscription_lists": lists});
        app.master().post("/api/channels/subscription_lists", body).await.expect(202);
        app.advance(HOUR);
        let mut shown = shown(&app).await;
        shown.values_mut().for_each(|alerts| alerts.sort());
        assert_eq!(json!(shown), json!({&vip: ["One", "Two"], &subscriber: ["Two"]}));
        assert!(!shown.contains_key(&nobody));
    })
    .await;
}

#[tokio::test]
async fn conditions_ask_for_audiences_named_users_and_inactivity() {
    on_each_database(async |app| {
        let mut body = delayed(json!("first_open"), "One", HOUR);
        let vip = json!({"tag": "vip"});
        body["condition"] = json!([
            {"OR": [{"segmentation": {"audience": {"AND": [vip, {"not": {"tag": "bought"}}]}}}]},
            {"and": [{"named_user": {"state": "associated"}}]},
        ]);
        create(&app, body).await;
        let mut body = delayed(json!(["first_open", "open"]), "Two", HOUR);
        body["condition"] = json!([{"and": [{"inactivity": {"type": "since_triggered"}}]}]);
        create(&app, body).await;
        let condition = json!({"and": [{"segmentation": {"audience": vip}}, {"named_user": {"state": "associated"}}]});
        create(&app, pipeline(json!({"tag_added": "x", "condition": condition}), "Three")).await;
        let mut channels = Vec::new();
        for (address, tags) in [("a", &["vip"][..]), ("b", &["vip"]), ("c", &["vip", "bought"]), ("d", &[])] {
            channels.push(register(&app, address, tags).await);
        }
        let [kim, nobody, bought, plain] = channels.try_into().unwrap();
        for (channel, user) in [(&kim, "kim"), (&bought, "bo"), (&plain, "pat")] {
            let body = json!({"channel_id": channel, "device_type": "android", "named_user_id": user});
            app.master().post("/api/named_users/associate", body).await.expect(200);
        }
        for channel in [&kim, &nobody, &plain] {
            tag(&app, channel, "add", "x").await;
        }
        app.step_all().await;
        app.advance(HOUR / 2);
        // Whoever opens the app is active; that sets the second pipeline off again.
        open(&app, &nobody).await;
        app.step_all().await;
        let app = app.restart().await;
        app.advance(HOUR / 2);
        let mut first = shown(&app).await;
        first.values_mut().for_each(|alerts| alerts.sort());
        assert_eq!(json!(first), json!({&kim: ["One", "Three", "Two"], &bought: ["Two"], &plain: ["Two"]}));
        app.advance(HOUR / 2);
        assert_eq!(shown(&app).await[&nobody], ["Two"]);
    })
    .await;
}

#[tokio::test]
async fn conditions_that_cannot_be_checked_are_refused() {
    on_each_database(async |app| {
        let inactivity = json!({"inactivity": {"type": "since_triggered"}});
        let audience = |selector: Value| json!({"segmentation": {"audience": selector}});
        let unknown_push = json!({"push": {"id": super::UNKNOWN, "outcome": "opened"}});
        let bought = json!({"activity": "bought", "metric": "first"});
        let trigger = |condition: Value| json!([{"tag_added": "x"}, {"tag_added": "y", "condition": condition}]);
        for (key, value, path) in [
            ("condition", json!({"or": [inactivity]}), "condition.or[0].inactivity"),
            (
                "immediate_trigger",
                trigger(json!({"and": [inactivity]})),
                "immediate_trigger[1].condition.and[0].inactivity",
            ),
            ("condition", json!({"and": [{"inactivity": {"type": "ever"}}]}), "condition.and[0].inactivity.type"),
            ("condition", json!({"and": [{"named_user": {"state": "gone"}}]}), "condition.and[0].named_user.state"),
            ("condition", json!({"and": [audience(json!({"hobby": 1}))]}), "condition.and[0].segmentation.audience"),
            (
                "condition",
                json!([{"AND": [{"tag": "a"}, audience(json!({"not": unknown_push}))]}]),
                "condition[0].AND[1].segmentation.audience.not.push.id",
            ),
            (
                "immediate_trigger",
                trigger(json!({"or": [audience(bought)]})),
                "immediate_trigger[1].condition.or[0].segmentation.audience.activity",
            ),
        ] {
            let mut body = delayed(json!("first_open"), "One", HOUR);
            body[key] = value;
            let refused = app.master().post("/api/pipelines", body).await.expect(400);
            let said = refused["details"]["path"].as_str().unwrap();
            assert!(said.starts_with(path), "{path}: {refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn parts_of_the_day_are_waited_for_by_the_clock_of_the_device() {
    on_each_database(async |app| {
        let window = json!({"start": "09:00:00", "end": "17:00:00"});
        let dayparts = json!([{"days_of_week": ["wednesday", "thursday"], "allowed_times": [window]}]);
        let mut body = pipeline(json!("first_open"), "One");
        body["timing"] = json!({"schedule": {"dayparts": dayparts}});
        create(&app, body.clone()).await;
        body["outcome"] = outcome("Two");
        body["timing"]["schedule"]["miss_behavior"] = json!("cancel");
        create(&app, body.clone()).await;
        body["outcome"] = outcome("Three");
        body["timing"]["schedule"]["type"] = json!("utc");
        create(&app, body).await;
        let mut channels = Vec::new();
        // It is Wednesday, 12:00 in UTC.
        for (address, zone) in [("a", None), ("b", Some("America/New_York")), ("c", Some("Asia/Tokyo"))] {
            let device = json!({"channel": {
                "device_type": "android", "opt_in": true, "push_address": address, "timezone": zone,
            }});
            let answer = app.device().post("/api/channels", device).await.expect(201);
            channels.push(answer["channel_id"].as_str().unwrap().to_owned());
        }
        let [utc, new_york, tokyo] = channels.try_into().unwrap();
        let sorted = async |app: &testkit::app::TestApp| {
            let mut shown = shown(app).await;
            shown.values_mut().for_each(|alerts| alerts.sort());
            json!(shown)
        };
        let all = ["One", "Three", "Two"];
        assert_eq!(sorted(&app).await, json!({&utc: all, &new_york: ["Three"], &tokyo: ["Three"]}));
        let app = app.restart().await;
        app.advance(HOUR - MINUTE);
        assert_eq!(sorted(&app).await[&new_york], json!(["Three"]));
        app.advance(MINUTE);
        assert_eq!(sorted(&app).await[&new_york], json!(["One", "Three"]));
        let app = app.restart().await;
        app.advance(11 * HOUR);
        assert_eq!(sorted(&app).await, json!({&utc: all, &new_york: ["One", "Three"], &tokyo: ["One", "Three"]}));
        assert_eq!(count_after(&app, 30 * DAY).await, 7);
    })
    .await;
}

#[tokio::test]
async fn within_a_window_its_preferred_time_is_waited_for_even_if_others_get_nothing() {
    on_each_database(async |app| {
        for (alert, start) in [("One", "09:00:00"), ("Two", "14:00:00")] {
            let window = json!({"start": start, "end": "17:00:00", "preferred": "15:00:00"});
            let mut body = pipeline(json!("first_open"), alert);
            body["timing"] = json!({"schedule": {
                "type": "utc", "miss_behavior": "cancel", "dayparts": [{"allowed_times": [window]}],
            }});
            create(&app, body).await;
        }
        // It is 12:00.
        let channel = register(&app, "a", &[]).await;
        assert!(shown(&app).await.is_empty());
        let app = app.restart().await;
        assert_eq!(count_after(&app, 3 * HOUR - MINUTE).await, 0);
        app.advance(MINUTE);
        assert_eq!(json!(shown(&app).await), json!({&channel: ["One"]}));
        assert_eq!(count_after(&app, 10 * DAY).await, 1);
    })
    .await;
}

#[tokio::test]
async fn who_is_canceled_gets_nothing() {
    on_each_database(async |app| {
        let mut body = delayed(json!({"tag_added": "x"}), "One", HOUR);
        body["cancellation_trigger"] = json!([{"tag_added": "bought"}]);
        create(&app, body).await;
        let [a, b, c, d] = [
            register(&app, "a", &["x"]).await,
            register(&app, "b", &["x"]).await,
            register(&app, "c", &["x"]).await,
            register(&app, "d", &["x"]).await,
        ];
        // In the same stretch of the log.
        tag(&app, &b, "add", "bought").await;
        app.step_all().await;
        let app = app.restart().await;
        tag(&app, &a, "add", "bought").await;
        app.step_all().await;
        // Comes back after it was canceled.
        tag(&app, &a, "remove", "x").await;
        app.advance(HOUR / 2);
        tag(&app, &a, "add", "x").await;
        app.step_all().await;
        // Canceled in time, though nobody has read it when the time has come.
        tag(&app, &d, "add", "bought").await;
        let app = app.restart().await;
        app.advance(HOUR / 2);
        app.step_all().await;
        app.advance(Duration::from_secs(1));
        assert_eq!(json!(shown(&app).await), json!({&c: ["One"]}));
        app.advance(HOUR);
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"], &c: ["One"]}));
    })
    .await;
}

#[tokio::test]
async fn who_came_before_a_pipeline_was_made_is_known_to_it() {
    on_each_database(async |app| {
        let [stays_away, comes_back] = [register(&app, "a", &[]).await, register(&app, "b", &[]).await];
        app.advance(10 * DAY);
        for channel in [&stays_away, &comes_back] {
            open(&app, channel).await;
        }
        app.advance(15 * DAY);
        open(&app, &comes_back).await;
        // Old days are forgotten meanwhile.
        for _ in 0..7 {
            app.advance(5 * DAY);
            app.step_all().await;
        }
        let inactive = json!({"event": "open", "equals": 0, "days": 60});
        create(&app, json!({"enabled": true, "historical_trigger": inactive, "outcome": outcome("One")})).await;
        // It is 50 days since one of them was last there, and 35 since the other.
        assert_eq!(count_after(&app, 10 * DAY).await, 0);
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&stays_away: ["One"]}));
        assert_eq!(count_after(&app, 14 * DAY).await, 1);
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&stays_away: ["One"], &comes_back: ["One"]}));
    })
    .await;
}

#[tokio::test]
async fn staying_away_sets_a_pipeline_off_once() {
    on_each_database(async |app| {
        register(&app, "long ago", &[]).await;
        app.advance(5 * DAY);
        let inactive = json!({"event": "open", "equals": 0, "days": 3});
        create(&app, json!({"enabled": true, "historical_trigger": inactive, "outcome": outcome("One")})).await;
        let channel = register(&app, "a", &[]).await;
        // Three whole days after that of the first open.
        for _ in 0..3 {
            assert_eq!(count_after(&app, DAY).await, 0);
        }
        let app = app.restart().await;
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&channel: ["One"]}), "the other stayed away long before");
        let app = app.restart().await;
        assert_eq!(count_after(&app, 30 * DAY).await, 1);
        let late = register(&app, "b", &[]).await;
        // Nobody looks for some days; what has passed by then is not skipped.
        app.advance(10 * DAY);
        assert_eq!(shown(&app).await[&late], ["One"]);
        assert_eq!(count_after(&app, 10 * DAY).await, 2);
    })
    .await;
}
