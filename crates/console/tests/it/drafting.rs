//! Drafts in the console: saved, opened again, approved by a second person, and sent.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::visitor::{Page, Visitor, on_each_database};

async fn register(app: &TestApp) {
    let channel = json!({"device_type": "android", "opt_in": true, "push_address": "one"});
    app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
}

async fn saved(app: &TestApp) -> Value {
    let list = app.master().get("/api/drafts").await.expect(200);
    let id = list["drafts"][0]["draft_id"].as_str().unwrap();
    app.master().get(&format!("/api/drafts/{id}")).await.expect(200)["draft"].clone()
}

/// Has two people needed for more than no device.
async fn demand_approval(app: &TestApp) {
    let path = format!("/operator/apps/{}", app.app.key);
    let app = app.operator().patch(&path, json!({"approval_above": 0})).await.expect(200);
    assert_eq!(app["app"]["approval_above"], 0);
}

#[tokio::test]
async fn what_is_unfinished_is_saved_and_opened_again() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let fields =
            [("who", "some"), ("kind0", "tag"), ("value0", "a&b"), ("title", "T"), ("lang0", "de"), ("ltext0", "")];
        let done = editor.post(&compose, &[&fields[..], &[("do", "save")]].concat()).await;
        done.expect(303);
        let page = editor.get(done.location()).await;
        for words in
            [r#"value="a&amp;b""#, r#"value="T""#, r#"name="ltext0""#, "version 1", r#"name="version" value="1""#]
        {
            page.shows(words);
        }
        let draft = saved(&app).await;
        assert_eq!(draft["document"]["audience"], json!({"tag": "a&b"}));
        assert!(draft["written_by"].as_str().unwrap().starts_with("account editor-"), "{draft}");
        let id = draft["draft_id"].as_str().unwrap();
        let again = [("draft", id), ("version", "1"), ("who", "all"), ("text", "Now with a text"), ("do", "save")];
        editor.post(&compose, &again).await.expect_to(done.location());
        // Somebody who still looks at the first version does not overwrite the second.
        let late = editor.post(&compose, &again).await;
        late.expect(409);
        late.shows("changed meanwhile");
        let list = editor.get(&format!("/console/{}/drafts", app.app.key)).await;
        list.shows("Now with a text");
        editor.get(&format!("/console/{}/messages", app.app.key)).await.shows("Drafts");
        let page = editor.get(&format!("/console/{}/drafts/{id}", app.app.key)).await;
        page.shows("Now with a text");
        assert!(!page.text.contains("Send it"), "an editor sends nothing");
        editor
            .post(&format!("/console/{}/drafts/{id}/send", app.app.key), &[("version", "2"), ("expected", "0")])
            .await
            .expect(403);
        editor.post(&format!("/console/{}/drafts/{id}/delete", app.app.key), &[]).await.expect(303);
        editor.get(&format!("/console/{}/drafts", app.app.key)).await.shows("No drafts here");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_draft_of_a_program_opens_in_compose_and_nothing_of_it_is_lost() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let document = json!({"audience": {"tag": "a"}, "device_types": ["ios"], "notification": {"alert": "x", "ios": {"badge": 3}}});
        let made = app.master().post("/api/drafts", json!({"document": document})).await.expect(201);
        let id = made["draft"]["draft_id"].as_str().unwrap();
        let compose = format!("/console/{}/compose", app.app.key);
        let page = editor.get(&format!("{compose}?draft={id}")).await;
        page.shows("&quot;badge&quot;: 3");
        let more = r#"{"device_types": ["ios"], "notification": {"ios": {"badge": 3}}}"#;
        let fields = [
            ("draft", id),
            ("version", "1"),
            ("who", "some"),
            ("kind0", "tag"),
            ("value0", "a"),
            ("text", "x"),
            ("more", more),
            ("do", "save"),
        ];
        editor.post(&compose, &fields).await.expect(303);
        assert_eq!(saved(&app).await["document"], document);
        let odd = json!({"kind": "schedule", "document": {"push": 7}});
        let odd = app.master().post("/api/drafts", odd).await.expect(201);
        let id = odd["draft"]["draft_id"].as_str().unwrap();
        let page = editor.get(&format!("{compose}?draft={id}")).await;
        page.expect_to(&format!("/console/{}/drafts/{id}", app.app.key));
        editor.get(page.location()).await.expect(200);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn above_the_limit_a_second_person_approves_and_what_changes_is_not_approved() {
    on_each_database(async |app| {
        register(&app).await;
        demand_approval(&app).await;
        let (sender, admin) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "admin").await);
        let home = format!("/console/{}", app.app.key);
        let compose = format!("{home}/compose");
        let fields = [("who", "all"), ("text", "To all")];
        let with = |more: &[(&'static str, &'static str)]| [&fields[..], more].concat();
        sender.post(&compose, &with(&[("do", "review")])).await.shows("approval of a second person");
        // Whoever posts the form all the same is refused by the call.
        let direct = with(&[("do", "send"), ("expected", "1"), ("once", "a")]);
        let refused = sender.post(&compose, &direct).await;
        refused.expect(403);
        refused.shows("second person");
        let submitted = sender.post(&compose, &with(&[("do", "submit")])).await;
        submitted.expect(303);
        let page = submitted.location().to_owned();
        sender.get(&page).await.shows("Somebody else has to approve");
        let first = [("version", "1"), ("expected", "1")];
        for action in ["approve", "send", "approve-and-send"] {
            sender.post(&format!("{page}/{action}"), &first).await.expect(403);
        }
        admin.get(&page).await.shows("Approve and send");
        admin.post(&format!("{page}/approve"), &first).await.expect_to(&page);
        // A change voids the approval.
        let id = saved(&app).await["draft_id"].as_str().unwrap().to_owned();
        let changed = [("draft", id.as_str()), ("version", "1"), ("who", "all"), ("text", "Changed"), ("do", "save")];
        sender.post(&compose, &changed).await.expect(303);
        let second = [("version", "2"), ("expected", "1")];
        sender.post(&format!("{page}/send"), &second).await.expect(403);
        sender.post(&format!("{page}/submit"), &second).await.expect_to(&page);
        // Somebody who looks at the first version does not approve the second.
        admin.post(&format!("{page}/approve-and-send"), &first).await.expect(409);
        let sent = admin.post(&format!("{page}/approve-and-send"), &second).await;
        sent.expect(303);
        let again = admin.post(&format!("{page}/approve-and-send"), &second).await;
        assert_eq!(again.location(), sent.location());
        admin.get(sent.location()).await.shows("Undo");
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        let pushes = app.master().get("/api/pushes").await.expect(200);
        let [push] = &pushes["pushes"].as_array().unwrap()[..] else { panic!("{pushes}") };
        assert_eq!(push["alert"], "Changed");
        assert!(push["author"].as_str().unwrap().starts_with("account admin-"), "{push}");
        admin.get(&page).await.shows("Use it again");
        let log = app.operator().get("/operator/audit?action=draft.approve").await.expect(200);
        assert_eq!(log["entries"].as_array().unwrap().len(), 2, "{log}");
        // Servers are not bound.
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"}});
        app.master().post("/api/push", push).await.expect(200);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sender_sends_a_draft_from_compose_and_a_second_click_sends_nothing_more() {
    on_each_database(async |app| {
        register(&app).await;
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        sender.post(&compose, &[("who", "all"), ("text", "Soon"), ("do", "save")]).await.expect(303);
        let id = saved(&app).await["draft_id"].as_str().unwrap().to_owned();
        let fields = [("draft", id.as_str()), ("version", "1"), ("who", "all"), ("text", "Soon, better")];
        let review: Page = sender.post(&compose, &[&fields[..], &[("do", "review")]].concat()).await;
        review.shows(&id);
        let send = [&fields[..], &[("do", "send"), ("expected", "1"), ("once", "a")]].concat();
        let sent = sender.post(&compose, &send).await;
        sent.expect(303);
        assert_eq!(sender.post(&compose, &send).await.location(), sent.location());
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        let pushes = app.master().get("/api/pushes").await.expect(200);
        let [push] = &pushes["pushes"].as_array().unwrap()[..] else { panic!("{pushes}") };
        assert_eq!(push["alert"], "Soon, better");
        assert_eq!(saved(&app).await["state"], "sent");
        app.stop().await;
    })
    .await;
}
