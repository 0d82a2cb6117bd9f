//! The last requests of an app: what is kept of them, for whom, and what never is.

use bytes::Bytes;
use http::Method;
use model::app::Mode;
use providers::http::Streaming;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;

use crate::crowd::Crowd;

async fn list(caller: &Caller, query: &str) -> Vec<Value> {
    caller.get(&format!("/api/requests?{query}")).await.expect(200)["requests"].as_array().unwrap().clone()
}

fn push(text: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": text}})
}

async fn in_mode(app: &TestApp, mode: Mode) -> (Caller, Caller) {
    let made = app.another_app(mode).await;
    (app.nobody().basic(&made.key, &made.master_secret), app.nobody().basic(&made.key, &made.app_secret))
}

#[tokio::test]
async fn all_requests_of_a_development_app_are_kept_with_their_bodies_and_problems() {
    on_each_database(async |app| {
        assert_eq!(list(&app.master(), "").await, Vec::<Value>::new());
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        app.master().get(&format!("/api/channels/{}", crowd.id("a"))).await.expect(200);
        let mut wrong = push("Hi");
        wrong["notification"]["ios"] = json!({"badge": "many"});
        let request = app.master().request(Method::POST, "/api/push").header("x-request-id", "mine-1");
        let refused = app.master().send(request.body(Bytes::from(wrong.to_string())).unwrap()).await.expect(400);

        let [bad, looked_up, registered] = &list(&app.master(), "").await[..] else { panic!("three requests") };
        assert_eq!((&bad["request_id"], &bad["at"]), (&json!("mine-1"), &json!("2024-05-01T12:00:00.000Z")));
        assert_eq!(
            (&bad["method"], &bad["route"], &bad["path"]),
            (&json!("POST"), &json!("/api/push"), &json!("/api/push"))
        );
        assert_eq!(
            (&bad["status"], &bad["error_code"], &bad["error"]),
            (&json!(400), &json!(40000), &refused["error"])
        );
        assert_eq!(bad["details"], json!({"path": "notification.ios.badge"}));
        assert_eq!((&bad["body"], &bad["bytes"]), (&json!(wrong.to_string()), &json!(wrong.to_string().len())));
        assert!(bad["ms"].is_u64() && bad["answer_bytes"].is_u64(), "{bad}");
        assert_eq!((&looked_up["route"], &looked_up["by"]), (&json!("/api/channels/{channel_id}"), &json!("server")));
        assert_eq!(looked_up["path"], json!(format!("/api/channels/{}", crowd.id("a"))));
        assert_eq!((looked_up.get("error"), looked_up.get("body")), (None, None));
        assert_eq!((&registered["by"], &registered["status"]), (&json!("device"), &json!(201)));

        assert_eq!(list(&app.master(), "by=device").await.len(), 1);
        assert_eq!(list(&app.master(), "refused=true").await.len(), 1);
        assert_eq!(list(&app.master(), "refused=false&by=server").await.len(), 1);
        for (text, n) in [("MINE-1", 1), ("badge", 1), ("/api/ch", 2), (crowd.id("a"), 1), ("nothing", 0)] {
            assert_eq!(list(&app.master(), &format!("q={text}")).await.len(), n, "{text}");
        }
        assert_eq!(list(&app.master(), "limit=1").await, std::slice::from_ref(bad));
        for wrong in ["by=nobody", "refused=maybe"] {
            app.master().get(&format!("/api/requests?{wrong}")).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn of_a_production_app_only_refusals_are_kept_without_paths_and_bodies() {
    on_each_database(async |app| {
        let (master, device) = in_mode(&app, Mode::Production).await;
        master.post("/api/push/validate", push("A secret")).await.expect(200);
        device.post("/api/channels", json!({"channel": {"device_type": "toaster", "opt_in": true}})).await.expect(400);
        master.get("/api/named_users?id=kim-7").await.expect(404);
        let [missing, refused] = &list(&master, "").await[..] else { panic!("two refusals") };
        assert_eq!((&missing["status"], &missing["route"]), (&json!(404), &json!("/api/named_users")));
        assert_eq!((&refused["by"], &refused["details"]["path"]), (&json!("device"), &json!("channel.device_type")));
        for request in [missing, refused] {
            assert_eq!((request.get("path"), request.get("body")), (None, None));
        }
    })
    .await;
}

#[tokio::test]
async fn credentials_other_apps_and_those_who_guess_do_not_appear() {
    on_each_database(async |app| {
        let (other, _) = in_mode(&app, Mode::Development).await;
        other.post("/api/push/validate", push("Of another")).await.expect(200);
        app.nobody().basic(&app.app.key, "AAAAAAAAAAAAAAAAAAAAAA").get("/api/pushes").await.expect(401);
        app.operator().get("/operator/apps").await.expect(200);
        app.device().get("/api/requests").await.expect(401);
        app.master().post("/api/push/validate", push("Mine")).await.expect(200);
        let own = list(&app.master(), "").await;
        assert_eq!(own.len(), 1, "{own:?}");
        assert_eq!(list(&other, "").await.len(), 1);
        let text = json!(own).to_string();
        assert!(!text.contains(&app.app.master_secret) && !text.to_lowercase().contains("authorization"), "{text}");

        let erase = json!({"named_user_id": "kim-7"});
        app.master().get("/api/named_users?id=kim-7").await.expect(404);
        app.master().post("/api/privacy/erase", erase).await.expect(202);
        assert_eq!(list(&app.master(), "").await, Vec::<Value>::new(), "nothing names who is to be erased");
        assert_eq!(list(&other, "").await.len(), 1);
    })
    .await;
}

/// Reads a stream until it has so many events: their ids and their data.
async fn events(stream: &mut Streaming, n_events: usize) -> Vec<(String, Value)> {
    let mut text = String::new();
    loop {
        let whole = text.split_inclusive("\n\n").filter_map(|event| event.strip_suffix("\n\n")?.split_once('\n'));
        let read = whole.map(|(id, data)| {
            let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            (id.strip_prefix("id: ").unwrap().to_owned(), data)
        });
        let read: Vec<_> = read.collect();
        if read.len() >= n_events {
            return read;
        }
        let chunk = stream.chunk().await.unwrap().expect("the stream goes on");
        text += std::str::from_utf8(&chunk).unwrap();
    }
}

#[tokio::test]
async fn a_stream_tells_requests_as_they_are_answered_and_resumes() {
    on_each_database(async |app| {
        let master = app.master();
        let open = async |last: Option<&str>| {
            let mut request = master.request(Method::GET, "/api/requests/stream?refused=true");
            if let Some(last) = last {
                request = request.header("last-event-id", last);
            }
            let (head, stream) = master.open(request.body(Bytes::new()).unwrap()).await;
            assert_eq!(head.header("content-type"), Some("text/event-stream"));
            stream
        };
        master.get("/api/push/none").await.expect(404);
        let mut stream = open(None).await;
        master.get("/api/pushes").await.expect(200);
        master.get("/api/push/1").await.expect(404);
        let seen = events(&mut stream, 1).await;
        assert_eq!((seen.len(), &seen[0].1["path"]), (1, &json!("/api/push/1")), "only new ones, and only refusals");
        drop(stream);
        master.get("/api/push/2").await.expect(404);
        let mut resumed = open(Some(&seen[0].0)).await;
        assert_eq!(events(&mut resumed, 1).await[0].1["path"], json!("/api/push/2"));
        app.device().get("/api/requests/stream").await.expect(401);
    })
    .await;
}
