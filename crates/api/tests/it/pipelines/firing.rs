//! Waiting and sending, across restarts: nothing is sent twice, nothing is skipped, and what is deleted is never sent.

use std::time::Duration;

use model::ids::PipelineId;
use model::origin::Origin;
use serde_json::json;
use store::pipeline_timers::{self, TimerPart};
use store::{documents, jobs, origins};
use testkit::app::{START, TestApp, on_each_database};
use testkit::bulk::copy_channel;
use testkit::rows::row_counts;

use super::{APP, DAY, HOUR, UNKNOWN, count_after, create, delayed, outcome, pipeline, register, shown, tag};

const SECOND: Duration = Duration::from_secs(1);

async fn rows(app: &TestApp, table: &str) -> i64 {
    row_counts(app.engine().store()).await[table]
}

#[tokio::test]
async fn a_delayed_message_comes_once_at_its_time() {
    on_each_database(async |app| {
        let path = create(&app, delayed(json!({"tag_added": "x"}), "One", HOUR)).await;
        let [a, b] = [register(&app, "a", &[]).await, register(&app, "b", &[]).await];
        tag(&app, &a, "add", "x").await;
        // The log has the tag; nobody has read it yet.
        let app = app.restart().await;
        assert!(shown(&app).await.is_empty());
        assert_eq!(rows(&app, "pipeline_timer").await, 1);
        app.advance(Duration::from_millis(1500));
        tag(&app, &b, "add", "x").await;
        app.step_all().await;
        // Both wait.
        let app = app.restart().await;
        assert_eq!(count_after(&app, HOUR - Duration::from_millis(1501)).await, 0);
        assert_eq!(count_after(&app, Duration::from_millis(1)).await, 1);
        // Not a moment too early, and together with others of the same second.
        assert_eq!(count_after(&app, Duration::from_millis(1999)).await, 1);
        assert_eq!(count_after(&app, Duration::from_millis(1)).await, 2);
        let app = app.restart_without_snapshots().await;
        assert_eq!(count_after(&app, 30 * DAY).await, 2);
        assert_eq!(json!(shown(&app).await), json!({&a: ["One"], &b: ["One"]}));
        for table in ["pipeline_timer", "push_audience"] {
            assert_eq!(rows(&app, table).await, 0, "{table}");
        }
        let id = path.rsplit('/').next().unwrap().parse().unwrap();
        let read = move |tx: &mut store::Tx<'_>| origins::last_pushes(tx, APP, Origin::Pipeline(id), 9);
        let pushes = app.engine().store().read(read).await.unwrap();
        let status = app.master().get(&format!("/api/push/{}", pushes[0])).await.expect(200);
        assert_eq!(status["push"]["origin"], json!({"type": "pipeline", "id": id.to_string()}));
    })
    .await;
}

#[tokio::test]
async fn a_restart_between_firing_and_resolving_loses_nothing() {
    on_each_database(async |app| {
        create(&app, pipeline(json!("first_open"), "One")).await;
        let channel = register(&app, "a", &[]).await;
        register(&app, "b", &[]).await;
        let worker = app.engine().worker();
        while rows(&app, "push_audience").await == 0 {
            assert!(worker.step().await.unwrap());
        }
        drop(worker);
        let app = app.restart().await;
        assert_eq!(shown(&app).await[&channel], ["One"]);
        assert_eq!(count_after(&app, DAY).await, 2);
        assert_eq!(rows(&app, "push_audience").await, 0);
    })
    .await;
}

#[tokio::test]
async fn workers_that_compete_send_it_once() {
    on_each_database(async |app| {
        create(&app, delayed(json!("first_open"), "One", HOUR)).await;
        create(&app, pipeline(json!("first_open"), "Two")).await;
        for n in 0..5 {
            register(&app, &n.to_string(), &[]).await;
        }
        tokio::join!(app.step_all(), app.step_all(), app.step_all());
        assert_eq!(count_after(&app, Duration::ZERO).await, 5);
        app.advance(HOUR);
        tokio::join!(app.step_all(), app.step_all(), app.step_all());
        assert_eq!(count_after(&app, Duration::ZERO).await, 10);
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_dies_loses_nothing() {
    on_each_database(async |app| {
        create(&app, delayed(json!("first_open"), "One", HOUR)).await;
        register(&app, "a", &[]).await;
        app.step_all().await;
        app.advance(HOUR);
        let now = app.engine().clock().now();
        let claim = move |tx: &mut store::Tx<'_>| {
            let due: Vec<_> =
                jobs::due(tx, &store::Part::ALL, now, 10)?.jobs.iter().map(|job| (job.app, job.id)).collect();
            jobs::claim(tx, store::nodes::Node::random(), &due, now, now.plus(15 * SECOND))
        };
        let claimed = app.engine().store().write(APP, claim).await.unwrap();
        assert!(claimed.iter().any(|job| job.kind == "fire_pipeline"));
        assert_eq!(count_after(&app, Duration::ZERO).await, 0, "somebody else is at it");
        assert_eq!(count_after(&app, 15 * SECOND).await, 1);
        assert_eq!(count_after(&app, DAY).await, 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_deleted_or_disabled_never_fires() {
    on_each_database(async |app| {
        let trigger = json!({"tag_added": "x"});
        let deleted = create(&app, delayed(trigger.clone(), "One", HOUR)).await;
        let disabled = create(&app, delayed(trigger.clone(), "One", HOUR)).await;
        let unread = create(&app, pipeline(trigger.clone(), "One")).await;
        create(&app, delayed(trigger.clone(), "Two", HOUR)).await;
        let n_jobs = rows(&app, "job").await;
        let channel = register(&app, "a", &["x"]).await;
        app.master().delete(&unread).await.expect(204);
        app.step_all().await;
        assert_eq!(rows(&app, "job").await, n_jobs + 3);
        let app = app.restart().await;
        app.master().delete(&deleted).await.expect(204);
        let mut off = delayed(trigger.clone(), "One", HOUR);
        off["enabled"] = json!(false);
        app.master().put(&disabled, &off).await.expect(200);
        assert_eq!(rows(&app, "pipeline_timer").await, 3, "nobody waits for them to be taken out");
        // It does not go on where it was when it is enabled again, even if that is at once.
        off["enabled"] = json!(true);
        app.master().put(&disabled, &off).await.expect(200);
        assert_eq!(rows(&app, "pipeline_timer").await, 3, "neither does who enables it");
        let app = app.restart().await;
        app.step_all().await;
        assert_eq!((rows(&app, "job").await, rows(&app, "pipeline_timer").await), (n_jobs + 1, 1));
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&channel: ["Two"]}));
    })
    .await;
}

#[tokio::test]
async fn a_pipeline_that_is_enabled_again_is_waited_for_anew() {
    on_each_database(async |app| {
        let mut body = delayed(json!({"tag_added": "x"}), "One", HOUR);
        body["cancellation_trigger"] = json!({"tag_added": "bought"});
        let path = create(&app, body.clone()).await;
        let first = register(&app, "a", &["x"]).await;
        app.step_all().await;
        let n_jobs = rows(&app, "job").await;
        for enabled in [false, true, false, true] {
            body["enabled"] = json!(enabled);
            app.master().put(&path, &body).await.expect(200);
        }
        // In the same second as the first, which still has its row and its job.
        tag(&app, &first, "remove", "x").await;
        let [second, canceled] = [register(&app, "b", &["x"]).await, register(&app, "c", &["x"]).await];
        assert_eq!(rows(&app, "pipeline_timer").await, 1);
        app.step_all().await;
        assert_eq!((rows(&app, "pipeline_timer").await, rows(&app, "job").await), (1, n_jobs));
        let app = app.restart().await;
        tag(&app, &canceled, "add", "bought").await;
        app.step_all().await;
        app.advance(DAY);
        assert_eq!(json!(shown(&app).await), json!({&second: ["One"]}));
        let left = row_counts(app.engine().store()).await;
        assert_eq!((left["pipeline_timer"], left["pipeline_span"]), (0, 0));
        app.master().delete(&path).await.expect(204);
        app.step_all().await;
    })
    .await;
}

#[tokio::test]
async fn what_waits_for_a_deleted_pipeline_goes_in_portions() {
    on_each_database(async |app| {
        let path = create(&app, delayed(json!({"tag_added": "x"}), "One", HOUR)).await;
        let id: PipelineId = path.rsplit('/').next().unwrap().parse().unwrap();
        let before = row_counts(app.engine().store()).await;
        let of_app = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let wait = move |tx: &mut store::Tx<'_>| {
            (0..2500).try_for_each(|n| {
                let part = TimerPart { due: START.plus(n * SECOND), block: 0, members: Vec::new(), causes: None };
                pipeline_timers::put(tx, of_app, id, &part)
            })
        };
        app.engine().store().write(of_app, wait).await.unwrap();
        app.master().delete(&path).await.expect(204);
        while rows(&app, "pipeline_timer").await == 2500 {
            assert!(app.engine().worker().step_and_stop().await.unwrap());
        }
        assert_eq!(rows(&app, "pipeline_timer").await, 1500, "what has been done stays done when the process ends");
        let app = app.restart().await;
        app.step_all().await;
        let left = row_counts(app.engine().store()).await;
        assert_eq!((left["pipeline_timer"], left["pipeline_span"], left["pipeline_sent"]), (0, 0, 0));
        assert!(left["job"] <= before["job"], "{left:?}");
    })
    .await;
}

#[tokio::test]
async fn who_waits_for_a_replaced_pipeline_gets_what_it_says_then() {
    on_each_database(async |app| {
        let path = create(&app, delayed(json!("first_open"), "One", HOUR)).await;
        let [a, b] = [register(&app, "a", &[]).await, register(&app, "b", &[]).await];
        app.step_all().await;
        let c = register(&app, "c", &[]).await;
        app.master().put(&path, delayed(json!("first_open"), "Two", 2 * HOUR)).await.expect(200);
        let app = app.restart().await;
        app.advance(HOUR);
        assert_eq!(json!(shown(&app).await), json!({&a: ["Two"], &b: ["Two"]}));
        app.advance(HOUR);
        assert_eq!(shown(&app).await[&c], ["Two"], "what nobody had read yet was read as it is now");
    })
    .await;
}

#[tokio::test]
async fn the_log_is_followed_only_while_somebody_waits() {
    on_each_database(async |app| {
        let n_jobs = rows(&app, "job").await;
        let path = create(&app, pipeline(json!("first_open"), "One")).await;
        assert_eq!((rows(&app, "follower").await, rows(&app, "job").await), (1, n_jobs + 1));
        app.master().delete(&path).await.expect(204);
        app.step_all().await;
        assert_eq!((rows(&app, "follower").await, rows(&app, "job").await), (0, n_jobs));
        register(&app, "a", &[]).await;
        create(&app, pipeline(json!("first_open"), "Two")).await;
        assert_eq!(count_after(&app, DAY).await, 0, "nobody waited then");
    })
    .await;
}

#[tokio::test]
async fn several_outcomes_are_sent_together() {
    on_each_database(async |app| {
        let mut body = pipeline(json!("first_open"), "One");
        body["outcome"] = json!([outcome("One"), outcome("Two")]);
        create(&app, body).await;
        let channel = register(&app, "a", &[]).await;
        let mut alerts = shown(&app).await[&channel].clone();
        alerts.sort();
        assert_eq!(alerts, ["One", "Two"]);
    })
    .await;
}

#[tokio::test]
async fn uninstalled_channels_get_nothing() {
    on_each_database(async |app| {
        create(&app, delayed(json!("first_open"), "One", HOUR)).await;
        let gone = register(&app, "a", &[]).await;
        app.step_all().await;
        let uninstall = json!([{"channel_id": gone, "device_type": "android"}]);
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        assert_eq!(count_after(&app, DAY).await, 0);
        assert_eq!(rows(&app, "push").await, 0, "a push for nobody is none");
    })
    .await;
}

#[tokio::test]
async fn a_pipeline_that_cannot_be_read_leaves_the_others_alone() {
    on_each_database(async |app| {
        let path = create(&app, pipeline(json!("first_open"), "One")).await;
        create(&app, pipeline(json!("first_open"), "Two")).await;
        let (id, now) = (path.rsplit('/').next().unwrap().to_owned(), app.engine().clock().now());
        let kind = documents::DocumentKind::Pipeline;
        let spoil = move |tx: &mut store::Tx<'_>| {
            let stored = documents::get(tx, APP, kind, &id)?.unwrap();
            documents::put(tx, APP, kind, &id, &stored.body.replace("notification", "telegram"), now)
        };
        app.engine().store().write(APP, spoil).await.unwrap();
        let channel = register(&app, "a", &[]).await;
        assert_eq!(json!(shown(&app).await), json!({&channel: ["Two"]}));
        app.master().get(&path).await.expect(500);
        let listed = app.master().get("/api/pipelines").await.expect(200);
        assert_eq!(listed["pipelines"].as_array().unwrap().len(), 1);
        app.master().delete(&path).await.expect(204);
        app.master().get(&format!("/api/pipelines/{UNKNOWN}")).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn many_channels_tagged_at_once_cost_rows_by_the_block() {
    const N_CHANNELS: usize = 100_000;
    on_each_database(async |app| {
        create(&app, delayed(json!({"tag_added": "vip"}), "One", HOUR)).await;
        let original = register(&app, "a", &["vip"]).await.parse().unwrap();
        app.step_all().await;
        let n_jobs = rows(&app, "job").await;
        copy_channel(app.engine().store(), APP, original, N_CHANNELS).await;
        app.step_all().await;
        assert_eq!(rows(&app, "pipeline_timer").await, 2, "one for each block of 65,536");
        assert_eq!(rows(&app, "job").await, n_jobs, "they wait with the one that was there");
        let app = app.restart().await;
        app.advance(HOUR);
        let worker = app.engine().worker();
        while rows(&app, "push").await == 0 {
            assert!(worker.step().await.unwrap());
        }
        assert_eq!((rows(&app, "push").await, rows(&app, "push_audience").await), (1, 2));
        assert_eq!((rows(&app, "pipeline_timer").await, rows(&app, "push_block").await), (0, 0));
        while rows(&app, "push_block").await == 0 {
            assert!(worker.step().await.unwrap());
        }
        assert_eq!((rows(&app, "push_block").await, rows(&app, "push_audience").await), (2, 0));
        let targeted = app.engine().store().read(|tx| -> store::Result<i64> {
            tx.query_one("select cast(sum(targeted) as bigint) from push_tally", &[], |row| row.get(0))
        });
        assert_eq!(targeted.await.unwrap(), i64::try_from(N_CHANNELS).unwrap() + 1);
    })
    .await;
}
