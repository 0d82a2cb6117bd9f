//! Tags, attributes and uploaded lists, and segments that are made of them and of the people of a message.

use std::time::Duration;

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
        let (new, names) = (format!("{page}/segments/new"), ["kind0", "of0", "how0", "value0"]);
        for (from, words, values) in [
            (gold, "Make a segment", ["tag", "loyalty", "", "gold"]),
            (attributes, "title=\"Make a segment\"", ["attribute", "plan", "equals", "platinum"]),
        ] {
            let form = editor.get(&link(&from.text, words)).await;
            for value in values.iter().filter(|value| !value.is_empty()) {
                form.shows(&format!("value=\"{value}\""));
            }
            form.shows("device fulfils this");
            let rows: Vec<(&str, &str)> = names.into_iter().zip(values).collect();
            let fields = [&rows[..], &[("display_name", "Those"), ("who", "some"), ("do", "save")]].concat();
            let made = editor.post(&new, &fields).await;
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

#[tokio::test]
async fn segments_of_the_same_name_are_told_apart() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let new = format!("/console/{}/audience/segments/new", app.app.key);
        let make = async |name: &str| {
            let body = json!({"display_name": name, "criteria": {"tag": "news"}});
            let made = app.master().post("/api/segments", body).await.expect(201);
            made["segment_id"].as_str().unwrap().to_owned()
        };
        let (first, second) = (make("News").await, make("News").await);
        make("Nights").await;
        let fields = [("display_name", "News"), ("kind0", "tag"), ("value0", "news")];
        let with = |action: &'static str| [&fields[..], &[("do", action)]].concat();
        editor.post(&new, &with("check")).await.shows("There is another segment with this name");
        // It is allowed all the same.
        let made = editor.post(&new, &with("save")).await;
        made.expect(303);
        editor.get(made.location()).await.shows("Another segment has this name");
        let choosing = [("display_name", "Mine"), ("kind0", "segment"), ("value0", ""), ("do", "check")];
        let choosing = editor.post(&new, &choosing).await;
        for id in [&first, &second] {
            choosing.shows(&format!("News (…{})", &id[id.len() - 6..]));
        }
        choosing.shows(">Nights</option>");
        assert!(!choosing.text.contains("another segment with this name"), "{}", choosing.text);
        // Also by segments that are on the next page of the list.
        app.advance(Duration::from_secs(1));
        for n in 0..25 {
            make(&format!("Later {n}")).await;
        }
        let list = format!("/console/{}/audience", app.app.key);
        let shown = editor.get(&format!("{list}?segment={first}")).await;
        shown.shows("Another segment has this name");
        let (_, rows) = shown.text.split_once("<tbody>").unwrap();
        assert!(rows.contains("Later 0") && !rows.contains(">News<"), "{}", shown.text);
        let edit = format!("{list}/segments/{first}");
        editor.get(&edit).await.shows("There is another segment with this name");
        let renamed = editor.post(&edit, &[&fields[1..], &[("display_name", "Old"), ("do", "check")]].concat()).await;
        assert!(!renamed.expect(200).contains("another segment with this name"), "{}", renamed.text);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn segments_are_clicked_together_changed_and_told_in_words() {
    on_each_database(async |app| {
        let push = prepare(&app).await;
        let (editor, viewer) = (Visitor::with_role(&app, "editor").await, Visitor::with_role(&app, "viewer").await);
        let home = format!("/console/{}", app.app.key);
        let new = format!("{home}/audience/segments/new");
        editor.get(&new).await.shows(r#"name="kind0""#);
        let reader = [("who", "some"), ("kind0", "tag"), ("value0", "news"), ("was0", "tag")];
        // Another kind has other fields, and messages are chosen by what they say.
        let other = [("who", "some"), ("kind0", "push"), ("value0", "news"), ("was0", "tag"), ("do", "check")];
        let changed = editor.post(&new, &other).await;
        for words in
            ["who opened it", "Hello · 20", &format!(r#"<option value="{push}""#), "Condition 1 is not complete"]
        {
            changed.shows(words);
        }
        let with = |more: &[(&'static str, &'static str)]| [&reader[..], more].concat();
        let added = editor.post(&new, &with(&[("display_name", "Readers"), ("do", "add")])).await;
        for words in [r#"name="kind1""#, r#"value="news""#, r#"value="Readers""#] {
            added.shows(words);
        }
        // What is refused keeps what was typed.
        let refused = editor.post(&new, &with(&[("display_name", ""), ("do", "save")])).await;
        assert!(refused.expect(400).contains(r#"value="news""#), "{}", refused.text);
        let made = editor.post(&new, &with(&[("display_name", "Readers"), ("do", "save")])).await;
        let shown = viewer.get(made.location()).await;
        for words in ["It is people who are tagged news.", "1 device is in it now", "None of the latest schedules"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains("Change it"), "{}", shown.text);
        let id = made.location().rsplit('=').next().unwrap().to_owned();
        let edit = format!("{home}/audience/segments/{id}");
        let form = editor.get(&edit).await;
        for words in [r#"value="Readers""#, r#"value="news""#, "device fulfils this", "Used by"] {
            form.shows(words);
        }
        let opened = [("who", "some"), ("kind0", "push"), ("how0", "opened"), ("value0", &*push), ("not0", "not")];
        let fields = [&opened[..], &[("display_name", "Not opened"), ("do", "save")]].concat();
        editor.post(&edit, &fields).await.expect(303);
        let kept = app.master().get(&format!("/api/segments/{id}")).await.expect(200);
        assert_eq!(kept["criteria"], json!({"not": {"push": {"id": push, "outcome": "opened"}}}));
        editor.get(&edit).await.shows("Hello");
        // Audiences that rows cannot say stay as they are.
        let odd = json!({"OR": [{"not": [{"tag": ["a", "b"]}]}]});
        let body = json!({"display_name": "Odd", "criteria": odd});
        app.master().put(&format!("/api/segments/{id}"), body).await.expect(200);
        let text = editor.get(&edit).await.text;
        let (_, shown) = text.split_once(r#"name="value0""#).unwrap();
        let shown = shown.split_once('>').unwrap().1.split_once("</textarea>").unwrap().0.replace("&quot;", "\"");
        let fields = [("who", "some"), ("kind0", "json"), ("value0", &*shown), ("display_name", "Odd"), ("do", "save")];
        editor.post(&edit, &fields).await.expect(303);
        assert_eq!(app.master().get(&format!("/api/segments/{id}")).await.expect(200)["criteria"], odd);
        // A schedule that names it is found.
        let push = json!({"audience": {"segment": id}, "device_types": "all", "notification": {"alert": "x"}});
        let later = json!({"name": "Weekly", "schedule": {"scheduled_time": "2030-01-01T00:00:00"}, "push": push});
        app.master().post("/api/schedules", later).await.expect(201);
        editor.get(&edit).await.shows("Weekly");
        app.stop().await;
    })
    .await;
}
