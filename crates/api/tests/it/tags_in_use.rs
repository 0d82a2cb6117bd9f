//! Listing the tags and tag groups that channels have, with counts that are those of audiences.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

async fn tag(app: &TestApp, crowd: &Crowd, name: &str, add: Value) {
    let body = json!({"audience": {"channel": crowd.id(name)}, "add": add});
    app.master().post("/api/channels/tags", body).await.expect(200);
}

async fn terms(app: &TestApp, query: &str) -> Value {
    let mut found = app.master().get(&format!("/api/audience/terms?{query}")).await.expect(200);
    found["terms"].take()
}

#[tokio::test]
async fn tags_are_listed_with_the_number_of_channels_that_an_audience_would_have() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web")]).await;
        assert_eq!(terms(&app, "").await, json!([]));
        for (name, tags) in [("a", json!(["News", "novel"])), ("b", json!(["News"])), ("c", json!(["sports"]))] {
            tag(&app, &crowd, name, json!({ "device": tags })).await;
        }
        tag(&app, &crowd, "a", json!({"loyalty": ["gold"]})).await;
        crowd.associate(&app, "c", Some("kim")).await;
        let user = json!({"audience": {"named_user_id": "kim"}, "add": {"loyalty": "gold"}});
        app.master().post("/api/named_users/tags", user).await.expect(200);

        let news = json!({"tag": "News", "channels": 2});
        let (novel, sports) = (json!({"tag": "novel", "channels": 1}), json!({"tag": "sports", "channels": 1}));
        assert_eq!(terms(&app, "").await, json!([news, novel, sports]), "the most frequent first");
        assert_eq!(terms(&app, "group=device&prefix=n").await, json!([news, novel]), "letters of either case");
        assert_eq!(terms(&app, "prefix=nobody").await, json!([]));
        let gold = json!([{"tag": "gold", "channels": 2}]);
        assert_eq!(terms(&app, "group=loyalty").await, gold, "its own, and by way of the named user");
        assert_eq!(terms(&app, "group=unheard").await, json!([]));
        let first = app.master().get("/api/audience/terms?limit=1").await.expect(200);
        assert_eq!(first, json!({"ok": true, "group": "device", "terms": [news], "total": 3}));

        crowd.uninstall(&app, "b").await;
        tag(&app, &crowd, "a", json!({"device": ["sports"]})).await;
        let remove = json!({"audience": {"channel": crowd.id("a")}, "remove": {"device": ["novel"]}});
        app.master().post("/api/channels/tags", remove).await.expect(200);
        let left = json!([{"tag": "sports", "channels": 2}, {"tag": "News", "channels": 1}]);
        assert_eq!(terms(&app, "").await, left, "nobody has the third any more");
        for counted in left.as_array().unwrap() {
            let audience = json!({"audience": {"tag": counted["tag"]}});
            let explained = app.master().post("/api/audience/explain", audience).await.expect(200);
            assert_eq!(explained["matched"], counted["channels"]);
        }
    })
    .await;
}

#[tokio::test]
async fn tag_groups_are_listed_without_those_of_the_service() {
    on_each_database(async |app| {
        let channel = json!({"device_type": "ios", "opt_in": true, "push_address": "one", "timezone": "Europe/Oslo"});
        app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        tag(&app, &crowd, "a", json!({"Loyalty": ["gold", "since-2020"], "interests": ["tea"]})).await;
        let all = app.master().get("/api/audience/groups").await.expect(200);
        let groups = all["groups"].as_array().unwrap();
        let names: Vec<&str> = groups.iter().map(|group| group["group"].as_str().unwrap()).collect();
        assert!(names.is_sorted() && names.iter().all(|name| !name.starts_with('@')), "{names:?}");
        assert_eq!(all["total"], json!(names.len()));
        let named = |name: &str| groups.iter().find(|group| group["group"] == name).unwrap();
        assert_eq!(named("Loyalty"), &json!({"group": "Loyalty", "tags": 2, "read_only": false}));
        assert_eq!(named("interests")["tags"], json!(1));
        assert_eq!(named("timezone")["read_only"], json!(true));
        let some = app.master().get("/api/audience/groups?prefix=LOY").await.expect(200);
        assert_eq!(some, json!({"ok": true, "groups": [named("Loyalty")], "total": 1}));
        let first = app.master().get("/api/audience/groups?limit=1").await.expect(200);
        assert_eq!((&first["groups"], &first["total"]), (&json!([groups[0]]), &all["total"]));
    })
    .await;
}

#[tokio::test]
async fn other_apps_and_devices_see_nothing_and_wrong_names_are_refused() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        tag(&app, &crowd, "a", json!({"device": ["news"]})).await;
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        for (path, key) in [("/api/audience/terms", "terms"), ("/api/audience/groups", "groups")] {
            assert_eq!(stranger.get(path).await.expect(200)[key], json!([]));
            app.device().get(path).await.expect(401);
        }
        for wrong in ["%40type", &"x".repeat(129)] {
            let refused = app.master().get(&format!("/api/audience/terms?group={wrong}")).await.expect(400);
            assert_eq!(refused["details"]["path"], "group");
        }
    })
    .await;
}
