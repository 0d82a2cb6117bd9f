//! Events that were deleted from the log before a webhook could be sent them: counted, and never passed over in silence.

use std::time::Duration;

use serde_json::json;
use testkit::app::on_each_database;
use testkit::event_receiver::{EventReceiver, Reaction};

use crate::crowd::Crowd;
use crate::logs::Log;
use crate::webhooks::{DEVICES, create, show, tag, told};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn what_was_deleted_while_a_webhook_was_disabled_is_counted_and_shown() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES[..1]).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        app.operator().patch(&webhook, json!({"enabled": false})).await.expect(200);
        for name in ["one", "two"] {
            tag(&app, crowd.id("a"), name).await;
        }
        app.advance(8 * DAY);
        tag(&app, crowd.id("a"), "three").await;
        app.step_all().await;
        assert_eq!(show(&app, &webhook).await["missed_records"], 0);

        let log = Log::begin();
        app.operator().patch(&webhook, json!({"enabled": true})).await.expect(200);
        app.step_all().await;
        let tags: Vec<String> = receiver.taken().iter().map(|event| told(event).1).collect();
        assert_eq!(tags, ["three"]);
        let shown = show(&app, &webhook).await;
        let n_missed = shown["missed_records"].as_i64().unwrap();
        assert!(n_missed >= 2 && shown["records_behind"] == 0, "{shown}");
        let logged = log.events("webhook.missed");
        let n_logged: i64 = logged.iter().map(|line| line["fields"]["records"].as_i64().unwrap()).sum();
        assert_eq!(n_logged, n_missed, "{logged:?}");
        let fields = &logged[0]["fields"];
        assert_eq!((&logged[0]["level"], &fields["app"]), (&json!("WARN"), &json!(app.app.key)));
        assert!(webhook.ends_with(fields["webhook"].as_str().unwrap()), "{fields}");
        let history = app.operator().get(&format!("{webhook}/history")).await.expect(200)["attempts"].clone();
        assert_eq!(history[0]["type"], "TAG_CHANGE");
        assert_eq!(history[1]["missed_records"], n_missed);
        assert!(history[1]["error"].as_str().unwrap().contains("Deleted"), "{history}");
        let metrics = app.operator().get("/metrics").await.text().to_owned();
        let line = metrics.lines().find(|line| line.starts_with("aerogram_webhook_log_records_missed_total{")).unwrap();
        assert!(line.ends_with(&format!(" {n_missed}")), "{line}");

        // Going back to what is not kept any more misses nothing: it was not to be had.
        app.operator().post(&format!("{webhook}/replay"), json!({"offset": "1"})).await.expect(200);
        app.step_all().await;
        assert_eq!(
            (receiver.taken().len(), show(&app, &webhook).await["missed_records"].as_i64()),
            (2, Some(n_missed))
        );
    })
    .await;
}

#[tokio::test]
async fn of_what_was_stuck_only_that_is_missed_which_was_not_delivered() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        let retry = json!({"give_up_hours": 168});
        app.operator().patch(&webhook, retry).await.expect(200);
        receiver.react(|event| if told(event).1 == "poison" { Reaction::Status(400) } else { Reaction::Status(200) });
        tag(&app, crowd.id("a"), "poison").await;
        for name in ["one", "two", "three"] {
            tag(&app, crowd.id("b"), name).await;
        }
        app.step_all().await;
        app.operator().patch(&webhook, json!({"enabled": false})).await.expect(200);
        app.advance(8 * DAY);
        tag(&app, crowd.id("c"), "four").await;
        app.step_all().await;

        let app = app.restart().await;
        app.operator().patch(&webhook, json!({"enabled": true})).await.expect(200);
        app.step_all().await;
        let tags: Vec<String> = receiver.taken().iter().map(|event| told(event).1).collect();
        assert_eq!(tags, ["one", "two", "three", "four"]);
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["missed_records"], &shown["state"]), (&json!(1), &json!("live")), "{shown}");
    })
    .await;
}
