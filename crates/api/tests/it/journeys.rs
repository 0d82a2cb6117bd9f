//! Journeys: servers let channels enter and leave them, and pipelines send accordingly.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::personalization::{kept, register};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A pipeline that sends an hour after its journey was entered, unless it is left before.
async fn create(app: &TestApp) {
    let selects = |event: &str| {
        let name = json!({"key": "name", "value": {"equals": event}});
        let journey = json!({"key": "triggering_id", "scope": "properties", "value": {"equals": "Welcome"}});
        json!({"custom_event": {"and": [name, journey]}})
    };
    let push = json!({"audience": "triggered", "device_types": "all", "options": {"personalization": true},
                      "notification": {"alert": "Your {{item}}"}});
    let pipeline = json!({
        "name": "Welcome", "enabled": true, "immediate_trigger": selects("journey_entered"),
        "cancellation_trigger": selects("journey_exited"), "outcome": {"push": push, "delay": 3600},
    });
    app.master().post("/api/pipelines", pipeline).await.expect(201);
}

async fn enter(app: &TestApp, audience: Value, entrance: Option<&str>) {
    let mut body =
        json!({"audience": audience, "triggering_id": ["Welcome", "other"], "global_attributes": {"item": "Boots"}});
    if let Some(entrance) = entrance {
        body["entrance_id"] = json!(entrance);
    }
    let answer = app.master().post("/api/journeys/trigger/", body).await.expect(200);
    assert!(answer["ok"] == true && answer["operation_id"].is_string(), "{answer}");
    app.step_all().await;
}

#[tokio::test]
async fn those_who_enter_a_journey_get_its_message_with_its_values() {
    on_each_database(async |app| {
        create(&app).await;
        let kim = register(&app, "ios", "A1", json!({"plan": "gold"})).await;
        let lee = register(&app, "android", "F1", json!({})).await;
        enter(&app, json!({"attribute": "plan", "operator": "equals", "value": "gold"}), None).await;
        assert!(kept(&app).await.is_empty(), "not before the hour is over");
        app.advance(HOUR);
        app.step_all().await;
        let got = kept(&app).await;
        assert_eq!((got.len(), &got[&kim]["aps"]["alert"]), (1, &json!("Your Boots")));
        assert!(!got.contains_key(&lee));
        // Nobody of the audience is there, which is no mistake.
        enter(&app, json!({"named_user": "nobody"}), None).await;
        app.master().post("/api/journeys/exit", json!({"triggering_id": "unheard"})).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn those_who_leave_a_journey_get_nothing_more() {
    on_each_database(async |app| {
        create(&app).await;
        let kim = register(&app, "ios", "A1", json!({})).await;
        let lee = register(&app, "ios", "A2", json!({})).await;
        enter(&app, json!({"channel": kim}), None).await;
        enter(&app, json!({"channel": lee}), Some("second")).await;
        // Those who entered by a name stay.
        app.master().post("/api/journeys/exit", json!({"triggering_id": "Welcome"})).await.expect(200);
        app.step_all().await;
        app.advance(HOUR);
        app.step_all().await;
        let got = kept(&app).await;
        assert_eq!((got.len(), &got[&lee]["aps"]["alert"]), (1, &json!("Your Boots")));
        let exit = json!({"triggering_id": ["Welcome", "other"], "entrance_id": "second"});
        app.master().post("/api/journeys/exit", &exit).await.expect(200);
        app.master().post("/api/journeys/exit", &exit).await.expect(200);
        assert_eq!(row_counts(app.engine().store()).await["journey_entrance"], 1, "who is in the other journey");
        for _ in 0..91 {
            app.advance(DAY);
            app.step_all().await;
        }
        assert_eq!(row_counts(app.engine().store()).await["journey_entrance"], 0, "is forgotten in the end");
    })
    .await;
}

#[tokio::test]
async fn a_crowd_is_too_much_for_one_request() {
    on_each_database(async |app| {
        let rows: String = (0..=1000).map(|n| format!("a{n}\n")).collect();
        app.master().post("/api/bulk/open/kiosk", format!("ua_address\n{rows}")).await.expect(200);
        let body = json!({"audience": "all", "triggering_id": "Welcome"});
        let refused = app.master().post("/api/journeys/trigger", &body).await.expect(400);
        assert_eq!(refused["details"]["path"], "audience", "{refused}");
        app.device().post("/api/journeys/trigger", &body).await.expect(401);
        app.device().post("/api/journeys/exit", json!({"triggering_id": "Welcome"})).await.expect(401);
    })
    .await;
}
