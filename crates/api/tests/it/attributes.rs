//! Attributes: changing them in every way there is, and pushes to those who have them.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_engine};
use testkit::rows::row_counts;

use crate::crowd::Crowd;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

fn set(key: &str, value: impl Into<Value>) -> Value {
    json!({"action": "set", "key": key, "value": value.into()})
}

fn remove(key: &str) -> Value {
    json!({"action": "remove", "key": key})
}

fn at(mut operation: Value, timestamp: &str) -> Value {
    operation["timestamp"] = json!(timestamp);
    operation
}

/// Changes the attributes of one channel.
async fn change(app: &TestApp, crowd: &Crowd, name: &str, operations: Value) {
    let body = json!({"audience": {"channel": crowd.id(name)}, "attributes": operations});
    assert_eq!(app.device().post("/api/channels/attributes", body).await.expect(200), json!({"ok": true}));
}

async fn change_user(app: &TestApp, user: &str, operations: Value) {
    let path = format!("/api/named_users/{user}/attributes");
    let reply = app.device().post(&path, json!({ "attributes": operations })).await;
    assert_eq!(reply.expect(200), json!({"ok": true}));
}

fn is(attribute: &str, value: impl Into<Value>) -> Value {
    json!({"attribute": attribute, "operator": "equals", "value": value.into()})
}

#[tokio::test]
async fn every_way_to_change_them_shows_in_lookups() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web"), ("d", "open::tv")]).await;
        let shown = async |name: &str| crowd.look_up(&app, name).await["attributes"].clone();
        assert_eq!(shown("a").await, json!({}));
        change(&app, &crowd, "a", json!([set("city", "Oslo"), set("age", 30), set("gone", 1), remove("never")])).await;
        change(&app, &crowd, "a", remove("gone")).await;
        assert_eq!(shown("a").await, json!({"city": "Oslo", "age": 30}));

        let many = json!({"audience": {"ios_channel": [crowd.id("a"), crowd.id("b")], "web_channel": crowd.id("c"),
                          "channel": [crowd.id("d"), UNKNOWN]}, "attributes": [set("vip", "yes")]});
        app.device().post("/api/channels/attributes", &many).await.expect(401);
        assert_eq!(app.master().post("/api/channels/attributes/", &many).await.expect(200), json!({"ok": true}));
        assert_eq!(shown("a").await["vip"], "yes");
        assert_eq!(shown("b").await, json!({}), "not an iOS channel");
        assert_eq!((shown("c").await, shown("d").await), (json!({"vip": "yes"}), json!({"vip": "yes"})));

        let order = json!({"total": 1.5, "items": ["tea"]});
        let path = format!("/api/channels/{}/attributes?platform=android", crowd.id("b"));
        app.device().post(&path, json!({"attributes": [set("order#1", order.clone())]})).await.expect(200);
        assert_eq!(shown("b").await, json!({"order#1": order}));
        // One client library drops a zero, and dates of every form are shown in one.
        change(&app, &crowd, "b", json!([{"action": "set", "key": "n"}, set("t", "2024-05-01 12:00:00Z")])).await;
        assert_eq!(shown("b").await, json!({"order#1": order, "n": 0, "t": "2024-05-01T12:00:00"}));

        let listed = app.master().get("/api/channels").await.expect(200);
        let of_list: Vec<&Value> = listed["channels"].as_array().unwrap().iter().map(|it| &it["attributes"]).collect();
        let expected = [shown("a").await, shown("b").await, shown("c").await, shown("d").await];
        assert_eq!(of_list, expected.iter().collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn channels_named_by_the_path_have_to_be_there() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("gone", "ios")]).await;
        crowd.uninstall(&app, "gone").await;
        let (a, gone) = (crowd.id("a"), crowd.id("gone"));
        let body = json!({"attributes": [set("city", "Oslo")]});
        for id in [UNKNOWN, gone, "no-uuid"] {
            app.device().post(&format!("/api/channels/{id}/attributes"), &body).await.expect(404);
            app.device().put(&format!("/api/channels/sdk/batch/{id}"), &body).await.expect(404);
        }
        app.device().post(&format!("/api/channels/{a}/attributes?platform=android"), &body).await.expect(404);
        let toaster = app.device().post(&format!("/api/channels/{a}/attributes?platform=toaster"), &body).await;
        assert_eq!(toaster.expect(400)["details"]["path"], "platform");
        assert_eq!(crowd.look_up(&app, "a").await["attributes"], json!({}));
    })
    .await;
}

#[tokio::test]
async fn bad_changes_are_refused_by_path_and_leave_nothing_behind() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let before = row_counts(app.engine().store()).await;
        let long = "x".repeat(256);
        let table = [
            (json!([]), "attributes"),
            (json!(7), "attributes"),
            (json!([{"action": "set", "value": 1}]), "attributes[0].key"),
            (json!([{"key": "a"}]), "attributes[0].action"),
            (json!([{"action": "add", "key": "a", "value": 1}]), "attributes[0].action"),
            (json!([set("", 1)]), "attributes[0].key"),
            (json!([set(&long, 1)]), "attributes[0].key"),
            (json!([set("a", Value::Null)]), "attributes[0].value"),
            (json!([set("a", true)]), "attributes[0].value"),
            (json!([set("a", json!(["x"]))]), "attributes[0].value"),
            (json!([set("a", long.as_str())]), "attributes[0].value"),
            (json!([set("a", json!({"x": 1}))]), "attributes[0].key"),
            (json!([set("a#1", "x")]), "attributes[0].value"),
            (json!([set("a", 1), at(set("a", 1), "soon")]), "attributes[1].timestamp"),
            (json!([{"action": "remove", "key": "a", "value": 1}]), "attributes[0].value"),
            (json!([{"action": "set", "key": "a", "value": 1, "kind": "x"}]), "attributes[0].kind"),
        ];
        for (operations, blamed) in table {
            let audience = json!({"channel": crowd.id("a")});
            let calls = [
                ("/api/channels/attributes".to_owned(), json!({"audience": audience, "attributes": operations})),
                (format!("/api/channels/{}/attributes", crowd.id("a")), json!({"attributes": operations})),
                ("/api/named_users/kim/attributes".to_owned(), json!({"attributes": operations})),
            ];
            for (path, body) in calls {
                let refused = app.master().post(&path, body).await.expect(400);
                assert_eq!(refused["details"]["path"], blamed, "{path} {operations}");
            }
        }
        let audiences = [
            (json!({}), "audience"),
            (json!({"channel": []}), "audience.channel"),
            (json!({"channel": "no-uuid"}), "audience.channel"),
            (json!({"tag": "news"}), "audience.tag"),
            (json!({"named_user_id": ""}), "audience.named_user_id"),
            (json!({"email_address": "kim@example.com"}), "audience.email_address"),
        ];
        for (audience, blamed) in audiences {
            let body = json!({"audience": audience, "attributes": [set("a", 1)]});
            let refused = app.master().post("/api/channels/attributes", body).await.expect(400);
            assert_eq!(refused["details"]["path"], blamed, "{refused}");
        }
        let missing = app.master().post("/api/channels/attributes", json!({"attributes": [set("a", 1)]})).await;
        assert_eq!(missing.expect(400)["error_code"], 40202);
        app.device().post("/api/named_users/%20kim/attributes", json!({"attributes": [set("a", 1)]})).await.expect(400);
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn there_is_a_limit_to_what_is_known_of_one() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let thousand: Vec<Value> = (0..1000).map(|n| set(&format!("k{n}"), n)).collect();
        change(&app, &crowd, "a", json!(thousand)).await;
        change(&app, &crowd, "a", set("k7", "again")).await;
        let more = json!({"audience": {"channel": crowd.id("a")}, "attributes": set("one more", 1)});
        let refused = app.device().post("/api/channels/attributes", more).await.expect(400);
        assert_eq!(refused["details"]["path"], "attributes");
        change(&app, &crowd, "a", json!([remove("k0"), set("one more", 1)])).await;
        assert_eq!(crowd.look_up(&app, "a").await["attributes"].as_object().unwrap().len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn the_later_decision_counts_whichever_arrives_first() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let city = async || crowd.look_up(&app, "a").await["attributes"]["city"].clone();
        change(&app, &crowd, "a", at(set("city", "Oslo"), "2024-05-01 10:00:00")).await;
        change(&app, &crowd, "a", at(set("city", "Rome"), "2024-05-01T09:59:59")).await;
        assert_eq!(city().await, "Oslo");
        change(&app, &crowd, "a", at(remove("city"), "2024-05-01T11:00:00")).await;
        change(&app, &crowd, "a", at(set("city", "Bonn"), "2024-05-01T10:59:00.500Z")).await;
        assert_eq!(city().await, Value::Null);
        // In one request too.
        let both =
            json!([at(set("city", "new"), "2024-05-01T11:30:00"), at(set("city", "old"), "2024-05-01T11:20:00")]);
        change(&app, &crowd, "a", both).await;
        assert_eq!(city().await, "new");
        // A clock that is ahead does not make a decision last for ever.
        change(&app, &crowd, "a", at(set("city", "from the future"), "2030-01-01T00:00:00")).await;
        assert_eq!(city().await, "from the future");
        app.advance(Duration::from_secs(1));
        change(&app, &crowd, "a", set("city", "now")).await;
        assert_eq!(city().await, "now");
    })
    .await;
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
    on_each_engine(async |app| {
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
    on_each_engine(async |app| {
        let crowd = furnish(&app).await;
        let table = [
            (json!({"property": "$.total", "operator": "equals", "value": 120.5}), "a"),
            (json!({"property": "$.to.city", "operator": "equals", "value": "Oslo"}), "a"),
            (json!({"property": "items[1]", "operator": "equals", "value": "milk"}), "a"),
            (json!({"property": "$.paid", "operator": "equals", "value": true}), "a"),
            (json!({"property": "$.paid", "operator": "equals", "value": false, "compare_as": "boolean"}), "b"),
            (json!({"property": "$.items", "operator": "contains", "value": "tea"}), "a"),
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
    on_each_engine(async |app| {
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
            (json!({"and": [{"or": [gold, young, empty]}, {"tag": "android", "group": "ua_opt_in"}]}), ""),
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
    on_each_engine(async |app| {
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
    on_each_engine(async |app| {
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
async fn nothing_is_kept_of_those_who_leave() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios"), ("tv", "open::tv")]).await;
        for name in ["a", "b", "tv"] {
            change(&app, &crowd, name, json!([set("city", "Oslo"), remove("never")])).await;
        }
        crowd.uninstall(&app, "a").await;
        let address = json!({"address": "tv", "open_platform_name": "tv"});
        app.master().post("/api/channels/open/uninstall", address).await.expect(202);
        let rows = async |app: &TestApp| row_counts(app.engine().store()).await["attribute"];
        assert_eq!(rows(&app).await, 2);
        assert_eq!(crowd.look_up(&app, "a").await["attributes"], json!({}));
        assert_eq!(crowd.reached(&app, &is("city", "Oslo")).await, "b");
        assert_eq!(crowd.reached(&app, &json!({"not": is("city", "Rome")})).await, "b");
        // A channel that comes back has only what it was given since.
        let back = json!({"channel": {"type": "open", "opt_in": true, "address": "tv", "channel_id": crowd.id("tv"),
                          "open": {"open_platform_name": "tv"}}});
        app.master().post("/api/channels/open", back).await.expect(200);
        assert_eq!(crowd.reached(&app, &json!({"attribute": "city", "operator": "is_empty"})).await, "tv");
        // Devices that are gone may still speak.
        change(&app, &crowd, "a", set("city", "Oslo")).await;
        assert_eq!(rows(&app).await, 2);

        app.operator().delete(&format!("/operator/apps/{}", app.app.key)).await.expect(204);
        app.step_all().await;
        assert_eq!(rows(&app).await, 0);
    })
    .await;
}

#[tokio::test]
async fn apps_do_not_see_each_others() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let other = app.another_app(model::app::Mode::Development).await;
        let stranger = app.nobody().basic(&other.key, &other.master_secret);
        let body = json!({"audience": {"channel": crowd.id("a")}, "attributes": [set("city", "Oslo")]});
        stranger.post("/api/channels/attributes", body).await.expect(200);
        let path = format!("/api/channels/{}/attributes", crowd.id("a"));
        stranger.post(&path, json!({"attributes": [set("city", "Oslo")]})).await.expect(404);
        assert_eq!(crowd.look_up(&app, "a").await["attributes"], json!({}));
        assert_eq!(row_counts(app.engine().store()).await["attribute"], 0);
    })
    .await;
}
