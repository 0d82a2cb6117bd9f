//! What devices are told of their inboxes, in every form.

use std::collections::BTreeSet;

use ::model::event::RecordKind;
use ::model::ids::AppId;
use providers::http::Streaming;
use serde_json::{Value, json};
use store::log::{self, NewRecord};
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};

use super::forms::{events, poll, stream};
use crate::inbox::{Phone, send};
use crate::logs::Log;
use crate::personalization::set;
use crate::privacy::ask;

/// The devices of one person, who share an inbox.
async fn devices(app: &TestApp) -> (Device, Device, Phone) {
    let phone = Device::register(app, json!({"device_type": "ios", "live": true})).await;
    let tablet = Device::register(app, json!({"device_type": "android", "live": true})).await;
    let body = json!({"ios_channels": [phone.channel], "android_channels": [tablet.channel]});
    let inbox = Phone::with(app, &body, &phone.channel).await;
    (phone, tablet, inbox)
}

/// How many are unread, as the device is told next. A message for the inbox is also a push without a text.
async fn unread(socket: &mut Socket) -> Value {
    loop {
        let told = socket.next().await;
        match told["type"].as_str() {
            Some("inbox") => return told["unread"].clone(),
            _ => assert!(told["push"]["alert"].is_null(), "{told}"),
        }
    }
}

/// The text of the next push that has one.
async fn alert(socket: &mut Socket) -> Value {
    loop {
        let told = socket.next().await;
        assert_eq!(told["type"], "push", "{told}");
        if !told["push"]["alert"].is_null() {
            return told["push"]["alert"].clone();
        }
    }
}

/// The next that a device is told about its inbox by events, with its id.
async fn unread_event(stream: &mut Streaming) -> (Option<String>, Value) {
    loop {
        let told = events(stream, 1).await;
        if let Some((id, _, told)) = told.into_iter().find(|(_, kind, _)| kind == "inbox") {
            return (id, told["unread"].clone());
        }
    }
}

async fn mark(app: &TestApp, inbox: &Phone, how: &str, id: &str) {
    let url = app.url(&inbox.path(&format!("messages/message/{id}/")));
    inbox.caller(app).post(&inbox.path(&format!("messages/{how}/")), json!({how_key(how): [url]})).await.expect(200);
}

fn how_key(how: &str) -> &'static str {
    if how == "unread" { "mark_as_read" } else { "delete" }
}

#[tokio::test]
async fn every_device_of_a_person_is_told_how_the_inbox_is() {
    on_each_database(async |app| {
        let (phone, tablet, inbox) = devices(&app).await;
        let stranger = Device::register(&app, json!({"device_type": "ios", "live": true})).await;
        let mut sockets = [Socket::open(&app, &phone, None).await, Socket::open(&app, &tablet, None).await];
        let mut of_stranger = Socket::open(&app, &stranger, None).await;
        for socket in sockets.iter_mut().chain([&mut of_stranger]) {
            socket.next().await;
        }
        let (_, first) = send(&app, "one", json!({})).await;
        for socket in &mut sockets {
            assert_eq!(unread(socket).await, 1);
        }
        let (_, second) = send(&app, "two", json!({"audience": {"channel": tablet.channel}})).await;
        for socket in &mut sockets {
            assert_eq!(unread(socket).await, 2, "also the device that does not hold the message itself");
        }
        mark(&app, &inbox, "unread", &first).await;
        for socket in &mut sockets {
            assert_eq!(unread(socket).await, 1, "read on one of them");
        }
        mark(&app, &inbox, "delete", &second).await;
        for socket in &mut sockets {
            assert_eq!(unread(socket).await, 0, "and deleted");
        }
        super::push(&app, json!("all"), "to all").await;
        assert_eq!(alert(&mut of_stranger).await, "to all", "a channel without an inbox is told nothing");
        let [mut of_phone, _] = sockets;
        assert_eq!(alert(&mut of_phone).await, "to all");
    })
    .await;
}

#[tokio::test]
async fn a_message_that_needs_more_than_is_known_is_not_counted() {
    on_each_database(async |app| {
        let (phone, tablet, inbox) = devices(&app).await;
        let mut socket = Socket::open(&app, &phone, None).await;
        socket.next().await;
        let asks = json!({"message": {"title": "For {{$required name}}"}, "options": {"personalization": true}});
        send(&app, "one", asks).await;
        assert_eq!(unread(&mut socket).await, 0);
        assert!(inbox.titles(&app).await.is_empty());
        set(&app, json!({"channel": [phone.channel, tablet.channel]}), json!({"name": "Kim"})).await;
        send(&app, "two", json!({})).await;
        assert_eq!(unread(&mut socket).await, 2);
        assert_eq!(inbox.titles(&app).await, ["two", "For Kim"]);
    })
    .await;
}

#[tokio::test]
async fn connected_devices_are_told_again_when_the_log_was_changed() {
    on_each_database(async |app| {
        let (phone, _, _) = devices(&app).await;
        let stranger = Device::register(&app, json!({"device_type": "ios", "live": true})).await;
        let mut socket = Socket::open(&app, &phone, None).await;
        socket.next().await;
        send(&app, "one", json!({})).await;
        assert_eq!(unread(&mut socket).await, 1);
        // What has changed in inboxes since the log was last read is not known then.
        ask(&app, "erase", json!({"channel_id": stranger.channel})).await;
        app.step_all().await;
        assert_eq!(unread(&mut socket).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_record_that_cannot_be_read_keeps_no_other_from_being_told() {
    on_each_database(async |app| {
        let lines = Log::begin();
        let (phone, _, _) = devices(&app).await;
        let mut socket = Socket::open(&app, &phone, None).await;
        socket.next().await;
        send(&app, "one", json!({})).await;
        assert_eq!(unread(&mut socket).await, 1);
        let now = app.engine().clock().now();
        let append = move |tx: &mut store::Tx<'_>| {
            let unreadable = |kind| NewRecord { kind, ordinal: None, body: vec![0xff] };
            log::append(tx, AppId(1), now, [RecordKind::RichDelivery, RecordKind::Live].map(unreadable).to_vec())
        };
        app.engine().store().write(AppId(1), append).await.unwrap();
        assert_eq!(unread(&mut socket).await, 1, "it may be this inbox that has changed");
        send(&app, "two", json!({})).await;
        assert_eq!(unread(&mut socket).await, 2);
        super::push(&app, json!("all"), "to all").await;
        assert_eq!(alert(&mut socket).await, "to all");
        let told = lines.events("record.unreadable");
        let kinds: BTreeSet<_> = told.iter().map(|line| line["fields"]["kind"].as_str().unwrap()).collect();
        assert_eq!((told.len(), kinds), (2, BTreeSet::from(["Live", "RichDelivery"])));
        assert!(told.iter().all(|line| line["fields"]["reader"] == "live_connections"), "{told:?}");
    })
    .await;
}

#[tokio::test]
async fn a_device_that_comes_back_is_told_if_something_has_changed() {
    on_each_database(async |app| {
        let (phone, tablet, inbox) = devices(&app).await;
        let mut socket = Socket::open(&app, &phone, None).await;
        let start = socket.next().await["at"].as_str().unwrap().to_owned();
        drop(socket);
        let (_, id) = send(&app, "one", json!({})).await;
        super::push(&app, json!("all"), "and a push").await;
        // A poll has the node read all of its log; a socket is told later what the node is yet to read.
        poll(&app, &phone, &format!("after={start}&wait=0")).await;
        let mut socket = Socket::open(&app, &phone, Some(&start)).await;
        socket.next().await;
        assert_eq!(alert(&mut socket).await, "and a push");
        let told = socket.next().await;
        assert_eq!((&told["type"], &told["unread"]), (&json!("inbox"), &json!(1)));
        let at = told["at"].as_str().unwrap().to_owned();
        drop(socket);

        let polled = poll(&app, &phone, &format!("after={at}&wait=0")).await;
        assert_eq!(polled["messages"], json!([]), "nothing is new");
        let query = format!("after={at}&wait=60");
        let (polled, ()) = tokio::join!(poll(&app, &phone, &query), mark(&app, &inbox, "unread", &id));
        assert_eq!((&polled["messages"][0]["type"], &polled["messages"][0]["unread"]), (&json!("inbox"), &json!(0)));

        let mut events_of_tablet = stream(&app, &tablet, None).await;
        events(&mut events_of_tablet, 1).await;
        send(&app, "two", json!({})).await;
        let (last, n_unread) = unread_event(&mut events_of_tablet).await;
        assert_eq!(n_unread, 1);
        drop(events_of_tablet);
        // A node that has just started does not know what has changed, and tells how it is.
        let app = app.restart().await;
        let mut again = stream(&app, &tablet, last.as_deref()).await;
        assert_eq!(unread_event(&mut again).await.1, 1);
    })
    .await;
}
