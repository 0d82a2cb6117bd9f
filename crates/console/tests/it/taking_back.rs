//! The ten seconds in which a message can be taken back, and what is left of it then.

use std::time::Duration;

use serde_json::json;

use crate::visitor::{Page, Visitor, on_each_database};

/// Sends what the fields say, and looks at the page from which it can be taken back.
async fn send(sender: &Visitor, compose: &str, fields: &[(&str, &str)]) -> (String, Page) {
    let send = [("do", "send"), ("expected", "0"), ("once", "once-only")];
    let sent = sender.post(compose, &[fields, &send].concat()).await;
    sent.expect(303);
    let page = sender.get(sent.location()).await;
    page.shows("Undo");
    (sent.location().to_owned(), page)
}

#[tokio::test]
async fn a_long_message_is_taken_back_and_nothing_of_it_is_in_an_address() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let text = "Привет, это важно! ".repeat(50).trim().to_owned();
        let inbox = format!("<h1>Подробности</h1><p>{}</p>", "Очень длинный рассказ. ".repeat(400));
        let fields =
            [("who", "all"), ("text", &*text), ("inbox_title", "Ещё"), ("inbox_body", &*inbox), ("when", "now")];
        let (path, waiting) = send(&sender, &compose, &fields).await;
        let undone = sender.press(&waiting, &path).await;
        // It is loaded again, and clicked a second time.
        for page in [undone, sender.press(&waiting, &path).await] {
            page.expect(200);
            assert_eq!(page.location(), "");
            page.shows("The message was taken back; nothing was sent");
            page.shows(&format!(">{text}</textarea>"));
            page.shows(&inbox.replace('<', "&lt;").replace('>', "&gt;"));
            assert!(!page.text.contains("%D0"), "an address has the text: {}", page.text);
            page.shows(&format!("action=\"{compose}\""));
        }
        sender.get(&path).await.shows("nothing was sent");
        app.advance(Duration::from_secs(60));
        app.step_all().await;
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_too_long_for_a_form_is_taken_back_all_the_same() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let message = json!({"title": "More", "body": "я".repeat(60_000)});
        let document = json!({"audience": "all", "device_types": "all", "message": message});
        let made = app.master().post("/api/drafts", json!({"document": document})).await.expect(201);
        let draft = format!("{home}/drafts/{}", made["draft"]["draft_id"].as_str().unwrap());
        let sent = sender.post(&format!("{draft}/send"), &[("version", "1"), ("expected", "0")]).await;
        sent.expect(303);
        let waiting = sender.get(sent.location()).await;
        waiting.shows("It is too long for a form");
        let undone = sender.press(&waiting, sent.location()).await;
        assert!(undone.expect(200).contains("nothing was sent"), "{}", undone.text);
        app.advance(Duration::from_secs(60));
        app.step_all().await;
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_sent_meanwhile_is_shown_and_not_called_taken_back() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let (path, waiting) = send(&sender, &compose, &[("who", "all"), ("text", "Oops")]).await;
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        let late = sender.press(&waiting, &path).await;
        late.expect(303);
        assert!(late.location().starts_with(&format!("/console/{}/messages/", app.app.key)), "{}", late.location());
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"].as_array().unwrap().len(), 1);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_second_click_that_comes_later_sends_nothing_more() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let message = [("who", "all"), ("text", "Once"), ("do", "send"), ("expected", "0")];
        for more in [&[("once", "push")][..], &[("once", "experiment"), ("b_text", "Or twice")]] {
            let fields = [&message[..], more].concat();
            let first = sender.post(&format!("{home}/compose"), &fields).await;
            first.expect(303);
            for _ in 0..3 {
                app.advance(Duration::from_millis(1500));
                sender.post(&format!("{home}/compose"), &fields).await.expect_to(first.location());
            }
        }
        assert_eq!(app.master().get("/api/schedules").await.expect(200)["total_count"], 1);
        let experiments = app.master().get("/api/experiments").await.expect(200);
        assert_eq!(experiments["experiments"].as_array().unwrap().len(), 1);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_second_click_on_another_node_or_long_after_sends_nothing_more() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let compose = format!("{home}/compose");
        let pushes = async || app.master().get("/api/pushes").await.expect(200)["pushes"].as_array().unwrap().len();
        let message = [("who", "all"), ("text", "Once"), ("do", "send"), ("expected", "0")];
        for (more, below, page) in [
            (&[("once", "push")][..], "messages", "Messages"),
            (&[("once", "experiment"), ("b_text", "Or twice")][..], "experiments", "Experiments"),
        ] {
            let fields = [&message[..], more].concat();
            let first = sender.post(&compose, &fields).await;
            first.expect(303);
            // The clock of the other node is behind: each may differ by three seconds from that of the database.
            app.clock().set_forward(-5500);
            sender.post(&compose, &fields).await.expect_to(first.location());
            app.clock().set_forward(5500);
            app.advance(Duration::from_secs(60));
            app.step_all().await;
            let n_pushes = pushes().await;
            sender.post(&compose, &fields).await.expect_to(first.location());
            let other = [&[("text", "Something else")][..], &fields[..]].concat();
            let late = sender.post(&compose, &other).await;
            late.expect(409);
            late.shows(&format!(
                "nothing was sent now. What it made is under <a href=\"{home}/{below}\">{page}</a>, unless it was taken back."
            ));
            assert!(!late.text.contains("id=\"compose\""), "the message is there to be sent again: {}", late.text);
            app.advance(Duration::from_secs(60));
            app.step_all().await;
            assert_eq!(pushes().await, n_pushes);
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_taken_back_is_not_called_sent_when_it_is_sent_once_more() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let compose = format!("{home}/compose");
        let fields = [("who", "all"), ("text", "Oops")];
        let (path, waiting) = send(&sender, &compose, &fields).await;
        sender.press(&waiting, &path).await.shows("nothing was sent");
        app.advance(Duration::from_secs(60));
        // The browser went back to the page before.
        let send = [("do", "send"), ("expected", "0")];
        sender.post(&compose, &[&fields[..], &send, &[("once", "once-only")]].concat()).await.expect_to(&path);
        sender.get(&path).await.shows("The message was taken back; nothing was sent.");

        let fields = [&fields[..], &send, &[("once", "experiment"), ("b_text", "Or not")]].concat();
        let first = sender.post(&compose, &fields).await;
        first.expect(303);
        sender.post(&format!("{}/delete", first.location()), &[]).await.expect_to(&format!("{home}/experiments"));
        app.advance(Duration::from_secs(60));
        let again = sender.post(&compose, &fields).await;
        again.expect(409);
        again.shows(&format!(
            "nothing was sent now. What it made is under <a href=\"{home}/experiments\">Experiments</a>"
        ));
        app.advance(Duration::from_secs(60));
        app.step_all().await;
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]));
        app.stop().await;
    })
    .await;
}
