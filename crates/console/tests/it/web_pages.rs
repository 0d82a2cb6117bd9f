//! The page about web pages: which sites may register browsers, and the lines to put into them.

use bytes::Bytes;
use http::Method;
use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

/// Whether a page of a site may register a browser.
async fn is_allowed(app: &TestApp, site: &str) -> bool {
    let body = json!({"channel": {"device_type": "web", "opt_in": false}});
    let request = app.nobody().request(Method::POST, "/api/web-channels");
    let request = request.header("origin", site).header("x-ua-app-key", &app.app.key);
    let reply = app.nobody().send(request.body(Bytes::from(body.to_string())).unwrap()).await;
    reply.status.is_success()
}

#[tokio::test]
async fn an_administrator_allows_and_forbids_sites() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let page = format!("/console/{}/web-pages", app.app.key);
        let empty = admin.get(&page).await;
        let key = format!("appKey: '{}'", app.app.key);
        for words in
            ["No page on the web", "pages of your own machine", "/sdk/1/aerogram-sw.js", key.as_str(), "/platforms\""]
        {
            empty.shows(words);
        }
        assert!(!is_allowed(&app, "https://shop.example").await);
        // The address of a page is taken for its site; a site counts once.
        for typed in ["https://shop.example/sale?from=mail", "https://SHOP.example", "https://news.example:8443"] {
            admin.post(&page, &[("origin", typed)]).await.expect_to(&page);
        }
        let shown = app.operator().get(&format!("/operator/apps/{}", app.app.key)).await.expect(200);
        assert_eq!(shown["app"]["web_origins"], json!(["https://news.example:8443", "https://shop.example"]));
        assert!(is_allowed(&app, "https://shop.example").await);
        let refused = admin.post(&page, &[("origin", "shop.example")]).await;
        refused.expect(400);
        for words in ["This must be an origin", r#"value="shop.example""#] {
            refused.shows(words);
        }
        let forbid = format!("{page}/forbid");
        admin.post(&forbid, &[("origin", "https://shop.example")]).await.expect_to(&page);
        assert!(!is_allowed(&app, "https://shop.example").await);
        let left = admin.get(&page).await;
        assert!(
            left.expect(200).contains("https://news.example:8443")
                && !left.text.contains("<code>https://shop.example<")
        );
        let audit =
            app.operator().get(&format!("/operator/apps/{}/audit?credential=account", app.app.key)).await.expect(200);
        assert_eq!(audit["entries"].as_array().unwrap().len(), 4, "{audit}");
        let sender = Visitor::with_role(&app, "sender").await;
        sender.post(&page, &[("origin", "https://evil.example")]).await.expect(403);
        app.stop().await;
    })
    .await;
}
