//! In-app messages whose texts differ from device to device: devices ask for them when they are due.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;

use super::device::{Device, check_message};
use super::{banner, in_app, keep, modal};
use crate::personalization::set;
use crate::sdk::Library;

fn greeting(heading: &str) -> Value {
    let mut body = modal("opened");
    body["in_app_message"]["message"]["display"]["heading"]["text"] = json!(heading);
    body
}

/// Asks for a message with the token of a channel.
async fn ask(app: &TestApp, id: &str, (channel, token): &(String, String), more: Value) -> Reply {
    let mut body = json!({"platform": "android", "channel_id": channel});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let library = Library::of(app);
    library.post(&format!("{}/{id}/resolve", in_app(app)), &library.with_token(token), &body).await
}

async fn heading(app: &TestApp, id: &str, device: &(String, String), more: Value) -> Value {
    let told = ask(app, id, device, more).await.expect(200);
    assert_eq!(told["audience_match"], true, "{told}");
    check_message(&told["message"]);
    told["message"]["display"]["heading"]["text"].clone()
}

#[tokio::test]
async fn texts_are_filled_in_with_what_is_known_of_the_device_that_asks() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (kim, nobody) = (library.channel("token-1").await, library.channel("token-2").await);
        set(&app, json!({"channel": [kim.0]}), json!({"first_name": "Kim"})).await;
        let mut body = greeting("Hi {{$def first_name \"you\"}}: {{item}}");
        body["in_app_message"]["message"]["display"]["buttons"][0]["actions"]["^u"] =
            json!("https://shop.example/?q={{item}}");
        body["in_app_message"]["localizations"] = json!([
            {"locale": {"language": "nb"}, "message": {"display": {"heading": {"text": "Hei {{first_name}}"}}}},
        ]);
        let id = keep(&app, &body).await;
        let shown = app.master().get(&format!("{}/{id}", in_app(&app))).await.expect(200)["in_app_message"].clone();
        assert_eq!(shown["personalization"], true);
        app.master().put(&format!("{}/{id}", in_app(&app)), json!({ "in_app_message": shown })).await.expect(200);

        let mut device = Device::new(&app, "android", "sdk_version=20.10.0");
        assert!(device.refresh().await);
        let schedule = device.schedule(&id);
        let types = (&schedule["type"], &schedule["deferred"]["type"]);
        assert_eq!(types, (&json!("deferred"), &json!("in_app_message")));
        assert!(!schedule.to_string().contains("first_name"), "{schedule}");
        assert_eq!((schedule.get("message"), schedule.get("personalization")), (None, None));

        let event = json!({"event_name": "opened", "properties": {"item": "red hat", "first_name": "Lee"}});
        let trigger = |event: &Value| json!({"trigger": {"type": "custom_event_count", "goal": 1, "event": event}});
        let plain = json!({"event_name": "opened", "properties": {"item": "red hat"}});
        let told = ask(&app, &id, &kim, trigger(&plain)).await.expect(200);
        let display = &told["message"]["display"];
        assert_eq!(display["heading"]["text"], "Hi Kim: red hat");
        assert_eq!(display["buttons"][0]["actions"]["^u"], "https://shop.example/?q=red%20hat");
        let changes = |changes: Value| json!({ "attribute_overrides": changes });
        for (asking, more, expected) in [
            (&kim, trigger(&event), "Hi Lee: red hat"),
            (&kim, json!({"trigger": null}), "Hi Kim: "),
            (&nobody, json!({}), "Hi you: "),
            (&nobody, changes(json!([{"action": "set", "key": "first_name", "value": "Max"}])), "Hi Max: "),
            (&kim, changes(json!([{"action": "remove", "key": "first_name"}])), "Hi you: "),
            (&kim, json!({"state_overrides": {"locale_language": "nb"}}), "Hei Kim"),
        ] {
            assert_eq!(heading(&app, &id, asking, more).await, expected);
        }

        // What is known of a channel is for nobody else: not with the token of another, nor with the secret that every app has.
        let stranger = (kim.0.clone(), nobody.1.clone());
        assert_eq!(heading(&app, &id, &stranger, json!({})).await, "Hi you: ");
        let body = json!({"platform": "android", "channel_id": kim.0});
        app.device().post(&format!("{}/{id}/resolve", in_app(&app)), body).await.expect(403);
    })
    .await;
}

#[tokio::test]
async fn values_for_the_app_are_filled_in_under_any_name() {
    on_each_database(async |app| {
        let kim = Library::of(&app).channel("token-1").await;
        set(&app, json!({"channel": [kim.0]}), json!({"first_name": "Kim"})).await;
        let mut body = modal("opened");
        let names = ["country", "language", "type", "content_type", "collapse_id"];
        for name in names {
            body["in_app_message"]["message"]["extra"] = json!({name: "{{first_name}}"});
            let id = keep(&app, &body).await;
            let told = ask(&app, &id, &kim, json!({})).await.expect(200);
            assert_eq!(told["message"]["extra"], json!({name: "Kim"}));
            body["in_app_message"]["message"]["extra"] = json!({name: "{{foo bar}}"});
            let refused = app.master().post(&in_app(&app), &body).await.expect(400);
            assert_eq!(refused["details"]["path"], format!("in_app_message.message.extra.{name}"), "{refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_message_that_needs_a_value_is_not_for_a_device_without_it() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (kim, nobody) = (library.channel("token-1").await, library.channel("token-2").await);
        set(&app, json!({"channel": [kim.0]}), json!({"first_name": "Kim"})).await;
        let id = keep(&app, &greeting("Hi {{$required first_name}}")).await;
        assert_eq!(heading(&app, &id, &kim, json!({})).await, "Hi Kim");
        let told = ask(&app, &id, &nobody, json!({})).await.expect(200);
        assert_eq!(told, json!({"audience_match": false}));
        // Without tags devices decide by themselves, and have to get it again.
        app.master().put(&format!("{}/{id}", in_app(&app)), banner()).await.expect(200);
        ask(&app, &id, &kim, json!({})).await.expect(409);
    })
    .await;
}

#[tokio::test]
async fn actions_are_filled_in_for_those_who_are_meant() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (kim, other) = (library.channel("token-1").await, library.channel("token-2").await);
        for channel in [&kim.0, &other.0] {
            set(&app, json!({ "channel": [channel] }), json!({"first_name": "Kim"})).await;
        }
        let tags = json!({"audience": {"channel": kim.0}, "add": {"loyalty": ["gold"]}});
        app.master().post("/api/channels/tags", tags).await.expect(200);
        let mut body = modal("opened");
        let message = body["in_app_message"].as_object_mut().unwrap();
        message.remove("message");
        message.insert("type".to_owned(), json!("actions"));
        message.insert("actions".to_owned(), json!({"^u": "https://shop.example/{{first_name}}", "n": 1}));
        message.insert("server_audience".to_owned(), json!({"tag": "gold", "group": "loyalty"}));
        let id = keep(&app, &body).await;
        let told = ask(&app, &id, &kim, json!({})).await.expect(200);
        let actions = json!({"^u": "https://shop.example/Kim", "n": 1});
        assert_eq!(told, json!({"audience_match": true, "actions": actions}));
        assert_eq!(ask(&app, &id, &other, json!({})).await.expect(200), json!({"audience_match": false}));
    })
    .await;
}

#[tokio::test]
async fn mistakes_are_refused_and_braces_may_be_text() {
    on_each_database(async |app| {
        let text = "in_app_message.message.display.heading.text";
        let wrong = greeting("Hi {{foo bar}}");
        for path in [in_app(&app), format!("{}/validate", in_app(&app))] {
            let refused = app.master().post(&path, &wrong).await.expect(400);
            assert_eq!(refused["details"]["path"], text, "{refused}");
            assert!(refused["error"].as_str().unwrap().contains("Column 6: There is no helper 'foo'."), "{refused}");
        }
        let mut own = modal("opened");
        let message = own["in_app_message"].as_object_mut().unwrap();
        message.remove("message");
        message.insert("type".to_owned(), json!("deferred"));
        message.insert("deferred".to_owned(), json!({"url": "https://own.example", "type": "in_app_message"}));
        message.insert("personalization".to_owned(), json!(true));
        let refused = app.master().post(&in_app(&app), &own).await.expect(400);
        assert_eq!(refused["details"]["path"], "in_app_message.personalization", "{refused}");

        let mut literal = wrong;
        literal["in_app_message"]["personalization"] = json!(false);
        let id = keep(&app, &literal).await;
        let mut device = Device::new(&app, "ios", "sdk_version=20.6.3");
        assert!(device.refresh().await);
        let schedule = device.schedule(&id);
        assert_eq!(schedule["message"]["display"]["heading"]["text"], "Hi {{foo bar}}");
        assert_eq!((&schedule["type"], schedule.get("personalization")), (&json!("in_app_message"), None));
        // What nothing can be filled in for is not asked about.
        let mut plain = modal("opened");
        plain["in_app_message"]["personalization"] = json!(true);
        let id = keep(&app, &plain).await;
        assert!(device.refresh().await);
        assert_eq!(device.schedule(&id)["type"], "in_app_message");
    })
    .await;
}
