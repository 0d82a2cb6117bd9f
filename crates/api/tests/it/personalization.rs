//! Personalized pushes: everybody gets a text of their own, on every platform, over live connections and in the inbox.

mod campaigns;
mod messages;
mod urls;

use std::collections::{BTreeMap, BTreeSet};

use model::app::Mode;
use model::ids::{AppId, ChannelId};
use serde_json::{Value, json};
use store::channels;
use testkit::app::{TestApp, on_each_database};
use testkit::receiver::OpenReceiver;

use crate::privacy::search_all;
use crate::privacy_under_way::erase;
use crate::push_account::recipients;

/// A channel with attributes of its own.
pub(crate) async fn register(app: &TestApp, device_type: &str, address: &str, attributes: Value) -> String {
    let channel = match device_type.strip_prefix("open::") {
        Some(name) => {
            let open = json!({"open_platform_name": name});
            json!({"type": "open", "opt_in": true, "address": address, "open": open})
        }
        None => json!({"device_type": device_type, "opt_in": true, "push_address": address, "locale_language": "de"}),
    };
    let path = if device_type.starts_with("open::") { "/api/channels/open" } else { "/api/channels" };
    let reply = app.master().post(path, json!({ "channel": channel })).await;
    let id = reply.json()["channel_id"].as_str().unwrap().to_owned();
    set(app, json!({ "channel": [id] }), attributes).await;
    id
}

pub(crate) async fn set(app: &TestApp, audience: Value, attributes: Value) {
    let operation = |(key, value): (&String, &Value)| json!({"action": "set", "key": key, "value": value});
    let operations: Vec<Value> = attributes.as_object().unwrap().iter().map(operation).collect();
    if !operations.is_empty() {
        let body = json!({"audience": audience, "attributes": operations});
        app.master().post("/api/channels/attributes", body).await.expect(200);
    }
}

pub(crate) async fn send(app: &TestApp, mut push: Value) -> String {
    push["audience"] = push.get("audience").cloned().unwrap_or(json!("all"));
    push["device_types"] = push.get("device_types").cloned().unwrap_or(json!("all"));
    let answer = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

/// The bodies of requests that the sandbox kept, by channel.
pub(crate) async fn kept(app: &TestApp) -> BTreeMap<String, Value> {
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let deliveries = sandbox["deliveries"].as_array().unwrap().iter();
    let body = |one: &Value| (one["channel_id"].as_str().unwrap().to_owned(), one["request"]["body"].clone());
    deliveries.map(body).collect()
}

#[tokio::test]
async fn every_platform_is_sent_the_texts_of_its_devices() {
    on_each_database(async |app| {
        let name = "Zo\u{eb} \"Z\" <z> \\ &";
        let values = || json!({"name": name, "n": 3});
        let ios = register(&app, "ios", "A1", values()).await;
        let android = register(&app, "android", "F1", values()).await;
        let amazon = register(&app, "amazon", "M1", values()).await;
        let kiosk = register(&app, "open::kiosk", "K1", values()).await;
        let nobody = register(&app, "ios", "A2", json!({})).await;
        let push = json!({
            "notification": {
                "alert": "Hi {{$def name \"you\"}}, {{place}}{{#if n}} ({{add n 1}}){{/if}}",
                "ios": {"title": "{{upper ua_language}}", "extra": {"k": {"deep": "{{name}}"}}},
                "android": {"extra": {"k": "{{name}}"}, "style": {"type": "big_text", "big_text": "{{name}}"}},
                "actions": {"open": {"type": "url", "content": "https://example.com/?q={{name}}"}},
            },
            "global_attributes": {"place": "here"},
        });
        send(&app, push).await;
        let kept = kept(&app).await;
        let text = format!("Hi {name}, here (4)");
        let url = "https://example.com/?q=Zo%C3%AB%20%22Z%22%20%3Cz%3E%20%5C%20%26";

        assert_eq!(kept[&ios]["aps"]["alert"], json!({"title": "DE", "body": text}));
        assert_eq!((&kept[&ios]["k"]["deep"], &kept[&ios]["^u"]), (&json!(name), &json!(url)));
        assert_eq!(kept[&nobody]["aps"]["alert"]["body"], "Hi you, here");
        let data = &kept[&android]["message"]["data"];
        assert_eq!(data["com.urbanairship.push.ALERT"], text);
        assert_eq!(data["k"], name);
        let inner = |key: &str| serde_json::from_str::<Value>(data[key].as_str().unwrap()).unwrap();
        assert_eq!(inner("com.urbanairship.style")["big_text"], name);
        assert_eq!(inner("com.urbanairship.actions")["^u"], url);
        assert_eq!(kept[&amazon]["data"]["com.urbanairship.push.ALERT"], text);
        let value = &kept[&kiosk]["values"][0];
        assert_eq!(value["payload"]["alert"], text);
    })
    .await;
}

#[tokio::test]
async fn a_profile_that_cannot_be_read_keeps_no_text_from_the_others() {
    on_each_database(async |app| {
        let spoiled = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let other = register(&app, "ios", "A2", json!({"name": "Lee"})).await;
        let id: ChannelId = spoiled.parse().unwrap();
        let spoil = move |tx: &mut store::Tx<'_>| {
            let mut channel = channels::by_id(tx, AppId(1), id)?.unwrap();
            channel.profile = "unreadable".to_owned();
            channels::update(tx, AppId(1), &channel)
        };
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        let alert = "{{name}} {{$def ua_language \"?\"}}";
        send(&app, json!({"notification": {"alert": alert}, "options": {"personalization": true}})).await;
        let kept = kept(&app).await;
        let text = |channel: &str| &kept[channel]["aps"]["alert"];
        assert_eq!([text(&spoiled), text(&other)], ["Kim ?", "Lee de"]);
    })
    .await;
}

#[tokio::test]
async fn the_value_nearest_to_the_device_is_taken() {
    on_each_database(async |app| {
        let own =
            register(&app, "ios", "A1", json!({"city": "Oslo", "both": "channel", "seat#row": {"number": 7}})).await;
        let other = register(&app, "android", "F1", json!({})).await;
        for channel in [&own, &other] {
            let associate = json!({"channel_id": channel, "named_user_id": "kim"});
            app.master().post("/api/named_users/associate", associate).await.expect(200);
        }
        set(&app, json!({"named_user_id": ["kim"]}), json!({"both": "user", "tier": "gold"})).await;
        let alert = "{{city}}|{{both}}|{{tier}}|{{global}}|{{seat.row.number}}";
        let global = json!({"city": "anywhere", "both": "global", "global": "g"});
        send(&app, json!({"notification": {"alert": alert}, "global_attributes": global})).await;
        let kept = kept(&app).await;
        assert_eq!(kept[&own]["aps"]["alert"], "Oslo|channel|gold|g|7");
        let data = &kept[&other]["message"]["data"];
        assert_eq!(data["com.urbanairship.push.ALERT"], "anywhere|user|gold|g|");
    })
    .await;
}

#[tokio::test]
async fn a_device_without_a_value_that_is_needed_is_left_out_and_told_of() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let nobody = register(&app, "ios", "A2", json!({})).await;
        let push = send(
            &app,
            json!({"notification": {"alert": "Hi {{$required name}}"}, "options": {"personalization": true}}),
        )
        .await;
        assert_eq!(kept(&app).await.into_keys().collect::<Vec<_>>(), [kim]);
        let failed = recipients(&app, &push, "outcome=failed", 10).await;
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(failed[0]["channel_id"], json!(nobody));
        let reason = failed[0]["reason"].as_str().unwrap();
        assert!(reason.contains("'name'"), "{reason}");
    })
    .await;
}

#[tokio::test]
async fn a_device_whose_message_would_be_too_large_is_left_out_and_told_of() {
    on_each_database(async |app| {
        let phone = register(&app, "ios", "A1", json!({})).await;
        let kiosk = register(&app, "open::kiosk", "K1", json!({})).await;
        let push = |alert: String, n_bytes: usize| {
            let (alert, global) = (json!({ "alert": alert }), json!({"a": "v".repeat(n_bytes)}));
            json!({"audience": "all", "device_types": "all", "notification": alert, "global_attributes": global})
        };
        let reasons = async |push: &str| -> BTreeMap<String, String> {
            let failed = recipients(&app, push, "outcome=failed", 10).await;
            let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
            failed.iter().map(|one| (text(one, "channel_id"), text(one, "reason"))).collect()
        };
        // A small push that would become 250 MB for each device.
        let bomb = push("{{a}}x".repeat(1_000), 256 * 1024);
        let failed = reasons(&send(&app, bomb.clone()).await).await;
        assert_eq!(failed.keys().collect::<BTreeSet<_>>(), BTreeSet::from([&phone, &kiosk]));
        assert!(failed.values().all(|reason| reason.contains("262144 bytes")), "{failed:?}");
        let previewed = app.master().post("/api/push/preview", json!({"push": bomb, "channel": phone})).await;
        let problem = previewed.expect(200)["problems"][0]["message"].as_str().unwrap().to_owned();
        assert!(problem.contains("262144 bytes"), "{problem}");
        // More than Apple takes; the endpoint of a platform takes more.
        let failed = reasons(&send(&app, push("{{a}}".to_owned(), 4_000)).await).await;
        assert_eq!(failed.keys().collect::<Vec<_>>(), [&phone]);
        assert!(failed[&phone].contains("4096 are possible"), "{failed:?}");
        let kept = kept(&app).await;
        assert_eq!(kept.keys().collect::<Vec<_>>(), [&kiosk]);
        let fits = send(&app, push("{{a}}".to_owned(), 3_000)).await;
        assert_eq!(reasons(&fits).await, BTreeMap::new());
    })
    .await;
}

#[tokio::test]
async fn a_push_that_asks_for_too_many_names_is_refused() {
    on_each_database(async |app| {
        let alert: String = (0..201).map(|n| format!("{{{{n{n}}}}}")).collect();
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert},
            "options": {"personalization": true}});
        let refused = app.master().post("/api/push", push).await.expect(400);
        assert_eq!(refused["details"]["path"], "notification.alert");
        assert!(refused["error"].as_str().unwrap().contains("at most 200 different names"), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_gets_everybodys_text_in_one_request() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        let live = app.another_app(Mode::Production).await;
        let path = format!("/operator/apps/{}/platforms/open::kiosk", live.key);
        let app = app.as_app(live);
        let config = json!({"url": receiver.url(), "auth": {"type": "none"}, "validate": false});
        app.operator().put(&path, config).await.expect(200);
        register(&app, "open::kiosk", "K1", json!({"name": "Kim"})).await;
        register(&app, "open::kiosk", "K2", json!({"name": "Lee"})).await;
        register(&app, "open::kiosk", "K3", json!({})).await;
        let push = json!({"notification": {"alert": "{{$required name}}"}, "options": {"personalization": true}});
        let id = send(&app, push).await;
        let requests = receiver.received();
        assert_eq!(requests.len(), 1);
        let alerts: Vec<&Value> = requests[0].values().iter().map(|value| &value["payload"]["alert"]).collect();
        assert_eq!(alerts, [&json!("Kim"), &json!("Lee")]);
        let status = app.master().get(&format!("/api/push/{id}")).await.expect(200);
        assert_eq!((&status["push"]["total"]["delivered"], &status["push"]["total"]["failed"]), (&json!(2), &json!(1)));
    })
    .await;
}

#[tokio::test]
async fn live_connections_get_their_own_texts() {
    on_each_database(async |app| {
        let mut channels = Vec::new();
        for name in ["Kim", "Lee", "Kim"] {
            let channel = json!({"device_type": "web", "live": true, "opt_in": true});
            let reply = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
            let id = reply["channel_id"].as_str().unwrap().to_owned();
            set(&app, json!({"channel": [id]}), json!({"name": name})).await;
            channels.push((id, name));
        }
        send(&app, json!({"notification": {"alert": "Hi {{name}}"}, "options": {"personalization": true}})).await;
        let kept = kept(&app).await;
        for (channel, name) in channels {
            assert_eq!(kept[&channel]["alert"], format!("Hi {name}"));
        }
    })
    .await;
}

#[tokio::test]
async fn what_was_filled_in_goes_with_the_person() {
    on_each_database(async |app| {
        const NAME: &str = "Llanfairpwllgwyngyll";
        let channel = json!({"device_type": "web", "live": true, "opt_in": true});
        let reply = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        let id = reply["channel_id"].as_str().unwrap().to_owned();
        set(&app, json!({"channel": [id]}), json!({"name": NAME})).await;
        send(&app, json!({"notification": {"alert": "Hi {{name}}"}, "options": {"personalization": true}})).await;
        let names = [NAME.to_owned()];
        assert!(!search_all(&app, &names).await.is_empty());
        erase(&app, json!({ "channel_id": id })).await;
        assert_eq!(search_all(&app, &names).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn tags_that_say_the_same_to_everybody_are_not_sent_as_they_are_written() {
    on_each_database(async |app| {
        let ios = register(&app, "ios", "A1", json!({})).await;
        let kiosk = register(&app, "open::kiosk", "K1", json!({})).await;
        for (written, meant) in
            [("Hello {{! note }}world", "Hello world"), ("Write \\{{name}}", "Write {{name}}"), ("{{\"x\"}} y", "x y")]
        {
            let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": written},
                "options": {"personalization": true}});
            let previewed = app.master().post("/api/push/preview", json!({"push": push, "channel": ios})).await;
            assert_eq!(previewed.expect(200)["previews"][0]["shown"]["body"], meant);
            app.master().delete("/api/sandbox").await;
            send(&app, push).await;
            let kept = kept(&app).await;
            assert_eq!(kept[&ios]["aps"]["alert"], meant);
            assert_eq!(kept[&kiosk]["values"][0]["payload"]["alert"], meant);
        }
    })
    .await;
}

#[tokio::test]
async fn previews_are_filled_in_for_a_channel_or_a_person() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        app.master().post("/api/named_users/lee", json!({"tags": {"add": {"crm": ["x"]}}})).await.expect(200);
        set(&app, json!({"named_user_id": ["lee"]}), json!({"name": "Lee"})).await;
        let push = json!({"audience": "all", "device_types": ["ios"],
            "notification": {"alert": "Hi {{name}}, {{city}}"}, "options": {"personalization": true}});
        let preview = async |more: Value| {
            let mut body = json!({ "push": push });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            app.master().post("/api/push/preview", body).await
        };
        let everybody = preview(json!({})).await.expect(200);
        assert_eq!(everybody["previews"][0]["shown"]["body"], "Hi {{name}}, {{city}}", "as it is written");
        let own = preview(json!({ "channel": channel })).await.expect(200);
        assert_eq!(own["previews"][0]["shown"]["body"], "Hi Kim, ");
        assert_eq!(own["previews"][0]["request"]["body"]["aps"]["alert"], "Hi Kim, ");
        assert_eq!(own["missing"], json!(["city"]));
        let person = preview(json!({"person": "lee"})).await.expect(200);
        assert_eq!(person["previews"][0]["shown"]["body"], "Hi Lee, ");
        preview(json!({"person": "nobody"})).await.expect(404);
        preview(json!({"person": "lee", "channel": channel})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn mistakes_are_refused_with_their_columns() {
    on_each_database(async |app| {
        let push = json!({"audience": "all", "device_types": "all", "options": {"personalization": true},
            "notification": {"alert": "Hi {{foo bar}}", "ios": {"title": "{{#if a}}"}}});
        for path in ["/api/push", "/api/push/validate"] {
            let refused = app.master().post(path, &push).await.expect(400);
            assert_eq!(refused["details"]["path"], "notification.alert");
            let error = refused["error"].as_str().unwrap();
            assert!(error.contains("Column 6: There is no helper 'foo'."), "{error}");
            assert!(error.contains("notification.ios.title: Column 1:"), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn other_apps_have_values_of_their_own() {
    on_each_database(async |app| {
        let here = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let other = app.another_app(Mode::Development).await;
        let app = app.as_app(other);
        let there = register(&app, "ios", "A2", json!({})).await;
        send(&app, json!({"notification": {"alert": "Hi {{name}}"}, "options": {"personalization": true}})).await;
        let kept = kept(&app).await;
        assert_eq!((kept.contains_key(&here), &kept[&there]["aps"]["alert"]), (false, &json!("Hi ")));
    })
    .await;
}
