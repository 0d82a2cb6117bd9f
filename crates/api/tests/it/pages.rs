//! Landing pages that came inside a push.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

/// Sends a push with a page and answers the paths of what is hosted for it.
async fn push_with_page(app: &TestApp, page: Value) -> Vec<String> {
    let open = json!({"type": "landing_page", "content": page});
    let push = json!({"audience": "all", "device_types": ["ios", "android"],
                      "notification": {"alert": "Look", "actions": {"open": open}}});
    let accepted = app.master().post("/api/push", push).await.expect(200);
    let urls = accepted["content_urls"].as_array().unwrap();
    urls.iter().map(|url| url.as_str().unwrap().strip_prefix(&app.url("")).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_are_served_as_they_were_sent() {
    on_each_database(async |app| {
        let html = json!({"body": "<h1>Hé</h1>", "content_type": "text/html"});
        let encoded = json!({"body": "PGgxPkhpPC9oMT4=", "content_type": "text/html", "content_encoding": "base64"});
        let with_charset = "text/html; charset=utf-8";
        for (page, text, mime) in [(html, "<h1>Hé</h1>", with_charset), (encoded, "<h1>Hi</h1>", "text/html")] {
            let paths = push_with_page(&app, page).await;
            assert_eq!(paths.len(), 1);
            let reply = app.nobody().get(&paths[0]).await;
            assert_eq!((reply.status.as_u16(), reply.text()), (200, text));
            assert_eq!(reply.header("content-type"), Some(mime));
            assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
            let policy = reply.header("content-security-policy").unwrap();
            assert!(policy.starts_with("sandbox") && !policy.contains("allow-same-origin"), "{policy}");
        }
        assert!(push_with_page(&app, json!({"url": "https://example.com/"})).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn only_the_exact_address_of_a_page_leads_to_it() {
    on_each_database(async |app| {
        let page = json!({"body": "<h1>Hi</h1>", "content_type": "text/html"});
        let path = push_with_page(&app, page).await.remove(0);
        let start = path.strip_suffix("/0").unwrap();
        let stranger = app.another_app(Mode::Development).await;
        let elsewhere = path.replace(&app.app.key, &stranger.key);
        for path in [format!("{start}/1"), format!("{start}/x"), format!("{start}/-1"), start.to_owned(), elsewhere] {
            let missing = app.nobody().get(&path).await.expect(404);
            assert_eq!(missing["ok"], false, "{path}");
        }
        app.nobody().get("/pages/AAAAAAAAAAAAAAAAAAAAAA/x/0").await.expect(404);
    })
    .await;
}
