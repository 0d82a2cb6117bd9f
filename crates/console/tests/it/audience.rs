//! Tags, attributes and uploaded lists, and segments that are made of them and of the people of a message.

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const PHONE: &str = "10000000-0000-4000-8000-000000000000";

async fn prepare(app: &TestApp) -> String {
    let channel =
        json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB01", "tags": ["news", "night"]}});
    app.device().put(&format!("/api/channels/{PHONE}"), channel).await.expect(200);
    app.master()
        .post("/api/named_users/associate", json!({"channel_id": PHONE, "named_user_id": "kim-7"}))
        .await
        .expect(200);
    let about = json!({"tags": {"add": {"loyalty": ["gold"]}},
                       "attributes": [{"action": "set", "key": "plan", "value": "platinum"}]});
    app.master().post("/api/named_users/kim-7", about).await.expect(200);
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}});
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    sent["push_ids"][0].as_str().unwrap().to_owned()
}

/// The address of a link whose text is known.
fn link(text: &str, words: &str) -> String {
    let (before, _) = text.split_once(words).unwrap_or_else(|| panic!("{words:?} is not in {text}"));
    let (_, link) = before.rsplit_once("href=\"").unwrap();
    link.split_once('"').unwrap().0.replace("&amp;", "&").split('#').next().unwrap().to_owned()
}

#[tokio::test]
async fn tags_and_attributes_have_counts_and_lead_to_segments() {
    on_each_database(async |app| {
        let (viewer, editor) = (Visitor::with_role(&app, "viewer").await, Visitor::with_role(&app, "editor").await);
        let page = format!("/console/{}/audience", app.app.key);
        viewer.get(&format!("{page}?show=tags")).await.shows("No device has a tag of this group yet");
        viewer.get(&format!("{page}?show=attributes")).await.shows("has an attribute yet");
        prepare(&app).await;
        let tags = viewer.get(&format!("{page}?show=tags")).await;
        for words in ["news", "night", "loyalty", "/api/audience/terms"] {
            tags.shows(words);
        }
        assert!(!tags.text.contains("Make a segment") && !tags.text.contains("/api/audience/explain"), "{}", tags.text);
        let some = viewer.get(&format!("{page}?show=tags&prefix=NE")).await;
        some.shows("news");
        assert!(!some.text.contains("night"));
        viewer.get(&format!("{page}?show=tags&prefix=x")).await.shows("No tag of the group begins so");
        viewer.get(&format!("{page}?show=tags&group=loyalty")).await.shows("gold");
        assert!(!viewer.get(&format!("{page}?show=attributes")).await.expect(200).contains("platinum"), "of people");
        let attributes = editor.get(&format!("{page}?show=attributes")).await;
        for words in ["plan", "text", "platinum"] {
            attributes.shows(words);
        }
        // What is offered makes a segment as it is.
        let gold = editor.get(&format!("{page}?show=tags&group=loyalty")).await;
        for (from, words) in [(gold, "Make a segment"), (attributes, "title=\"Make a segment\"")] {
            let form = editor.get(&link(&from.text, words)).await;
            let (_, criteria) = form.text.split_once("aria-describedby=\"criteria-hint\">").unwrap();
            let criteria = criteria.split_once("</textarea>").unwrap().0.replace("&quot;", "\"");
            let made = editor.post(&page, &[("display_name", "Those"), ("criteria", &criteria)]).await;
            editor.get(made.location()).await.shows("1 device is in it now");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn lists_are_uploaded_taken_away_and_deleted() {
    on_each_database(async |app| {
        prepare(&app).await;
        let (editor, viewer) = (Visitor::with_role(&app, "editor").await, Visitor::with_role(&app, "viewer").await);
        let home = format!("/console/{}/audience", app.app.key);
        let (page, upload) = (format!("{home}?show=lists"), format!("{home}/lists"));
        assert!(!viewer.get(&page).await.expect(200).contains("Upload a list"), "offered to nobody who may not");
        let name = [("name", "readers")];
        let rows = "identifier_type,identifier\r\nnamed_user,kim-7\r\n";
        editor.post_file(&upload, &name, ("file", rows)).await.expect_to(&format!("{page}&list=readers"));
        app.step_all().await;
        let shown = editor.get(&format!("{page}&list=readers")).await;
        for words in ["readers", "ready", "/audience/lists/readers/csv"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains("ua_"), "only this one");
        let file = editor.get(&format!("{upload}/readers/csv")).await;
        assert!(file.expect(200).contains("named_user,kim-7"), "{}", file.text);
        assert!(file.headers["content-disposition"].to_str().unwrap().contains("readers.csv"));
        viewer.get(&format!("{upload}/readers/csv")).await.expect(403);
        // The same name takes another file.
        editor.post_file(&upload, &name, ("file", "named_user,kim-8\n")).await.expect(303);
        app.step_all().await;
        editor.get(&format!("{upload}/readers/csv")).await.shows("kim-8");
        for (fields, file, words) in [
            (name, "", "Choose a file"),
            (name, "named_user,kim-7\ntoaster,kim-7", "toaster"),
            ([("name", "no name!")], rows, "letters, digits"),
            ([("name", "ua_mine")], rows, "ua_"),
        ] {
            let refused = editor.post_file(&upload, &fields, ("file", file)).await;
            assert!(refused.status.is_client_error() && refused.text.contains(words), "{words}: {}", refused.text);
        }
        let many = "named_user,kim-7\r\n".repeat(20_000);
        editor.post_file(&upload, &name, ("file", &many)).await.expect(303);
        viewer.post(&format!("{upload}/readers/delete"), &[]).await.expect(403);
        editor.post(&format!("{upload}/readers/delete"), &[]).await.expect_to(&page);
        assert!(!editor.get(&page).await.expect(200).contains("readers"));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_people_of_a_message_become_a_segment() {
    on_each_database(async |app| {
        let push = prepare(&app).await;
        let (editor, support) = (Visitor::with_role(&app, "editor").await, Visitor::with_role(&app, "support").await);
        let message = format!("/console/{}/messages/{push}", app.app.key);
        let make = format!("{message}/people/segment");
        for page in [message.clone(), format!("{message}/people?outcome=delivered")] {
            editor.get(&page).await.shows(&make);
            assert!(!support.get(&page).await.expect(200).contains(&make), "offered to nobody who may not");
        }
        editor.get(&message).await.shows("From the audience to opened");
        support.post(&make, &[("of", "delivered"), ("display_name", "Got it")]).await.expect(403);
        let made = editor.post(&make, &[("of", "delivered"), ("display_name", "Got it")]).await;
        let shown = editor.get(made.location()).await;
        for words in ["Got it", "1 device is in it now", &push] {
            shown.shows(words);
        }
        let made = editor.post(&make, &[("of", "opened"), ("display_name", "Opened it")]).await;
        editor.get(made.location()).await.shows("0 devices are in it now");
        let refused = editor.post(&make, &[("of", "opened"), ("display_name", "")]).await;
        assert!(refused.expect(400).contains("Make a segment"), "{}", refused.text);
        editor.post(&make, &[("of", "seen"), ("display_name", "No")]).await.expect(400);
        app.stop().await;
    })
    .await;
}
