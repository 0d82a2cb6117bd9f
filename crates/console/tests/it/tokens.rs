//! Tokens for servers, by pages.

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn an_administrator_makes_and_revokes_a_token() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let page = format!("/console/{}/tokens", app.app.key);
        admin.get(&page).await.shows("less than the master secret");
        let fields =
            [("name", "Shop"), ("role", "support"), ("ends", "86400"), ("addresses", "127.0.0.0/8, 10.0.0.0/8")];
        let made = admin.post(&page, &fields).await;
        made.shows("shown only now");
        let token = made.text.split("Bearer ").nth(1).unwrap().split('<').next().unwrap().to_owned();
        let server = app.nobody().bearer(&token);
        server.get("/api/channels").await.expect(200);
        server.post("/api/push", "{}").await.expect(403);
        let listed = admin.get(&page).await;
        assert!(!listed.text.contains(&token), "a token is shown once");
        for words in [&token[..15], " by admin-", "from 127.0.0.0/8, 10.0.0.0/8"] {
            listed.shows(words);
        }
        let id = listed.text.split(&format!("action=\"{page}/")).nth(1).unwrap().split('/').next().unwrap().to_owned();
        admin.post(&format!("{page}/{id}/revoke"), &[]).await.expect_to(&page);
        server.get("/api/channels").await.expect(401);
        let wrong = [("name", "Shop"), ("role", "admin"), ("addresses", "10.0.0.1/8")];
        let refused = admin.post(&page, &wrong).await;
        refused.expect(400);
        refused.shows("10.0.0.1/8");
        Visitor::with_role(&app, "sender").await.post(&page, &fields).await.expect(403);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_administrator_makes_and_revokes_an_oauth_client() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let page = format!("/console/{}/tokens/clients", app.app.key);
        // A new one ends after 90 days unless somebody wants otherwise.
        admin.get(&page).await.shows("<option value=\"7776000\" selected>In 90 days");
        let fields = [("name", "Shop"), ("role", "support"), ("ends", "86400"), ("basic", "on")];
        let made = admin.post(&page, &fields).await;
        for words in ["shown only now", "BEGIN PRIVATE KEY", "POST /token"] {
            made.shows(words);
        }
        let listed = app.operator().get(&format!("/operator/apps/{}/oauth-clients", app.app.key)).await.expect(200);
        let id = listed["clients"][0]["client_id"].as_str().unwrap();
        assert_eq!(listed["clients"][0]["expires"], "2024-05-02T12:00:00");
        let listed = admin.get(&page).await;
        listed.shows(id);
        assert!(!listed.text.contains("PRIVATE KEY"), "{}", listed.text);
        admin.post(&page, &[("name", "")]).await.expect(400);
        admin.post(&format!("{page}/{id}/revoke"), &[]).await.expect_to(&page);
        assert!(!admin.get(&page).await.expect(200).contains(id));
        Visitor::with_role(&app, "sender").await.get(&page).await.expect(403);
        app.stop().await;
    })
    .await;
}
