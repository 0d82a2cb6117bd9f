//! The life of a channel of each device type: register, be recognized, update, look up, list, uninstall.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

const TYPES: [&str; 5] = ["ios", "android", "amazon", "web", "wns"];
/// The uncompressed point of a P-256 key and the 16 bytes of a browser's secret, in base64url.
const P256DH: &str = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
const AUTH: &str = "AAAAAAAAAAAAAAAAAAAAAA";

fn registration(device_type: &str) -> Value {
    let mut body = json!({"channel": {
        "device_type": device_type, "opt_in": true, "background": true,
        "push_address": format!("address-of-{device_type}"),
        "set_tags": true, "tags": ["news", "sport"],
        "timezone": "Europe/Paris", "locale_language": "fr", "locale_country": "FR",
    }});
    match device_type {
        "ios" => {
            body["channel"]["ios"] =
                json!({"badge": 2, "quiettime": {"start": "22:00", "end": "08:00"}, "tz": "Europe/Paris"});
        }
        "web" => {
            let keys = json!({"p256dh": P256DH, "auth": AUTH});
            body["channel"]["web"] = json!({"subscription": {"keys": keys}, "user_agent_string": "Browser/1"});
        }
        _ => {}
    }
    body
}

async fn register(app: &TestApp, device_type: &str) -> String {
    let answer = app.device().post("/api/channels", registration(device_type)).await.expect(201);
    answer["channel_id"].as_str().unwrap().to_owned()
}

async fn look_up(app: &TestApp, id: &str) -> Value {
    app.device().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone()
}

#[tokio::test]
async fn every_device_type_registers_and_is_recognized() {
    on_each_database(async |app| {
        for device_type in TYPES {
            let created = app.device().post("/api/channels/", registration(device_type)).await;
            let id = created.expect(201)["channel_id"].as_str().unwrap().to_owned();
            let location = app.url(&format!("/api/channels/{id}"));
            assert_eq!(created.header("location"), Some(location.as_str()));
            let known = app.master().post("/api/channels", registration(device_type)).await;
            assert_eq!(known.expect(200)["channel_id"], *id, "servers are believed");
            assert_eq!(known.header("location"), Some(location.as_str()));
        }
    })
    .await;
}

#[tokio::test]
async fn a_device_that_a_server_registers_takes_over_everything_it_is_recognized_by_at_once() {
    on_each_database(async |app| {
        let register = async |address: &str, hints: Value| {
            let channel = json!({"device_type": "android", "push_address": address});
            let body = json!({"channel": channel, "identity_hints": hints});
            let answer = app.master().post("/api/channels", body).await.json();
            answer["channel_id"].as_str().unwrap().to_owned()
        };
        let kept = register("first-address", json!({"user_id": "user"})).await;
        let former = register("second-address", json!({"device_id": "device"})).await;
        assert_ne!(kept, former);
        assert_eq!(register("second-address", json!({"user_id": "user", "device_id": "device"})).await, kept);
        assert_eq!(look_up(&app, &former).await["push_address"], Value::Null);
        assert_eq!(look_up(&app, &kept).await["push_address"], "second-address");
        for (address, hints) in [("second-address", json!({})), ("third-address", json!({"device_id": "device"}))] {
            assert_eq!(register(address, hints).await, kept);
        }
    })
    .await;
}

#[tokio::test]
async fn a_hint_that_is_taken_over_leaves_another_with_the_same_text() {
    on_each_database(async |app| {
        let body = |hints: Value| json!({"channel": {"device_type": "ios", "opt_in": false}, "identity_hints": hints});
        let hints = json!({"user_id": "same", "device_id": "same"});
        let first = app.master().post("/api/channels", body(hints)).await.expect(201)["channel_id"].clone();
        let second = "5b5f2b6e-9d0f-4c57-9a6c-6f2f3ad0c9ab";
        let path = format!("/api/channels/{second}");
        app.master().put(&path, body(json!({"user_id": "same"}))).await.expect(200);
        for (hints, owner) in [(json!({"device_id": "same"}), &first), (json!({"user_id": "same"}), &json!(second))] {
            assert_eq!(&app.master().post("/api/channels", body(hints)).await.expect(200)["channel_id"], owner);
        }
    })
    .await;
}

#[tokio::test]
async fn lookups_have_the_form_that_client_libraries_need() {
    on_each_database(async |app| {
        for device_type in TYPES {
            let id = register(&app, device_type).await;
            let channel = look_up(&app, &id).await;
            assert_eq!(channel["channel_id"], id);
            assert_eq!(channel["device_type"], device_type);
            assert_eq!((&channel["installed"], &channel["opt_in"]), (&json!(true), &json!(true)));
            assert_eq!(channel["push_address"], format!("address-of-{device_type}"));
            assert_eq!(channel["created"], "2024-05-01T12:00:00");
            assert_eq!(channel["last_registration"], "2024-05-01T12:00:00");
            assert_eq!((&channel["named_user_id"], &channel["alias"]), (&Value::Null, &Value::Null));
            assert_eq!(channel["tags"], json!(["news", "sport"]));
            assert_eq!(channel["tag_groups"]["timezone"], json!(["Europe/Paris"]));
            assert_eq!(channel["tag_groups"]["ua_locale_language"], json!(["fr"]));
            assert!(channel["tag_groups"].get("device").is_none(), "{channel}");
            assert!(channel.get("type").is_none() && channel.get("open").is_none(), "{channel}");
        }
        let ios = register_bare(&app, "ios").await;
        assert!(ios.get("background").is_none(), "{ios}");
        assert_eq!((&ios["push_address"], &ios["tags"]), (&Value::Null, &json!([])));
    })
    .await;
}

/// A channel of which nothing but the type is told.
async fn register_bare(app: &TestApp, device_type: &str) -> Value {
    let body = json!({"channel": {"device_type": device_type, "opt_in": false}});
    let id = app.device().post("/api/channels", body).await.expect(201)["channel_id"].clone();
    look_up(app, id.as_str().unwrap()).await
}

#[tokio::test]
async fn details_of_platforms_are_shown() {
    on_each_database(async |app| {
        let ios = look_up(&app, &register(&app, "ios").await).await;
        let details = json!({"badge": 2, "quiettime": {"start": "22:00", "end": "08:00"}, "tz": "Europe/Paris"});
        assert_eq!(ios["ios"], details);
        let web = look_up(&app, &register(&app, "web").await).await;
        assert_eq!(web["web"]["subscription"], json!({"p256dh": P256DH, "auth": AUTH}));
        assert_eq!(web["web"]["user_agent_string"], "Browser/1");
        let android = look_up(&app, &register(&app, "android").await).await;
        assert!(android.get("ios").is_none() && android.get("web").is_none(), "{android}");
    })
    .await;
}

#[tokio::test]
async fn updates_change_what_they_name() {
    on_each_database(async |app| {
        for device_type in TYPES {
            let id = register(&app, device_type).await;
            app.advance(Duration::from_secs(60));
            let path = format!("/api/channels/{id}/");
            let update = json!({"channel": {"device_type": device_type, "opt_in": false,
                                "tag_changes": {"add": ["food"], "remove": ["news"]}}});
            let updated = app.device().put(&path, update).await;
            assert_eq!(updated.expect(200)["channel_id"], *id);
            let channel = look_up(&app, &id).await;
            assert_eq!(channel["opt_in"], false);
            assert_eq!(channel["tags"], json!(["food", "sport"]));
            assert_eq!(channel["push_address"], format!("address-of-{device_type}"));
            assert_ne!(channel["last_registration"], channel["created"]);
        }
    })
    .await;
}

#[tokio::test]
async fn ids_that_cannot_be_updated_are_conflicts() {
    on_each_database(async |app| {
        let id = register(&app, "ios").await;
        let put = async |id: &str, device_type: &str| {
            app.device().put(&format!("/api/channels/{id}"), registration(device_type)).await
        };
        put(&id, "android").await.expect(409);
        put("no-uuid", "ios").await.expect(409);
        let uninstall = json!({"channel_id": id, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let conflict = put(&id, "ios").await.expect(409);
        assert_eq!(conflict["error_code"], 40900);
        // A device that restores an id from a backup gets it, if it is free.
        let free = "5b5f2b6e-9d0f-4c57-9a6c-6f2f3ad0c9aa";
        assert_eq!(put(free, "ios").await.expect(200)["channel_id"], free);
        assert_eq!(look_up(&app, free).await["installed"], true);
    })
    .await;
}

#[tokio::test]
async fn uninstalls_take_one_or_many_and_pass_over_strangers() {
    on_each_database(async |app| {
        let [ios, android] = [register(&app, "ios").await, register(&app, "android").await];
        let unknown = "00000000-0000-4000-8000-000000000000";
        let one = json!({"channel_id": unknown, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", &one).await.expect_done(202);
        let many =
            json!([one, {"channel_id": ios, "device_type": "ios"}, {"channel_id": android, "device_type": "ios"}]);
        app.master().post("/api/channels/uninstall/", many).await.expect(202);
        let gone = look_up(&app, &ios).await;
        assert_eq!(
            (&gone["installed"], &gone["push_address"], &gone["tags"]),
            (&json!(false), &Value::Null, &json!([]))
        );
        assert_eq!(look_up(&app, &android).await["installed"], true);
    })
    .await;
}

#[tokio::test]
async fn lists_are_paged_with_absolute_links() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for n in 0..5 {
            let body = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": format!("t{n}")}});
            ids.push(app.device().post("/api/channels", body).await.expect(201)["channel_id"].clone());
        }
        let mut seen = Vec::new();
        let mut next = Some(app.url("/api/channels/?limit=2"));
        let mut n_pages = 0;
        while let Some(url) = next {
            let path = url.strip_prefix(&app.url("")).expect("links lead to where the request went").to_owned();
            let reply = app.master().get(&path).await;
            let page = reply.expect(200);
            assert_eq!(reply.header("data-attribute"), Some("channels"));
            seen.extend(page["channels"].as_array().unwrap().iter().map(|channel| channel["channel_id"].clone()));
            next = page.get("next_page").map(|url| url.as_str().unwrap().to_owned());
            let link = next.as_ref().map(|url| format!("<{url}>; rel=next"));
            assert_eq!(reply.header("link"), link.as_deref());
            n_pages += 1;
        }
        assert_eq!((n_pages, &seen), (3, &ids));
        let whole = app.master().get("/api/channels").await.expect(200);
        assert_eq!(whole["channels"].as_array().unwrap().len(), 5);
        for query in ["limit=0", "limit=1001", "limit=many", "limit=-1", "start=nobody"] {
            let refused = app.master().get(&format!("/api/channels?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], query.split('=').next().unwrap(), "{query}");
        }
        let both = app.master().get("/api/channels?limit=0&start=x").await;
        both.expect(400);
        assert_eq!(both.header("aerogram-problems"), Some("2"));
    })
    .await;
}

#[tokio::test]
async fn servers_find_a_device_by_the_inbox_that_was_made_after_its_channel() {
    on_each_database(async |app| {
        let register = async |hints: Value| {
            let body = json!({"channel": {"device_type": "ios", "opt_in": false}, "identity_hints": hints});
            app.master().post("/api/channels", body).await
        };
        let first = register(json!({})).await.expect(201)["channel_id"].clone();
        let inbox = app.device().post("/api/user", json!({"ios_channels": [first]})).await.expect(201);
        // A server that knows the inbox and nothing else.
        let hints = json!({"user_id": inbox["user_id"]});
        assert_eq!(register(hints.clone()).await.expect(200)["channel_id"], first);
        // Another kind of device, and one that knows the inbox of a channel that is gone, are new.
        let android = json!({"channel": {"device_type": "android", "opt_in": false}, "identity_hints": hints});
        app.master().post("/api/channels", android).await.expect(201);
        let uninstall = json!({"channel_id": first, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let second = register(hints.clone()).await.expect(201)["channel_id"].clone();
        assert_eq!(register(hints).await.expect(200)["channel_id"], second);

        // With two devices in one inbox it cannot be told which of them this is.
        let [one, other] =
            [register(json!({})).await, register(json!({})).await].map(|made| made.expect(201)["channel_id"].clone());
        let inbox = app.master().post("/api/user", json!({"ios_channels": [one, other]})).await.expect(201);
        register(json!({"user_id": inbox["user_id"]})).await.expect(201);
    })
    .await;
}
