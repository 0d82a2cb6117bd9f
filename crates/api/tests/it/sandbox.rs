//! The sandbox as a list and as a stream.

use bytes::Bytes;
use http::Method;
use providers::http::Streaming;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

/// Registers a device and answers its channel id.
async fn register(app: &TestApp, device_type: &str) -> String {
    let body =
        json!({"channel": {"device_type": device_type, "opt_in": true, "push_address": format!("{device_type}-1")}});
    let answer = app.device().post("/api/channels", body).await.expect(201);
    answer["channel_id"].as_str().unwrap().to_owned()
}

/// Sends to everybody and answers the push id.
async fn push(app: &TestApp, alert: &str) -> String {
    let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}});
    let answer = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

/// Reads a stream until it has so many events: their ids and their data.
async fn events(stream: &mut Streaming, n_events: usize) -> Vec<(i64, Value)> {
    let mut text = String::new();
    loop {
        let events: Vec<_> = text.split_inclusive("\n\n").filter_map(event).collect();
        if events.len() >= n_events {
            return events;
        }
        let chunk = stream.chunk().await.unwrap().expect("the stream goes on");
        text += std::str::from_utf8(&chunk).unwrap();
    }
}

fn event(text: &str) -> Option<(i64, Value)> {
    let (id, data) = text.strip_suffix("\n\n")?.split_once('\n')?;
    Some((id.strip_prefix("id: ")?.parse().unwrap(), serde_json::from_str(data.strip_prefix("data: ")?).unwrap()))
}

async fn open(app: &TestApp, path: &str, last_event_id: Option<i64>) -> Streaming {
    let master = app.master();
    let mut request = master.request(Method::GET, path);
    if let Some(id) = last_event_id {
        request = request.header("last-event-id", id);
    }
    let (head, stream) = master.open(request.body(Bytes::new()).unwrap()).await;
    assert_eq!(head.status.as_u16(), 200);
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    stream
}

#[tokio::test]
async fn deliveries_are_listed_oldest_first_and_filtered() {
    on_each_database(async |app| {
        let [ios, android] = [register(&app, "ios").await, register(&app, "android").await];
        let first = push(&app, "one").await;
        let second = push(&app, "two").await;
        let list = async |query: &str| {
            let body = app.master().get(&format!("/api/sandbox{query}")).await.expect(200);
            body["deliveries"].as_array().unwrap().clone()
        };
        let all = list("").await;
        assert_eq!(all.len(), 4);
        let pushes: Vec<_> = all.iter().map(|delivery| delivery["push_id"].as_str().unwrap()).collect();
        assert_eq!(pushes, [&first, &first, &second, &second]);
        let delivery = all.iter().find(|delivery| delivery["channel_id"] == ios).unwrap();
        assert_eq!((&delivery["device_type"], &delivery["at"]), (&json!("ios"), &json!("2024-05-01T12:00:00.000Z")));
        assert_eq!(delivery["request"]["method"], "POST");
        assert!(delivery["request"]["body"].to_string().contains("one"), "{delivery}");
        for key in ["delivery_id", "transport"] {
            assert!(delivery[key].is_string(), "{delivery}");
        }
        assert!(delivery["request"]["url"].is_string() && delivery["request"]["headers"].is_object(), "{delivery}");

        assert_eq!(list(&format!("?push_id={second}")).await, all[2..]);
        assert_eq!(list(&format!("?push_id={second}&channel_id={android}")).await.len(), 1);
        assert_eq!(list("?limit=1").await, all[3..]);
        for query in ["push_id=x", "channel_id=x", "limit=0", "limit=1001"] {
            let refused = app.master().get(&format!("/api/sandbox?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], query.split('=').next().unwrap());
        }
    })
    .await;
}

#[tokio::test]
async fn streams_tell_deliveries_as_they_happen_and_resume_where_they_were() {
    on_each_database(async |app| {
        register(&app, "android").await;
        push(&app, "before").await;
        let mut stream = open(&app, "/api/sandbox/stream", None).await;
        push(&app, "one").await;
        let seen = events(&mut stream, 1).await;
        assert_eq!(seen.len(), 1);
        assert!(seen[0].1["request"]["body"].to_string().contains("one"), "{seen:?}");
        drop(stream);
        push(&app, "two").await;
        push(&app, "three").await;
        let mut resumed = open(&app, "/api/sandbox/stream/", Some(seen[0].0)).await;
        let missed = events(&mut resumed, 2).await;
        let listed = app.master().get("/api/sandbox?limit=2").await.expect(200);
        let missed: Vec<Value> = missed.into_iter().map(|(_, delivery)| delivery).collect();
        assert_eq!(json!(missed), listed["deliveries"]);
        let master = app.master();
        let request = master.request(Method::GET, "/api/sandbox/stream").header("last-event-id", "x");
        master.send(request.body(Bytes::new()).unwrap()).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn a_list_can_wait_for_its_first_delivery() {
    on_each_database(async |app| {
        register(&app, "android").await;
        let master = app.master();
        let (waited, _) = tokio::join!(master.get("/api/sandbox?wait=30"), push(&app, "one"));
        assert_eq!(waited.expect(200)["deliveries"].as_array().unwrap().len(), 1);
        // With something there already nobody waits.
        let listed = app.master().get("/api/sandbox?wait=30").await.expect(200);
        assert_eq!(listed["deliveries"].as_array().unwrap().len(), 1);
        app.master().get("/api/sandbox?wait=31").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_stops() {
    on_each_database(async |app| {
        let master = app.master();
        let stop = async {
            // Once others were answered who came later, the one who waits is being served.
            for _ in 0..3 {
                app.master().get("/api/sandbox").await.expect(200);
            }
            app.begin_stop();
        };
        let (waited, ()) = tokio::join!(master.get("/api/sandbox?wait=30"), stop);
        assert_eq!(waited.expect(200)["deliveries"], serde_json::json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    on_each_database(async |app| {
        let mut stream = open(&app, "/api/sandbox/stream", None).await;
        app.begin_stop();
        assert!(stream.chunk().await.unwrap().is_none());
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn more_streams_than_the_service_can_hold_are_asked_to_come_back() {
    on_each_database(async |app| {
        let mut held = Vec::new();
        for _ in 0..128 {
            held.push(open(&app, "/api/sandbox/stream", None).await);
        }
        let reply = app.master().get("/api/sandbox/stream").await;
        assert_eq!(reply.expect(429)["error_code"], 42901);
        assert_eq!(reply.header("retry-after"), Some("30"));
        app.master().get("/api/sandbox").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn pushes_and_deliveries_have_pages() {
    on_each_database(async |app| {
        let [ios, _] = [register(&app, "ios").await, register(&app, "android").await];
        let mut sent = Vec::new();
        for n in 0..3 {
            sent.push(push(&app, &format!("number {n}")).await);
        }
        let all = |listing: &'static str, key: &'static str, field: &'static str| {
            let app = &app;
            async move {
                let (mut path, mut found) = (format!("/api/sandbox{listing}limit=2"), Vec::new());
                loop {
                    let page = app.master().get(&path).await.expect(200);
                    found.push(page[key].as_array().unwrap().iter().map(|one| one[field].clone()).collect::<Vec<_>>());
                    match page["next_page"].as_str() {
                        Some(next) => path = next[next.find("/api/").unwrap()..].to_owned(),
                        None => return found,
                    }
                }
            }
        };
        let id = |n: usize| json!(sent[n]);
        assert_eq!(all("/pushes?", "pushes", "push_id").await, [vec![id(2), id(1)], vec![id(0)]]);
        assert_eq!(
            all("?", "deliveries", "push_id").await,
            [vec![id(2), id(2)], vec![id(1), id(1)], vec![id(0), id(0)]]
        );
        let filtered = all("?device_type=ios&", "deliveries", "channel_id").await;
        assert_eq!(filtered, [vec![json!(ios), json!(ios)], vec![json!(ios)]]);
        let newest = app.master().get("/api/sandbox/pushes?limit=1").await.expect(200)["pushes"][0].clone();
        assert_eq!((&newest["deliveries"], &newest["device_types"]), (&json!(2), &json!({"ios": 1, "android": 1})));
        let mut ways: Vec<_> =
            newest["newest"].as_array().unwrap().iter().map(|one| one["transport"].clone()).collect();
        ways.sort_by_key(ToString::to_string);
        assert_eq!(ways, [json!("apns"), json!("fcm")]);
        for wrong in ["start=0", "start=x", "q=%00"] {
            app.master().get(&format!("/api/sandbox/pushes?{wrong}")).await.expect(400);
        }
        assert_eq!(app.master().get("/api/sandbox/pushes?q=number+1").await.expect(200)["pushes"][0]["push_id"], id(1));
    })
    .await;
}
