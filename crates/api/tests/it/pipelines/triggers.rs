//! What sets pipelines off.

use std::collections::BTreeMap;

use events::EventFilter;
use model::event::{EventOffset, RecordKind};
use model::ids::ChannelId;
use serde_json::{Value, json};
use store::log::{self, NewRecord};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::logs::Log;

use super::{APP, DAY, HOUR, create, delayed, happen, open, pipeline, register, shown, tag};

fn custom(name: &str, properties: Value) -> Value {
    let mut body = json!({"name": name, "source": "API", "value": 10.0});
    body["properties"] = properties;
    body
}

#[tokio::test]
async fn tags_that_come_and_go_set_pipelines_off() {
    on_each_database(async |app| {
        let [a, b] = [register(&app, "a", &["old"]).await, register(&app, "b", &[]).await];
        tag(&app, &a, "add", "new").await;
        create(&app, pipeline(json!({"tag_added": "new"}), "One")).await;
        create(&app, pipeline(json!({"tag_removed": "old"}), "Two")).await;
        create(&app, pipeline(json!({"tag_added": {"tag": "new", "group": "crm"}}), "Three")).await;
        assert!(shown(&app).await.is_empty(), "what was before does not count");
        tag(&app, &a, "add", "new").await;
        assert!(shown(&app).await.is_empty(), "it had the tag already");
        tag(&app, &b, "add", "new").await;
        tag(&app, &a, "remove", "old").await;
        assert_eq!(json!(shown(&app).await), json!({&a: ["Two"], &b: ["One"]}));
        // The tag goes and comes again.
        tag(&app, &b, "remove", "new").await;
        tag(&app, &b, "add", "new").await;
        app.advance(HOUR);
        assert_eq!(shown(&app).await[&b], ["One", "One"]);
        // A named user brings its tags along.
        let user = json!({"tags": {"add": {"crm": ["new"]}}});
        app.master().post("/api/named_users/kim", user).await.expect(200);
        assert_eq!(shown(&app).await[&b].len(), 2);
        let associate = json!({"channel_id": b, "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", associate).await.expect(200);
        assert_eq!(shown(&app).await[&b], ["One", "One", "Three"]);
        app.advance(HOUR);
        let c = register(&app, "c", &["new"]).await;
        assert_eq!(shown(&app).await[&c], ["One"], "a channel may come with the tag");
    })
    .await;
}

#[tokio::test]
async fn what_devices_and_servers_tell_sets_pipelines_off() {
    on_each_database(async |app| {
        let [a, b] = [register(&app, "a", &[]).await, register(&app, "b", &[]).await];
        create(&app, pipeline(json!("open"), "One")).await;
        let bought = json!({"custom_event": {"key": "name", "value": {"equals": "bought"}}});
        create(&app, pipeline(bought, "Two")).await;
        open(&app, &a).await;
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"]}));
        for name in ["seen", "bought"] {
            let event = json!({"user": {"android_channel": b}, "body": {"name": name}});
            app.master().post("/api/custom-events", event).await.expect(200);
        }
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"], &b: ["Two"]}));
    })
    .await;
}

/// Adds a record about a channel to the log.
async fn append(app: &TestApp, kind: RecordKind, channel: &str, body: &'static str) {
    let (channel, now): (ChannelId, _) = (channel.parse().unwrap(), app.engine().clock().now());
    let write = move |tx: &mut store::Tx<'_>| {
        let ordinal = store::channels::ordinal_of(tx, APP, channel)?;
        log::append(tx, APP, now, vec![NewRecord { kind, ordinal, body: body.as_bytes().to_vec() }])
    };
    app.engine().store().write(APP, write).await.unwrap();
}

#[tokio::test]
async fn a_record_that_cannot_be_read_keeps_no_other_from_being_read() {
    on_each_database(async |app| {
        let log = Log::begin();
        let channel = register(&app, "a", &[]).await;
        let bought = json!({"custom_event": {"key": "name", "value": {"equals": "bought"}}});
        create(&app, pipeline(bought, "One")).await;
        // What may be canceled is sent once the log was read.
        let mut body = delayed(json!({"tag_added": "x"}), "Two", HOUR);
        body["cancellation_trigger"] = json!("open");
        create(&app, body).await;
        append(&app, RecordKind::Custom, &channel, "{").await;
        append(&app, RecordKind::Open, &channel, r#"{"occurred":"kim@example.com"}"#).await;
        let event = json!({"user": {"android_channel": channel}, "body": {"name": "bought"}});
        app.master().post("/api/custom-events", event).await.expect(200);
        tag(&app, &channel, "add", "x").await;
        assert_eq!(json!(shown(&app).await), json!({&channel: ["One"]}));
        app.advance(HOUR);
        assert_eq!(json!(shown(&app).await), json!({&channel: ["One", "Two"]}));
        let lines = log.events("record.unreadable");
        let told: Vec<_> = lines.iter().map(|line| (&line["fields"]["kind"], &line["fields"]["cause"])).collect();
        assert_eq!(json!(told), json!([["Custom", "cut_off"], ["Open", "form"]]));
        let key = app.app.key.as_str();
        assert!(lines.iter().all(|line| line["fields"]["app"] == key && line["fields"]["position"].is_i64()));
        assert!(!json!(lines).to_string().contains("kim"), "{lines:?}");
    })
    .await;
}

/// The types, channels, ids and bodies of some events.
async fn events(app: &TestApp, types: &[&str]) -> Vec<(String, String, Value, Value)> {
    let page =
        app.engine().events().read_events(APP, EventOffset::START, 1000, &EventFilter::everything()).await.unwrap();
    let events = page.events.iter().map(|event| serde_json::from_slice::<Value>(&event.json).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let described = events.map(|event| {
        (text(&event["type"]), text(&event["device"]["channel"]), event["id"].clone(), event["body"].clone())
    });
    described.filter(|(kind, ..)| types.contains(&kind.as_str())).collect()
}

#[tokio::test]
async fn sends_tell_of_the_custom_event_they_are_due_to() {
    on_each_database(async |app| {
        let [a, b, c] =
            [register(&app, "a", &[]).await, register(&app, "b", &[]).await, register(&app, "c", &[]).await];
        let bought = json!({"custom_event": {"key": "name", "value": {"equals": "bought"}}});
        let mut body = delayed(json!([bought, {"tag_added": "x"}]), "One", HOUR);
        // They wait once more after the delay.
        body["timing"] = json!({"schedule": {"type": "utc", "dayparts": [{"allowed_times": [{"start": "14:00"}]}]}});
        create(&app, body).await;
        let event = |channel: &str| json!({"user": {"android_channel": channel}, "body": {"name": "bought"}});
        app.master().post("/api/custom-events", json!([event(&a), event(&b)])).await.expect(200);
        tag(&app, &c, "add", "x").await;
        app.step_all().await;
        let app = app.restart().await;
        app.advance(HOUR);
        app.step_all().await;
        let app = app.restart().await;
        app.advance(HOUR);
        assert_eq!(shown(&app).await.len(), 3);
        let causes: BTreeMap<String, Value> =
            events(&app, &["CUSTOM"]).await.into_iter().map(|(_, channel, id, _)| (channel, id)).collect();
        assert_eq!(causes.len(), 2);
        let sends = events(&app, &["SEND"]).await;
        assert_eq!(sends.len(), 3);
        for (_, channel, _, body) in &sends {
            let context = causes.get(channel).map(|id| json!({"triggered_by": "custom_event", "event_uuid": id}));
            assert_eq!(body.get("context"), context.as_ref(), "{channel}");
        }
        assert_eq!(row_counts(app.engine().store()).await["push_cause"], 1);
        app.advance(32 * DAY);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["push_cause"], 0);
    })
    .await;
}

#[tokio::test]
async fn subscriptions_set_pipelines_off() {
    on_each_database(async |app| {
        let channel = register(&app, "a", &[]).await;
        create(&app, pipeline(json!([{"subscription_added": "weekly"}]), "One")).await;
        create(&app, pipeline(json!({"subscription_removed": "weekly"}), "Two")).await;
        for (action, wanted) in [("subscribe", vec!["One"]), ("unsubscribe", vec!["One", "Two"])] {
            let lists = json!([{"action": action, "list_id": "weekly"}, {"action": action, "list_id": "daily"}]);
            let body = json!({"audience": {"channel": channel}, "subscription_lists": lists});
            app.master().post("/api/channels/subscription_lists", body).await.expect(202);
            assert_eq!(shown(&app).await[&channel], wanted);
        }
    })
    .await;
}

#[tokio::test]
async fn opens_and_events_set_pipelines_off() {
    on_each_database(async |app| {
        register(&app, "early", &[]).await;
        create(&app, pipeline(json!("first_open"), "One")).await;
        let red = json!({"key": "color", "scope": "properties", "value": {"equals": "red"}});
        let bought = json!({"custom_event": {"and": [{"key": "name", "value": {"equals": "bought"}}, red]}});
        create(&app, pipeline(json!([bought, "region_exited"]), "Two")).await;
        let cheap = json!({"custom_event": {"key": "value", "value": {"less_than": 10}}});
        create(&app, pipeline(cheap, "Three")).await;
        let a = register(&app, "a", &[]).await;
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"]}));
        happen(&app, RecordKind::Custom, &a, custom("bought", json!({"color": "blue"}))).await;
        happen(&app, RecordKind::Custom, &a, custom("seen", json!({"color": "red"}))).await;
        assert_eq!(shown(&app).await[&a].len(), 1);
        happen(&app, RecordKind::Custom, &a, custom("bought", json!({"color": "red"}))).await;
        assert_eq!(shown(&app).await[&a], ["One", "Two"]);
        for (action, n_shown) in [("enter", 2), ("exit", 3)] {
            let source = json!({"source": "gps", "region_id": "x"});
            let region = json!({"action": action, "region_id": "r", "source_info": source});
            app.advance(HOUR);
            happen(&app, RecordKind::Region, &a, region).await;
            assert_eq!(shown(&app).await[&a].len(), n_shown, "{action}");
        }
    })
    .await;
}

#[tokio::test]
async fn pipelines_and_triggers_count_only_in_their_time() {
    on_each_database(async |app| {
        let mut body = pipeline(json!({"tag_added": "x"}), "One");
        body["activation_time"] = json!("2024-05-01T13:00:00");
        body["deactivation_time"] = json!("2024-05-01T15:00:00");
        create(&app, body).await;
        let until = json!({"tag_added": "x", "deactivation_time": "2024-05-01T13:00:00"});
        create(&app, pipeline(until, "Two")).await;
        let early = register(&app, "a", &["x"]).await;
        app.advance(HOUR);
        let timely = register(&app, "b", &["x"]).await;
        app.step_all().await;
        app.advance(DAY);
        register(&app, "c", &["x"]).await;
        assert_eq!(json!(shown(&app).await), json!({&early: ["Two"], &timely: ["One"]}));
    })
    .await;
}

/// Registers what a device says of itself under a channel id.
async fn update(app: &TestApp, channel: &str, opt_in: bool, address: Option<&str>) {
    let device = json!({"channel": {"device_type": "android", "opt_in": opt_in, "push_address": address}});
    app.device().put(&format!("/api/channels/{channel}"), device).await.expect(200);
}

#[tokio::test]
async fn the_first_opt_in_sets_pipelines_off_once() {
    on_each_database(async |app| {
        let early = register(&app, "early", &[]).await;
        create(&app, pipeline(json!("first_opt_in"), "One")).await;
        let from_the_start = register(&app, "a", &[]).await;
        assert_eq!(json!(shown(&app).await), json!({&from_the_start: ["One"]}));
        app.advance(HOUR);
        let device = json!({"channel": {"device_type": "android", "opt_in": false, "push_address": "b"}});
        let answer = app.device().post("/api/channels", device).await.expect(201);
        let later = answer["channel_id"].as_str().unwrap().to_owned();
        for (opt_in, address) in [(false, Some("b")), (false, None), (true, None)] {
            update(&app, &later, opt_in, address).await;
            assert_eq!(shown(&app).await.len(), 1, "{opt_in} {address:?}");
        }
        update(&app, &later, true, Some("b")).await;
        // The log has it; nobody has read it yet.
        let app = app.restart().await;
        assert_eq!(json!(shown(&app).await), json!({&from_the_start: ["One"], &later: ["One"]}));
        for channel in [&later, &from_the_start, &early] {
            let address = format!("again {channel}");
            for opt_in in [true, false, false, true] {
                app.advance(HOUR);
                update(&app, channel, opt_in, Some(&address)).await;
                app.step_all().await;
            }
        }
        assert_eq!(json!(shown(&app).await), json!({&from_the_start: ["One"], &later: ["One"]}));
    })
    .await;
}

#[tokio::test]
async fn conditions_of_a_trigger_hold_when_it_happens() {
    on_each_database(async |app| {
        let [vip, other, late] =
            [register(&app, "a", &["vip"]).await, register(&app, "b", &[]).await, register(&app, "c", &[]).await];
        let trigger = |tag: &str, condition: Value| json!({"tag_added": tag, "condition": condition});
        let is_vip = json!({"and": [{"tag": {"tag_name": "vip"}}]});
        let is_not = json!([{"or": [{"tag": {"tag_name": "vip", "negated": true}}]}]);
        create(&app, delayed(json!([trigger("x", is_vip.clone()), trigger("y", is_not)]), "One", HOUR)).await;
        let mut body = delayed(json!({"tag_added": "x"}), "Two", HOUR);
        body["cancellation_trigger"] = trigger("y", is_vip);
        create(&app, body).await;
        for channel in [&vip, &other, &late] {
            tag(&app, channel, "add", "x").await;
        }
        // The log has it; nobody has read it yet.
        let app = app.restart().await;
        app.step_all().await;
        tag(&app, &vip, "remove", "vip").await;
        tag(&app, &late, "add", "vip").await;
        app.step_all().await;
        for channel in [&other, &late] {
            tag(&app, channel, "add", "y").await;
        }
        app.step_all().await;
        let app = app.restart().await;
        app.advance(HOUR);
        let mut shown = shown(&app).await;
        shown.values_mut().for_each(|alerts| alerts.sort());
        assert_eq!(json!(shown), json!({&vip: ["One", "Two"], &other: ["One", "Two"]}));
    })
    .await;
}
