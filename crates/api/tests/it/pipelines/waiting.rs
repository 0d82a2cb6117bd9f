//! What waiting and sending leave behind: pipelines that are busy, cancellations far ahead, and rates.

use std::time::Duration;

use serde_json::json;
use store::jobs;
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{APP, DAY, HOUR, count_after, create, delayed, pipeline, register, shown, tag};

const SECOND: Duration = Duration::from_secs(1);

async fn rows(app: &TestApp, table: &str) -> i64 {
    row_counts(app.engine().store()).await[table]
}

#[tokio::test]
async fn every_trigger_is_answered_at_once() {
    on_each_database(async |app| {
        create(&app, pipeline(json!("first_open"), "One")).await;
        for (n, address) in ["a", "b", "c", "d"].into_iter().enumerate() {
            register(&app, address, &[]).await;
            assert_eq!(count_after(&app, Duration::ZERO).await, n + 1, "nobody waits for others");
        }
        assert_eq!((rows(&app, "push").await, rows(&app, "pipeline_timer").await), (4, 0));
        let payloads = app.engine().store().read(|tx| -> store::Result<i64> {
            tx.query_one("select count(payload) from push", &[], |row| row.get(0))
        });
        assert_eq!(payloads.await.unwrap(), 1, "they are the same");
    })
    .await;
}

#[tokio::test]
async fn a_pipeline_that_is_triggered_faster_than_it_sends_sends_to_many_together() {
    on_each_database(async |app| {
        create(&app, pipeline(json!("first_open"), "One")).await;
        for address in ["a", "b", "c"] {
            register(&app, address, &[]).await;
        }
        assert_eq!(count_after(&app, Duration::ZERO).await, 3);
        assert_eq!(rows(&app, "push").await, 1, "what has come until the log is read goes out together");
        // The log is read again before the job that sends has had its turn: another node has claimed it and takes its time.
        register(&app, "d", &[]).await;
        assert!(app.engine().worker().step().await.unwrap());
        let now = app.engine().clock().now();
        let claim = move |tx: &mut store::Tx<'_>| {
            let due = jobs::due(tx, &store::Part::ALL, now, 10)?.jobs;
            let due: Vec<_> = due.iter().map(|job| (job.app, job.id)).collect();
            jobs::claim(tx, store::nodes::Node::random(), &due, now, now.plus(15 * SECOND))
        };
        let claimed = app.engine().store().write(APP, claim).await.unwrap();
        assert_eq!(claimed.iter().map(|job| job.kind.as_str()).collect::<Vec<_>>(), ["fire_pipeline"]);
        app.advance(Duration::from_millis(7));
        register(&app, "e", &[]).await;
        app.step_all().await;
        assert_eq!(
            (rows(&app, "push").await, rows(&app, "pipeline_timer").await),
            (1, 1),
            "both wait for the same push"
        );
        assert_eq!(count_after(&app, 15 * SECOND).await, 5);
        assert_eq!((rows(&app, "push").await, rows(&app, "pipeline_timer").await), (2, 0));
    })
    .await;
}

#[tokio::test]
async fn a_replaced_pipeline_keeps_its_new_payload() {
    on_each_database(async |app| {
        let path = create(&app, pipeline(json!("first_open"), "One")).await;
        let mut channels = Vec::new();
        for (alert, address) in [("One", "a"), ("One", "b"), ("Two", "c"), ("Two", "d")] {
            app.master().put(&path, pipeline(json!("first_open"), alert)).await.expect(200);
            channels.push((register(&app, address, &[]).await, alert));
            app.step_all().await;
            app.advance(HOUR);
        }
        let shown = shown(&app).await;
        for (channel, alert) in &channels {
            assert_eq!(shown[channel], [*alert]);
        }
        let payloads = app.engine().store().read(|tx| -> store::Result<i64> {
            tx.query_one("select count(payload) from push", &[], |row| row.get(0))
        });
        assert_eq!(payloads.await.unwrap(), 2);
    })
    .await;
}

#[tokio::test]
async fn the_canceled_are_found_wherever_they_wait() {
    on_each_database(async |app| {
        let mut body = delayed(json!({"tag_added": "x"}), "One", 30 * DAY);
        body["cancellation_trigger"] = json!({"tag_added": "bought"});
        create(&app, body).await;
        let mut channels = Vec::new();
        // In one second, in one span of minutes, of hours, and of days.
        for (address, wait) in
            [("a", Duration::ZERO), ("b", Duration::ZERO), ("c", 10 * SECOND), ("d", HOUR), ("e", DAY), ("f", 10 * DAY)]
        {
            app.advance(wait);
            let channel = register(&app, address, &[]).await;
            tag(&app, &channel, "add", "x").await;
            app.step_all().await;
            channels.push(channel);
        }
        // One waits twice.
        tag(&app, &channels[0], "remove", "x").await;
        tag(&app, &channels[0], "add", "x").await;
        app.step_all().await;
        assert!(rows(&app, "pipeline_span").await > 3);
        let app = app.restart().await;
        for canceled in [0, 2, 4] {
            tag(&app, &channels[canceled], "add", "bought").await;
        }
        app.step_all().await;
        assert_eq!(rows(&app, "pipeline_timer").await, 3);
        let app = app.restart().await;
        app.advance(60 * DAY);
        let shown = shown(&app).await;
        let got: Vec<_> = channels.iter().map(|channel| shown.contains_key(channel)).collect();
        assert_eq!(got, [false, true, false, true, false, true]);
        for table in ["pipeline_timer", "pipeline_span"] {
            assert_eq!(rows(&app, table).await, 0, "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_cancellation_that_comes_later_finds_those_who_wait_already() {
    on_each_database(async |app| {
        let mut body = delayed(json!({"tag_added": "x"}), "One", 2 * DAY);
        let path = create(&app, body.clone()).await;
        let [a, b] = [register(&app, "a", &["x"]).await, register(&app, "b", &["x"]).await];
        app.step_all().await;
        assert_eq!(rows(&app, "pipeline_span").await, 0, "nobody would be looked for");
        body["cancellation_trigger"] = json!({"tag_added": "bought"});
        app.master().put(&path, &body).await.expect(200);
        // Some come to those of whom nothing was noted.
        let [c, d] = [register(&app, "c", &["x"]).await, register(&app, "d", &["x"]).await];
        app.step_all().await;
        let app = app.restart().await;
        for canceled in [&a, &c] {
            tag(&app, canceled, "add", "bought").await;
        }
        let unknown = async || -> i64 {
            let sql = "select count(*) from pipeline_span where members = cast('' as blob)";
            let count = move |tx: &mut store::Tx<'_>| tx.query_one(sql, &[], |row| row.get(0));
            app.engine().store().read::<_, store::Error>(count).await.unwrap()
        };
        assert_eq!(unknown().await, 1);
        app.step_all().await;
        assert_eq!(unknown().await, 0, "the next cancellation knows where to look");
        let app = app.restart().await;
        app.advance(3 * DAY);
        assert_eq!(json!(shown(&app).await), json!({&b: ["One"], &d: ["One"]}));
        assert_eq!(rows(&app, "pipeline_span").await, 0);
    })
    .await;
}

#[tokio::test]
async fn what_no_rate_looks_back_to_is_forgotten_when_more_is_sent() {
    on_each_database(async |app| {
        let mut body = pipeline(json!({"tag_added": "x"}), "One");
        body["constraint"] = json!([{"rate": {"pushes": 1, "hours": 1}}, {"rate": {"pushes": 9, "hours": 3}}]);
        create(&app, body).await;
        let channel = register(&app, "a", &[]).await;
        for wanted in [1, 2, 3, 3, 3] {
            tag(&app, &channel, "add", "x").await;
            tag(&app, &channel, "remove", "x").await;
            app.step_all().await;
            assert_eq!(rows(&app, "pipeline_sent").await, wanted);
            app.advance(HOUR);
        }
        assert_eq!(shown(&app).await[&channel].len(), 5);
    })
    .await;
}

#[tokio::test]
async fn an_outcome_that_is_its_push_is_sent() {
    on_each_database(async |app| {
        let mut body = pipeline(json!("first_open"), "One");
        body["outcome"] = json!({"device_types": "all", "notification": {"alert": "One"}});
        app.master().post("/api/pipelines/validate", body.clone()).await.expect(200);
        create(&app, body.clone()).await;
        let channel = register(&app, "a", &[]).await;
        assert_eq!(shown(&app).await[&channel], ["One"]);
        body["outcome"]["notification"] = json!({"alert": "One", "ios": {"template": {"external_id": "none"}}});
        let refused = app.master().post("/api/pipelines", body).await.expect(400);
        assert_eq!(refused["details"]["path"], "outcome.notification.ios.template", "{refused}");
    })
    .await;
}
