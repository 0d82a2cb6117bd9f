//! Inviting people, giving them roles, and taking them away, by pages.

use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

/// The link that a page shows.
fn link(text: &str) -> String {
    let start = text.find("http://").unwrap();
    text[start..].split('<').next().unwrap().to_owned()
}

#[tokio::test]
async fn an_administrator_builds_a_team() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let team = format!("/console/{}/team", app.app.key);
        admin.post(&team, &[("email", "lee"), ("role", "sender")]).await.expect(400);
        let added = admin.post(&team, &[("email", "lee@example.com"), ("role", "sender")]).await;
        added.shows("shown only now");
        let lee = Visitor::by_link(&app, &link(&added.text), "lee@example.com").await;
        lee.get(&format!("/console/{}", app.app.key)).await.expect(200);
        lee.get(&team).await.expect(403);
        let again = admin.post(&team, &[("email", "LEE@example.com"), ("role", "admin")]).await;
        again.shows("has an account already");
        let page = lee.get(&team).await;
        page.shows("lee@example.com");
        let members = app.operator().get(&format!("/operator/apps/{}/team", app.app.key)).await.expect(200);
        let member = members["team"].as_array().unwrap().iter().find(|member| member["email"] == "lee@example.com");
        let id = member.unwrap()["account_id"].as_str().unwrap();
        let changed = admin.post(&format!("{team}/{id}/change"), &[("role", "viewer")]).await;
        changed.expect_to(&team);
        admin.post(&format!("{team}/{id}/remove"), &[]).await.expect_to(&team);
        app.stop().await;
    })
    .await;
}

/// A link lets in whoever has it, so an administrator of an app gets none for somebody who is more than that.
#[tokio::test]
async fn an_administrator_cannot_take_an_invited_owner_over() {
    on_each_database(async |app| {
        let invited = json!({"email": "boss@example.com", "owner": true});
        let invited = app.operator().post("/operator/accounts", invited).await.expect(201);
        let admin = Visitor::with_role(&app, "admin").await;
        let added = admin
            .post(&format!("/console/{}/team", app.app.key), &[("email", "boss@example.com"), ("role", "viewer")])
            .await;
        added.expect(200);
        assert!(!added.text.contains("start?code="), "{}", added.text);
        // The owner's own link still works.
        Visitor::by_link(&app, invited["link"].as_str().unwrap(), "")
            .await
            .get("/console/-/accounts")
            .await
            .expect(200);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_owner_invites_locks_out_and_deletes() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let page = "/console/-/accounts";
        let invited = owner.post(page, &[("email", "max@example.com")]).await;
        let max = Visitor::by_link(&app, &link(&invited.text), "max@example.com").await;
        max.get("/console/-/profile").await.expect(200);
        let ids: Vec<String> = app.operator().get("/operator/accounts").await.expect(200)["accounts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|account| account["email"] == "max@example.com")
            .map(|account| account["account_id"].as_str().unwrap().to_owned())
            .collect();
        let action = |what: &str| format!("{page}/{}/{what}", ids[0]);
        owner.post(&action("change"), &[("to", "lock")]).await.expect_to(page);
        owner.get(page).await.shows("locked");
        max.get("/console/-/profile").await.expect(303);
        owner.post(&action("change"), &[("to", "unlock")]).await.expect_to(page);
        owner.post(&action("link"), &[]).await.shows("/console/start?code=");
        owner.post(&action("delete"), &[]).await.expect_to(page);
        assert!(!owner.get(page).await.expect(200).contains("max@example.com"));
        let made = owner.post("/console/-/apps", &[("name", "Shop"), ("mode", "production")]).await;
        made.shows("AEROGRAM_MASTER_SECRET=");
        owner.get("/console/-/apps").await.shows("Shop");
        owner.get("/console/-/audit").await.shows("account.invite");
        app.stop().await;
    })
    .await;
}
