//! What is told late counts from when it happened, and what is told too late does not count.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::{DAY, HOUR, create, delayed, pipeline, register, shown, tag, tell};

const MINUTE: Duration = Duration::from_secs(60);

fn custom(name: &str) -> Value {
    json!({"custom_event": {"key": "name", "value": {"equals": name}}})
}

/// A device tells of a custom event of a while ago.
async fn told(app: &TestApp, channel: &str, name: &str, ago: Duration) {
    tell(app, channel, "enhanced_custom_event", ago, json!({"event_name": name})).await;
}

async fn n_shown(app: &TestApp, channel: &str) -> usize {
    shown(app).await.get(channel).map_or(0, Vec::len)
}

#[tokio::test]
async fn the_delay_counts_from_what_happened() {
    on_each_database(async |app| {
        let [a, b, c, d] = [
            register(&app, "a", &[]).await,
            register(&app, "b", &[]).await,
            register(&app, "c", &[]).await,
            register(&app, "d", &[]).await,
        ];
        create(&app, delayed(custom("left"), "One", 4 * HOUR)).await;
        app.advance(3 * DAY);
        told(&app, &a, "left", 3 * HOUR).await;
        told(&app, &b, "left", 5 * HOUR).await;
        // It would have been sent a day ago, and a moment before that.
        told(&app, &c, "left", DAY + 4 * HOUR).await;
        told(&app, &d, "left", DAY + 4 * HOUR + Duration::from_secs(1)).await;
        // The log has it; nobody has read it yet.
        let app = app.restart().await;
        assert_eq!(json!(shown(&app).await), json!({&b: ["One"], &c: ["One"]}));
        let app = app.restart().await;
        app.advance(HOUR - Duration::from_millis(1));
        assert_eq!(n_shown(&app, &a).await, 0);
        app.advance(Duration::from_millis(1));
        assert_eq!(n_shown(&app, &a).await, 1);
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"], &b: ["One"], &c: ["One"]}));
    })
    .await;
}

#[tokio::test]
async fn what_servers_tell_late_counts_from_when_it_happened() {
    on_each_database(async |app| {
        let channel = register(&app, "a", &[]).await;
        create(&app, delayed(custom("left"), "One", 2 * HOUR)).await;
        app.advance(HOUR);
        let event = json!({
            "occurred": "2024-05-01T12:30:00", "user": {"android_channel": channel}, "body": {"name": "left"},
        });
        app.master().post("/api/custom-events", event).await.expect(200);
        app.step_all().await;
        let app = app.restart().await;
        app.advance(90 * MINUTE - Duration::from_millis(1));
        assert_eq!(n_shown(&app, &channel).await, 0);
        app.advance(Duration::from_millis(1));
        assert_eq!(n_shown(&app, &channel).await, 1);
    })
    .await;
}

#[tokio::test]
async fn what_happened_before_a_pipeline_was_made_does_not_count() {
    on_each_database(async |app| {
        let channel = register(&app, "a", &[]).await;
        app.advance(HOUR);
        let path = create(&app, pipeline(json!([custom("left"), "open", "region_entered"]), "One")).await;
        app.advance(HOUR);
        let long_ago = HOUR + MINUTE;
        told(&app, &channel, "left", long_ago).await;
        tell(&app, &channel, "app_foreground", long_ago, json!({})).await;
        let region = json!({"region_id": "r", "source": "gimbal", "action": "enter"});
        tell(&app, &channel, "region_event", long_ago, region.clone()).await;
        assert_eq!(n_shown(&app, &channel).await, 0);
        // Replacing it does not make it a new one.
        app.master().put(&path, pipeline(json!([custom("left"), "region_entered"]), "Two")).await.expect(200);
        for (n, ago) in [(1, 30 * MINUTE), (2, HOUR)] {
            tell(&app, &channel, "region_event", ago, region.clone()).await;
            app.advance(MINUTE);
            assert_eq!(n_shown(&app, &channel).await, n, "{ago:?} ago");
        }
    })
    .await;
}

#[tokio::test]
async fn the_time_of_a_pipeline_is_compared_with_what_happened() {
    on_each_database(async |app| {
        let [a, b, c, d] = [
            register(&app, "a", &[]).await,
            register(&app, "b", &[]).await,
            register(&app, "c", &[]).await,
            register(&app, "d", &[]).await,
        ];
        let mut body = pipeline(custom("left"), "One");
        body["activation_time"] = json!("2024-05-01T13:00:00");
        body["deactivation_time"] = json!("2024-05-01T15:00:00");
        create(&app, body).await;
        let mut trigger = custom("left");
        trigger["activation_time"] = json!("2024-05-01T13:20:00");
        create(&app, pipeline(trigger, "Two")).await;
        app.advance(90 * MINUTE);
        told(&app, &a, "left", 40 * MINUTE).await;
        told(&app, &b, "left", 20 * MINUTE).await;
        assert_eq!(json!(shown(&app).await), json!({&b: ["One"]}));
        // It came in time, even if it is read only when all is over.
        app.advance(89 * MINUTE);
        told(&app, &c, "left", Duration::ZERO).await;
        let app = app.restart().await;
        app.advance(HOUR);
        // It happened in time, but nothing is sent after the end.
        told(&app, &d, "left", 90 * MINUTE).await;
        let mut shown = shown(&app).await;
        shown.values_mut().for_each(|alerts| alerts.sort());
        assert_eq!(json!(shown), json!({&b: ["One"], &c: ["One", "Two"], &d: ["Two"]}));
    })
    .await;
}

#[tokio::test]
async fn a_cancellation_takes_out_who_was_set_off_before_it_happened() {
    on_each_database(async |app| {
        let mut body = delayed(json!([custom("left"), {"tag_added": "x"}]), "One", 4 * HOUR);
        body["cancellation_trigger"] = custom("bought");
        create(&app, body).await;
        let [a, b, c] =
            [register(&app, "a", &[]).await, register(&app, "b", &[]).await, register(&app, "c", &[]).await];
        app.advance(2 * HOUR);
        tag(&app, &a, "add", "x").await;
        tag(&app, &b, "add", "x").await;
        app.step_all().await;
        app.advance(HOUR);
        // One bought before, the other after.
        told(&app, &a, "bought", 2 * HOUR).await;
        told(&app, &b, "bought", 30 * MINUTE).await;
        // Both are told together, when it would have been sent already.
        app.advance(2 * HOUR);
        told(&app, &c, "left", 270 * MINUTE).await;
        told(&app, &c, "bought", 4 * HOUR).await;
        let app = app.restart().await;
        app.step_all().await;
        let app = app.restart().await;
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"]}));
    })
    .await;
}

#[tokio::test]
async fn every_occurrence_counts_however_close_they_are() {
    on_each_database(async |app| {
        create(&app, pipeline(custom("bought"), "Thanks")).await;
        let [a, b] = [register(&app, "a", &[]).await, register(&app, "b", &[]).await];
        told(&app, &a, "bought", Duration::ZERO).await;
        assert_eq!(n_shown(&app, &a).await, 1, "at once");
        // Three of one channel and one of another, before anybody reads of them.
        for channel in [&a, &b, &a, &a] {
            app.advance(Duration::from_millis(1));
            told(&app, channel, "bought", Duration::ZERO).await;
        }
        let app = app.restart().await;
        assert_eq!((n_shown(&app, &a).await, n_shown(&app, &b).await), (4, 1), "all of them at once");
        app.advance(DAY);
        assert_eq!((n_shown(&app, &a).await, n_shown(&app, &b).await), (4, 1));
    })
    .await;
}

#[tokio::test]
async fn every_occurrence_counts_shortly_before_the_end() {
    on_each_database(async |app| {
        let mut body = pipeline(custom("bought"), "Thanks");
        body["deactivation_time"] = json!("2024-05-01T12:00:06");
        create(&app, body).await;
        let channel = register(&app, "a", &[]).await;
        for _ in 0..5 {
            app.advance(Duration::from_secs(1));
            told(&app, &channel, "bought", Duration::ZERO).await;
        }
        // They are read only after the end.
        let app = app.restart().await;
        app.advance(Duration::from_secs(60));
        app.step_all().await;
        assert_eq!(n_shown(&app, &channel).await, 5);
    })
    .await;
}

#[tokio::test]
async fn a_late_cancellation_finds_those_of_a_pipeline_that_was_replaced() {
    on_each_database(async |app| {
        let mut body = delayed(custom("left"), "Come back", 4 * HOUR);
        body["cancellation_trigger"] = custom("bought");
        let path = create(&app, body.clone()).await;
        let channel = register(&app, "a", &[]).await;
        told(&app, &channel, "left", Duration::ZERO).await;
        app.step_all().await;
        body["outcome"]["delay"] = json!(HOUR.as_secs());
        app.advance(Duration::from_secs(60));
        app.master().put(&path, &body).await.expect(200);
        app.advance(HOUR);
        told(&app, &channel, "bought", HOUR / 2).await;
        app.step_all().await;
        app.advance(4 * HOUR);
        app.step_all().await;
        assert_eq!(n_shown(&app, &channel).await, 0);
    })
    .await;
}
