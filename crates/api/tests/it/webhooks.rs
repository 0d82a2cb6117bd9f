//! Webhooks for events: how they are configured, and what they are sent.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction, ReceivedEvent};

use crate::crowd::Crowd;
use crate::logs::Log;

pub(crate) const DEVICES: [(&str, &str); 3] = [("a", "ios"), ("b", "android"), ("c", "ios")];

pub(crate) fn path(app: &TestApp) -> String {
    format!("/operator/apps/{}/webhooks", app.app.key)
}

/// A webhook for some types of events, and the path under which it is. It may take its time to answer.
pub(crate) async fn create(app: &TestApp, receiver: &EventReceiver, types: &[&str]) -> String {
    create_with(app, receiver, types, 60).await
}

pub(crate) async fn create_with(app: &TestApp, receiver: &EventReceiver, types: &[&str], timeout: u32) -> String {
    let body = json!({"url": receiver.url(), "types": types, "timeout_seconds": timeout});
    let created = app.operator().post(&path(app), body).await.expect(201);
    format!("{}/{}", path(app), created["webhook"]["webhook_id"].as_str().unwrap())
}

pub(crate) async fn show(app: &TestApp, webhook: &str) -> Value {
    app.operator().get(webhook).await.expect(200)["webhook"].clone()
}

pub(crate) async fn tag(app: &TestApp, channel: &str, tag: &str) {
    let body = json!({"audience": {"channel": channel}, "add": {"device": [tag]}});
    app.master().post("/api/channels/tags", body).await.expect(200);
}

/// The channel of an event and the tag that it got, if that is what the event is about.
pub(crate) fn told(event: &Value) -> (String, String) {
    let channel = event["device"]["channel"].as_str().unwrap_or_default().to_owned();
    (channel, event["body"]["add"]["device"][0].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn an_event_is_one_request_with_all_its_headers() {
    on_each_database(async |app| {
        let receiver = EventReceiver::start().await;
        let body = json!({"url": receiver.url(), "types": ["TAG_CHANGE", "FIRST_OPEN"], "name": "warehouse",
                          "authorization": "Basic c2VjcmV0OndvcmQ=", "headers": {"X-Tenant": "hunter2"}});
        let reply = app.operator().post(&path(&app), body).await;
        let created = reply.expect(201)["webhook"].clone();
        let webhook = format!("{}/{}", path(&app), created["webhook_id"].as_str().unwrap());
        assert!(reply.headers["location"].to_str().unwrap().ends_with(&webhook));
        assert_eq!(created["has_authorization"], true);
        assert_eq!((&created["headers"], &created["state"]), (&json!(["x-tenant"]), &json!("live")));

        let crowd = Crowd::register(&app, &DEVICES[..1]).await;
        tag(&app, crowd.id("a"), "news").await;
        app.step_all().await;
        let received = receiver.received();
        let kinds: Vec<&str> = received.iter().map(|received| received.event["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["FIRST_OPEN", "TAG_CHANGE"]);
        for received in &received {
            let header = |name: &str| received.headers[name].to_str().unwrap().to_owned();
            assert_eq!(received.path, "/events?source=aerogram");
            assert_eq!(header("content-type"), "application/json; charset=UTF-8");
            assert_eq!(header("authorization"), "Basic c2VjcmV0OndvcmQ=");
            assert_eq!(header("x-tenant"), "hunter2");
            assert!(header("content-length").parse::<usize>().unwrap() > 0);
            assert!(!received.headers.contains_key("transfer-encoding"));
            for key in ["id", "offset", "occurred", "processed", "device", "type"] {
                assert!(received.event.get(key).is_some(), "{key}: {}", received.event);
            }
            assert_eq!(received.event["device"]["ios_channel"], json!(crowd.id("a")));
        }
        assert_eq!(received[1].event["body"]["add"], json!({"device": ["news"]}));

        let reply = app.operator().get(&webhook).await;
        assert!(!reply.text().contains("hunter2") && !reply.text().contains("c2VjcmV0"), "{}", reply.text());
        let shown = reply.expect(200)["webhook"].clone();
        assert_eq!((&shown["delivered"], &shown["records_behind"]), (&json!(2), &json!(0)));
        let history = app.operator().get(&format!("{webhook}/history")).await.expect(200);
        assert_eq!(history["attempts"][0]["type"], "TAG_CHANGE");
        assert_eq!((&history["attempts"][1]["status"], &history["attempts"][1]["attempt"]), (&json!(200), &json!(1)));
        app.operator().post(&format!("{webhook}/test"), "").await.expect(200);
        assert_eq!(receiver.received()[2].event["body"]["name"], "webhook_test");
        app.operator().delete(&webhook).await.expect(204);
        app.operator().get(&webhook).await.expect(404);
        tag(&app, crowd.id("a"), "more").await;
        app.step_all().await;
        assert_eq!(receiver.received().len(), 3);
    })
    .await;
}

#[tokio::test]
async fn every_channel_of_a_push_has_an_event_of_its_own() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        create(&app, &receiver, &["PUSH_BODY", "SEND"]).await;
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "hi"}});
        let push_id = app.master().post("/api/push", push).await.expect(200)["push_ids"][0].clone();
        app.step_all().await;
        let taken = receiver.taken();
        assert!(taken.iter().all(|event| event["body"]["push_id"] == push_id), "{taken:?}");
        assert_eq!(taken.iter().filter(|event| event["type"] == "PUSH_BODY").count(), 1);
        let mut channels: Vec<_> = taken.iter().filter(|event| event["type"] == "SEND").map(|e| told(e).0).collect();
        channels.sort();
        let mut expected: Vec<String> = DEVICES.iter().map(|(name, _)| crowd.id(name).to_owned()).collect();
        expected.sort();
        assert_eq!(channels, expected);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_used_is_refused() {
    on_each_database(async |app| {
        let operator = app.operator();
        let wrong = [
            json!({}),
            json!({"url": "ftp://example.com/", "types": ["OPEN"]}),
            json!({"url": "https://user:word@example.com/", "types": ["OPEN"]}),
            json!({"url": "https://example.com/", "types": []}),
            json!({"url": "https://example.com/", "types": ["TERMS"]}),
            json!({"url": "https://example.com/", "types": ["OPEN"], "start": "yesterday"}),
            json!({"url": "https://example.com/", "types": ["OPEN"], "headers": {"Content-Type": "text/plain"}}),
            json!({"url": "https://example.com/", "types": ["OPEN"], "give_up_hours": 0}),
        ];
        for body in wrong {
            operator.post(&path(&app), body).await.expect(400);
        }
        let nowhere = format!("{}/{}", path(&app), "00000000-0000-4000-8000-000000000000");
        for action in ["", "/history", "/dead"] {
            operator.get(&format!("{nowhere}{action}")).await.expect(404);
        }
        operator.patch(&nowhere, json!({"enabled": false})).await.expect(404);
        operator.delete(&nowhere).await.expect(404);
        operator.get(&format!("{}/not-an-id", path(&app))).await.expect(404);
        app.master().get(&path(&app)).await.expect(401);

        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["OPEN"]).await;
        let other = app.another_app(model::app::Mode::Development).await;
        let of_other = webhook.replace(&app.app.key, &other.key);
        operator.get(&of_other).await.expect(404);
        operator.delete(&of_other).await.expect(404);
        let both = json!({"offset": "1", "time": "2024-05-01T12:00"});
        for body in [json!({}), both, json!({"offset": "x"}), json!({"offset": "9000000000000"})] {
            operator.post(&format!("{webhook}/replay"), body).await.expect(400);
        }
        receiver.react(|_| Reaction::Status(403));
        let refused = operator.post(&format!("{webhook}/test"), "").await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("authorization"), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_disabled_webhook_goes_on_where_it_stopped() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES[..1]).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        tag(&app, crowd.id("a"), "one").await;
        app.step_all().await;
        app.operator().patch(&webhook, json!({"enabled": false})).await.expect(200);
        app.step_all().await;
        tag(&app, crowd.id("a"), "two").await;
        assert_eq!((app.step_all().await, receiver.taken().len()), (0, 1));
        assert_eq!(show(&app, &webhook).await["state"], "disabled");
        let app = app.restart().await;
        tag(&app, crowd.id("a"), "three").await;
        app.step_all().await;
        assert_eq!(receiver.taken().len(), 1);

        app.operator().patch(&webhook, json!({"enabled": true, "headers": {"x-new": "1"}})).await.expect(200);
        app.step_all().await;
        let tags: Vec<String> = receiver.taken().iter().map(|event| told(event).1).collect();
        assert_eq!(tags, ["one", "two", "three"]);
        assert_eq!(receiver.received()[2].headers["x-new"], "1");

        // A webhook that says it is gone is disabled, and loses nothing either.
        let log = Log::begin();
        receiver.react(|_| Reaction::Status(410));
        tag(&app, crowd.id("a"), "four").await;
        app.step_all().await;
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["enabled"], &shown["state"]), (&json!(false), &json!("disabled")));
        assert!(shown["reason"].as_str().unwrap().contains("410"), "{shown}");
        let logged = log.events("webhook.disabled");
        assert_eq!(logged.len(), 1, "{logged:?}");
        let fields = &logged[0]["fields"];
        assert_eq!((&logged[0]["level"], &fields["app"]), (&json!("ERROR"), &json!(app.app.key)));
        assert!(webhook.ends_with(fields["webhook"].as_str().unwrap()), "{fields}");
        assert!(fields["why"].as_str().unwrap().contains("410"), "{fields}");
        receiver.react(|_| Reaction::Status(204));
        app.operator().patch(&webhook, json!({"enabled": true})).await.expect(200);
        app.advance(std::time::Duration::from_secs(2));
        app.step_all().await;
        assert_eq!(told(receiver.taken().last().unwrap()).1, "four");
    })
    .await;
}

/// The events of a request.
fn batch(request: &ReceivedEvent) -> Vec<(String, String)> {
    request.event.as_array().expect("a batch is an array").iter().map(told).collect()
}

#[tokio::test]
async fn a_webhook_may_take_many_events_in_one_request() {
    on_each_database(async |app| {
        let receiver = EventReceiver::start().await;
        let crowd = Crowd::register(&app, &DEVICES).await;
        let body = json!({"url": receiver.url(), "types": ["TAG_CHANGE"], "batch_size": 8});
        let made = app.operator().post(&path(&app), body).await.expect(201)["webhook"].clone();
        assert_eq!(made["batch_size"], 8);
        let webhook = format!("{}/{}", path(&app), made["webhook_id"].as_str().unwrap());
        app.operator().post(&format!("{webhook}/test"), "").await.expect(200);
        assert_eq!(receiver.received()[0].event[0]["body"]["name"], "webhook_test");

        // One event is wrong, and fails the request that it is in.
        let is_bad = |batch: &Value| batch.as_array().unwrap().iter().any(|event| told(event).1 == "bad");
        receiver.react(move |batch| Reaction::Status(if is_bad(batch) { 400 } else { 200 }));
        let mut wanted = Vec::new();
        for (n, name) in ["a", "a", "b", "c", "b", "a"].into_iter().enumerate() {
            let tag_name = if n == 3 { "bad".to_owned() } else { format!("tag-{n}") };
            tag(&app, crowd.id(name), &tag_name).await;
            wanted.push((crowd.id(name).to_owned(), tag_name));
        }
        app.step_all().await;
        let requests = receiver.received().split_off(1);
        assert_eq!(batch(&requests[0]).len(), 6, "all of them at first");
        let refused = requests.iter().rfind(|request| is_bad(&request.event)).unwrap();
        assert_eq!(batch(refused).len(), 1, "in the end the bad one is alone");
        let taken: Vec<_> = requests.iter().filter(|request| !is_bad(&request.event)).flat_map(batch).collect();
        assert_eq!((taken.len(), show(&app, &webhook).await["delivered"].clone()), (5, json!(5)));
        for name in ["a", "b"] {
            let of = |all: &[(String, String)]| -> Vec<_> {
                all.iter().filter(|event| event.0 == crowd.id(name)).cloned().collect()
            };
            assert_eq!(of(&taken), of(&wanted), "in order, and each once");
        }
    })
    .await;
}
