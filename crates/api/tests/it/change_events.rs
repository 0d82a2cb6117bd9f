//! Events about what channels have and whose they are: attributes, subscriptions, named users, opt-ins; and those of browsers.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::event_schema;

/// The bodies of the events of some types with the channels they are about, in order.
async fn told(app: &TestApp, types: &str) -> Vec<(String, Value)> {
    let reply = app.master().get(&format!("/api/events?follow=false&types={types}")).await;
    let told = reply.text().lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event_schema::check(&event).unwrap_or_else(|wrong| panic!("{wrong}: {event}"));
        (event["device"]["channel"].as_str().unwrap().to_owned(), event["body"].clone())
    });
    told.collect()
}

async fn register(app: &TestApp, device_type: &str, address: &str) -> String {
    let channel = json!({"device_type": device_type, "opt_in": true, "push_address": address});
    let made = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
    made["channel_id"].as_str().unwrap().to_owned()
}

async fn open(app: &TestApp, address: &str, opt_in: bool) -> String {
    let channel =
        json!({"type": "open", "opt_in": opt_in, "address": address, "open": {"open_platform_name": "kiosk"}});
    let made = app.master().post("/api/channels/open", json!({ "channel": channel })).await.expect(200);
    made["channel_id"].as_str().unwrap().to_owned()
}

async fn associate(app: &TestApp, channel: &str, device_type: &str, user: &str) {
    let body = json!({"channel_id": channel, "device_type": device_type, "named_user_id": user});
    app.master().post("/api/named_users/associate", body).await.expect(200);
}

#[tokio::test]
async fn attributes_are_told_when_they_change() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1").await;
        let change = async |audience: Value, attributes: Value| {
            let body = json!({"audience": audience, "attributes": attributes});
            app.master().post("/api/channels/attributes", body).await.expect(200);
        };
        let set = |key: &str, value: Value| json!({"action": "set", "key": key, "value": value});
        change(json!({"channel": kim}), json!([set("city", json!("Oslo")), set("age", json!(30))])).await;
        // The same again, and what was decided before: nothing changes.
        app.advance(Duration::from_secs(1));
        let early = json!({"action": "remove", "key": "age", "timestamp": "2024-01-01T00:00:00"});
        change(json!({"channel": kim}), json!([set("city", json!("Oslo")), early])).await;
        // Of several changes of one attribute the last counts.
        app.advance(Duration::from_secs(1));
        let remove = json!({"action": "remove", "key": "age"});
        change(json!({"channel": kim}), json!([set("age", json!(31)), remove, set("city", json!("Bergen"))])).await;
        let expected = [
            (kim.clone(), json!({"set": [{"key": "age", "value": 30}, {"key": "city", "value": "Oslo"}]})),
            (kim.clone(), json!({"set": [{"key": "city", "value": "Bergen"}], "remove": [{"key": "age"}]})),
        ];
        assert_eq!(told(&app, "ATTRIBUTE_OPERATION").await, expected);

        // Each device of a user is told of.
        let lee = register(&app, "android", "A2").await;
        for (channel, device_type) in [(&kim, "ios"), (&lee, "android")] {
            associate(&app, channel, device_type, "jo").await;
        }
        for _ in 0..2 {
            change(json!({"named_user_id": "jo"}), json!([set("tier", json!("gold"))])).await;
        }
        let of_user = told(&app, "ATTRIBUTE_OPERATION").await.split_off(2);
        let gold = json!({"set": [{"key": "tier", "value": "gold"}]});
        assert_eq!(of_user, [(kim.clone(), gold.clone()), (lee, gold)]);

        // Timelines show them.
        let timeline = app.master().get(&format!("/api/channels/{kim}/timeline?types=ATTRIBUTE_OPERATION")).await;
        let timeline = timeline.expect(200);
        let entries = timeline["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 3, "{timeline}");
        assert!(entries.iter().all(|entry| entry["what"] == "attributes" && entry["kind"] == "change"), "{timeline}");
    })
    .await;
}

#[tokio::test]
async fn subscriptions_are_told_to_channels_that_they_concern() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1").await;
        let change = async |audience: Value, action: &str, list: &str| {
            let lists = json!([{"action": action, "list_id": list}]);
            let body = json!({"audience": audience, "subscription_lists": lists});
            app.master().post("/api/channels/subscription_lists", body).await.expect(202);
        };
        for (action, list) in
            [("subscribe", "a"), ("subscribe", "b"), ("subscribe", "b"), ("unsubscribe", "a"), ("unsubscribe", "c")]
        {
            change(json!({"channel": kim}), action, list).await;
        }
        let own = [
            json!({"enrolled": ["a"], "current": ["a"]}),
            json!({"enrolled": ["b"], "current": ["a", "b"]}),
            json!({"canceled": ["a"], "current": ["b"]}),
        ];
        assert_eq!(told(&app, "SUBSCRIPTION_LIST").await, own.map(|body| (kim.clone(), body)));

        // A user subscribes for kinds of channels, and each channel is told what it gets.
        let kiosk = open(&app, "K1", true).await;
        associate(&app, &kim, "ios", "jo").await;
        associate(&app, &kiosk, "open", "jo").await;
        let scoped = json!({"scoped": [{"scope": ["app", "web"], "subscription_lists": {"subscribe": ["z"]}}]});
        app.master().post("/api/named_users/scoped/jo", scoped).await.expect(200);
        let of_user = told(&app, "SUBSCRIPTION_LIST").await.split_off(3);
        let body = json!({"enrolled": ["z"], "current": ["z"], "scope": "app"});
        assert_eq!(of_user, [(kim, body.clone()), (kiosk, body)]);
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_comes_to_a_user_and_leaves_is_told_of() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1").await;
        associate(&app, &kim, "ios", "one").await;
        associate(&app, &kim, "ios", "one").await;
        associate(&app, &kim, "ios", "two").await;
        let body = json!({"channel_id": kim, "device_type": "ios"});
        app.master().post("/api/named_users/disassociate", body).await.expect(200);
        associate(&app, &kim, "ios", "one").await;
        let uninstall = json!([{"channel_id": kim, "device_type": "ios"}]);
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let told = told(&app, "CONTACT_CHANGE").await;
        let short: Vec<_> = told.iter().map(|(_, body)| (&body["change_type"], &body["named_user_id"])).collect();
        let expected = [
            ("ASSOCIATION", "one"),
            ("DISSOCIATION", "one"),
            ("ASSOCIATION", "two"),
            ("DISSOCIATION", "two"),
            ("ASSOCIATION", "one"),
            ("UNINSTALL", "one"),
        ];
        assert_eq!(json!(short), json!(expected));
        assert!(told.iter().all(|(channel, body)| *channel == kim && body["channel_id"] == json!(kim)), "{told:?}");
        // A user is the same contact whenever a channel comes.
        let contacts: Vec<_> = told.iter().map(|(_, body)| &body["contact_id"]).collect();
        assert_eq!((contacts[0], contacts[1], contacts[2]), (contacts[4], contacts[5], contacts[3]));
        assert_ne!(contacts[0], contacts[2]);
    })
    .await;
}

#[tokio::test]
async fn the_first_opt_in_of_an_open_channel_is_told() {
    on_each_database(async |app| {
        let early = open(&app, "K1", true).await;
        let late = open(&app, "K2", false).await;
        register(&app, "ios", "A1").await;
        for opt_in in [true, false, true] {
            open(&app, "K2", opt_in).await;
        }
        assert_eq!(told(&app, "FIRST_OPT_IN").await, [(early, Value::Null), (late, Value::Null)]);
    })
    .await;
}
