//! Malformed bodies: each is refused with the path of the value to blame, and nothing is stored.

use bytes::Bytes;
use http::Method;
use serde_json::json;
use testkit::app::{TestApp, on_each_database};
use testkit::bad_channels::{ChannelEndpoint, bad_channels};
use testkit::bad_pushes::bad_pushes;
use testkit::rows::row_counts;
use testkit::store::Database;

const NEW_CHANNEL: &str = "/api/channels/11111111-1111-4111-8111-111111111111";

async fn assert_refused(app: &TestApp, method: Method, path: &str, body: Vec<u8>, name: &str, blamed: &str) {
    let master = app.master();
    let reply = master.send(master.request(method, path).body(Bytes::from(body)).unwrap()).await;
    assert_eq!(reply.status.as_u16(), 400, "{name}: {}", reply.text());
    let body = reply.json();
    assert_eq!(body["details"]["path"], blamed, "{name}: {body}");
    assert!([40000, 40202].contains(&body["error_code"].as_u64().unwrap()), "{name}: {body}");
    let n_problems: usize = reply.header("aerogram-problems").unwrap().parse().unwrap();
    assert!(n_problems >= 1, "{name}");
    let error = body["error"].as_str().unwrap();
    assert_eq!(error.starts_with(&format!("{n_problems} problems: ")), n_problems > 1, "{name}: {error}");
}

#[tokio::test]
async fn bad_pushes_are_refused_and_leave_nothing_behind() {
    on_each_database(async |app| {
        let before = row_counts(app.engine().store()).await;
        let rows = bad_pushes();
        assert!(rows.len() >= 150, "{}", rows.len());
        for row in rows {
            for path in ["/api/push", "/api/push/validate"] {
                assert_refused(&app, Method::POST, path, row.body.clone(), &row.name, &row.path).await;
            }
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn bad_channels_are_refused_and_leave_nothing_behind() {
    on_each_database(async |app| {
        let before = row_counts(app.engine().store()).await;
        for row in bad_channels() {
            let paths = match row.endpoint {
                ChannelEndpoint::Register => vec![(Method::POST, "/api/channels"), (Method::PUT, NEW_CHANNEL)],
                ChannelEndpoint::Uninstall => vec![(Method::POST, "/api/channels/uninstall")],
                ChannelEndpoint::OpenRegister => vec![(Method::POST, "/api/channels/open")],
                ChannelEndpoint::OpenUninstall => vec![(Method::POST, "/api/channels/open/uninstall")],
                ChannelEndpoint::OpenTags => vec![(Method::POST, "/api/channels/open/tags")],
            };
            for (method, path) in paths {
                assert_refused(&app, method, path, row.body.clone(), row.name, row.path).await;
            }
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn all_problems_are_told_at_once() {
    on_each_database(async |app| {
        let push = json!({"device_types": "toaster", "notification": {"alert": 7, "colour": "red"}, "x": 1});
        let reply = app.master().post("/api/push", push).await;
        let body = reply.expect(400);
        assert_eq!(body["error_code"], 40202, "the first problem is that something is missing: {body}");
        assert_eq!(body["details"]["path"], "audience");
        assert_eq!(body["details"].as_object().unwrap().len(), 2);
        let error = body["error"].as_str().unwrap();
        for path in ["audience: ", "device_types: ", "notification.alert: ", "notification.colour: ", "x: "] {
            assert!(error.contains(path), "{path} in {error}");
        }
        assert_eq!(reply.header("aerogram-problems"), Some("5"));
    })
    .await;
}

#[tokio::test]
async fn an_answer_never_quotes_more_than_a_little_of_a_large_body() {
    on_each_database(async |app| {
        let long_key = "k".repeat(4_000_000);
        let reply = app.master().post("/api/push", json!({ long_key: 1 })).await;
        reply.expect(400);
        assert!(reply.body.len() < 20_000, "{}", reply.body.len());
    })
    .await;
}

#[tokio::test]
async fn slips_of_the_pen_are_answered_with_what_was_meant() {
    let app = TestApp::on(Database::Sqlite).await;
    let push = |key: &str, audience: serde_json::Value| json!({key: audience, "device_types": "all", "notification": {"alert": "Hi"}});
    for (body, blamed, hint) in [
        (push("audiance", json!("all")), "audiance", "; perhaps 'audience' is meant."),
        (
            push("audience", json!({"named_user_id": "jo"})),
            "audience.named_user_id",
            "; perhaps 'named_user' is meant.",
        ),
        (push("audience", json!({"atg": "x"})), "audience.atg", "; use and, or, not, or a selector such as tag."),
    ] {
        let reply = app.master().post("/api/push", body).await;
        let told = reply.expect(400);
        let error = told["error"].as_str().unwrap();
        assert!(error.contains(blamed) && error.contains(hint), "{error}");
    }
    app.stop().await;
}
