//! The demonstration: on the same machine, in an app in development, with its code.

use bytes::Bytes;
use http::Method;
use serde_json::json;
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;
use testkit::store::Database;

async fn visitor(app: &TestApp) -> Caller {
    let shown = app.operator().get(&format!("/operator/apps/{}/demo", app.app.key)).await.expect(200);
    let (page, code) = shown["link"].as_str().unwrap().split_once('#').unwrap();
    assert_eq!(page, app.url("/demo"));
    let (key, code) = code.split_once('.').unwrap();
    assert_eq!(key, app.app.key);
    app.nobody().basic(key, code)
}

#[tokio::test]
async fn the_code_lets_a_page_send_to_itself() {
    on_each_database(async |app| {
        let visitor = visitor(&app).await;
        let channel = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
        let channel = app.device().post("/api/channels", channel).await.expect(201)["channel_id"].clone();
        let push = json!({"channel_id": channel, "alert": "Hello"});
        let sent = visitor.post("/demo/push", &push).await.expect(200);
        app.step_all().await;
        let path = format!("/demo/push/{}", sent["push_ids"][0].as_str().unwrap());
        assert_eq!(visitor.get(&path).await.expect(200)["push"]["total"]["delivered"], 1);
        visitor.post("/demo/push", json!({"channel_id": channel, "alert": ""})).await.expect(400);
        let phone = visitor.post("/demo/phones/ios", json!({})).await.expect(201);
        visitor.post("/demo/phones/web", json!({})).await.expect(404);
        let path_of_phone = format!("/api/channels/{}", phone["channel_id"].as_str().unwrap());
        let played = app.nobody().bearer(phone["token"].as_str().unwrap());
        let shown = played.get(&path_of_phone).await.expect(200)["channel"].clone();
        assert_eq!((&shown["device_type"], &shown["live"]), (&json!("ios"), &json!(true)));
        // Nobody else's credentials are a code, and the code is for nothing else.
        for caller in [app.nobody().clone(), app.master(), app.nobody().basic(&app.app.key, "AAAAAAAAAAAAAAAAAAAAAA")] {
            caller.post("/demo/push", &push).await.expect(404);
            caller.post("/demo/phones/ios", json!({})).await.expect(404);
            caller.get(&path).await.expect(404);
        }
        visitor.get("/api/channels").await.expect(401);
        // Replacing the master secret ends it, and so does production.
        let of_app = format!("/operator/apps/{}", app.app.key);
        app.operator().post(&format!("{of_app}/rotate"), json!({"secret": "master"})).await.expect(200);
        visitor.post("/demo/push", &push).await.expect(404);
        let renewed = self::visitor(&app).await;
        renewed.get(&path).await.expect(200);
        app.operator().patch(&of_app, json!({"mode": "production"})).await.expect(200);
        renewed.post("/demo/push", &push).await.expect(404);
        app.operator().get(&format!("{of_app}/demo")).await.expect(409);
    })
    .await;
}

#[tokio::test]
async fn it_is_shown_on_the_same_machine() {
    let app = TestApp::on(Database::Sqlite).await;
    for path in ["/demo", "/demo/demo.js", "/demo/demo.css"] {
        let page = app.nobody().get(path).await;
        assert_eq!(page.status.as_u16(), 200, "{path}");
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"), "{path}");
        // Somebody from elsewhere, by a proxy on this machine.
        let proxied = app.nobody().request(Method::GET, path).header("X-Forwarded-For", "192.0.2.7");
        app.nobody().send(proxied.body(Bytes::new()).unwrap()).await.expect(404);
    }
    app.stop().await;
}
