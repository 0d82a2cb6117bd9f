//! How it is kept who holds a message, and which channels share an inbox.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::ids::{AppId, PushId, ScheduleId};
use model::origin::{Origin, Provenance};
use model::time::UtcMillis;
use serde_json::{Value, json};
use store::messages::{self, Message};
use store::pushes::{self, PushRow, PushTexts};
use store::{Tx, origins};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel;
use testkit::rows::row_counts;

use crate::inbox::{MINUTE, Phone, quiet_channel, send};

const APP: AppId = AppId(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How many rows say who holds something: sets of many, and one for each of few.
async fn rows(app: &TestApp) -> (i64, i64) {
    let rows = row_counts(app.engine().store()).await;
    (rows["message_holders"], rows["inbox_message"])
}

async fn send_to(app: &TestApp, phone: &Phone, title: &str) -> (String, String) {
    send(app, title, json!({"audience": {"ios_channel": phone.channel}, "device_types": ["ios"]})).await
}

#[tokio::test]
async fn a_message_to_one_is_in_nobody_elses_way() {
    on_each_database(async |app| {
        let (phone, other) = (Phone::new(&app, "ios", json!({})).await, Phone::new(&app, "ios", json!({})).await);
        let (_, first) = send_to(&app, &phone, "first").await;
        let (second_push, second) = send_to(&app, &phone, "second").await;
        assert_eq!(rows(&app).await, (0, 2), "the other one's listing reads nothing of them");
        assert_eq!(phone.titles(&app).await, ["second", "first"]);
        assert_eq!(other.titles(&app).await, Vec::<String>::new());
        let body = |id: &str| format!("messages/message/{id}/body");
        assert_eq!(phone.caller(&app).get(&phone.path(&body(&first))).await.text(), "<p>first</p>");
        other.caller(&app).get(&other.path(&body(&first))).await.expect(404);
        let read = json!({"messages": [{"message_id": first}]});
        phone.caller(&app).post(&phone.path("messages/unread"), &read).await.expect(200);
        assert_eq!(phone.unread(&app).await, ["second"]);
        app.master().delete(&format!("/api/user/messages/{second_push}")).await.expect(202);
        assert_eq!(phone.titles(&app).await, ["first"]);
        phone.caller(&app).get(&phone.path(&body(&second))).await.expect(404);

        let app = app.restart().await;
        assert_eq!(phone.titles(&app).await, ["first"]);
        app.advance(DAY + 2 * 60 * MINUTE);
        app.step_all().await;
        assert_eq!(rows(&app).await, (0, 1), "what has ended is forgotten a day later");
    })
    .await;
}

#[tokio::test]
async fn messages_to_many_and_to_few_are_in_one_inbox() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({"opt_in": true, "push_address": "AB"})).await;
        copy_channel(app.engine().store(), APP, phone.channel.parse().unwrap(), 300).await;
        let (_, many) = send(&app, "many", json!({"device_types": ["ios"]})).await;
        assert_eq!(rows(&app).await, (1, 0), "301 neighbors are one set");
        send_to(&app, &phone, "few").await;
        let tag = json!({"audience": {"tag": "nobody"}, "device_types": ["ios"]});
        send(&app, "others", tag).await;
        assert_eq!(rows(&app).await, (1, 1));
        assert_eq!(phone.titles(&app).await, ["few", "many"]);
        let body = phone.caller(&app).get(&phone.path(&format!("messages/message/{many}/body"))).await;
        assert_eq!(body.text(), "<p>many</p>");
        app.master().delete(&format!("/api/user/messages/{many}")).await.expect(202);
        assert_eq!(phone.titles(&app).await, ["few"]);
        app.advance(DAY + 2 * 60 * MINUTE);
        app.step_all().await;
        assert_eq!(rows(&app).await, (0, 1));
    })
    .await;
}

/// A message in two languages for a phone that speaks English, and the date of its listing.
async fn localized(app: &TestApp) -> (Phone, String) {
    let phone = Phone::new(app, "ios", json!({"locale_language": "en"})).await;
    let german = json!({"language": "de", "message": {"title": "Hallo", "body": "b"}});
    send(app, "Hello", json!({"device_types": ["ios"], "localizations": [german]})).await;
    app.advance(MINUTE);
    let listing = phone.caller(app).get(&phone.path("messages/")).await;
    assert_eq!(listing.expect(200)["messages"][0]["title"], "Hello");
    let known = listing.header("last-modified").unwrap().to_owned();
    assert_eq!(phone.list_since(app, &known).await.status.as_u16(), 304);
    app.advance(MINUTE);
    (phone, known)
}

#[tokio::test]
async fn whatever_changes_the_language_of_a_channel_changes_its_inbox() {
    on_each_database(async |app| {
        let (phone, known) = localized(&app).await;
        // Who knows the secret may say otherwise than the registration.
        let upload = app.device().request(Method::POST, "/warp9/");
        let upload = upload.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", &phone.channel);
        let upload = upload.header("X-UA-Locale-Language", "de");
        let event = json!([{"type": "app_foreground", "event_id": "1", "time": "1714564920", "data": {}}]);
        let body = upload.body(Bytes::from(event.to_string())).unwrap();
        app.device().send(body).await.expect(200);
        app.advance(MINUTE);
        assert_eq!(phone.list_since(&app, &known).await.expect(200)["messages"][0]["title"], "Hallo");

        let (phone, known) = localized(&app).await;
        let uninstall = json!({"channel_id": phone.channel, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        app.advance(MINUTE);
        phone.list_since(&app, &known).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn uninstalled_channels_take_nobodys_room() {
    on_each_database(async |app| {
        let mut channels = Vec::new();
        for _ in 0..22 {
            channels.push(quiet_channel(&app, "ios", json!({})).await);
        }
        let phone = Phone::with(&app, &json!({"ios_channels": channels[..20]}), &channels[0]).await;
        send(&app, "for all", json!({})).await;
        let add = async |channel: &String| {
            let change = json!({"ios_channels": {"add": [channel]}});
            phone.caller(&app).post(&phone.path(""), change).await
        };
        let refused = add(&channels[20]).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("20 channels"), "{refused}");
        for gone in [&channels[3], &channels[5]] {
            let uninstall = json!({"channel_id": gone, "device_type": "ios"});
            app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        }
        let shown = add(&channels[20]).await.expect(200);
        let ids = shown["ios_channels"].as_array().unwrap();
        assert_eq!(ids.len(), 20);
        assert!(!ids.contains(&json!(channels[3])) && ids.contains(&json!(channels[5])), "the oldest makes room");
        assert_eq!(phone.titles(&app).await, ["for all"]);
        // A device that a server registers finds room, too.
        let hints =
            json!({"channel": {"device_type": "ios", "opt_in": false}, "identity_hints": {"user_id": phone.user}});
        let registered = app.master().post("/api/channels", hints).await.expect(201)["channel_id"].clone();
        let shown: Value = phone.caller(&app).get(&phone.path("")).await.expect(200);
        assert!(shown["ios_channels"].as_array().unwrap().contains(&registered));
        add(&channels[21]).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn servers_delete_many_messages_at_once() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let (push, first) = send(&app, "first", json!({})).await;
        let (_, second) = send(&app, "second", json!({})).await;
        send(&app, "third", json!({})).await;
        let batch = async |body: Value| app.master().post("/api/user/messages/batch-delete", body).await;
        let reply = batch(json!({"message_ids": [push, "nonsense", second]})).await.expect(202);
        let error = json!({"message_id": "nonsense", "error_message": "Message not found.", "error_code": 40404});
        assert_eq!(reply, json!({"deleted_message_ids": [&first, &second], "errors": [&error]}));
        assert_eq!(phone.titles(&app).await, ["third"]);
        batch(json!({"message_ids": ["nonsense"]})).await.expect(404);
        // What is named twice, in whichever way, is told once.
        let twice =
            batch(json!({"message_ids": [second, "nonsense", push, first, "nonsense", second]})).await.expect(202);
        assert_eq!(twice, json!({"deleted_message_ids": [second, first], "errors": [error]}));

        let body = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00",
            "recurring": {"cadence": {"type": "hourly", "count": 1}}},
            "push": {"audience": "all", "device_types": ["ios"], "message": {"title": "hourly", "body": "b"}}});
        let created = app.master().post("/api/schedules", body).await.expect(201);
        for _ in 0..2 {
            app.advance(60 * MINUTE);
            app.step_all().await;
        }
        assert_eq!(phone.titles(&app).await, ["hourly", "hourly", "third"]);
        let unknown = "00000000-0000-4000-8000-000000000000";
        let group = &created["schedule_ids"][0];
        let reply = batch(json!({"group_ids": [group, unknown, group, unknown]})).await.expect(202);
        assert_eq!(reply["deleted_message_ids"].as_array().unwrap().len(), 2);
        assert_eq!((&reply["errors"][0]["group_id"], reply["errors"].as_array().unwrap().len()), (&json!(unknown), 1));
        assert_eq!(phone.titles(&app).await, ["third"]);
        batch(json!({"group_ids": [unknown]})).await.expect(404);
    })
    .await;
}

/// Gives a schedule more messages, as if it had sent what it sent before so many times more, at a time.
async fn send_more(app: &TestApp, group: &str, created: UtcMillis, n: u32) {
    let group: ScheduleId = group.parse().unwrap();
    let write = move |tx: &mut Tx<'_>| {
        let origin = Origin::Schedule(group);
        let first = origins::first_pushes(tx, APP, origin, 1)?[0];
        let row = pushes::by_id(tx, APP, first)?.unwrap();
        let message = messages::by_push(tx, APP, first)?.unwrap();
        for _ in 0..n {
            let id = PushId::at(created);
            pushes::insert(tx, APP, &PushRow { id, created, ..row.clone() }, &PushTexts::default())?;
            origins::insert(tx, APP, id, &Provenance::of(origin))?;
            let number = messages::take_number(tx, APP)?;
            messages::insert(tx, APP, &Message { number, push: id, ends: created.plus(DAY), ..message.clone() })?;
        }
        Ok::<_, store::Error>(())
    };
    app.engine().store().write(APP, write).await.unwrap();
}

async fn n_messages(app: &TestApp) -> i64 {
    let now = app.clock().now();
    let sql = "select count(*) from message where ends > $1";
    let read = app.engine().store().read(move |tx| tx.query_one(sql, &[now.into()], |row| row.get(0)));
    read.await.unwrap_or_else(|error: store::Error| panic!("{error}"))
}

#[tokio::test]
async fn a_group_of_very_many_messages_is_deleted_in_steps() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let body = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00",
            "recurring": {"cadence": {"type": "hourly", "count": 1}}},
            "push": {"audience": "all", "device_types": ["ios"], "message": {"title": "hourly", "body": "b"}}});
        let created = app.master().post("/api/schedules", body).await.expect(201);
        let group = created["schedule_ids"][0].as_str().unwrap();
        send(&app, "stays", json!({})).await;
        app.advance(60 * MINUTE);
        app.step_all().await;
        send_more(&app, group, app.clock().now(), 1_100).await;
        // One more is due, and not in any inbox yet.
        app.advance(60 * MINUTE);
        let worker = app.engine().worker();
        while row_counts(app.engine().store()).await["push"] < 1_103 {
            assert!(worker.step().await.unwrap());
        }
        assert_eq!(n_messages(&app).await, 1_102);

        let delete = json!({"group_ids": [group]});
        let reply = app.master().post("/api/user/messages/batch-delete", delete.clone()).await.expect(202);
        let told: BTreeSet<&str> =
            reply["deleted_message_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!((told.len(), &reply["errors"]), (501, &json!([])), "a portion, and what is still to be sent");
        assert_eq!(n_messages(&app).await, 602);
        // What is sent after the request stays.
        app.advance(MINUTE);
        send_more(&app, group, app.clock().now(), 3).await;
        let app = app.restart().await;
        tokio::join!(app.step_all(), app.step_all());
        assert_eq!((n_messages(&app).await, phone.titles(&app).await), (4, vec!["stays".to_owned()]));
        app.advance(60 * MINUTE);
        app.step_all().await;
        assert_eq!(phone.titles(&app).await, ["hourly", "stays"]);
        app.master().post("/api/user/messages/batch-delete", delete).await.expect(202);
    })
    .await;
}
