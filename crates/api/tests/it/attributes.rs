//! Attributes: changing them in every way there is, and what becomes of them.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::crowd::Crowd;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

pub(crate) fn set(key: &str, value: impl Into<Value>) -> Value {
    json!({"action": "set", "key": key, "value": value.into()})
}

pub(crate) fn remove(key: &str) -> Value {
    json!({"action": "remove", "key": key})
}

fn at(mut operation: Value, timestamp: &str) -> Value {
    operation["timestamp"] = json!(timestamp);
    operation
}

/// Changes the attributes of one channel.
pub(crate) async fn change(app: &TestApp, crowd: &Crowd, name: &str, operations: Value) {
    let body = json!({"audience": {"channel": crowd.id(name)}, "attributes": operations});
    app.device().post("/api/channels/attributes", body).await.expect_done(200);
}

/// Selects those whose attribute has a value.
pub(crate) fn is(attribute: &str, value: impl Into<Value>) -> Value {
    json!({"attribute": attribute, "operator": "equals", "value": value.into()})
}

#[tokio::test]
async fn every_way_to_change_them_shows_in_lookups() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web"), ("d", "open::tv")]).await;
        let shown = async |name: &str| crowd.look_up(&app, name).await["attributes"].clone();
        assert_eq!(shown("a").await, json!({}));
        change(&app, &crowd, "a", json!([set("city", "Oslo"), set("age", 30), set("gone", 1), remove("never")])).await;
        change(&app, &crowd, "a", remove("gone")).await;
        assert_eq!(shown("a").await, json!({"city": "Oslo", "age": 30}));

        let many = json!({"audience": {"ios_channel": [crowd.id("a"), crowd.id("b")], "web_channel": crowd.id("c"),
                          "channel": [crowd.id("d"), UNKNOWN]}, "attributes": [set("vip", "yes")]});
        app.device().post("/api/channels/attributes", &many).await.expect(401);
        let answer = app.master().post("/api/channels/attributes/", &many).await.expect(200);
        assert_eq!(answer["warnings"].as_array().map(Vec::len), Some(1), "{answer}");
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
    on_each_database(async |app| {
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
    on_each_database(async |app| {
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
    on_each_database(async |app| {
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
    on_each_database(async |app| {
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

#[tokio::test]
async fn nothing_is_kept_of_those_who_leave() {
    on_each_database(async |app| {
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
async fn named_users_show_theirs_until_they_are_uninstalled() {
    on_each_database(async |app| {
        let update = json!({"attributes": [set("city", "Oslo"), set("age", 30)], "tags": {"add": {"food": ["fish"]}}});
        app.device().post("/api/named_users/kim", update).await.expect(200);
        app.advance(Duration::from_secs(60));
        let more = json!({"attributes": at(remove("age"), "2024-05-01T12:00:30")});
        app.device().post("/api/named_users/kim/attributes", more).await.expect(200);
        let user = app.master().get("/api/named_users?id=kim").await.expect(200)["named_user"].clone();
        assert_eq!(user["attributes"], json!({"city": "Oslo"}));
        let (created, modified) = (json!("2024-05-01T12:00:00"), json!("2024-05-01T12:01:00"));
        assert_eq!((&user["created"], &user["last_modified"]), (&created, &modified));
        app.master().post("/api/named_users/uninstall", json!({"named_user_id": "kim"})).await.expect(200);
        assert_eq!(row_counts(app.engine().store()).await["attribute"], 0);
        // Whoever comes by that name later is somebody else.
        app.device().post("/api/named_users/kim/attributes", json!({"attributes": set("age", 7)})).await.expect(200);
        let user = app.master().get("/api/named_users?id=kim").await.expect(200)["named_user"].clone();
        assert_eq!(user["attributes"], json!({"age": 7}));
    })
    .await;
}

#[tokio::test]
async fn apps_do_not_see_each_others() {
    on_each_database(async |app| {
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
