//! The rules of the protocol that hold for every route: paths, methods, versions, bodies, headers, failures.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;
use testkit::store::Database;

const OURS: &str = "application/vnd.urbanairship+json; version=3";
const PUSH: &str = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;

/// The keys of an error, all of which strict clients know, and nothing else.
#[track_caller]
fn assert_error(reply: &Reply, status: u16, code: u32) -> Value {
    let body = reply.expect(status);
    let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(keys.iter().all(|key| ["details", "error", "error_code", "ok", "operation_id"].contains(key)), "{body}");
    assert_eq!(body["ok"], false);
    assert_eq!(body["error_code"], code);
    assert!(!body["error"].as_str().unwrap().is_empty());
    assert_eq!(body["operation_id"].as_str().unwrap().len(), 36);
    body
}

async fn post_bytes(app: &TestApp, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
    let master = app.master();
    let mut request = master.request(Method::POST, "/api/push/validate");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    master.send(request.body(body.into()).unwrap()).await
}

fn packed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap().into()
}

#[tokio::test]
async fn unknown_paths_and_methods_have_json_bodies() {
    on_each_database(async |app| {
        for path in ["/", "/api", "/api/nothing", "/nothing", "/api/push/a/b", "/operator", "/api/channels/%ff"] {
            let reply = app.master().get(path).await;
            assert_error(&reply, 404, 40400);
        }
        assert_error(&app.master().get("/api/channels/no-uuid").await, 404, 40401);
        assert_error(&app.master().get("/api/push/no-uuid").await, 404, 40401);

        let allowed = [
            (Method::GET, "/api/push", "POST"),
            (Method::DELETE, "/api/channels", "GET,HEAD,POST"),
            (Method::POST, "/health", "GET,HEAD"),
        ];
        for (method, path, allow) in allowed {
            let reply = app.master().call(method, path, "").await;
            assert_error(&reply, 405, 40500);
            let mut methods: Vec<_> = reply.header("allow").unwrap().split(',').collect();
            methods.sort_unstable();
            assert_eq!(methods.join(","), allow, "{path}");
        }
        let options = app.nobody().call(Method::OPTIONS, "/api/push", "").await;
        assert_eq!((options.status.as_u16(), options.header("allow")), (204, Some("POST")));
        let head = app.nobody().call(Method::HEAD, "/health", "").await;
        assert_eq!((head.status.as_u16(), head.text()), (200, ""));
    })
    .await;
}

#[tokio::test]
async fn slashes_do_not_matter_and_nothing_is_redirected() {
    on_each_database(async |app| {
        for path in ["/api/push/validate", "/api/push/validate/", "//api//push///validate//"] {
            app.master().post(path, PUSH).await.expect(200);
        }
        for path in ["/api/channels/", "/api//channels"] {
            app.master().get(path).await.expect(200);
        }
        let body = json!({"address": "nobody", "open_platform_name": "fridge"});
        for path in ["/api/channels/open/uninstall/", "/api/open/uninstall", "/api/open/uninstall/"] {
            app.master().post(path, &body).await.expect(202);
        }
        let registration = json!({"channel": {"type": "open", "opt_in": true, "address": "a",
                                  "open": {"open_platform_name": "fridge"}}});
        app.master().post("/api/open/", &registration).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn versions_are_negotiated_and_vendors_echoed() {
    on_each_database(async |app| {
        let table = [
            (None, 200, OURS),
            (Some("*/*"), 200, OURS),
            (Some("application/json"), 200, OURS),
            (Some("application/vnd.urbanairship+json; version=3;"), 200, OURS),
            (Some("application/vnd.urbanairship+csv; version=3"), 200, OURS),
            (Some("application/vnd.aerogram+json; version=3"), 200, "application/vnd.aerogram+json; version=3"),
            (Some("application/vnd.aerogram+json; version=2"), 406, "application/vnd.aerogram+json; version=3"),
            (Some("application/vnd.urbanairship+json; version=1"), 406, OURS),
        ];
        for (accept, status, content_type) in table {
            let headers: Vec<_> = accept.into_iter().map(|accept| ("accept", accept)).collect();
            let reply = post_bytes(&app, &headers, PUSH).await;
            assert_eq!(reply.status.as_u16(), status, "{accept:?}");
            assert_eq!(reply.header("content-type"), Some(content_type), "{accept:?}");
            if status == 406 {
                assert_error(&reply, 406, 40600);
            }
        }
        // Errors have the same type, outside the API it is plain JSON.
        assert_eq!(app.nobody().get("/api/push/validate").await.header("content-type"), Some(OURS));
        assert_eq!(app.nobody().get("/health").await.header("content-type"), Some("application/json"));
        assert_eq!(app.operator().get("/operator/apps").await.header("content-type"), Some("application/json"));
    })
    .await;
}

#[tokio::test]
async fn bodies_are_taken_as_they_are_whatever_the_headers_say() {
    on_each_database(async |app| {
        let gzip = ("content-encoding", "gzip");
        let types = ["application/json; charset=utf-8", "text/csv", "nonsense", ""];
        for content_type in types {
            post_bytes(&app, &[("content-type", content_type)], PUSH).await.expect(200);
        }
        post_bytes(&app, &[gzip], PUSH).await.expect(200);
        post_bytes(&app, &[gzip], packed(PUSH.as_bytes())).await.expect(200);
        post_bytes(&app, &[], packed(PUSH.as_bytes())).await.expect(200);

        assert_error(&post_bytes(&app, &[gzip], &b"\x1f\x8bnot gzip"[..]).await, 400, 40000);
        let invalid = assert_error(&post_bytes(&app, &[], &b"{\"audience\":\"\xff\"}"[..]).await, 400, 40000);
        assert!(invalid["error"].as_str().unwrap().contains("UTF-8"), "{invalid}");
    })
    .await;
}

#[tokio::test]
async fn bodies_above_five_mebibytes_are_refused_packed_or_not() {
    const LIMIT: usize = 5 * 1024 * 1024;
    let padded = |n_bytes: usize| [PUSH.as_bytes(), &vec![b' '; n_bytes - PUSH.len()]].concat();
    on_each_database(async |app| {
        post_bytes(&app, &[], padded(LIMIT)).await.expect(200);
        post_bytes(&app, &[], packed(&padded(LIMIT))).await.expect(200);
        assert_error(&post_bytes(&app, &[], padded(LIMIT + 1)).await, 413, 41300);
        assert_error(&post_bytes(&app, &[], packed(&padded(LIMIT + 1))).await, 413, 41300);
        let bomb = packed(&vec![b' '; 40 * LIMIT]);
        assert!(bomb.len() < LIMIT);
        assert_error(&post_bytes(&app, &[], bomb).await, 413, 41300);
    })
    .await;
}

#[tokio::test]
async fn every_answer_has_an_id_and_is_kept_from_caches() {
    on_each_database(async |app| {
        for path in ["/health", "/api/nothing", "/api/channels", "/metrics"] {
            let reply = app.nobody().get(path).await;
            assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
            assert_eq!(reply.header("x-request-id").unwrap().len(), 36, "{path}");
        }
        let reply = post_bytes(&app, &[("x-request-id", "mine-7")], PUSH).await;
        assert_eq!(reply.header("x-request-id"), Some("mine-7"));
    })
    .await;
}

#[tokio::test]
async fn metrics_count_by_route_and_not_by_path() {
    on_each_database(async |app| {
        app.master().get("/api/channels/00000000-0000-4000-8000-000000000000").await.expect(404);
        app.nobody().get("/made-up-path").await.expect(404);
        let metrics = app.operator().get("/metrics").await;
        let text = metrics.text();
        let counted = r#"aerogram_http_requests_total{method="GET",route="/api/channels/{channel_id}",status="404"} 1"#;
        assert!(text.contains(counted), "{text}");
        let labels = r#"{method="GET",route="/api/channels/{channel_id}"}"#;
        assert!(text.contains(&format!("aerogram_http_request_duration_seconds_count{labels} 1")), "{text}");
        assert!(text.contains(r#"route="unmatched""#) && !text.contains("made-up-path"), "{text}");
        assert!(!text.contains("00000000-0000"), "{text}");
    })
    .await;
}

#[tokio::test]
async fn without_a_database_callers_are_asked_to_come_back_and_learn_nothing() {
    on_each_database(async |app| {
        app.nobody().get("/ready").await.expect(200);
        app.master().get("/api/channels").await.expect(200);
        app.engine().store().clone().close().await;
        for (caller, path, code) in [(app.nobody(), "/ready", 50302), (&app.master(), "/api/channels", 50300)] {
            let reply = caller.get(path).await;
            let body = assert_error(&reply, 503, code);
            assert_eq!(reply.header("retry-after"), Some("1"));
            assert!(!body.to_string().contains("closed"), "{body}");
        }
        let health = app.nobody().get("/health").await.expect(200);
        assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    })
    .await;
}

#[tokio::test]
async fn metrics_have_the_form_that_is_asked_for() {
    let app = TestApp::on(Database::Sqlite).await;
    let ask = async |accept: &str| {
        let request = app.operator().request(Method::GET, "/metrics").header("accept", accept.to_owned());
        app.operator().send(request.body(Bytes::new()).unwrap()).await
    };
    let open_metrics = ask("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2").await;
    assert_eq!(open_metrics.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(open_metrics.text().ends_with("# EOF\n"));
    let classic = ask("*/*").await;
    assert_eq!(classic.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in ["# TYPE aerogram_http_requests_total counter", "# TYPE aerogram_build_info gauge"] {
        assert!(classic.text().lines().any(|known| known == line), "{line}");
    }
    for name in ["process_resident_memory_bytes", "aerogram_database_commit_duration_seconds_bucket"] {
        assert!(classic.text().lines().any(|line| line.starts_with(name)), "{name}");
    }
    app.stop().await;
}
