//! Explaining an audience: counts that add up, the part each clause plays, and hints about typing mistakes.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_engine};

use crate::devices::{register, register_open};

async fn explain(app: &TestApp, audience: Value, device_types: Value) -> Value {
    let body = json!({"audience": audience, "device_types": device_types});
    app.master().post("/api/audience/explain", body).await.expect(200)
}

async fn crowd(app: &TestApp) {
    for i in 0..3 {
        register(app, "ios", &format!("A{i}"), json!({"tags": ["news"]})).await;
    }
    register(app, "ios", "A3", json!({"tags": ["news", "sports"], "opt_in": false})).await;
    register(app, "ios", "A4", json!({"tags": ["news"], "push_address": null})).await;
    register(app, "android", "B0", json!({"tags": ["sports"]})).await;
    register_open(app, "kiosk", "lobby", json!({"tags": ["sports"]})).await;
}

#[tokio::test]
async fn platforms_and_losses_add_up() {
    on_each_engine(async |app| {
        crowd(&app).await;
        let all = explain(&app, json!("all"), json!("all")).await;
        assert_eq!((&all["matched"], &all["reachable"]), (&json!(7), &json!(5)));
        assert_eq!(
            all["platforms"],
            json!({
                "ios": {"matched": 5, "reachable": 3, "opted_out": 1, "without_address": 1},
                "android": {"matched": 1, "reachable": 1, "opted_out": 0, "without_address": 0},
                "open::kiosk": {"matched": 1, "reachable": 1, "opted_out": 0, "without_address": 0},
            })
        );
        let android = explain(&app, json!({"tag": "sports"}), json!(["android"])).await;
        assert_eq!((&android["matched"], &android["clause"]["matched"]), (&json!(1), &json!(3)));
        assert_eq!(app.step_all().await, 0, "explaining sends nothing");
    })
    .await;
}

#[tokio::test]
async fn every_clause_tells_its_part() {
    on_each_engine(async |app| {
        crowd(&app).await;
        let audience =
            json!({"AND": [{"tag": "news"}, {"not": {"tag": "sports"}}, {"group": "ua_opt_in", "tag": "true"}]});
        let clause = explain(&app, audience, json!("all")).await["clause"].clone();
        assert_eq!((&clause["path"], &clause["matched"]), (&json!("audience"), &json!(4)));
        let part = |i: usize| {
            let part = &clause["clauses"][i];
            [&part["path"], &part["matched"], &part["kept"], &part["dropped"]].map(Value::clone)
        };
        assert_eq!(part(0), [json!("audience.AND[0]"), json!(5), json!(5), json!(2)]);
        assert_eq!(part(1), [json!("audience.AND[1]"), json!(4), json!(4), json!(1)]);
        assert_eq!(part(2), [json!("audience.AND[2]"), json!(6), json!(4), json!(0)]);
        assert_eq!(clause["clauses"][1]["clauses"][0]["path"], "audience.AND[1].not");

        let either = json!({"or": [{"tag": "news"}, {"tag": "sports"}]});
        let clause = explain(&app, either, json!("all")).await["clause"].clone();
        assert_eq!((&clause["clauses"][0]["added"], &clause["clauses"][1]["added"]), (&json!(5), &json!(2)));
    })
    .await;
}

#[tokio::test]
async fn names_that_nobody_has_are_pointed_out() {
    on_each_engine(async |app| {
        crowd(&app).await;
        let audience = json!({"or": [
            {"tag": ["news", "nwes"]}, {"tag": "x", "group": "ua_optin"}, {"static_list": "ua_app_open_last_7_day"},
            {"segment": "00000000-0000-4000-8000-000000000000"}, {"tag": "completely different"},
        ]});
        let explained = explain(&app, audience, json!("all")).await;
        let warnings: Vec<(&str, &Value)> = explained["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| (w["path"].as_str().unwrap(), &w["near"]))
            .collect();
        assert_eq!(warnings[0], ("audience.or[0].tag", &json!(["news"])));
        assert_eq!(warnings[1], ("audience.or[1].group", &json!(["ua_opt_in"])));
        assert_eq!(warnings[2].0, "audience.or[2].static_list");
        assert_eq!(warnings[2].1[0], "ua_app_open_last_7_days");
        assert_eq!(warnings[3], ("audience.or[3].segment", &json!([])));
        assert_eq!(warnings[4], ("audience.or[4].tag", &json!([])));
        assert_eq!(warnings.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_explained_is_refused() {
    on_each_engine(async |app| {
        for (body, path) in [
            (json!({}), "audience"),
            (json!({"audience": "triggered"}), "audience"),
            (json!({"audience": "all", "device_types": []}), "device_types"),
            (json!({"audience": "all", "notification": {}}), "notification"),
            (
                json!({"audience": {"activity": "app_open", "metric": "count", "operator": "greater", "value": 7}}),
                "audience",
            ),
        ] {
            let refused = app.master().post("/api/audience/explain", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}");
        }
    })
    .await;
}
