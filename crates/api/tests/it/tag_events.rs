//! TAG_CHANGE events of channels that have tags by themselves and by way of a named user.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;
use crate::named_users::associate;

/// What was told since the last call: `add`, `remove` and `current` of each event.
async fn told(app: &TestApp, n_known: &mut usize) -> Vec<Value> {
    let reply = app.master().get("/api/events?follow=false&types=TAG_CHANGE").await;
    let events = reply.text().lines().skip(*n_known).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let bodies: Vec<Value> = events.map(|event| event["body"].clone()).collect();
    *n_known += bodies.len();
    bodies
}

fn change(add: &Value, remove: &Value, current: &Value) -> Vec<Value> {
    vec![json!({"add": add, "remove": remove, "current": current})]
}

async fn tag_channel(app: &TestApp, channel: &str, operation: &str, sets: Value) {
    let body = json!({"audience": {"ios_channel": channel}, operation: sets});
    app.master().post("/api/channels/tags", body).await.expect(200);
}

async fn tag_user(app: &TestApp, user: &str, operation: &str, sets: Value) {
    let body = json!({"audience": {"named_user_id": user}, operation: sets});
    app.master().post("/api/named_users/tags", body).await.expect(200);
}

#[tokio::test]
async fn a_tag_comes_with_its_first_holder_and_leaves_with_its_last() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let (channel, seen) = (crowd.id("a"), &mut 0);
        associate(&app, channel, "kim").await;
        tag_channel(&app, channel, "add", json!({"g": ["x"]})).await;
        assert_eq!(told(&app, seen).await, change(&json!({"g": ["x"]}), &json!({}), &json!({"g": ["x"]})));

        tag_user(&app, "kim", "add", json!({"g": ["x", "y"]})).await;
        assert_eq!(told(&app, seen).await, change(&json!({"g": ["y"]}), &json!({}), &json!({"g": ["x", "y"]})));
        tag_user(&app, "kim", "remove", json!({"g": ["x"]})).await;
        tag_channel(&app, channel, "add", json!({"g": ["y"]})).await;
        assert_eq!(told(&app, seen).await, Vec::<Value>::new(), "the channel has both all the time");

        tag_user(&app, "kim", "set", json!({"g": ["z"], "h": ["x"]})).await;
        let all = json!({"g": ["x", "y", "z"], "h": ["x"]});
        assert_eq!(told(&app, seen).await, change(&json!({"g": ["z"], "h": ["x"]}), &json!({}), &all));
        tag_channel(&app, channel, "set", json!({"g": ["z"]})).await;
        assert_eq!(told(&app, seen).await, change(&json!({}), &json!({"g": ["x", "y"]}), &json!({"g": ["z"]})));
    })
    .await;
}

#[tokio::test]
async fn associations_bring_tags_and_take_them_away() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let (channel, seen) = (crowd.id("a"), &mut 0);
        tag_channel(&app, channel, "add", json!({"g": ["x"]})).await;
        tag_user(&app, "kim", "add", json!({"g": ["x", "y"]})).await;
        tag_user(&app, "lee", "add", json!({"g": ["y", "z"]})).await;
        assert_eq!(told(&app, seen).await.len(), 1);
        associate(&app, channel, "kim").await;
        assert_eq!(told(&app, seen).await, change(&json!({"g": ["y"]}), &json!({}), &json!({"g": ["x", "y"]})));
        let app = app.restart().await;
        associate(&app, channel, "lee").await;
        assert_eq!(told(&app, seen).await, change(&json!({"g": ["z"]}), &json!({}), &json!({"g": ["x", "y", "z"]})));
        crowd.associate(&app, "a", Some("lee")).await;
        assert_eq!(told(&app, seen).await, Vec::<Value>::new(), "registering again changes nothing");
        let leave = json!({"channel_id": channel});
        app.master().post("/api/named_users/disassociate", leave).await.expect(200);
        assert_eq!(told(&app, seen).await, change(&json!({}), &json!({"g": ["y", "z"]}), &json!({"g": ["x"]})));

        // A user who waits for a channel brings the tags when it registers.
        let waiting = "10000000-0000-4000-8000-000000000000";
        associate(&app, waiting, "lee").await;
        let device = json!({"channel": {"device_type": "ios", "tags": ["news"], "set_tags": true}});
        app.device().put(&format!("/api/channels/{waiting}"), device).await.expect(200);
        let all = json!({"device": ["news"], "g": ["y", "z"]});
        assert_eq!(told(&app, seen).await, change(&all, &json!({}), &all));
    })
    .await;
}

#[tokio::test]
async fn a_deleted_tag_does_not_come_any_more() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let seen = &mut 0;
        tag_user(&app, "kim", "add", json!({"device": ["news"], "g": ["x"]})).await;
        associate(&app, crowd.id("a"), "kim").await;
        let all = json!({"device": ["news"], "g": ["x"]});
        assert_eq!(told(&app, seen).await, change(&all, &json!({}), &all));

        app.master().delete("/api/tags/news").await.expect(204);
        // Before the work that follows from it has reached the user.
        associate(&app, crowd.id("b"), "kim").await;
        assert_eq!(told(&app, seen).await, change(&json!({"g": ["x"]}), &json!({}), &json!({"g": ["x"]})));
        app.step_all().await;
        let gone = change(&json!({}), &json!({"device": ["news"]}), &json!({"device": []}));
        assert_eq!(
            told(&app, seen).await,
            [gone.clone(), gone].concat(),
            "of all channels of the user, had they it or not"
        );
    })
    .await;
}
