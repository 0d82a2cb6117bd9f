//! Streams that stay open: who may have how many, what is said while nothing happens, and whose streams end.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::app::Mode;
use model::event::EventOffset;
use model::ids::Offset;
use providers::http::Streaming;
use serde_json::json;
use testkit::app::{OPERATOR_TOKEN, TestApp, on_each_database};
use testkit::client::{Caller, Reply};

const EVENTS: &str = "/api/events?start=latest";
const SANDBOX: &str = "/api/sandbox/stream";
/// Half of all there are.
const STREAMS_OF_ONE: usize = 128;

async fn open(caller: &Caller, path: &str) -> (Reply, Streaming) {
    caller.open(caller.request(Method::GET, path).body(Bytes::new()).unwrap()).await
}

async fn open_well(caller: &Caller, path: &str) -> Streaming {
    let (head, stream) = open(caller, path).await;
    assert_eq!(head.status.as_u16(), 200, "{path}");
    stream
}

async fn head_of_log(app: &TestApp) -> Offset {
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    app.engine().store().read(move |tx| store::log::head(tx, id)).await.unwrap()
}

async fn register(app: &TestApp) {
    let body = json!({"channel": {"device_type": "ios", "opt_in": true}});
    app.master().post("/api/channels", body).await.expect(201);
}

#[tokio::test]
async fn streams_end_with_the_secret_they_were_opened_with_and_with_the_app() {
    on_each_database(async |app| {
        let key = &app.app.key;
        let rotate = async |secret: &str| {
            let body = json!({ "secret": secret });
            app.operator().post(&format!("/operator/apps/{key}/rotate"), body).await.expect(200)
        };
        let other = app.another_app(Mode::Development).await;
        let mut of_other = open_well(&app.nobody().basic(&other.key, &other.master_secret), EVENTS).await;
        let (mut events, mut sandbox) =
            (open_well(&app.master(), EVENTS).await, open_well(&app.master(), SANDBOX).await);
        // With another secret they have nothing to do.
        rotate("app").await;
        register(&app).await;
        assert!(events.chunk().await.unwrap().unwrap().starts_with(b"{"));
        let rotated = rotate("master").await;
        assert!(events.chunk().await.unwrap().is_none());
        assert!(sandbox.chunk().await.unwrap().is_none());

        let renewed = app.nobody().basic(key, rotated["master_secret"].as_str().unwrap());
        let (mut events, mut sandbox) = (open_well(&renewed, EVENTS).await, open_well(&renewed, SANDBOX).await);
        app.operator().delete(&format!("/operator/apps/{key}")).await.expect(204);
        assert!(events.chunk().await.unwrap().is_none());
        assert!(sandbox.chunk().await.unwrap().is_none());
        let (refused, _) = open(&renewed, EVENTS).await;
        assert_eq!(refused.status.as_u16(), 401);

        let server = app.nobody().basic(&other.key, &other.master_secret);
        server.post("/api/channels", json!({"channel": {"device_type": "ios"}})).await.expect(201);
        assert!(of_other.chunk().await.unwrap().is_some(), "others go on");
    })
    .await;
}

#[tokio::test]
async fn one_app_does_not_take_the_streams_of_all() {
    on_each_database(async |app| {
        let greedy = app.master();
        let mut streams = Vec::new();
        for n in 0..STREAMS_OF_ONE {
            streams.push(open_well(&greedy, if n % 2 == 0 { EVENTS } else { SANDBOX }).await);
        }
        for path in [EVENTS, SANDBOX] {
            let refused = greedy.get(path).await;
            assert_eq!(refused.expect(429)["error_code"], 42901);
            let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
            assert!(seconds > 0, "{seconds}");
        }
        // Waiting for the sandbox is as good as a stream; looking into it is not.
        assert_eq!(greedy.get("/api/sandbox?wait=30").await.expect(429)["error_code"], 42901);
        greedy.get("/api/sandbox").await.expect(200);
        // Lists have places of their own, and so does everybody else.
        greedy.get("/api/lists/none/csv").await.expect(404);
        let other = app.another_app(Mode::Development).await;
        open_well(&app.nobody().basic(&other.key, &other.master_secret), EVENTS).await;
        app.begin_stop();
        for mut stream in streams {
            assert!(stream.chunk().await.unwrap().is_none());
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_quiet_stream_shows_that_it_is_alive() {
    on_each_database(async |app| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let settings = api::Settings {
            public_url: None,
            operator_token: OPERATOR_TOKEN.to_owned(),
            serves_api: true,
            keep_alive: Duration::from_millis(5),
            drain: Duration::ZERO,
            limits: api::Limits::default(),
            tls: None,
            trusted_proxies: Vec::new(),
            demo: false,
            pages: None,
        };
        let (_stop, stops) = tokio::sync::watch::channel(false);
        tokio::spawn(api::serve(listener, app.engine().clone(), settings, stops));
        let caller = Caller::new(base).basic(&app.app.key, &app.app.master_secret);
        register(&app).await;
        let end = EventOffset::end_of(head_of_log(&app).await).to_string();
        let updates = r#"{"start":"LATEST","enable_offset_updates":true}"#;
        let server_sent = "text/event-stream";
        for (method, path, accept, body, wanted) in [
            (Method::GET, EVENTS, "*/*", "", "\n"),
            (Method::GET, EVENTS, server_sent, "", ": nothing new\nid: <offset>\n\n"),
            (Method::GET, SANDBOX, server_sent, "", ": nothing new\n\n"),
            (Method::POST, "/api/events", "*/*", updates, "{\"type\":\"OFFSET_UPDATE\",\"offset\":\"<offset>\"}\n"),
            (
                Method::POST,
                "/api/events",
                server_sent,
                updates,
                "id: <offset>\ndata: {\"type\":\"OFFSET_UPDATE\",\"offset\":\"<offset>\"}\n\n",
            ),
        ] {
            let request = caller.request(method, path).header("accept", accept).body(Bytes::from(body)).unwrap();
            let (head, mut stream) = caller.open(request).await;
            assert_eq!(head.status.as_u16(), 200, "{path}");
            if accept == server_sent && path != SANDBOX {
                // Where it begins.
                assert_eq!(stream.chunk().await.unwrap().unwrap(), format!("id: {end}\n\n"));
            }
            for _ in 0..2 {
                let said = stream.chunk().await.unwrap().unwrap();
                let said = std::str::from_utf8(&said).unwrap();
                assert_eq!(said, wanted.replace("<offset>", &end));
            }
        }
    })
    .await;
}
