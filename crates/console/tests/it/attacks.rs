//! What other pages, other people and devices try.

use console::routes;
use http::Method;
use serde_json::json;

use crate::visitor::{PASSWORD, Visitor, on_each_database};

#[tokio::test]
async fn nothing_changes_at_the_request_of_another_page() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let apart =
            [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "https://evil.example")];
        for route in routes().into_iter().filter(|route| route.method == Method::POST) {
            let path = route.path.replace("{app}", &app.app.key);
            for (header, value) in apart {
                let refused = owner.post_with(&path, &[], header, value).await;
                assert_eq!(refused.status, 403, "{path} {value}");
                refused.shows("another page");
            }
            assert_eq!(owner.post_with(&path, &[], "accept", "text/html").await.status, 403, "{path} without a word");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_page_has_the_strictest_headers() {
    on_each_database(async |app| {
        let (owner, stranger) = (Visitor::owner(&app).await, Visitor::stranger(&app));
        let home = format!("/console/{}", app.app.key);
        for (visitor, path) in [(&owner, home.as_str()), (&owner, "/console/nothing"), (&stranger, "/console/login")] {
            let page = visitor.get(path).await;
            let header =
                |name: &str| page.headers.get(name).unwrap_or_else(|| panic!("{path}: {name}")).to_str().unwrap();
            let policy = header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
            assert!(policy.contains("frame-ancestors 'none'") && policy.contains("require-trusted-types-for 'script'"));
            assert_eq!((header("cache-control"), header("x-content-type-options")), ("no-store", "nosniff"));
            assert_eq!(header("content-type"), "text/html; charset=utf-8");
            assert!(!page.text.contains(" style=") && !page.text.contains(" onclick="), "{}", page.text);
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn markup_in_texts_of_customers_is_text() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let evil = r#"</td><script>alert("x")</script><img src=x onerror=alert(1)>"#;
        app.operator().patch(&format!("/operator/apps/{}", app.app.key), json!({"name": evil})).await.expect(200);
        let channel = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "a"}});
        app.device().post("/api/channels", channel).await.expect(201);
        let push = json!({"audience": "all", "device_types": "all", "name": evil,
                          "notification": {"alert": evil, "android": {"title": evil}}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let id = sent["push_ids"][0].as_str().unwrap();
        let home = format!("/console/{}", app.app.key);
        for path in
            [home.clone(), format!("{home}/messages"), format!("{home}/messages/{id}"), "/console/-/apps".to_owned()]
        {
            let page = owner.get(&path).await;
            page.expect(200);
            page.shows("&lt;script&gt;");
            assert!(!page.text.contains("<script>") && !page.text.contains("<img src=x"), "{path}");
        }
        let search = format!("{home}/messages?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E");
        assert!(!owner.get(&search).await.expect(200).contains("<script>alert"));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_cookie_of_before_the_login_is_not_the_one_after() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        let fixed = Some("aerogram-local=chosen-by-somebody-else".to_owned());
        let visitor = Visitor::with_cookie(&app, fixed.clone());
        visitor
            .post("/console/login", &[("email", "owner@example.com"), ("password", PASSWORD)])
            .await
            .expect_to("/console");
        assert_ne!(visitor.cookie(), fixed);
        Visitor::with_cookie(&app, fixed).get("/console/-/profile").await.expect(303);
        let used = Visitor::with_cookie(&app, visitor.cookie());
        visitor.post("/console/logout", &[]).await.expect_to("/console/login");
        used.get("/console/-/profile").await.expect(303);
        app.stop().await;
    })
    .await;
}

/// The secret of a cookie, a link or a password is nowhere in the database.
#[tokio::test]
async fn a_stolen_database_lets_nobody_in() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let made = app.operator().post("/operator/accounts/owner-link", "{}").await.expect(200);
        let code = made["link"].as_str().unwrap().split_once("code=").unwrap().1.to_owned();
        let cookie = owner.cookie().unwrap().split_once('=').unwrap().1.to_owned();
        let rows = testkit::rows::all_rows(app.engine().store()).await;
        let text = format!("{rows:?}");
        for secret in [&code, &cookie, PASSWORD] {
            assert!(!text.contains(secret), "{secret}");
        }
        app.stop().await;
    })
    .await;
}
