//! Tags in groups: of channels, and of named users for all of their channels.

use model::event::RecordKind;
use model::ids::{ChannelId, Offset};
use serde_json::{Value, json};
use store::log::NewRecord;
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::crowd::Crowd;
use crate::logs::Log;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

fn in_group(group: &str, tag: &str) -> Value {
    json!({"group": group, "tag": tag})
}

async fn tag(app: &TestApp, audience: Value, operation: &str, sets: Value) {
    let body = json!({"audience": audience, operation: sets});
    app.master().post("/api/channels/tags", body).await.expect_done(200);
}

/// The kinds of the records that were logged after a position, and the log's end.
async fn logged(app: &TestApp, after: Offset) -> (Vec<RecordKind>, Offset) {
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    let records = app.engine().store().read(move |tx| store::log::after(tx, id, after, 1000)).await.unwrap();
    let end = records.last().map_or(after, |record| record.offset);
    (records.iter().map(|record| record.kind).collect(), end)
}

#[tokio::test]
async fn operations_change_the_groups_they_name() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("ios", "ios"), ("android", "android"), ("web", "web")]).await;
        let both = json!({"ios_channel": crowd.id("ios"), "android_channel": [crowd.id("android")]});
        tag(&app, both.clone(), "add", json!({"loyalty": ["gold", "old"], "device": "news"})).await;
        let shown = crowd.look_up(&app, "ios").await;
        assert_eq!((&shown["tags"], &shown["tag_groups"]["loyalty"]), (&json!(["news"]), &json!(["gold", "old"])));
        assert_eq!(crowd.reached(&app, &in_group("loyalty", "gold")).await, "android ios");
        assert_eq!(crowd.reached(&app, &json!({"tag": "news"})).await, "android ios");

        // Add and remove in one request touch nothing else.
        let change = json!({"audience": {"ios_channel": crowd.id("ios")}, "add": {"loyalty": "platinum"},
                            "remove": {"loyalty": ["gold", "never there"], "nothing": []}});
        app.master().post("/api/channels/tags/", change).await.expect(200);
        assert_eq!(crowd.look_up(&app, "ios").await["tag_groups"]["loyalty"], json!(["old", "platinum"]));
        assert_eq!(crowd.reached(&app, &in_group("loyalty", "gold")).await, "android");

        // Set replaces the named groups only.
        tag(&app, both, "set", json!({"loyalty": ["new"], "empty": []})).await;
        let shown = crowd.look_up(&app, "android").await;
        assert_eq!((&shown["tags"], &shown["tag_groups"]["loyalty"]), (&json!(["news"]), &json!(["new"])));
        tag(&app, json!({"channel": crowd.id("ios")}), "set", json!({"loyalty": []})).await;
        assert!(crowd.look_up(&app, "ios").await["tag_groups"].get("loyalty").is_none());
        assert_eq!(crowd.reached(&app, &in_group("loyalty", "new")).await, "android");

        // Ids that are unknown or of another type are passed over.
        let others = json!({"ios_channel": [crowd.id("web"), UNKNOWN], "web_channel": [crowd.id("web")]});
        tag(&app, others.clone(), "add", json!({"g": "web"})).await;
        assert_eq!(crowd.reached(&app, &in_group("g", "web")).await, "web");
        crowd.uninstall(&app, "web").await;
        tag(&app, others, "add", json!({"g": "again"})).await;
        assert_eq!(crowd.look_up(&app, "web").await["tag_groups"], json!({}));

        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &in_group("loyalty", "new")).await, "android");
        assert_eq!(crowd.look_up(&app, "ios").await["tags"], json!(["news"]));
    })
    .await;
}

#[tokio::test]
async fn events_and_terms_are_written_with_the_change() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let (_, start) = logged(&app, Offset(0)).await;
        let both = json!({"channel": [crowd.id("a"), crowd.id("b")]});
        tag(&app, both.clone(), "add", json!({"g": ["one", "two"]})).await;
        let (kinds, end) = logged(&app, start).await;
        assert_eq!(kinds, [RecordKind::Terms, RecordKind::TagChange, RecordKind::TagChange]);
        tag(&app, both.clone(), "add", json!({"g": ["one"]})).await;
        assert_eq!(logged(&app, end).await.0, [], "nothing changed");
        tag(&app, json!({"channel": crowd.id("a")}), "remove", json!({"g": ["one"]})).await;
        let (kinds, end) = logged(&app, end).await;
        assert_eq!(kinds, [RecordKind::Terms, RecordKind::TagChange]);

        let associate = json!({"channel_id": crowd.id("a"), "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", associate).await.expect(200);
        let (kinds, end) = logged(&app, end).await;
        assert_eq!(kinds, [RecordKind::ContactChange], "a user without tags brings nothing else");
        let body = json!({"audience": {"named_user_id": "kim"}, "add": {"g": "three"}});
        app.master().post("/api/named_users/tags", body).await.expect(200);
        assert_eq!(logged(&app, end).await.0, [RecordKind::Terms, RecordKind::TagChange]);
    })
    .await;
}

/// Takes all terms from a channel, with a record of it that cannot be read.
async fn take_terms(app: &TestApp, channel: &str) {
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    let (channel, now): (ChannelId, _) = (channel.parse().unwrap(), app.engine().clock().now());
    let write = move |tx: &mut store::Tx<'_>| {
        store::channels::set_terms(tx, id, channel, &[])?;
        let record = NewRecord { kind: RecordKind::Terms, ordinal: None, body: vec![0xff] };
        store::log::append(tx, id, now, vec![record])
    };
    app.engine().store().write(id, write).await.unwrap();
}

#[tokio::test]
async fn a_record_that_cannot_be_read_neither_stops_the_index_nor_makes_it_wrong() {
    on_each_database(async |app| {
        let log = Log::begin();
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios"), ("c", "ios")]).await;
        let all = ["a", "b", "c"].map(|name| crowd.id(name));
        tag(&app, json!({"channel": all}), "add", json!({"g": "one"})).await;
        assert_eq!(crowd.reached(&app, &in_group("g", "one")).await, "a b c");
        app.engine().index().save_indexes().await;
        take_terms(&app, crowd.id("a")).await;
        assert_eq!(crowd.reached(&app, &in_group("g", "one")).await, "b c", "as the channels are stored");
        tag(&app, json!({"channel": crowd.id("c")}), "remove", json!({"g": "one"})).await;
        assert_eq!(crowd.reached(&app, &in_group("g", "one")).await, "b", "and it follows the log");
        let lines = log.events("record.unreadable");
        let told: Vec<_> = lines.iter().map(|line| [&line["fields"]["reader"], &line["fields"]["kind"]]).collect();
        assert_eq!(json!(told), json!([["audience_index", "Terms"]]), "once, although the last snapshot is older");

        take_terms(&app, crowd.id("b")).await;
        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &in_group("g", "one")).await, "");
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_is_named_twice_is_changed_once() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("ios", "ios")]).await;
        let id = crowd.id("ios");
        let (_, before) = logged(&app, Offset(0)).await;
        tag(&app, json!({"ios_channel": id, "channel": [id, id]}), "add", json!({"g": "a"})).await;
        let (kinds, after) = logged(&app, before).await;
        assert_eq!(kinds.iter().filter(|kind| **kind == RecordKind::TagChange).count(), 1, "{kinds:?}");
        // Of two types, a channel has one at most.
        tag(&app, json!({"ios_channel": id, "android_channel": id}), "add", json!({"g": "b"})).await;
        let (kinds, _) = logged(&app, after).await;
        assert_eq!(kinds.iter().filter(|kind| **kind == RecordKind::TagChange).count(), 1, "{kinds:?}");
        assert_eq!(crowd.look_up(&app, "ios").await["tag_groups"]["g"], json!(["a", "b"]));
    })
    .await;
}

#[tokio::test]
async fn devices_may_tag_themselves_and_nobody_changes_device_properties() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let one = json!({"audience": {"ios_channel": crowd.id("a")}, "add": {"g": ["t"]}});
        app.device().post("/api/channels/tags", &one).await.expect(200);
        let two = json!({"audience": {"ios_channel": [crowd.id("a"), crowd.id("b")]}, "add": {"g": ["t"]}});
        app.device().post("/api/channels/tags", &two).await.expect(401);
        app.master().post("/api/channels/tags", &two).await.expect(200);
        let users = json!({"audience": {"named_user_id": ["kim", "lee"]}, "add": {"g": ["t"]}});
        app.device().post("/api/named_users/tags", &users).await.expect(401);
        app.master().post("/api/named_users/tags", &users).await.expect(200);

        let before = row_counts(app.engine().store()).await;
        for (group, operation) in [("ua_opt_in", "add"), ("timezone", "remove"), ("ua_anything", "set")] {
            let bodies = [
                ("/api/channels/tags", json!({"channel": crowd.id("a")})),
                ("/api/named_users/tags", json!({"named_user_id": "new"})),
            ];
            for (path, audience) in bodies {
                let refused = app.master().post(path, json!({"audience": audience, operation: {group: ["x"]}})).await;
                let refused = refused.expect(403);
                assert_eq!(refused["error_code"], 40300);
                assert!(refused["error"].as_str().unwrap().contains(group), "{refused}");
            }
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn bad_operations_are_refused_and_change_nothing() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let before = row_counts(app.engine().store()).await;
        let audience = json!({"ios_channel": crowd.id("a")});
        let hundred_and_one: Vec<String> = (0..101).map(|n| n.to_string()).collect();
        let bad = [
            (json!({}), "audience"),
            (json!({"audience": audience}), ""),
            (json!({"audience": {}, "add": {"g": "t"}}), "audience"),
            (json!({"audience": {"ios_channel": "x"}, "add": {"g": "t"}}), "audience.ios_channel"),
            (json!({"audience": {"ios_channel": []}, "add": {"g": "t"}}), "audience.ios_channel"),
            (json!({"audience": {"toaster": UNKNOWN}, "add": {"g": "t"}}), "audience.toaster"),
            (json!({"audience": {"channel": vec![UNKNOWN; 1001]}, "add": {"g": "t"}}), "audience.channel"),
            (json!({"audience": audience, "add": {"g": "t"}, "set": {"g": "t"}}), "set"),
            (json!({"audience": audience, "add": {"g": "t"}, "remove": {"g": ["t"]}}), "remove.g"),
            (json!({"audience": audience, "add": {"g": ""}}), "add.g"),
            (json!({"audience": audience, "add": {"g": ["x".repeat(129)]}}), "add.g[0]"),
            (json!({"audience": audience, "add": {"g": hundred_and_one}}), "add.g"),
            (json!({"audience": audience, "add": {"@type": "ios"}}), "add.@type"),
            (json!({"audience": audience, "add": {"g": "t"}, "more": 1}), "more"),
        ];
        for (body, path) in bad {
            let refused = app.master().post("/api/channels/tags", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}: {refused}");
        }
        for (body, path) in [
            (json!({"audience": {"named_user_id": ""}, "add": {"g": "t"}}), "audience.named_user_id"),
            (json!({"audience": {"named_user_id": []}, "add": {"g": "t"}}), "audience.named_user_id"),
            (json!({"audience": {"channel": UNKNOWN}, "add": {"g": "t"}}), "audience.named_user_id"),
        ] {
            let refused = app.master().post("/api/named_users/tags", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}: {refused}");
        }
        // Ten times a hundred tags fit, and not one more.
        for n in 0..10 {
            let tags: Vec<String> = (0..100).map(|i| format!("{n}-{i}")).collect();
            tag(&app, audience.clone(), "add", json!({"g": tags})).await;
        }
        for group in ["g", "another"] {
            let one_more = json!({"audience": audience, "add": {group: "one more"}});
            app.master().post("/api/channels/tags", one_more).await.expect(400);
        }
        let exchange = json!({"audience": audience, "add": {"another": "one more"}, "remove": {"g": "0-0"}});
        app.master().post("/api/channels/tags", exchange).await.expect(200);
        tag(&app, audience, "set", json!({"g": []})).await;
        let after = row_counts(app.engine().store()).await;
        assert_eq!((&after["channel"], &after["named_user"]), (&before["channel"], &before["named_user"]));
    })
    .await;
}
