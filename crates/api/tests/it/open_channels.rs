//! Channels of open platforms: register, rename, tag, uninstall.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

fn registration(address: &str) -> Value {
    json!({"channel": {"type": "open", "opt_in": true, "address": address, "tags": ["red"],
           "open": {"open_platform_name": "fridge", "identifiers": {"model": "F1"}}}})
}

async fn register(app: &TestApp, body: &Value) -> Value {
    app.master().post("/api/channels/open", body).await.expect(200)
}

#[tokio::test]
async fn registrations_create_or_update_and_show_the_channel() {
    on_each_database(async |app| {
        let reply = app.master().post("/api/channels/open/", registration("kitchen")).await;
        let created = reply.expect(200);
        let id = created["channel_id"].as_str().unwrap();
        let location = app.url(&format!("/api/channels/{id}"));
        assert_eq!(reply.header("location"), Some(location.as_str()));
        let channel = &created["channel"];
        assert_eq!(
            (&channel["channel_id"], &channel["device_type"], &channel["type"]),
            (&json!(id), &json!("open"), &json!("open"))
        );
        assert_eq!((&channel["installed"], &channel["opt_in"]), (&json!(true), &json!(true)));
        assert_eq!(channel["address"], "kitchen");
        assert!(channel.get("push_address").is_none(), "{channel}");
        assert_eq!(channel["open"], json!({"open_platform_name": "fridge", "identifiers": {"model": "F1"}}));
        assert_eq!(channel["last_registration"], "2024-05-01T12:00:00");

        let mut update = registration("kitchen");
        update["channel"]["opt_in"] = json!(false);
        let updated = register(&app, &update).await;
        assert_eq!((&updated["channel_id"], &updated["channel"]["opt_in"]), (&json!(id), &json!(false)));
        assert_eq!(app.device().get(&format!("/api/channels/{id}")).await.expect(200)["channel"], updated["channel"]);
    })
    .await;
}

#[tokio::test]
async fn addresses_can_be_renamed() {
    on_each_database(async |app| {
        let id = register(&app, &registration("kitchen")).await["channel_id"].clone();
        let mut rename = registration("cellar");
        rename["channel"]["open"]["old_address"] = json!("kitchen");
        let renamed = register(&app, &rename).await;
        assert_eq!((&renamed["channel_id"], &renamed["channel"]["address"]), (&id, &json!("cellar")));
        assert_eq!(renamed["channel"]["open"]["old_address"], "kitchen");
        let other = register(&app, &registration("kitchen")).await;
        assert_ne!(other["channel_id"], id);
    })
    .await;
}

#[tokio::test]
async fn tags_are_changed_by_address() {
    on_each_database(async |app| {
        let id = register(&app, &registration("kitchen")).await["channel_id"].as_str().unwrap().to_owned();
        let audience = json!({"address": "kitchen", "open_platform_name": "fridge"});
        let body = json!({"audience": audience, "add": {"device": ["blue"], "rooms": "kitchen"}});
        app.master().post("/api/channels/open/tags/", body).await.expect_done(200);
        let channel = app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone();
        assert_eq!((&channel["tags"], &channel["tag_groups"]["rooms"]), (&json!(["blue", "red"]), &json!(["kitchen"])));

        for group in ["timezone", "ua_opt_in"] {
            let body = json!({"audience": audience, "set": {group: ["x"]}});
            let refused = app.master().post("/api/channels/open/tags", body).await.expect(403);
            assert_eq!(refused["error_code"], 40300);
            assert!(refused["error"].as_str().unwrap().contains(group), "{refused}");
        }
        let nobody =
            json!({"audience": {"address": "attic", "open_platform_name": "fridge"}, "set": {"device": ["x"]}});
        app.master().post("/api/channels/open/tags", nobody).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn uninstalled_channels_come_back_without_their_past() {
    on_each_database(async |app| {
        let id = register(&app, &registration("kitchen")).await["channel_id"].as_str().unwrap().to_owned();
        let address = json!({"address": "kitchen", "open_platform_name": "fridge"});
        app.master().post("/api/channels/open/uninstall", &address).await.expect_done(202);
        app.master().post("/api/channels/open/uninstall", &address).await.expect(202);
        let gone = app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone();
        assert_eq!(gone["installed"], false);
        assert!(gone.get("address").is_none(), "{gone}");
        let mut body = registration("kitchen");
        body["channel"]["channel_id"] = json!(id);
        body["channel"].as_object_mut().unwrap().remove("tags");
        let back = register(&app, &body).await;
        assert_eq!((&back["channel_id"], &back["channel"]["tags"]), (&json!(id), &json!([])));
        let uninstall = json!({"channel_id": id, "device_type": "open"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        assert_eq!(app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"]["installed"], false);
    })
    .await;
}
