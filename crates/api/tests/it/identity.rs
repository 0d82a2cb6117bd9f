//! Whose channel a registration gets. The app secret ships inside apps, so a registration can name anybody's inbox, device or push
//! address: it gets a channel of its own, and honest apps find their way after a reinstallation.

use std::time::Duration;

use events::EventFilter;
use http::Method;
use model::event::EventOffset;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::sdk::Library;

const ADDRESS: &str = "token-of-kim";

/// A registration of a phone with an address and hints.
fn phone(address: Option<&str>, hints: Value) -> Value {
    let mut body = json!({"channel": {"device_type": "android", "opt_in": true}});
    body["identity_hints"] = hints;
    if let Some(address) = address {
        body["channel"]["push_address"] = json!(address);
    }
    body
}

/// Somebody with a named user, tags and an inbox with a message.
struct Victim {
    channel: String,
    user: String,
    password: String,
}

impl Victim {
    async fn new(app: &TestApp) -> Self {
        let made = app.device().post("/api/channels", phone(Some(ADDRESS), json!({"device_id": "kim-1"}))).await;
        let channel = made.expect(201)["channel_id"].as_str().unwrap().to_owned();
        let inbox = app.device().post("/api/user", json!({"android_channels": [channel]})).await.expect(201);
        let text = |key: &str| inbox[key].as_str().unwrap().to_owned();
        let associate = json!({"channel_id": channel, "device_type": "android", "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", associate).await.expect(200);
        let tags = json!({"audience": {"channel": channel}, "add": {"crm": ["vip"]}});
        app.master().post("/api/channels/tags", tags).await.expect(200);
        let message = json!({"audience": {"named_user": "kim"}, "device_types": ["android"],
            "message": {"title": "For Kim", "body": "private"}});
        app.master().post("/api/push", message).await.expect(200);
        app.step_all().await;
        Self { channel, user: text("user_id"), password: text("password") }
    }

    async fn inbox(&self, app: &TestApp, below: &str) -> Value {
        let path = format!("/api/user/{}{below}", self.user);
        app.nobody().basic(&self.user, &self.password).get(&path).await.expect(200)
    }

    async fn titles(&self, app: &TestApp) -> Vec<String> {
        let listed = self.inbox(app, "/messages").await;
        let messages = listed["messages"].as_array().unwrap().iter();
        messages.map(|message| message["title"].as_str().unwrap().to_owned()).collect()
    }
}

async fn look_up(app: &TestApp, channel: &str) -> Value {
    app.master().get(&format!("/api/channels/{channel}")).await.expect(200)["channel"].clone()
}

/// Registers with the app secret, and gets a new channel.
async fn register(app: &TestApp, body: Value) -> String {
    let made = app.device().post("/api/channels", body).await.expect(201);
    made["channel_id"].as_str().unwrap().to_owned()
}

fn json_with(object: &Value, key: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[key] = value;
    object
}

/// All events of the app.
async fn told(app: &TestApp) -> Vec<Value> {
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    let all = EventFilter::everything();
    let page = app.engine().events().read_events(id, EventOffset::START, 1000, &all).await.unwrap();
    page.events.iter().map(|event| serde_json::from_slice(&event.json).unwrap()).collect()
}

async fn n_reached(app: &TestApp, audience: Value) -> u64 {
    let body = json!({"audience": audience, "device_types": "all"});
    app.master().post("/api/audience/explain", body).await.expect(200)["reachable"].as_u64().unwrap()
}

#[tokio::test]
async fn a_stranger_who_names_an_inbox_or_a_device_gets_a_channel_of_their_own() {
    on_each_database(async |app| {
        let kim = Victim::new(&app).await;
        let before = look_up(&app, &kim.channel).await;
        let both = json!({"user_id": kim.user, "device_id": "kim-1"});
        let mut strangers = Vec::new();
        for hints in [json!({"user_id": kim.user}), json!({"device_id": "kim-1"}), both.clone()] {
            let stranger = register(&app, phone(None, hints.clone())).await;
            assert!(stranger != kim.channel && !strangers.contains(&stranger), "{hints}");
            let shown = look_up(&app, &stranger).await;
            assert_eq!((&shown["named_user_id"], &shown["tag_groups"]["crm"]), (&Value::Null, &Value::Null), "{hints}");
            strangers.push(stranger);
        }
        // Nor by an update of their own channel, with the secret or with its token.
        let library = Library::of(&app);
        let (own, token) = library.channel("token-of-the-stranger").await;
        let (path, body) = (format!("/api/channels/{own}"), phone(None, both.clone()));
        app.device().put(&path, &body).await.expect(200);
        library.call(Method::PUT, &path, &library.with_token(&token), &body).await.expect(200);

        // The inbox and the hints are Kim's, as servers see when they name them.
        assert_eq!(kim.inbox(&app, "").await["android_channels"], json!([kim.channel]));
        assert_eq!(kim.titles(&app).await, ["For Kim"]);
        assert_eq!(look_up(&app, &kim.channel).await, before);
        for hints in [json!({"user_id": kim.user}), json!({"device_id": "kim-1"})] {
            let known = app.master().post("/api/channels", phone(None, hints)).await.expect(200);
            assert_eq!(known["channel_id"], kim.channel);
        }
        assert_eq!(n_reached(&app, json!({"named_user": "kim"})).await, 1);
        // Kim's own device names its inbox, as libraries do, and strangers still do not take it.
        app.device().put(&format!("/api/channels/{}", kim.channel), phone(None, both.clone())).await.expect(200);
        register(&app, phone(None, both.clone())).await;
        let known = app.master().post("/api/channels", phone(None, both)).await.expect(200);
        assert_eq!(known["channel_id"], kim.channel);
    })
    .await;
}

#[tokio::test]
async fn a_stranger_who_names_an_address_inherits_nothing() {
    on_each_database(async |app| {
        let kim = Victim::new(&app).await;
        let before = look_up(&app, &kim.channel).await;
        let stranger = register(&app, phone(Some(ADDRESS), json!({}))).await;
        assert_ne!(stranger, kim.channel);
        let shown = look_up(&app, &stranger).await;
        assert_eq!((&shown["named_user_id"], &shown["tag_groups"]["crm"]), (&Value::Null, &Value::Null));
        // One address belongs to one channel. Kim's has everything else, and is not reached meanwhile.
        let lost = look_up(&app, &kim.channel).await;
        assert_eq!(lost, json_with(&before, "push_address", Value::Null));
        assert_eq!(n_reached(&app, json!({"named_user": "kim"})).await, 0);
        assert_eq!(n_reached(&app, json!({"tag": "vip", "group": "crm"})).await, 0);
        assert_eq!(n_reached(&app, json!("all")).await, 1);

        // Kim's app has it back when it next updates its channel, and the stranger has nothing.
        app.advance(Duration::from_secs(60));
        let own = phone(Some(ADDRESS), json!({"device_id": "kim-1"}));
        app.device().put(&format!("/api/channels/{}", kim.channel), own).await.expect(200);
        let back = look_up(&app, &kim.channel).await;
        assert_eq!(back, json_with(&before, "last_registration", back["last_registration"].clone()));
        assert_eq!(look_up(&app, &stranger).await["push_address"], Value::Null);
        assert_eq!(n_reached(&app, json!({"named_user": "kim"})).await, 1);
        assert_eq!(n_reached(&app, json!("all")).await, 1);
        assert_eq!(kim.titles(&app).await, ["For Kim"]);
        let departures = told(&app).await.into_iter().filter(|event| event["type"] == "UNINSTALL").count();
        assert_eq!(departures, 0, "nobody was uninstalled");
    })
    .await;
}

#[tokio::test]
async fn a_stranger_who_comes_first_keeps_no_address() {
    on_each_database(async |app| {
        let stranger = register(&app, phone(Some(ADDRESS), json!({}))).await;
        let kim = Victim::new(&app).await;
        assert_eq!(look_up(&app, &stranger).await["push_address"], Value::Null);
        assert_eq!(look_up(&app, &kim.channel).await["push_address"], ADDRESS);
        assert_eq!((n_reached(&app, json!({"named_user": "kim"})).await, n_reached(&app, json!("all")).await), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn an_app_that_is_reinstalled_gets_every_push_once_and_its_user_back() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (first, _) = library.channel("same-token").await;
        let jo = library.act(&first, json!({"type": "identify", "named_user_id": "jo"})).await;
        let contact = jo["contact"]["contact_id"].clone();
        // The system gives the app the same address again, and everything else is lost.
        let (second, token) = library.channel("same-token").await;
        assert_ne!(first, second);
        // The channel before cannot be told from somebody else's, and stays, without the address.
        let before = look_up(&app, &first).await;
        assert_eq!((&before["push_address"], &before["named_user_id"]), (&Value::Null, &json!("jo")));
        assert_eq!((n_reached(&app, json!("all")).await, n_reached(&app, json!({"named_user": "jo"})).await), (1, 0));
        let nobody = library.act(&second, json!({"type": "resolve"})).await;
        assert_eq!(nobody["contact"]["is_anonymous"], true);
        // A library that still knows its contact names it, which proves it; any other logs in.
        let back = library.act(&second, json!({"type": "resolve", "contact_id": contact})).await;
        assert_eq!(back["contact"]["contact_id"], contact);
        assert_eq!(n_reached(&app, json!({"named_user": "jo"})).await, 1);

        // A backup brings back the id, and with it everything, under a new address.
        let restored = phone(Some("new-token"), json!({}));
        app.device().put(&format!("/api/channels/{second}"), &restored).await.expect(200);
        // So does the token of the channel, which only this device has.
        let known = library.call(Method::POST, "/api/channels", &library.with_token(&token), &restored).await;
        assert_eq!(known.expect(200)["channel_id"], second);
        assert_eq!(look_up(&app, &second).await["named_user_id"], "jo");
        assert_eq!(n_reached(&app, json!("all")).await, 1);
        let uninstall = json!({"channel_id": second, "device_type": "android"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let third = library.call(Method::POST, "/api/channels", &library.with_token(&token), &restored).await;
        assert_ne!(third.expect(201)["channel_id"], second, "a channel that is gone stays gone");
    })
    .await;
}
