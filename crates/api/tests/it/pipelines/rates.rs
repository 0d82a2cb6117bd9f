//! How often a channel gets something: the rates of a pipeline, and of all together.

use std::time::Duration;

use serde_json::json;
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{DAY, HOUR, count_after, create, pipeline, register, shown, tag};

const MINUTE: Duration = Duration::from_secs(60);

/// Has a channel set off what waits for a tag, and answers how often it was sent to by then.
async fn again(app: &TestApp, channel: &str) -> usize {
    tag(app, channel, "add", "x").await;
    tag(app, channel, "remove", "x").await;
    shown(app).await.get(channel).map_or(0, Vec::len)
}

async fn n_kept(app: &TestApp) -> i64 {
    row_counts(app.engine().store()).await["pipeline_sent"]
}

#[tokio::test]
async fn a_channel_gets_no_more_than_a_rate_allows() {
    on_each_database(async |app| {
        let mut body = pipeline(json!({"tag_added": "x"}), "One");
        body["constraint"] = json!([{"rate": {"pushes": 2, "hours": 24}}, {"rate": {"pushes": 4, "lifetimes": 1}}]);
        let path = create(&app, body).await;
        let [a, b] = [register(&app, "a", &[]).await, register(&app, "b", &[]).await];
        assert_eq!((again(&app, &a).await, again(&app, &a).await), (1, 2));
        assert_eq!(again(&app, &b).await, 1, "everybody counts alone");
        let app = app.restart().await;
        assert_eq!(again(&app, &a).await, 2, "two in a day is enough");
        app.advance(DAY - MINUTE);
        assert_eq!(again(&app, &a).await, 2);
        app.advance(MINUTE);
        assert_eq!((again(&app, &a).await, again(&app, &a).await), (3, 4));
        app.advance(100 * DAY);
        assert_eq!(again(&app, &a).await, 4, "four is enough for a life");
        assert_eq!(again(&app, &b).await, 2);
        app.step_all().await;
        let sent = row_counts(app.engine().store()).await["pipeline_sent"];
        assert!(sent > 0);
        app.master().delete(&path).await.expect(204);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pipeline_sent"], 0);
    })
    .await;
}

#[tokio::test]
async fn old_sends_are_forgotten() {
    on_each_database(async |app| {
        let mut body = pipeline(json!("first_open"), "One");
        body["constraint"] = json!({"rate": {"pushes": 1, "days": 90}});
        create(&app, body).await;
        register(&app, "a", &[]).await;
        assert_eq!(count_after(&app, Duration::ZERO).await, 1);
        app.advance(89 * DAY);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pipeline_sent"], 1);
        app.advance(2 * DAY);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pipeline_sent"], 0);
    })
    .await;
}

#[tokio::test]
async fn all_pipelines_together_have_rates_too() {
    on_each_database(async |app| {
        let rates = json!([{"rate": {"pushes": 1, "days": 1}}]);
        app.master().put("/api/pipelines/constraints", rates).await.expect(200);
        create(&app, pipeline(json!({"tag_added": "x"}), "One")).await;
        create(&app, pipeline(json!({"tag_added": "y"}), "Two")).await;
        let channel = register(&app, "a", &["x"]).await;
        assert_eq!(shown(&app).await[&channel], ["One"]);
        tag(&app, &channel, "add", "y").await;
        assert_eq!(shown(&app).await[&channel], ["One"]);
        tag(&app, &channel, "remove", "y").await;
        app.advance(DAY);
        tag(&app, &channel, "add", "y").await;
        assert_eq!(shown(&app).await[&channel], ["One", "Two"]);
    })
    .await;
}

#[tokio::test]
async fn what_was_sent_long_ago_is_put_together_and_counts_on() {
    on_each_database(async |app| {
        let mut body = pipeline(json!({"tag_added": "x"}), "One");
        body["constraint"] = json!({"rate": {"pushes": 2, "days": 30}});
        create(&app, body).await;
        // From 12:00 to 13:50.
        let mut channels = Vec::new();
        for number in 0..12 {
            let channel = register(&app, &format!("token {number}"), &[]).await;
            assert_eq!(again(&app, &channel).await, 1);
            channels.push(channel);
            app.advance(10 * MINUTE);
        }
        assert_eq!(n_kept(&app).await, 12);
        // A day later, with each slice that begins, an hour of them becomes one.
        app.advance(DAY);
        assert_eq!(again(&app, &channels[0]).await, 2);
        assert_eq!(n_kept(&app).await, 12 - 5 + 1);
        app.advance(10 * MINUTE);
        let late = register(&app, "late", &[]).await;
        assert_eq!(again(&app, &late).await, 1);
        assert_eq!(n_kept(&app).await, 2 + 2);
        assert_eq!(again(&app, &channels[0]).await, 2, "both count");
        // A week later, half a day of them becomes one, and of what came a day later an hour.
        let app = app.restart().await;
        app.advance(7 * DAY);
        assert_eq!(again(&app, &late).await, 2);
        assert_eq!(n_kept(&app).await, 1 + 1 + 1);
        // It is the 9th day, 14:10.
        app.advance(21 * DAY);
        assert_eq!(again(&app, &channels[0]).await, 2);
        app.advance(22 * HOUR - 10 * MINUTE);
        assert_eq!(again(&app, &channels[0]).await, 3, "30 days have passed since 12:00");
    })
    .await;
}
