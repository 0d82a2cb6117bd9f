//! Subscription lists: who subscribes how, and pushes to subscribers.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::crowd::Crowd;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

fn subscribe(list: &str) -> Value {
    json!({"action": "subscribe", "list_id": list})
}

fn unsubscribe(list: &str) -> Value {
    json!({"action": "unsubscribe", "list_id": list})
}

async fn change(app: &TestApp, crowd: &Crowd, name: &str, operations: Value) {
    let body = json!({"audience": {"channel": crowd.id(name)}, "subscription_lists": operations});
    let reply = app.device().post("/api/channels/subscription_lists", body).await;
    reply.expect_done(202);
}

async fn scoped(app: &TestApp, user: &str, scopes: Value, lists: Value) {
    let body = json!({"scoped": [{"scope": scopes, "subscription_lists": lists}]});
    let reply = app.device().post(&format!("/api/named_users/scoped/{user}"), body).await;
    reply.expect_done(200);
}

async fn of_channel(app: &TestApp, crowd: &Crowd, name: &str) -> Value {
    let lists = app.device().get(&format!("/api/subscription_lists/channels/{}", crowd.id(name))).await.expect(200);
    assert_eq!(crowd.look_up(app, name).await["subscription_lists"], lists["list_ids"]);
    lists["list_ids"].clone()
}

async fn of_user(app: &TestApp, user: &str) -> Value {
    let lists = app.master().get(&format!("/api/subscription_lists/named_users/{user}")).await.expect(200);
    lists["subscription_lists"].clone()
}

fn to(list: &str) -> Value {
    json!({"subscription_list": list})
}

#[tokio::test]
async fn channels_subscribe_for_themselves() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "web"), ("c", "open::tv"), ("d", "android")]).await;
        assert_eq!(of_channel(&app, &crowd, "a").await, json!([]));
        change(&app, &crowd, "a", json!([subscribe("weekly"), subscribe("daily"), unsubscribe("never")])).await;
        // One client library sends an object.
        change(&app, &crowd, "b", subscribe("weekly")).await;
        change(&app, &crowd, "c", subscribe("weekly")).await;
        assert_eq!(of_channel(&app, &crowd, "a").await, json!(["daily", "weekly"]));
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "a b c");
        assert_eq!(crowd.reached(&app, &json!({"subscription_lists": ["daily", "unheard of"]})).await, "a");
        assert_eq!(crowd.reached(&app, &json!({"not": to("daily")})).await, "b c d");
        assert_eq!(crowd.reached(&app, &json!({"and": [to("weekly"), {"not": to("daily")}]})).await, "b c");
        assert_eq!(crowd.reached(&app, &to("Weekly")).await, "");

        change(&app, &crowd, "a", unsubscribe("weekly")).await;
        change(&app, &crowd, "a", unsubscribe("weekly")).await;
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "b c");
        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "b c");
        assert_eq!(of_channel(&app, &crowd, "a").await, json!(["daily"]));

        // Registering again leaves subscriptions alone, uninstalling does not.
        let again = json!({"channel": {"device_type": "web", "opt_in": true, "tags": ["x"]}});
        app.device().put(&format!("/api/channels/{}", crowd.id("b")), again).await.expect(200);
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "b c");
        crowd.uninstall(&app, "b").await;
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "c");
        assert_eq!(of_channel(&app, &crowd, "b").await, json!([]));
    })
    .await;
}

#[tokio::test]
async fn servers_subscribe_many_at_once_and_devices_one() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web")]).await;
        crowd.associate(&app, "c", Some("kim")).await;
        let audience = json!({"ios_channel": [crowd.id("a"), crowd.id("b"), UNKNOWN], "named_user_id": "kim"});
        let body = json!({"audience": audience, "subscription_lists": [subscribe("weekly")]});
        app.device().post("/api/channels/subscription_lists", &body).await.expect(401);
        app.master().post("/api/channels/subscription_lists/", &body).await.expect(202);
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "a c", "b is no iOS channel");
        let everywhere = ["app", "web", "email", "sms"].map(|scope| json!({"list_ids": ["weekly"], "scope": scope}));
        assert_eq!(of_user(&app, "kim").await, json!(everywhere));
        assert_eq!(of_channel(&app, &crowd, "c").await, json!([]), "only its own");
        // The later of two decisions in one request counts.
        let both = json!([
            {"action": "unsubscribe", "list_id": "weekly", "timestamp": "2024-05-01T11:00:00"},
            {"action": "subscribe", "list_id": "weekly", "timestamp": "2024-05-01 10:00:00"},
            {"action": "subscribe", "list_id": "daily", "timestamp": null},
        ]);
        change(&app, &crowd, "a", both).await;
        assert_eq!(of_channel(&app, &crowd, "a").await, json!(["daily"]));
    })
    .await;
}

#[tokio::test]
async fn named_users_subscribe_for_kinds_of_channels() {
    on_each_database(async |app| {
        let members = [
            ("amazon", "amazon"),
            ("android", "android"),
            ("ios", "ios"),
            ("other", "ios"),
            ("web", "web"),
            ("windows", "wns"),
        ];
        let crowd = Crowd::register(&app, &members).await;
        for name in ["amazon", "android", "ios", "web", "windows"] {
            crowd.associate(&app, name, Some("kim")).await;
        }
        scoped(&app, "kim", json!(["app", "email"]), json!({"subscribe": ["weekly", "daily"]})).await;
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "amazon android ios windows");
        scoped(&app, "kim", json!("web"), json!({"subscribe": "weekly", "unsubscribe": ["daily"]})).await;
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "amazon android ios web windows");
        assert_eq!(crowd.reached(&app, &to("daily")).await, "amazon android ios windows");
        assert_eq!(crowd.reached(&app, &json!({"not": to("daily")})).await, "other web");
        let expected = json!([
            {"list_ids": ["daily", "weekly"], "scope": "app"},
            {"list_ids": ["weekly"], "scope": "web"},
            {"list_ids": ["daily", "weekly"], "scope": "email"},
        ]);
        assert_eq!(of_user(&app, "kim").await, expected);

        // What a channel decides for itself comes on top, and stays when the user leaves.
        change(&app, &crowd, "web", subscribe("daily")).await;
        crowd.associate(&app, "web", None).await;
        crowd.associate(&app, "other", Some("kim")).await;
        assert_eq!(crowd.reached(&app, &to("daily")).await, "amazon android ios other web windows");
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "amazon android ios other windows");
        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &to("weekly")).await, "amazon android ios other windows");
        scoped(&app, "kim", json!(["app"]), json!({"unsubscribe": ["daily"]})).await;
        assert_eq!(crowd.reached(&app, &to("daily")).await, "web");
        app.master().get("/api/subscription_lists/named_users/nobody").await.expect(404);
        app.master().get(&format!("/api/subscription_lists/channels/{UNKNOWN}")).await.expect(404);
        app.master().get("/api/subscription_lists/channels/no-uuid").await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn lists_in_use_have_exactly_the_keys_that_strict_clients_know() {
    on_each_database(async |app| {
        let lists = async |app: &TestApp| app.master().get("/api/subscription_lists/").await.expect(200);
        assert_eq!(lists(&app).await, json!({"ok": true, "subscription_lists": []}));
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "web")]).await;
        change(&app, &crowd, "a", json!([subscribe("weekly"), subscribe("left")])).await;
        change(&app, &crowd, "b", subscribe("weekly")).await;
        change(&app, &crowd, "a", unsubscribe("left")).await;
        scoped(&app, "kim", json!(["sms", "email"]), json!({"subscribe": ["daily"]})).await;
        let record = |id: &str, scopes: &[&str]| {
            json!({"list_id": id, "name": id, "description": "", "scopes": scopes, "default_opted_in": false})
        };
        let expected = [record("daily", &["email", "sms"]), record("left", &["app"]), record("weekly", &["app", "web"])];
        assert_eq!(lists(&app).await["subscription_lists"], json!(expected));
        let app = app.restart().await;
        assert_eq!(lists(&app).await["subscription_lists"], json!(expected));
    })
    .await;
}

#[tokio::test]
async fn bad_changes_are_refused_by_path_and_leave_nothing_behind() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let before = row_counts(app.engine().store()).await;
        let table = [
            (json!([]), "subscription_lists"),
            (json!({"list_id": "a"}), "subscription_lists.action"),
            (json!([{"action": "join", "list_id": "a"}]), "subscription_lists[0].action"),
            (json!([subscribe("")]), "subscription_lists[0].list_id"),
            (json!([subscribe(&"x".repeat(33))]), "subscription_lists[0].list_id"),
            (json!([subscribe("a"), {"action": "subscribe", "list_id": "a", "scope": "app"}]), "subscription_lists[1].scope"),
        ];
        for (operations, blamed) in table {
            let body = json!({"audience": {"channel": crowd.id("a")}, "subscription_lists": operations});
            let refused = app.master().post("/api/channels/subscription_lists", body).await.expect(400);
            assert_eq!(refused["details"]["path"], blamed, "{operations}");
        }
        let table = [
            (json!({}), "scoped"),
            (json!({"scoped": []}), "scoped"),
            (json!({"scoped": [{"scope": ["tv"], "subscription_lists": {"subscribe": ["a"]}}]}), "scoped[0].scope[0]"),
            (json!({"scoped": [{"scope": ["app"], "subscription_lists": {}}]}), "scoped[0].subscription_lists"),
            (
                json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["a"], "unsubscribe": ["a"]}}]}),
                "scoped[0].subscription_lists.unsubscribe",
            ),
        ];
        for (body, blamed) in table {
            let refused = app.master().post("/api/named_users/scoped/kim", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], blamed, "{body}");
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
        let thousand: Vec<Value> = (0..1000).map(|n| subscribe(&format!("list {n}"))).collect();
        for part in thousand.chunks(200) {
            change(&app, &crowd, "a", json!(part)).await;
        }
        let more = json!({"audience": {"channel": crowd.id("a")}, "subscription_lists": subscribe("more")});
        app.master().post("/api/channels/subscription_lists", more).await.expect(400);
        assert_eq!(of_channel(&app, &crowd, "a").await.as_array().unwrap().len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn devices_change_everything_at_once_or_nothing() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let path = format!("/api/channels/sdk/batch/{}?platform=ios", crowd.id("a"));
        let batch = json!({
            "tags": {"set": {"seat": ["1a"]}, "add": {"food": ["fish", "rice"], "device": "news"}, "remove": {"food": ["meat"]}},
            "attributes": [{"action": "set", "key": "city", "value": "Oslo", "timestamp": "2024-05-01T11:59:59"}],
            "subscription_lists": [{"action": "subscribe", "list_id": "weekly", "timestamp": "2024-05-01T11:59:59"}],
            "live_activities": [{"action": "set", "name": "game"}],
            "not_known_yet": {"a": 1},
        });
        app.device().put(&path, batch).await.expect_done(200);
        let everything = json!({"and": [{"tag": "1a", "group": "seat"}, {"tag": "fish", "group": "food"}, {"tag": "news"},
                                to("weekly"), {"attribute": "city", "operator": "equals", "value": "Oslo"}]});
        assert_eq!(crowd.reached(&app, &everything).await, "a");
        let before = crowd.look_up(&app, "a").await;
        for nothing in [json!({}), json!({"tags": {}, "attributes": [], "subscription_lists": []}), json!({"tags": null})] {
            app.device().put(&path, nothing).await.expect(200);
        }
        let bad = [
            (400, json!({"subscription_lists": [unsubscribe("weekly")], "tags": ["x"]})),
            (400, json!({"tags": {"add": {"food": ["x"]}, "remove": {"food": ["x"]}}, "subscription_lists": [unsubscribe("weekly")]})),
            (403, json!({"tags": {"add": {"ua_opt_in": ["true"]}}, "subscription_lists": [unsubscribe("weekly")]})),
        ];
        for (status, body) in bad {
            app.device().put(&path, body).await.expect(status);
        }
        assert_eq!(crowd.look_up(&app, "a").await, before);
        // Too many tags are found out last, after the attributes were written.
        let tags: Vec<String> = (0..100).map(|n| format!("t{n}")).collect();
        let groups: serde_json::Map<String, Value> = (0..11).map(|n| (format!("g{n}"), json!(tags))).collect();
        let too_many = json!({"attributes": [{"action": "remove", "key": "city"}], "tags": {"add": groups}});
        app.device().put(&path, too_many).await.expect(400);
        assert_eq!(crowd.look_up(&app, "a").await, before);
    })
    .await;
}
