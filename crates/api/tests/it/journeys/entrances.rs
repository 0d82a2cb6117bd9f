//! Entrances of one channel into one journey: each has a message of its own, and is left by itself.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{HOUR, create, pipeline};
use crate::personalization::register;

const MINUTE: Duration = Duration::from_secs(60);

/// Lets a named user enter with an item, by an entrance of the same name or by none. What follows is left to the test.
async fn enter_for(app: &TestApp, item: &str, by_name: bool) {
    let mut body = json!({"audience": {"named_user": "kim-7"}, "triggering_id": "Welcome",
                          "global_attributes": {"item": item}});
    if by_name {
        body["entrance_id"] = json!(item);
    }
    app.master().post("/api/journeys/trigger", body).await.expect(200);
}

async fn exit(app: &TestApp, entrance: Option<&str>) {
    let mut body = json!({"triggering_id": "Welcome"});
    if let Some(entrance) = entrance {
        body["entrance_id"] = json!(entrance);
    }
    app.master().post("/api/journeys/exit", body).await.expect(200);
}

/// The alerts of all messages so far, in the order of the alphabet.
async fn alerts(app: &TestApp) -> Vec<String> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let deliveries = sandbox["deliveries"].as_array().unwrap().iter();
    let alert = |one: &Value| one["request"]["body"]["aps"]["alert"].as_str().unwrap().to_owned();
    let mut alerts: Vec<String> = deliveries.map(alert).collect();
    alerts.sort();
    alerts
}

/// A device of the named user.
async fn register_kim(app: &TestApp) {
    let kim = register(app, "ios", "A1", json!({})).await;
    let user = json!({"channel_id": kim, "device_type": "ios", "named_user_id": "kim-7"});
    app.master().post("/api/named_users/associate", user).await.expect(200);
}

#[tokio::test]
async fn each_entrance_of_a_channel_is_left_alone() {
    on_each_database(async |app| {
        create(&app).await;
        register_kim(&app).await;
        for (item, by_name) in [("Boots", true), ("Hat", true), ("Coat", false)] {
            enter_for(&app, item, by_name).await;
            app.step_all().await;
        }
        exit(&app, Some("Boots")).await;
        app.step_all().await;
        let app = app.restart().await;
        app.advance(HOUR);
        assert_eq!(alerts(&app).await, ["Your Coat", "Your Hat"]);

        // The same in whatever order, with what is entered once more, and with others in between.
        for (item, by_name) in [("Gloves", true), ("Scarf", false)] {
            enter_for(&app, item, by_name).await;
            app.advance(MINUTE);
            app.step_all().await;
        }
        exit(&app, None).await;
        app.step_all().await;
        exit(&app, Some("Hat")).await;
        app.step_all().await;
        enter_for(&app, "Scarf", false).await;
        app.advance(MINUTE);
        enter_for(&app, "Ring", true).await;
        enter_for(&app, "Ring", true).await;
        app.step_all().await;
        exit(&app, Some("Ring")).await;
        app.step_all().await;
        app.advance(HOUR);
        assert_eq!(alerts(&app).await, ["Your Coat", "Your Gloves", "Your Hat", "Your Scarf"]);
    })
    .await;
}

#[tokio::test]
async fn what_happens_in_journeys_before_it_is_read_counts_in_its_order() {
    on_each_database(async |app| {
        create(&app).await;
        register_kim(&app).await;
        // Nothing of this is read before all of it has happened.
        for (item, by_name) in [("Boots", true), ("Hat", true), ("Coat", false), ("Scarf", true)] {
            enter_for(&app, item, by_name).await;
        }
        exit(&app, Some("Scarf")).await;
        exit(&app, None).await;
        app.step_all().await;
        exit(&app, Some("Hat")).await;
        enter_for(&app, "Ring", true).await;
        app.step_all().await;
        app.advance(HOUR);
        assert_eq!(alerts(&app).await, ["Your Boots", "Your Ring"]);
    })
    .await;
}

#[tokio::test]
async fn each_entrance_waits_for_its_time_of_the_day() {
    on_each_database(async |app| {
        let mut body = pipeline();
        body["timing"] = json!({"schedule": {"type": "utc", "dayparts": [{"allowed_times": [{"start": "20:00"}]}]}});
        app.master().post("/api/pipelines", body).await.expect(201);
        register_kim(&app).await;
        for item in ["Boots", "Hat", "Coat"] {
            enter_for(&app, item, true).await;
            app.advance(HOUR);
            assert!(alerts(&app).await.is_empty());
        }
        exit(&app, Some("Boots")).await;
        app.advance(5 * HOUR);
        app.step_all().await;
        app.advance(MINUTE);
        assert_eq!(alerts(&app).await, ["Your Coat", "Your Hat"]);
    })
    .await;
}

#[tokio::test]
async fn leaving_a_journey_cancels_what_no_journey_has_begun() {
    on_each_database(async |app| {
        let mut body = pipeline();
        let bought = json!({"custom_event": {"key": "name", "value": {"equals": "bought"}}});
        body["immediate_trigger"] = json!([body["immediate_trigger"], bought]);
        app.master().post("/api/pipelines", body).await.expect(201);
        register_kim(&app).await;
        let buy = async |item: &str| {
            let body = json!({"name": "bought", "properties": {"item": item}});
            let event = json!({"user": {"named_user_id": "kim-7"}, "body": body});
            app.master().post("/api/custom-events", event).await.expect(200);
        };
        buy("Skis").await;
        enter_for(&app, "Boots", true).await;
        enter_for(&app, "Hat", true).await;
        app.step_all().await;
        exit(&app, Some("Boots")).await;
        app.step_all().await;
        buy("Poles").await;
        app.step_all().await;
        app.advance(HOUR);
        assert_eq!(alerts(&app).await, ["Your Hat", "Your Poles"]);
    })
    .await;
}

/// Lets a named user enter another journey and leave it again, by the same entrance. What follows is left to the test.
async fn pass_through_trial(app: &TestApp) {
    let enter = json!({"audience": {"named_user": "kim-7"}, "triggering_id": "Trial", "entrance_id": "t1"});
    app.master().post("/api/journeys/trigger", enter).await.expect(200);
    let exit = json!({"triggering_id": "Trial", "entrance_id": "t1"});
    app.master().post("/api/journeys/exit", exit).await.expect(200);
}

#[tokio::test]
async fn leaving_another_journey_cancels_whatever_the_entrance() {
    on_each_database(async |app| {
        let mut body = pipeline();
        body["cancellation_trigger"]["custom_event"]["and"][1]["value"]["equals"] = json!("Trial");
        app.master().post("/api/pipelines", body).await.expect(201);
        register_kim(&app).await;
        enter_for(&app, "Boots", true).await;
        enter_for(&app, "Coat", false).await;
        app.step_all().await;
        pass_through_trial(&app).await;
        app.step_all().await;
        // The same if nothing is read before all of it has happened.
        enter_for(&app, "Gloves", true).await;
        pass_through_trial(&app).await;
        enter_for(&app, "Hat", true).await;
        app.step_all().await;
        app.advance(HOUR);
        assert_eq!(alerts(&app).await, ["Your Hat"]);
    })
    .await;
}

#[tokio::test]
async fn only_other_entrances_of_the_journey_that_is_left_go_on() {
    on_each_database(async |app| {
        let mut body = pipeline();
        for (trigger, event) in [("immediate_trigger", "journey_entered"), ("cancellation_trigger", "journey_exited")] {
            body[trigger] = json!({"custom_event": {"key": "name", "value": {"equals": event}}});
        }
        app.master().post("/api/pipelines", body).await.expect(201);
        register_kim(&app).await;
        let other = json!({"audience": {"named_user": "kim-7"}, "triggering_id": "Trial",
                           "global_attributes": {"item": "Trial"}});
        app.master().post("/api/journeys/trigger", other).await.expect(200);
        for (item, by_name) in [("Boots", true), ("Hat", true), ("Coat", false)] {
            enter_for(&app, item, by_name).await;
        }
        app.step_all().await;
        exit(&app, Some("Boots")).await;
        app.step_all().await;
        app.advance(HOUR);
        assert_eq!(alerts(&app).await, ["Your Coat", "Your Hat"]);
    })
    .await;
}

#[tokio::test]
async fn who_has_left_by_all_entrances_is_looked_for_no_more() {
    on_each_database(async |app| {
        create(&app).await;
        register_kim(&app).await;
        let n_rows = async |table: &str| row_counts(app.engine().store()).await[table];
        for (item, by_name) in [("Boots", true), ("Hat", true), ("Coat", false)] {
            enter_for(&app, item, by_name).await;
        }
        app.step_all().await;
        assert!(n_rows("pipeline_span").await > 0);
        // Several leave in one stretch, so that what waits is written once.
        exit(&app, Some("Boots")).await;
        exit(&app, None).await;
        app.step_all().await;
        assert!(n_rows("pipeline_span").await > 0, "the last entrance still waits");
        assert_eq!(n_rows("pipeline_timer").await, 1);
        exit(&app, Some("Hat")).await;
        app.step_all().await;
        assert_eq!((n_rows("pipeline_timer").await, n_rows("pipeline_span").await), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn values_say_nothing_of_the_entrance() {
    on_each_database(async |app| {
        create(&app).await;
        register_kim(&app).await;
        for name in ["entrance_id", "triggering_id"] {
            let body = json!({"audience": {"named_user": "kim-7"}, "triggering_id": "Welcome",
                              "global_attributes": {"item": "Boots", name: "Hat"}});
            let refused = app.master().post("/api/journeys/trigger", body).await.expect(400);
            assert_eq!(refused["details"]["path"], format!("global_attributes.{name}"), "{refused}");
        }
        app.step_all().await;
        app.advance(HOUR);
        assert!(alerts(&app).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_enters_all_the_time_waits_for_some_instants_of_a_second() {
    on_each_database(async |app| {
        create(&app).await;
        register_kim(&app).await;
        let n_waiting = async || row_counts(app.engine().store()).await["pipeline_timer"];
        for entrances in [0..103, 103..104] {
            for entrance in entrances {
                enter_for(&app, &format!("item {entrance}"), true).await;
            }
            app.step_all().await;
            assert_eq!(n_waiting().await, 100);
        }
        for gone in ["item 0", "item 99", "item 103"] {
            exit(&app, Some(gone)).await;
        }
        app.step_all().await;
        assert_eq!(n_waiting().await, 98, "the last has taken the place of the first");
    })
    .await;
}
