//! Webhooks: made, watched, given up events sent once more, and deleted; headers are never shown again.

use std::time::Duration;

use serde_json::json;
use testkit::app::TestApp;
use testkit::event_receiver::{EventReceiver, Reaction};

use crate::visitor::{Visitor, on_each_database};

const SECRET: &str = "Bearer of-the-warehouse";

async fn register(app: &TestApp, address: &str) {
    let channel = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": address}});
    app.device().post("/api/channels", channel).await.expect(201);
}

#[tokio::test]
async fn a_webhook_is_made_watched_and_mended() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let list = format!("/console/{}/webhooks", app.app.key);
        admin.get(&list).await.shows("No webhook yet");
        let receiver = EventReceiver::start().await;
        let url = receiver.url();
        let refused =
            admin.post(&list, &[("url", "nowhere"), ("types", "FIRST_OPEN"), ("authorization", SECRET)]).await;
        refused.expect(400);
        assert!(!refused.text.contains(SECRET));
        let name = "<b>Warehouse</b>";
        let fields = [
            ("url", url.as_str()),
            ("name", name),
            ("types", "FIRST_OPEN"),
            ("authorization", SECRET),
            ("give_up_hours", "1"),
        ];
        let made = admin.post(&list, &fields).await;
        let page = made.location().to_owned();
        assert!(page.starts_with(&list) && made.status == 303, "{}", made.text);
        let shown = admin.get(&list).await;
        shown.shows("&lt;b&gt;Warehouse&lt;/b&gt;");
        shown.shows("up to date");
        admin.post(&format!("{page}/test"), &[]).await.shows("It answered 200");

        receiver.react(|_| Reaction::Status(422));
        register(&app, "one").await;
        app.step_all().await;
        admin.get(&page).await.shows("failing");
        for _ in 0..14 {
            app.advance(Duration::from_secs(10 * 60));
            app.step_all().await;
        }
        let shown = admin.get(&page).await;
        for words in ["Given up", "Send them once more", "first open", "422"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains(SECRET) && !shown.text.contains("<b>Warehouse"));
        receiver.react(|_| Reaction::Status(200));
        admin.post(&format!("{page}/redeliver"), &[]).await.shows("1 event was taken.");
        assert!(!admin.get(&page).await.expect(200).contains("Send them once more"));

        admin.post(&format!("{page}/disable"), &[]).await.expect_to(&page);
        admin.get(&page).await.shows("Enable");
        admin.post(&format!("{page}/enable"), &[]).await.expect_to(&page);
        let n_taken = receiver.taken().len();
        admin.post(&format!("{page}/replay"), &[]).await.expect(400);
        admin.post(&format!("{page}/replay"), &[("from", "earliest")]).await.expect_to(&page);
        app.step_all().await;
        assert_eq!(receiver.taken().len(), n_taken + 1);
        let changed = [("url", url.as_str()), ("name", "Store"), ("types", "FIRST_OPEN"), ("types", "OPEN")];
        admin.post(&page, &changed).await.expect_to(&page);
        admin.get(&page).await.shows("Store");
        admin.post(&page, &[("url", url.as_str()), ("give_up_hours", "9999")]).await.expect(400);
        admin.post(&format!("{page}/discard"), &[]).await.expect_to(&page);
        admin.post(&format!("{page}/delete"), &[]).await.expect_to(&list);
        admin.get(&page).await.expect(404);
        app.stop().await;
    })
    .await;
}
