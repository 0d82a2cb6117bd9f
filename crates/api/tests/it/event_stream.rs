//! The events of an app as a stream: forms, places to begin, filters, and how streams end.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use providers::http::Streaming;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;

use crate::event_schema;

/// Registers a device and answers its channel id.
async fn register(app: &TestApp, device_type: &str, address: &str) -> String {
    let body = json!({"channel": {
        "device_type": device_type, "opt_in": true, "push_address": address, "tags": ["vip"], "set_tags": true,
        "timezone": "Europe/Berlin", "locale_language": "de", "locale_country": "DE", "app_version": "1.2",
    }});
    let answer = app.device().post("/api/channels", body).await.expect(201);
    answer["channel_id"].as_str().unwrap().to_owned()
}

async fn push(app: &TestApp, alert: &str) -> String {
    let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}});
    let answer = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

/// A bit of everything that servers and registrations can cause.
async fn live(app: &TestApp) -> [String; 2] {
    let channels = [register(app, "ios", "A1").await, register(app, "android", "B1").await];
    let open = json!({"channel": {
        "type": "open", "opt_in": true, "address": "fridge-1",
        "open": {"open_platform_name": "fridge", "identifiers": {"model": "F1"}},
    }});
    app.master().post("/api/channels/open", open).await.expect(200);
    let user = json!({"channel_id": channels[1], "named_user_id": "ann"});
    app.master().post("/api/named_users/associate", user).await.expect(200);
    push(app, "one").await;
    let tags = json!({"audience": {"channel": channels[1]}, "add": {"crew": ["a", "b"]}});
    app.master().post("/api/channels/tags", tags).await.expect(200);
    let uninstall = json!([{"channel_id": channels[0], "device_type": "ios"}]);
    app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
    channels
}

fn events(lines: &str) -> Vec<Value> {
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        event_schema::check(event).unwrap_or_else(|wrong| panic!("{wrong}: {event}"));
    }
    events
}

/// Everything up to now that a query asks for.
async fn read(app: &TestApp, query: &str) -> Vec<Value> {
    let reply = app.master().get(&format!("/api/events?follow=false{query}")).await;
    assert_eq!(reply.status.as_u16(), 200, "{}", reply.text());
    events(reply.text())
}

fn offset(event: &Value) -> i64 {
    event["offset"].as_str().unwrap().parse().unwrap()
}

async fn open(app: &TestApp, query: &str, headers: &[(&str, &str)]) -> (Reply, Streaming) {
    let master = app.master();
    let request = master.request(Method::GET, &format!("/api/events{query}"));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let (head, stream) = master.open(request.body(Bytes::new()).unwrap()).await;
    assert_eq!(head.status.as_u16(), 200, "{query}");
    (head, stream)
}

/// Reads until there are so many whole events.
async fn lines(stream: &mut Streaming, n_events: usize) -> Vec<Value> {
    let mut text = String::new();
    while text.matches('\n').count() < n_events {
        text += std::str::from_utf8(&stream.chunk().await.unwrap().expect("the stream goes on")).unwrap();
    }
    events(&text)
}

#[tokio::test]
async fn everything_that_happens_is_told_in_one_order() {
    on_each_database(async |app| {
        let channels = live(&app).await;
        let all = read(&app, "").await;
        let types: BTreeSet<_> = all.iter().map(|event| event["type"].as_str().unwrap()).collect();
        let expected = ["CONTACT_CHANGE", "FIRST_OPEN", "FIRST_OPT_IN", "PUSH_BODY", "SEND", "TAG_CHANGE", "UNINSTALL"];
        assert_eq!(types, BTreeSet::from(expected));
        assert!(all.is_sorted_by(|a, b| offset(a) < offset(b)));
        let count = |kind: &str| all.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((count("FIRST_OPEN"), count("SEND"), count("UNINSTALL")), (3, 3, 1));
        let of_open = all.iter().find(|event| event["device"]["device_type"] == "OPEN").unwrap();
        assert_eq!(of_open["device"]["open_platform_name"], "fridge");
        assert_eq!(of_open["device"]["identifiers"], json!({"model": "F1"}));
        let sent =
            all.iter().find(|event| event["type"] == "SEND" && event["device"]["channel"] == channels[1]).unwrap();
        assert_eq!(sent["device"]["named_user_id"], "ann");
        assert_eq!(
            sent["device"]["attributes"],
            json!({
                "push_opt_in": "true", "iana_timezone": "Europe/Berlin", "locale_timezone": "7200",
                "locale_language_code": "de", "locale_country_code": "DE", "app_version": "1.2",
            })
        );

        for (n_seen, event) in (1..).zip(&all) {
            let rest = read(&app, &format!("&offset={}", offset(event))).await;
            assert_eq!(rest, all[n_seen..], "strictly after an event");
        }
        assert_eq!(read(&app, "&limit=3").await, all[..3]);
        assert_eq!(read(&app, "&start=earliest").await, all);
        assert_eq!(read(&app, "&start=latest").await, [] as [Value; 0]);

        let only =
            |wanted: &dyn Fn(&Value) -> bool| all.iter().filter(|event| wanted(event)).cloned().collect::<Vec<_>>();
        let sends = only(&|event| event["type"] == "SEND" || event["type"] == "UNINSTALL");
        assert_eq!(read(&app, "&types=SEND,uninstall").await, sends);
        let of_second = only(&|event| event["device"]["channel"] == channels[1]);
        assert_eq!(read(&app, &format!("&channel={}", channels[1])).await, of_second);
        let mine = only(&|event| event["type"] == "FIRST_OPEN" && event["device"]["channel"] == channels[1]);
        assert_eq!(read(&app, &format!("&channel={}&types=FIRST_OPEN", channels[1])).await, mine);

        let restarted = app.restart().await;
        assert_eq!(read(&restarted, "").await, all, "and it stays that way");
    })
    .await;
}

#[tokio::test]
async fn a_request_in_a_body_can_ask_for_more() {
    on_each_database(async |app| {
        let channels = live(&app).await;
        let all = read(&app, "").await;
        let ask = async |mut body: Value| {
            body["follow"] = json!(false);
            let reply = app.master().post("/api/events", body).await;
            assert_eq!(reply.status.as_u16(), 200, "{}", reply.text());
            events(reply.text())
        };
        assert_eq!(ask(json!({"start": "EARLIEST"})).await, all);
        assert_eq!(ask(json!({"resume_offset": all[1]["offset"]})).await, all[2..]);
        let push_id = all.iter().find(|event| event["type"] == "PUSH_BODY").unwrap()["body"]["push_id"].clone();
        let of_push = ask(json!({"filters": [{"notifications": [{"push_id": push_id}]}]})).await;
        let types: Vec<_> = of_push.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["PUSH_BODY", "SEND", "SEND", "SEND"]);
        let of_ann = ask(json!({"filters": [{"users": [{"named_user_id": "ann"}], "types": ["SEND"]}]})).await;
        assert!(of_ann.len() == 1 && of_ann[0]["device"]["channel"] == channels[1], "{of_ann:?}");
        let either = ask(json!({"filters": [
            {"device_types": ["OPEN"], "types": ["FIRST_OPEN"]}, {"devices": [{"ios_channel": channels[0]}], "types": ["UNINSTALL"]},
        ]}));
        let either: Vec<_> = either.await.iter().map(|event| event["type"].clone()).collect();
        assert_eq!(either, ["FIRST_OPEN", "UNINSTALL"]);
        for (body, path) in [
            (json!({"filters": []}), "filters"),
            (json!({"resume_offset": "x"}), "resume_offset"),
            (json!({"filters": [{"predicates": []}]}), "filters[0].predicates"),
        ] {
            let refused = app.master().post("/api/events", body).await.expect(400);
            assert_eq!(refused["details"]["path"], path);
        }
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_said() {
    on_each_database(async |app| {
        register(&app, "ios", "A1").await;
        for (query, path) in [
            ("offset=x", "offset"),
            ("offset=-1", "offset"),
            ("offset=99999999999999", "offset"),
            ("start=yesterday", "start"),
            ("start=latest&offset=5", "offset"),
            ("types=OPEN,WHATEVER", "types"),
            ("types=TERMS", "types"),
            ("channel=x", "channel"),
            ("channel=9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "channel"),
            ("follow=perhaps", "follow"),
            ("limit=0", "limit"),
        ] {
            let refused = app.master().get(&format!("/api/events?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{query}: {refused}");
        }
        let master = app.master();
        let request = master.request(Method::GET, "/api/events").header("last-event-id", "x");
        master.send(request.body(Bytes::new()).unwrap()).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn streams_go_on_and_resume_in_either_form() {
    on_each_database(async |app| {
        register(&app, "ios", "A1").await;
        let all = read(&app, "").await;
        let (head, mut stream) = open(&app, "", &[]).await;
        assert_eq!(head.header("content-type"), Some("application/vnd.urbanairship+x-ndjson; version=3"));
        assert_eq!(lines(&mut stream, all.len()).await, all, "what there is, and then it goes on");
        push(&app, "one").await;
        let new = lines(&mut stream, 2).await;
        assert_eq!((&new[0]["type"], &new[1]["type"]), (&json!("PUSH_BODY"), &json!("SEND")));
        drop(stream);

        let accept = ("accept", "application/vnd.partner+x-ndjson; version=3;");
        let (head, _) = open(&app, "?start=latest", &[accept]).await;
        assert_eq!(head.header("content-type"), Some("application/vnd.partner+x-ndjson; version=3"));
        let (head, _) = open(&app, "", &[("accept", "application/x-ndjson")]).await;
        assert_eq!(head.header("content-type"), Some("application/x-ndjson"));

        // As a browser would: the query is repeated, and the id of the last event wins.
        let last = all.last().unwrap()["offset"].as_str().unwrap();
        let headers = [("accept", "text/event-stream"), ("last-event-id", last)];
        let (head, mut stream) = open(&app, "?start=earliest", &headers).await;
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        let mut text = String::new();
        while text.matches("\n\n").count() < 3 {
            text += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
        }
        let (opening, text) = text.split_once("\n\n").unwrap();
        assert_eq!(opening, format!("id: {last}"), "who breaks off before the first event comes back to here");
        let sent: Vec<(&str, Value)> = text
            .split_terminator("\n\n")
            .map(|event| event.strip_prefix("id: ").unwrap().split_once("\ndata: ").unwrap())
            .map(|(id, data)| (id, serde_json::from_str(data).unwrap()))
            .collect();
        assert!(sent.iter().all(|(id, event)| event["offset"] == *id), "{text}");
        assert_eq!(sent.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), new);
    })
    .await;
}

#[tokio::test]
async fn streams_end_when_they_are_asked_to_and_when_the_server_stops() {
    on_each_database(async |app| {
        register(&app, "ios", "A1").await;
        let (_, mut limited) = open(&app, "?limit=1", &[]).await;
        lines(&mut limited, 1).await;
        assert!(limited.chunk().await.unwrap().is_none());
        let (_, mut stream) = open(&app, "?start=latest", &[]).await;
        app.begin_stop();
        assert!(stream.chunk().await.unwrap().is_none());
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nobody_resumes_from_events_that_are_gone_without_being_told() {
    on_each_database(async |app| {
        register(&app, "ios", "A1").await;
        let first = read(&app, "&limit=1").await.remove(0);
        let (_, mut stream) = open(&app, "?limit=1000", &[]).await;
        let last = offset(lines(&mut stream, 2).await.last().unwrap());
        app.advance(Duration::from_secs(8 * 24 * 60 * 60));
        register(&app, "ios", "A2").await;
        app.step_all().await;
        let refused = app.master().get(&format!("/api/events?offset={}", offset(&first))).await.expect(400);
        assert_eq!(refused["details"]["path"], "offset");
        let kept = read(&app, "&start=earliest").await;
        assert!(kept.iter().all(|event| event["processed"] == "2024-05-09T12:00:00.000Z"), "{kept:?}");
        assert_eq!(lines(&mut stream, kept.len()).await, kept, "who had read everything misses nothing");
        let resumed = read(&app, &format!("&offset={last}")).await;
        assert_eq!(resumed, kept, "neither does who comes back later");
    })
    .await;
}
