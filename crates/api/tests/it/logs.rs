//! What is logged about requests, and what must never be.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Once;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{OPERATOR_TOKEN, on_each_database};

use crate::inbox::Phone;

thread_local! {
    /// What this thread logged, once it is asked to keep it.
    static KEPT: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Keeps what its own thread logs. There is one for the whole process, because whether a line is wanted at all is
/// remembered for all threads: with a subscriber for one thread, a line that another test reaches first would be
/// remembered as unwanted.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        KEPT.with_borrow_mut(|kept| {
            if let Some(kept) = kept {
                kept.extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Begins to keep what this thread logs from here on.
    pub(crate) fn begin() -> Self {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| tracing_subscriber::fmt().json().with_writer(|| Self).init());
        KEPT.set(Some(Vec::new()));
        Self
    }

    fn text(&self) -> String {
        String::from_utf8(KEPT.with_borrow(|kept| kept.clone().unwrap())).unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The lines that say this.
    pub(crate) fn saying(&self, message: &str) -> Vec<Value> {
        let says = |line: &Value| line["fields"]["message"].as_str().is_some_and(|text| text.contains(message));
        self.lines().into_iter().filter(says).collect()
    }

    /// The lines with this name, by which operators find them.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["fields"]["event"] == name).collect()
    }

    /// The line about an answer to the request with this id.
    fn answered(&self, id: &str) -> Value {
        let mut lines = self.lines().into_iter();
        let found = lines.find(|line| line["fields"]["id"] == id && line["fields"]["message"] == "answered");
        found.unwrap_or_else(|| panic!("{id} in {}", self.text()))
    }
}

#[tokio::test]
async fn requests_are_logged_by_route_and_without_secrets() {
    on_each_database(async |app| {
        // Everything here runs on one thread, the server too.
        let log = Log::begin();

        let master = app.master();
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "private-alert"}});
        let request = master.request(Method::POST, "/api/push/?token=private-query").header("x-request-id", "first");
        master.send(request.body(Bytes::from(push.to_string())).unwrap()).await.expect(200);
        let wrong = app.nobody().basic(&app.app.key, "private-wrong-secret");
        let request = wrong.request(Method::GET, "/api/channels/private-path").header("x-request-id", "second");
        let unauthorized = wrong.send(request.body(Bytes::new()).unwrap()).await.expect(401);
        let swapped = app.nobody().basic(&app.app.master_secret, &app.app.key);
        let request = swapped.request(Method::GET, "/api/channels").header("x-request-id", "swapped");
        swapped.send(request.body(Bytes::new()).unwrap()).await.expect(401);
        let colored = json!({"audience": "all", "device_types": "all",
            "notification": {"alert": "private-alert", "colour": "private-color"}});
        let request = master.request(Method::POST, "/api/push").header("x-request-id", "bad");
        let bad = master.send(request.body(Bytes::from(colored.to_string())).unwrap()).await.expect(400);
        let inbox = Phone::new(&app, "ios", json!({})).await;
        let user = inbox.caller(&app);
        let request = user.request(Method::GET, &inbox.path("messages")).header("x-request-id", "of-a-user");
        user.send(request.body(Bytes::new()).unwrap()).await.expect(200);
        let created =
            app.operator().post("/operator/apps", json!({"name": "x", "mode": "production"})).await.expect(201);
        let segment = json!({"display_name": "spoiled", "criteria": {"tag": "a"}});
        let segment =
            master.post("/api/segments", segment).await.expect(201)["segment_id"].as_str().unwrap().to_owned();
        let (id, spoiled, now) =
            (app.engine().tenancy().app(&app.app.key).await.unwrap().id, segment.clone(), app.clock().now());
        let spoil = move |tx: &mut store::Tx<'_>| documents::put(tx, id, DocumentKind::Segment, &spoiled, "{}", now);
        app.engine().store().write(id, spoil).await.unwrap();
        let failed = master.get(&format!("/api/segments/{segment}")).await.expect(500);
        app.engine().store().clone().close().await;
        let request = master.request(Method::GET, "/api/channels").header("x-request-id", "third");
        let without_database = master.send(request.body(Bytes::new()).unwrap()).await.expect(503);

        let first = log.answered("first");
        assert_eq!((&first["fields"]["route"], &first["fields"]["method"]), (&json!("/api/push"), &json!("POST")));
        assert_eq!(first["fields"]["status"], 200);
        assert!(first["fields"]["duration_ms"].is_number());
        assert_eq!(first["fields"]["app"], app.app.key.as_str());
        assert_eq!(log.answered("of-a-user")["fields"]["app"], app.app.key.as_str());
        let second = log.answered("second");
        assert_eq!(
            (&second["fields"]["route"], second["fields"].get("app")),
            (&json!("/api/channels/{channel_id}"), None)
        );
        // A refused caller knows no more than what stands in the answer, and names the app perhaps, which proves nothing.
        assert_eq!(second["fields"]["operation_id"], unauthorized["operation_id"]);
        assert_eq!(second["fields"]["presented_app"], app.app.key.as_str());
        assert_eq!(log.answered("swapped")["fields"].get("presented_app"), None);
        let bad_line = &log.answered("bad")["fields"];
        assert_eq!(bad_line["operation_id"], bad["operation_id"]);
        assert_eq!((&bad_line["error_code"], &bad_line["path"]), (&json!(40000), &json!("notification.colour")));
        assert_eq!((&bad_line["app"], bad_line.get("presented_app")), (&json!(app.app.key), None));
        assert_eq!(first["fields"].get("operation_id"), None);
        let text = log.text();
        // The caller knows the failure by its operation_id, and so does the log.
        let failures = log.saying("a request failed");
        assert_eq!(failures.len(), 1, "{text}");
        assert_eq!(failures[0]["fields"]["operation_id"], failed["operation_id"]);
        // That the database is away is said by the store, once, and not by every request.
        let third = &log.answered("third")["fields"];
        assert_eq!((&third["status"], &third["operation_id"]), (&json!(503), &without_database["operation_id"]));
        let basic = STANDARD.encode(format!("{}:{}", app.app.key, app.app.master_secret));
        let new = [&created["app_secret"], &created["master_secret"]].map(|secret| secret.as_str().unwrap());
        for secret in [&app.app.master_secret, &app.app.app_secret, &basic, OPERATOR_TOKEN, "private-", new[0], new[1]]
        {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    })
    .await;
}

#[tokio::test]
async fn names_that_callers_choose_are_logged_only_as_plain_words() {
    on_each_database(async |app| {
        let log = Log::begin();
        let paths = [
            ("loyalty", "add.loyalty[1]"),
            ("jo@example.com", "*"),
            ("jo.doe@example.com", "*"),
            ("0123456789012345678901234567890123456789x", "*"),
        ];
        for (n, (group, logged)) in paths.into_iter().enumerate() {
            let id = format!("group-{n}");
            let body = json!({"audience": {"named_user_id": "u"}, "add": {group: ["ok", ""]}});
            let master = app.master();
            let request = master.request(Method::POST, "/api/named_users/tags").header("x-request-id", &id);
            let refused = master.send(request.body(Bytes::from(body.to_string())).unwrap()).await.expect(400);
            assert_eq!(refused["details"]["path"], format!("add.{group}[1]"), "the caller may know");
            assert_eq!(log.answered(&id)["fields"]["path"], logged);
        }
        assert!(!log.text().contains("example.com"));
    })
    .await;
}
