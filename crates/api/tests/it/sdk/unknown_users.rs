//! What is said about somebody before they log in: whose it is afterwards, and that it can be taken back.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::{Library, reached};

/// A contact as its library knows it.
struct Known {
    id: String,
    token: String,
}

impl Known {
    async fn after(library: &Library<'_>, channel: &str, action: Value) -> Self {
        let acted = library.act(channel, action).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self { id: text(&acted["contact"]["contact_id"]), token: text(&acted["token"]) }
    }

    async fn update(&self, library: &Library<'_>, update: &Value) {
        let path = format!("/api/contacts/{}", self.id);
        library.post(&path, &library.with_token(&self.token), update).await.expect(200);
    }

    async fn lists(&self, library: &Library<'_>) -> Value {
        let path = format!("/api/subscription_lists/contacts/{}", self.id);
        library.get(&path, &library.with_token(&self.token)).await.expect(200)["subscription_lists"].clone()
    }
}

fn resolve() -> Value {
    json!({"type": "resolve"})
}

fn identify(user: &str) -> Value {
    json!({"type": "identify", "named_user_id": user})
}

fn plan(value: &str) -> Value {
    json!({"attribute": "plan", "operator": "equals", "value": value})
}

fn tag() -> Value {
    json!({"tag": "trial", "group": "crm"})
}

fn list() -> Value {
    json!({"subscription_list": "news"})
}

/// On trial, with the tag, and subscribed.
fn curious() -> Value {
    json!({
        "tags": {"add": {"crm": ["trial"]}},
        "attributes": [{"action": "set", "key": "plan", "value": "trial"}],
        "subscription_lists": [{"action": "subscribe", "list_id": "news", "scope": "app"}],
    })
}

/// How many channels are on trial, have the tag, and are subscribed.
async fn counts(app: &TestApp) -> [u64; 3] {
    [reached(app, plan("trial")).await, reached(app, tag()).await, reached(app, list()).await]
}

async fn tag_changes(app: &TestApp) -> usize {
    app.master().get("/api/events?follow=false&types=TAG_CHANGE").await.text().lines().count()
}

#[tokio::test]
async fn whoever_logs_in_for_the_first_time_can_take_back_what_they_said_before() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, token) = library.channel("token-1").await;
        // Said about the channel, and never about anybody.
        let batch = json!({
            "tags": {"add": {"crm": ["owned"]}}, "attributes": [{"action": "set", "key": "color", "value": "red"}],
            "subscription_lists": [{"action": "subscribe", "list_id": "device"}],
        });
        let path = format!("/api/channels/sdk/batch/{phone}");
        library.put(&path, &library.with_token(&token), &batch).await.expect(200);
        let nobody = Known::after(&library, &phone, resolve()).await;
        nobody.update(&library, &curious()).await;
        assert_eq!(counts(&app).await, [1, 1, 1]);
        let n_changes = tag_changes(&app).await;

        app.advance(Duration::from_secs(60));
        let jo = Known::after(&library, &phone, identify("jo")).await;
        assert_eq!(counts(&app).await, [1, 1, 1], "it is jo's now");
        assert_eq!(tag_changes(&app).await, n_changes, "which changes no tag of the channel");
        assert_eq!(jo.lists(&library).await, json!([{"scope": "app", "list_ids": ["news"]}]));
        let gold = json!({
            "tags": {"remove": {"crm": ["trial"]}},
            "attributes": [{"action": "set", "key": "plan", "value": "gold"}],
            "subscription_lists": [{"action": "unsubscribe", "list_id": "news", "scope": "app"}],
        });
        jo.update(&library, &gold).await;
        assert_eq!(counts(&app).await, [0, 0, 0]);
        assert_eq!(reached(&app, plan("gold")).await, 1);
        assert_eq!(jo.lists(&library).await, json!([]));

        let seen = library.get(&format!("/api/channels/{phone}"), &library.with_token(&token)).await.expect(200);
        assert_eq!(seen["channel"]["tag_groups"]["crm"], json!(["owned"]));
        assert_eq!(seen["channel"]["attributes"], json!({"color": "red"}));
        assert_eq!(seen["channel"]["subscription_lists"], json!(["device"]));
    })
    .await;
}

#[tokio::test]
async fn the_next_person_on_a_device_inherits_nothing() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, _) = library.channel("token-1").await;
        let nobody = Known::after(&library, &phone, resolve()).await;
        nobody.update(&library, &curious()).await;
        Known::after(&library, &phone, identify("jo")).await;
        Known::after(&library, &phone, json!({"type": "reset"})).await;
        assert_eq!(counts(&app).await, [0, 0, 0], "it went with jo");
        Known::after(&library, &phone, identify("kim")).await;
        assert_eq!(counts(&app).await, [0, 0, 0]);

        // Nor does whoever comes after somebody who never said who they are, who is another contact.
        let second = Known::after(&library, &phone, json!({"type": "reset"})).await;
        second.update(&library, &curious()).await;
        assert_eq!(counts(&app).await, [1, 1, 1]);
        assert_eq!(Known::after(&library, &phone, resolve()).await.id, second.id);
        let third = Known::after(&library, &phone, json!({"type": "reset"})).await;
        assert_eq!(counts(&app).await, [0, 0, 0]);
        assert_eq!(third.lists(&library).await, json!([]));
        assert!(nobody.id != second.id && second.id != third.id && third.id != nobody.id);
        // Those who left are gone, whoever is there.
        for user in [None, Some("lee")] {
            if let Some(user) = user {
                Known::after(&library, &phone, identify(user)).await;
            }
            for gone in [&nobody, &second] {
                let path = format!("/api/contacts/{}", gone.id);
                library.post(&path, &library.with_token(&gone.token), &curious()).await.expect(404);
            }
            assert_eq!(counts(&app).await, [0, 0, 0]);
        }
        third.update(&library, &curious()).await;
        assert_eq!(counts(&app).await, [1, 1, 1], "what is late is about whoever the same contact became");

        // Events tell of the contact that devices know.
        let fourth = Known::after(&library, &phone, json!({"type": "reset"})).await;
        fourth.update(&library, &curious()).await;
        let events = app.master().get("/api/events?follow=false&types=TAG_CHANGE").await;
        let last: Value = serde_json::from_str(events.text().lines().last().unwrap()).unwrap();
        assert_eq!(last["user"], json!({"contact_id": fourth.id}));
    })
    .await;
}

#[tokio::test]
async fn a_user_that_exists_keeps_what_they_said_themselves() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (tablet, _) = library.channel("token-1").await;
        let jo = Known::after(&library, &tablet, identify("jo")).await;
        let (phone, _) = library.channel("token-2").await;
        let nobody = Known::after(&library, &phone, resolve()).await;
        nobody.update(&library, &curious()).await;
        assert_eq!(counts(&app).await, [1, 1, 1]);
        // The library tells its app what is lost; the app may say it again.
        Known::after(&library, &phone, identify("jo")).await;
        assert_eq!(counts(&app).await, [0, 0, 0]);
        assert_eq!(jo.lists(&library).await, json!([]));
        // What still comes from before is about whom the channel belongs to.
        nobody.update(&library, &curious()).await;
        assert_eq!(counts(&app).await, [2, 2, 2]);
        assert_eq!(nobody.lists(&library).await, jo.lists(&library).await);

        // A server that says whose a channel is does the same.
        let (watch, _) = library.channel("token-3").await;
        let nobody = Known::after(&library, &watch, resolve()).await;
        let trial = json!({"attributes": [{"action": "set", "key": "plan", "value": "other"}]});
        nobody.update(&library, &trial).await;
        let associate = |user: &str| json!({"channel_id": watch, "named_user_id": user});
        app.master().post("/api/named_users/associate", associate("jo")).await.expect(200);
        assert_eq!(reached(&app, plan("other")).await, 0);
        assert_eq!(reached(&app, plan("trial")).await, 3);
    })
    .await;
}

#[tokio::test]
async fn a_user_named_by_a_registration_inherits_what_was_said_before() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        // A user that exists keeps what they said themselves.
        app.master().post("/api/named_users/kim", json!({"tags": {"add": {"crm": ["vip"]}}})).await.expect(200);
        for (address, user) in [("token-1", "jo"), ("token-2", "kim")] {
            let (phone, token) = library.channel(address).await;
            let nobody = Known::after(&library, &phone, resolve()).await;
            nobody.update(&library, &curious()).await;
            let mut body = super::android(address);
            body["channel"]["named_user_id"] = json!(user);
            library.put(&format!("/api/channels/{phone}"), &library.with_token(&token), &body).await.expect(200);
            assert_eq!(counts(&app).await, [1, 1, 1], "jo's, after the registration with {user}");
        }
        let jo = &app.master().get("/api/named_users?id=jo").await.expect(200)["named_user"];
        assert_eq!((&jo["tags"]["crm"], &jo["attributes"]["plan"]), (&json!(["trial"]), &json!("trial")));
        let kim = &app.master().get("/api/named_users?id=kim").await.expect(200)["named_user"];
        assert_eq!(kim["tags"], json!({"crm": ["vip"]}));
    })
    .await;
}
