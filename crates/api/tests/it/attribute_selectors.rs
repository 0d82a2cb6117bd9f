//! Pushes to those who have attributes, by every operator and in combination with everything else.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::attributes::{change, is, remove, set};
use crate::crowd::Crowd;

async fn change_user(app: &TestApp, user: &str, operations: Value) {
    let path = format!("/api/named_users/{user}/attributes");
    let reply = app.device().post(&path, json!({ "attributes": operations })).await;
    reply.expect_done(200);
}

/// What most tests of selectors work with. `d` has nothing.
async fn furnish(app: &TestApp) -> Crowd {
    let crowd = Crowd::register(app, &[("a", "ios"), ("b", "android"), ("c", "amazon"), ("d", "android")]).await;
    let order = json!({"total": 120.5, "items": ["tea", "milk"], "paid": true, "at": "2024-05-01T06:00:00", "to": {"city": "Oslo"}});
    change(
        app,
        &crowd,
        "a",
        json!([
            set("plan", "gold"),
            set("age", 30),
            set("joined", "2024-04-30T12:00:00"),
            set("born", "1990-05-01"),
            set("order#1", order)
        ]),
    )
    .await;
    let order = json!({"total": 3, "items": [], "paid": "false", "note": ""});
    change(
        app,
        &crowd,
        "b",
        json!([set("plan", "old gold"), set("age", 9), set("joined", "2024-05-10T00:00:00Z"), set("order#1", order)]),
    )
    .await;
    change(app, &crowd, "c", json!([set("plan", ""), set("age", "41"), set("born", "2001-12-24")])).await;
    crowd
}

#[tokio::test]
async fn plain_attributes_by_every_operator() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        let by = |attribute: &str, operator: &str, value: Value| {
            let mut selector = json!({"attribute": attribute, "operator": operator});
            if !value.is_null() {
                selector["value"] = value;
            }
            selector
        };
        let table = [
            (is("plan", "gold"), "a"),
            (is("plan", "Gold"), ""),
            (is("plan", ""), "c"),
            (is("nobody has it", "x"), ""),
            (is("age", 30), "a"),
            (is("age", "30.0"), "a"),
            (is("age", 41), "c"),
            (by("plan", "contains", json!("gold")), "a b"),
            (by("age", "contains", json!("1")), "c"),
            (by("age", "less", json!(30)), "b"),
            (by("age", "less", json!("31")), "a b"),
            (by("age", "greater", json!(9)), "a c"),
            (by("plan", "greater", json!("gold")), "b"),
            (by("plan", "is_empty", Value::Null), "c d"),
            (by("order#1", "is_empty", Value::Null), "c d"),
            (by("nobody has it", "is_empty", Value::Null), "a b c d"),
            (by("joined", "before", json!("now")), "a"),
            (by("joined", "after", json!("2024-04-30T13:00:00+01:00")), "b"),
            (by("joined", "range", json!("2024-04-30T12:00:00/2024-05-10")), "a"),
            (by("born", "before", json!("1995-01-01")), "a"),
        ];
        for (selector, expected) in table {
            assert_eq!(crowd.reached(&app, &selector).await, expected, "{selector}");
        }
    })
    .await;
}

#[tokio::test]
async fn properties_of_objects_by_every_operator() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        let table = [
            (json!({"property": "$.total", "operator": "equals", "value": 120.5}), "a"),
            (json!({"property": "$.to.city", "operator": "equals", "value": "Oslo"}), "a"),
            (json!({"property": "items[1]", "operator": "equals", "value": "milk"}), "a"),
            (json!({"property": "$.paid", "operator": "equals", "value": true}), "a"),
            (json!({"property": "$.paid", "operator": "equals", "value": false, "compare_as": "boolean"}), "b"),
            (json!({"property": "$.items", "operator": "contains", "value": "tea"}), "a"),
            (json!({"property": "$.items[*]", "operator": "equals", "value": "tea", "compare_as": "text"}), "a"),
            (json!({"property": "$.items[*]", "operator": "contains", "value": "te"}), ""),
            (json!({"property": "$.items[*].kind", "operator": "is_empty"}), "a b c d"),
            (json!({"property": "$.items", "operator": "not_contains", "value": "tea"}), "b"),
            (json!({"property": "$.total", "operator": "less", "value": 120.5}), "b"),
            (json!({"property": "$.total", "operator": "less_eq", "value": 120.5}), "a b"),
            (json!({"property": "$.total", "operator": "greater", "value": 3}), "a"),
            (json!({"property": "$.total", "operator": "greater_eq", "value": "3", "compare_as": "number"}), "a b"),
            (json!({"property": "$.at", "operator": "before", "value": "now"}), "a"),
            (json!({"property": "$.at", "operator": "after", "value": 7, "precision": "hours"}), "a"),
            (json!({"property": "$.at", "operator": "after", "value": 6, "precision": "hours"}), ""),
            (json!({"property": "$.at", "operator": "range", "value": "2024-05-01/2024-05-02"}), "a"),
            (json!({"property": "$.note", "operator": "is_empty"}), "a b c d"),
            (json!({"property": "$.items", "operator": "is_empty"}), "b c d"),
            (json!({"property": "$.items", "operator": "not_empty"}), "a"),
        ];
        for (property, expected) in table {
            let selector = json!({"attribute": "order#1", "where": property});
            assert_eq!(crowd.reached(&app, &selector).await, expected, "{selector}");
        }
    })
    .await;
}

#[tokio::test]
async fn combinations_with_everything_else() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        let (gold, young) = (is("plan", "gold"), json!({"attribute": "age", "operator": "less", "value": 20}));
        let empty = json!({"attribute": "plan", "operator": "is_empty"});
        let d = json!({"channel": crowd.id("d")});
        let table = [
            (json!({"not": gold}), "b c d"),
            (json!({"not": empty}), "a b"),
            (json!({"NOT": [{"not": empty}]}), "c d"),
            (json!({"or": [gold, young]}), "a b"),
            (json!({"OR": [gold, d]}), "a d"),
            (json!({"and": [gold, young]}), ""),
            (json!({"and": [{"not": gold}, {"not": young}]}), "c d"),
            (json!({"and": [empty, {"not": d}]}), "c"),
            (json!({"or": [empty, {"and": [gold, {"not": young}]}]}), "a c d"),
            (json!({"and": [{"or": [gold, young, empty]}, {"tag": "false", "group": "ua_opt_in"}]}), ""),
            (json!({"and": [{"not": {"and": [gold, empty]}}, {"tag": "true", "group": "ua_opt_in"}]}), "a b c d"),
        ];
        for (selector, expected) in table {
            assert_eq!(crowd.reached(&app, &selector).await, expected, "{selector}");
        }
        let validated = json!({"audience": gold, "device_types": "all", "notification": {"alert": "Hi"}});
        app.master().post("/api/push/validate", validated).await.expect(200);
        for kind in ["activity", "location"] {
            let refused = match kind {
                "activity" => json!({"activity": "open", "metric": "count", "operator": "greater", "value": 1, "after": 7, "precision": "days"}),
                _ => json!({"location": {"us_state": "OR", "date": {"recent": {"months": 3}}}}),
            };
            let push = json!({"audience": {"and": [gold, refused]}, "device_types": "all", "notification": {"alert": "Hi"}});
            app.master().post("/api/push", push).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn dates_move_with_the_clock() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        let joined = |operator: &str, units: u32, relative_to: &str| {
            json!({"attribute": "joined", "operator": operator, "value": units, "precision": "days",
                   "relative_to": relative_to})
        };
        let today = json!({"attribute": "born", "operator": "equals", "value": "now", "precision": "month_day"});
        let now = json!({"attribute": "joined", "operator": "after", "value": "now"});
        // It is 1 May 2024, noon.
        assert_eq!(crowd.reached(&app, &joined("after", 2, "past")).await, "a b");
        assert_eq!(crowd.reached(&app, &joined("before", 1, "past")).await, "");
        assert_eq!(crowd.reached(&app, &joined("after", 7, "future")).await, "b");
        assert_eq!(crowd.reached(&app, &today).await, "a");
        assert_eq!(crowd.reached(&app, &now).await, "b");
        app.advance(Duration::from_secs(3 * 24 * 3600));
        assert_eq!(crowd.reached(&app, &joined("after", 2, "past")).await, "b");
        assert_eq!(crowd.reached(&app, &joined("before", 1, "past")).await, "a");
        assert_eq!(crowd.reached(&app, &joined("after", 7, "future")).await, "");
        assert_eq!(crowd.reached(&app, &today).await, "");
        let app = app.restart().await;
        app.advance(Duration::from_secs(7 * 24 * 3600));
        assert_eq!(crowd.reached(&app, &now).await, "");
        let may = json!({"attribute": "born", "operator": "equals", "value": "05", "precision": "month"});
        assert_eq!(crowd.reached(&app, &may).await, "a");
        // What "now" means is settled when a push is sent, not when it is accepted.
        let push =
            json!({"audience": joined("before", 14, "past"), "device_types": "all", "notification": {"alert": "Hi"}});
        let accepted = app.master().post("/api/push", push).await.expect(200);
        app.advance(Duration::from_secs(30 * 24 * 3600));
        app.step_all().await;
        let path = format!("/api/push/{}", accepted["push_ids"][0].as_str().unwrap());
        let platforms = app.master().get(&path).await.expect(200)["push"]["platforms"].clone();
        assert_eq!((&platforms["ios"]["targeted"], &platforms["android"]["targeted"]), (&json!(1), &json!(1)));
    })
    .await;
}

#[tokio::test]
async fn attributes_of_named_users_count_for_their_channels_unless_those_have_their_own() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web"), ("d", "ios")]).await;
        for name in ["a", "b"] {
            crowd.associate(&app, name, Some("kim")).await;
        }
        crowd.associate(&app, "c", Some("lee")).await;
        change_user(&app, "kim", json!([set("city", "Oslo")])).await;
        let lee = json!({"audience": {"named_user_id": ["lee"]}, "attributes": [set("city", "Rome")]});
        app.device().post("/api/channels/attributes", lee).await.expect(200);
        let empty = json!({"attribute": "city", "operator": "is_empty"});
        let (oslo, rome) = (is("city", "Oslo"), is("city", "Rome"));
        let who = async |app: &TestApp| {
            let [oslo, rome, empty] = [&oslo, &rome, &empty];
            (crowd.reached(app, oslo).await, crowd.reached(app, rome).await, crowd.reached(app, empty).await)
        };
        let expect = |oslo: &str, rome: &str, empty: &str| (oslo.to_owned(), rome.to_owned(), empty.to_owned());
        assert_eq!(who(&app).await, expect("a b", "c", "d"));
        assert_eq!(crowd.look_up(&app, "a").await["attributes"], json!({}), "only its own");

        change(&app, &crowd, "b", set("city", "Rome")).await;
        assert_eq!(who(&app).await, expect("a", "b c", "d"));
        change(&app, &crowd, "b", remove("city")).await;
        assert_eq!(who(&app).await, expect("a b", "c", "d"));
        change(&app, &crowd, "b", set("city", "")).await;
        assert_eq!(who(&app).await, expect("a", "c", "b d"), "nothing of its own is its own as well");

        crowd.associate(&app, "a", Some("lee")).await;
        crowd.associate(&app, "c", None).await;
        crowd.associate(&app, "d", Some("kim")).await;
        assert_eq!(who(&app).await, expect("d", "a", "b c"));
        let app = app.restart().await;
        assert_eq!(who(&app).await, expect("d", "a", "b c"));
        change_user(&app, "lee", json!([remove("city")])).await;
        assert_eq!(who(&app).await, expect("d", "", "a b c"));
    })
    .await;
}

#[tokio::test]
async fn objects_end() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "ios")]).await;
        let now = app.clock().now().seconds();
        change(&app, &crowd, "a", json!([set("trip#1", json!({"to": "Oslo", "exp": now + 3600}))])).await;
        change(&app, &crowd, "b", json!([set("trip#1", json!({"to": "Oslo"}))])).await;
        change(&app, &crowd, "c", json!([set("trip#1", json!({"to": "Oslo", "exp": now + 10_000 * 24 * 3600}))])).await;
        crowd.associate(&app, "a", Some("kim")).await;
        change_user(&app, "kim", json!([set("trip#1", json!({"to": "Rome", "exp": now + 7200}))])).await;
        let to = |city: &str| json!({"attribute": "trip#1", "where": {"property": "to", "operator": "equals", "value": city}});
        let none = json!({"attribute": "trip#1", "operator": "is_empty"});
        let personal = json!({"audience": {"ios_channel": crowd.id("a")}, "device_types": "all",
            "notification": {"alert": "To {{trip.1.to}}"}, "options": {"personalization": true}});
        let previewed = async || {
            let body = json!({"push": personal, "channel": crowd.id("a")});
            app.master().post("/api/push/preview", body).await.expect(200)["previews"][0]["shown"]["body"].clone()
        };
        assert_eq!((crowd.reached(&app, &to("Oslo")).await, previewed().await), ("a b c".to_owned(), json!("To Oslo")));
        // Of the channel's own nothing is left, so that the user's counts.
        app.advance(Duration::from_secs(3600));
        assert_eq!(crowd.reached(&app, &to("Oslo")).await, "b c");
        assert_eq!(crowd.reached(&app, &to("Rome")).await, "a");
        assert_eq!(previewed().await, json!("To Rome"));
        app.advance(Duration::from_secs(3600));
        assert_eq!((crowd.reached(&app, &none).await, previewed().await), ("a".to_owned(), json!("To ")));
        // They are deleted, too: without a time of its own an object lasts 90 days, and none lasts longer than two years.
        let held = async |name: &str| crowd.look_up(&app, name).await["attributes"] != json!({});
        app.advance(89 * DAY);
        app.step_all().await;
        assert_eq!((held("a").await, held("b").await, held("c").await), (false, true, true));
        app.advance(DAY);
        app.step_all().await;
        assert_eq!((held("b").await, held("c").await), (false, true));
        app.advance(700 * DAY);
        app.step_all().await;
        assert!(!held("c").await);
    })
    .await;
}

#[tokio::test]
async fn a_name_without_an_instance_means_any() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "ios"), ("d", "web")]).await;
        let trip = |instance: &str, city: &str| set(&format!("trip{instance}"), json!({ "to": city }));
        change(&app, &crowd, "a", json!([trip("#1", "Oslo"), trip("#2", "Rome")])).await;
        change(&app, &crowd, "b", json!([trip("", "Rome")])).await;
        crowd.associate(&app, "b", Some("kim")).await;
        crowd.associate(&app, "c", Some("kim")).await;
        change_user(&app, "kim", json!([trip("#9", "Oslo"), set("trips", "Oslo")])).await;
        let to = |name: &str, city: &str| {
            json!({"attribute": name, "where": {"property": "to", "operator": "equals", "value": city}})
        };
        let table = [
            (to("trip", "Oslo"), "a c"),
            (to("trip", "Rome"), "a b"),
            (to("trip#1", "Rome"), ""),
            (json!({"not": to("trip", "Oslo")}), "b d"),
            (json!({"attribute": "trip", "operator": "is_empty"}), "d"),
            (json!({"attribute": "trip", "where": {"property": "to", "operator": "is_empty"}}), "d"),
        ];
        for (selector, expected) in table {
            assert_eq!(crowd.reached(&app, &selector).await, expected, "{selector}");
        }
    })
    .await;
}
