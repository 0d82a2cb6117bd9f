//! The pages of the installation, for its owners, and what the server says when it refuses somebody with a browser.

use std::time::Duration;

use engine::NodeFacts;
use http::Method;
use serde_json::json;

use crate::visitor::{PASSWORD, Visitor, on_each_database};

#[tokio::test]
async fn owners_see_the_nodes_and_how_the_installation_is() {
    on_each_database(async |app| {
        let (owner, admin) = (Visitor::owner(&app).await, Visitor::with_role(&app, "admin").await);
        owner.get("/console/-/nodes").await.shows("No node has noted yet");
        let evil = "<b>10.0.0.7</b>:8080";
        let facts = |address: &str, version: &str| NodeFacts {
            name: Some("<i>push-1</i>".to_owned()),
            address: address.to_owned(),
            version: version.to_owned(),
            roles: vec!["api".to_owned(), "worker".to_owned()],
            operator: None,
        };
        app.engine().introduce(facts(evil, "0.1.0")).await;
        let nodes = owner.get("/console/-/nodes").await;
        for words in ["1 node is running", "&lt;i&gt;push-1", "&lt;b&gt;10.0.0.7", "api, worker", "0.1.0"] {
            nodes.shows(words);
        }
        nodes.shows("/operator/nodes");
        nodes.shows("data-stream=\"/console/-/live\"");
        let doctor = owner.get("/console/-/doctor").await;
        for words in ["The server reaches its database", "database", "webhooks", "/operator/doctor"] {
            doctor.shows(words);
        }
        let home = format!("/console/{}", app.app.key);
        assert!(!owner.get(&home).await.expect(200).contains("See the doctor"));
        app.advance(Duration::from_secs(60));
        // The start page of an app says so, to owners.
        owner
            .get(&home)
            .await
            .shows("1 thing of the installation needs a look. <a href=\"/console/-/doctor\">See the doctor");
        assert!(!admin.get(&home).await.expect(200).contains("See the doctor"));
        owner.get("/console/-/nodes").await.shows("not seen lately");
        owner.get("/console/-/doctor").await.shows("was last seen at");
        let (status, mut next) = owner.follow("/console/-/live").await;
        assert_eq!(status, 200);
        assert!(next().await.starts_with("event: hello"));
        drop(next);
        assert_eq!(admin.follow("/console/-/live").await.0, 403);
        assert!(!admin.get("/console/-/nodes").await.expect(403).contains("data-stream"));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn accounts_come_in_pages() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        for n in 0..51 {
            let email = format!("p{n:02}@example.com");
            app.operator().post("/operator/accounts", json!({"email": email})).await.expect(201);
        }
        let first = owner.get("/console/-/accounts").await;
        first.shows("owner@example.com");
        first.shows("p48@example.com");
        assert!(!first.text.contains("p49@example.com"));
        let (_, next) = first.text.split_once("rel=\"next\" href=\"").unwrap();
        let next = next.split_once('"').unwrap().0.replace("&amp;", "&");
        let second = owner.get(&next).await;
        second.shows("p50@example.com");
        assert!(!second.text.contains("p48@example.com"));
        owner.get("/console/-/accounts?start=P5").await.shows("p50@example.com");
        let all = app.operator().get("/operator/accounts?limit=50").await.expect(200);
        assert_eq!(all["accounts"].as_array().unwrap().len(), 50);
        assert!(all["next_page"].as_str().unwrap().contains("start=p49%40example.com"), "{all}");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_wrong_method_is_told_with_the_right_ones() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        for (method, path, allowed) in [
            (Method::GET, "/console/logout".to_owned(), "POST"),
            (Method::DELETE, "/console/-/apps".to_owned(), "GET"),
            (Method::PUT, format!("/console/{}", app.app.key), "GET"),
            (Method::POST, "/".to_owned(), "GET"),
        ] {
            let refused = owner.call(method.clone(), &path).await;
            assert_eq!(refused.status, 405, "{method} {path}");
            assert!(refused.headers["allow"].to_str().unwrap().contains(allowed), "{method} {path}");
            assert_eq!(refused.headers["content-type"], "text/html; charset=utf-8", "{method} {path}");
        }
        owner.call(Method::GET, "/").await.expect_to("/console");
        owner.get("/console/no-such-app/nothing/at/all").await.expect(404);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn whoever_comes_too_often_is_told_when_to_come_again() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        let stranger = Visitor::stranger(&app);
        let wrong = [("email", "owner@example.com"), ("password", "wrong horse battery")];
        for _ in 0..5 {
            assert!(stranger.post("/console/login", &wrong).await.status.is_client_error());
        }
        let refused = stranger.post("/console/login", &[("email", "owner@example.com"), ("password", PASSWORD)]).await;
        refused.expect(429);
        assert!(refused.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0);
        app.stop().await;
    })
    .await;
}
