//! The sandbox: what devices would show and the request, by push, and what can be done there.

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

async fn register(app: &TestApp, kind: &str, address: &str) {
    let channel = json!({"channel": {"device_type": kind, "opt_in": true, "push_address": address}});
    app.device().post("/api/channels", channel).await.expect(201);
}

async fn send(app: &TestApp, title: &str, alert: &str) -> String {
    let push = json!({"audience": "all", "device_types": "all",
                      "notification": {"alert": alert, "ios": {"title": title, "alert": alert, "badge": 3}}});
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    sent["push_ids"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_sandbox_shows_what_devices_would_show_and_the_request() {
    on_each_database(async |app| {
        let support = Visitor::with_role(&app, "support").await;
        let page = format!("/console/{}/sandbox", app.app.key);
        support.get(&page).await.shows("Nothing was delivered to the sandbox yet");
        register(&app, "ios", "AB01").await;
        let push = send(&app, "Storm", "A storm is coming").await;
        send(&app, "Sun", "It is over").await;
        let all = support.get(&page).await;
        for words in
            ["<strong>Storm</strong>", "A storm is coming", "It is over", "Apple (APNs)", "POST ", "/3/device/"]
        {
            all.shows(words);
        }
        let storm = all.text.find("A storm is coming").unwrap();
        assert!(all.text.find("It is over").unwrap() < storm, "the newest first");
        assert!(!all.text.contains("Clear the sandbox"), "offered to nobody who may not");
        for query in [format!("push_id={push}"), "q=STORM".to_owned(), "q=storm&transport=apns&since=15".to_owned()] {
            let found = support.get(&format!("{page}?{query}")).await;
            found.shows("A storm is coming");
            assert!(!found.text.contains("It is over"), "{query}");
        }
        for query in ["device_type=android", "transport=fcm", "q=nothing"] {
            support.get(&format!("{page}?{query}")).await.shows("No delivery fits");
        }
        for query in ["device_type=toaster", "transport=pigeon", "push_id=x"] {
            support.get(&format!("{page}?{query}")).await.expect(400);
        }
        app.advance(std::time::Duration::from_secs(16 * 60));
        support.get(&format!("{page}?since=15")).await.shows("No delivery fits");
        support.get(&format!("{page}?since=60")).await.shows("It is over");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_row_is_a_push_with_its_devices() {
    on_each_database(async |app| {
        for n in 0..3 {
            register(&app, "ios", &format!("AB0{n}")).await;
        }
        register(&app, "android", "a").await;
        let push = send(&app, "Storm", "A storm is coming").await;
        let support = Visitor::with_role(&app, "support").await;
        let page = support.get(&format!("/console/{}/sandbox", app.app.key)).await;
        assert_eq!(page.expect(200).matches("class=\"card\"").count(), 1, "{}", page.text);
        for words in ["3 iOS", "1 Android", "All 4 deliveries of the message", "&amp;wait=10"] {
            page.shows(words);
        }
        assert_eq!(page.text.matches("The exact request").count(), 2, "one for each provider");
        let page = support.get(&format!("/console/{}/sandbox?push_id={push}", app.app.key)).await;
        assert_eq!(page.expect(200).matches("its request").count(), 4, "{}", page.text);
        let (_, rest) = page.text.split_once("sandbox?push_id=").unwrap();
        let query = rest.split_once('"').unwrap().0.replace("&amp;", "&");
        assert!(query.starts_with(&push) && query.contains("channel_id="), "{query}");
        let one = support.get(&format!("/console/{}/sandbox?push_id={query}", app.app.key)).await;
        assert_eq!(one.expect(200).matches("The exact request").count(), 1);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn answers_are_chosen_and_the_sandbox_is_emptied() {
    on_each_database(async |app| {
        register(&app, "ios", "AB01").await;
        let (editor, support) = (Visitor::with_role(&app, "editor").await, Visitor::with_role(&app, "support").await);
        let page = format!("/console/{}/sandbox", app.app.key);
        let faults = format!("{page}/faults");
        support.post(&faults, &[("do", "add"), ("answer", "gone")]).await.expect(403);
        let add = |answer: &'static str, count: &'static str, of: &'static str| {
            [("do", "add"), ("answer", answer), ("count", count), ("of", of)]
        };
        editor.post(&faults, &add("refused", "1", "ios")).await.expect_to(&page);
        editor.post(&faults, &add("busy", "2", "")).await.expect_to(&page);
        let left = editor.get(&page).await;
        left.shows("1 message to iOS: refused: the message fails");
        left.shows("2 messages: busy");
        for wrong in [add("slow", "1", ""), add("gone", "0", ""), add("gone", "many", "")] {
            assert!(editor.post(&faults, &wrong).await.expect(400).contains("class=\"notice bad\""));
        }
        let push = send(&app, "Storm", "A storm is coming").await;
        support.get(&format!("/console/{}/messages/{push}/people?outcome=failed", app.app.key)).await.shows("iOS");
        editor.post(&faults, &[("do", "end")]).await.expect_to(&page);
        editor.get(&page).await.shows("The sandbox takes every message");
        send(&app, "Sun", "It is over").await;
        editor.get(&page).await.shows("It is over");
        support.post(&format!("{page}/clear"), &[]).await.expect(403);
        editor.post(&format!("{page}/clear"), &[]).await.expect_to(&page);
        editor.get(&page).await.shows("Nothing was delivered to the sandbox yet");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_push_is_sent_again_once_however_often_one_clicks() {
    on_each_database(async |app| {
        register(&app, "ios", "AB01").await;
        let push = send(&app, "Storm", "A storm is coming").await;
        let (sender, editor) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "editor").await);
        let home = format!("/console/{}", app.app.key);
        let again = format!("{home}/sandbox/again/{push}");
        assert!(!editor.get(&format!("{home}/sandbox")).await.expect(200).contains(&again));
        editor.post(&again, &[]).await.expect(403);
        let page = sender.get(&format!("{home}/sandbox")).await;
        page.shows(&again);
        let (_, once) = page.text.split_once("name=\"once\" value=\"").unwrap();
        let once = [("once", once.split_once('"').unwrap().0)];
        let first = sender.post(&again, &once).await;
        assert!(first.location().starts_with(&format!("{home}/messages/")) && !first.location().ends_with(&push));
        sender.post(&again, &once).await.expect_to(first.location());
        app.step_all().await;
        assert_eq!(app.master().get("/api/sandbox").await.expect(200)["deliveries"].as_array().unwrap().len(), 2);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn older_messages_are_on_further_pages() {
    on_each_database(async |app| {
        register(&app, "ios", "AB01").await;
        for n in 0..21 {
            send(&app, "Storm", &format!("Number {n:02}")).await;
        }
        let support = Visitor::with_role(&app, "support").await;
        let page = support.get(&format!("/console/{}/sandbox", app.app.key)).await;
        assert!(page.expect(200).contains("Number 20") && !page.text.contains("Number 00"), "{}", page.text);
        let (before, _) = page.text.split_once(">Older<").unwrap();
        let older = before.rsplit_once("href=\"").unwrap().1.trim_end_matches('"').replace("&amp;", "&");
        let older = support.get(&older).await;
        assert!(older.expect(200).contains("Number 00") && !older.text.contains("Number 01"), "{}", older.text);
        app.stop().await;
    })
    .await;
}
