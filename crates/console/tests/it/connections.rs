//! How browsers are connected: by a proxy that ends TLS, by several nodes, and by many pages that follow what happens.

use bytes::Bytes;
use http::Method;
use http::header::{COOKIE, SET_COOKIE};
use store::DatabaseUrl;
use testkit::app::TestApp;
use testkit::client::Reply;
use testkit::store::{Database, databases};

use crate::visitor::{PASSWORD, Visitor, on_each_database, pages};

const LOGIN: &str = "email=owner%40example.com&password=correct+horse+battery";

/// A request as a proxy passes it on.
async fn proxied(app: &TestApp, method: Method, path: &str, headers: &[(&str, &str)], body: &'static str) -> Reply {
    let request = app.nobody().request(method, path).header("sec-fetch-site", "same-origin");
    let request = request.header("host", "push.example").header("x-forwarded-for", "192.0.2.7");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    app.nobody().open(request.body(Bytes::from_static(body.as_bytes())).unwrap()).await.0
}

#[tokio::test]
async fn behind_a_proxy_the_cookie_is_for_https_and_this_host_only() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        let secure = [("x-forwarded-proto", "https")];
        let logged_in = proxied(&app, Method::POST, "/console/login", &secure, LOGIN).await;
        assert_eq!(logged_in.status.as_u16(), 303);
        let cookie = logged_in.headers[SET_COOKIE].to_str().unwrap().to_owned();
        let (pair, flags) = cookie.split_once("; ").unwrap();
        assert!(pair.starts_with("__Host-aerogram="), "{cookie}");
        assert_eq!(flags, "Path=/; HttpOnly; SameSite=Lax; Secure");
        let profile = "/console/-/profile";
        let with = |cookie: &str, proto: &'static str| {
            let cookie = cookie.to_owned();
            let app = &app;
            async move {
                let headers = [("x-forwarded-proto", proto), (COOKIE.as_str(), cookie.as_str())];
                proxied(app, Method::GET, profile, &headers, "").await.status.as_u16()
            }
        };
        assert_eq!(with(pair, "https").await, 200);
        // Neither over plain HTTP, nor under the name that is for this machine.
        assert_eq!(with(pair, "http").await, 303);
        let renamed = pair.replace("__Host-aerogram", "aerogram-local");
        assert_eq!(with(&renamed, "https").await, 303);
        for proto in ["http", "gopher", "HTTPS"] {
            let refused = proxied(&app, Method::POST, "/console/login", &[("x-forwarded-proto", proto)], LOGIN).await;
            assert_eq!(refused.status.as_u16(), 403, "{proto}");
            assert!(!refused.headers.contains_key(SET_COOKIE));
        }
        let refused = proxied(&app, Method::POST, "/console/login", &[], LOGIN).await;
        assert_eq!(refused.status.as_u16(), 403, "the proxy does not say how it was called");
        let left = proxied(&app, Method::POST, "/console/logout", &[secure[0], (COOKIE.as_str(), pair)], "").await;
        let cleared = left.headers[SET_COOKIE].to_str().unwrap();
        assert!(cleared.starts_with("__Host-aerogram=;") && cleared.ends_with("Secure; Max-Age=0"), "{cleared}");
        app.stop().await;
    })
    .await;
}

fn pages_behind_proxies(engine: engine::Engine) -> api::Pages {
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
    console::pages(engine, console::Settings { trusted_proxies, ..console::Settings::default() })
}

#[tokio::test]
async fn a_trusted_proxy_tells_where_people_come_from() {
    for database in databases() {
        let app = Box::pin(TestApp::with_pages(database, &pages_behind_proxies)).await;
        Visitor::owner(&app).await;
        let headers = [("x-forwarded-proto", "https"), ("x-forwarded-for", "198.51.100.9, 10.0.0.1")];
        let logged_in = proxied(&app, Method::POST, "/console/login", &headers, LOGIN).await;
        assert_eq!(logged_in.status.as_u16(), 303);
        let cookie = logged_in.headers[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        let cookie = [headers[0], headers[1], (COOKIE.as_str(), cookie.as_str())];
        let team = format!("/console/{}/team", app.app.key);
        proxied(&app, Method::POST, &team, &cookie, "email=jo%40example.com&role=viewer").await;
        for action in ["account.sign_in", "team.add"] {
            let log = app.operator().get(&format!("/operator/audit?action={action}")).await.expect(200);
            let address = log["entries"][0]["address"].as_str().unwrap_or_default().to_owned();
            assert!(address.starts_with("198.51.100."), "{action} from {address}: {log}");
        }
        app.stop().await;
    }
}

#[tokio::test]
async fn a_new_password_on_one_node_ends_the_logins_at_the_other() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::with_pages(Database::Postgres, &pages).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let here = Visitor::owner(&app).await;
    let there = Visitor::stranger(&other);
    let login = |password| [("email", "owner@example.com"), ("password", password)];
    there.post("/console/login", &login(PASSWORD)).await.expect_to("/console");
    there.get("/console/-/profile").await.expect(200);
    let right = [("current", PASSWORD), ("new", "another long one")];
    here.post("/console/-/profile/password", &right).await.expect_to("/console/-/profile");
    // By the signal at once, or else when five seconds of the stepped clock have passed.
    while there.get("/console/-/profile").await.status.as_u16() != 303 {
        tokio::task::yield_now().await;
    }
    here.get("/console/-/profile").await.expect(200);
    there.post("/console/login", &login(PASSWORD)).await.expect(403);
    there.post("/console/login", &login("another long one")).await.expect_to("/console");
    other.stop().await;
    app.stop().await;
}

#[tokio::test]
async fn one_person_follows_only_so_many_pages_at_once() {
    on_each_database(async |app| {
        let (greedy, other) = (Visitor::with_role(&app, "viewer").await, Visitor::with_role(&app, "admin").await);
        let follow = async |visitor: &Visitor| {
            let request = app.nobody().request(Method::GET, &format!("/console/{}/live", app.app.key));
            let request = request.header(COOKIE, visitor.cookie().unwrap()).body(Bytes::new()).unwrap();
            app.nobody().open(request).await
        };
        let mut followed = Vec::new();
        for _ in 0..32 {
            let (head, stream) = follow(&greedy).await;
            assert_eq!(head.status.as_u16(), 200);
            followed.push(stream);
        }
        assert_eq!(follow(&greedy).await.0.status.as_u16(), 429);
        assert_eq!(follow(&other).await.0.status.as_u16(), 200);
        greedy.get(&format!("/console/{}", app.app.key)).await.expect(200);
        drop(followed);
        while follow(&greedy).await.0.status.as_u16() != 200 {
            tokio::task::yield_now().await;
        }
        app.stop().await;
    })
    .await;
}
