//! The control group, whatever becomes of the pushes it is compared with, and experiments that cannot be read.

use std::collections::BTreeSet;
use std::time::Duration;

use model::event::RecordKind;
use model::ids::AppId;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{CROWD, DAY, HOUR, create, crowd, experiment, n_controls, n_shown, shown, told, two_times, variant};

async fn results(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/experiments/{id}/results")).await.expect(200)
}

#[tokio::test]
async fn a_variant_that_is_called_off_leaves_the_control_group() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = two_times();
        body["control"] = json!(0.5);
        let id = create(&app, body).await;
        app.advance(HOUR);
        // The first variant is accepted, and called off before anybody was chosen.
        let worker = app.engine().worker();
        while row_counts(app.engine().store()).await["push"] == 0 {
            assert!(worker.step().await.unwrap());
        }
        let push = results(&app, &id).await["variants"][0]["push_ids"][0].as_str().unwrap().to_owned();
        app.master().post(&format!("/api/push/{push}/cancel"), json!({})).await.expect(200);
        drop(worker);
        let app = app.restart().await;
        tokio::join!(app.step_all(), app.step_all());
        let controls = n_controls(&app).await;
        assert!((150..250).contains(&controls), "{controls}");
        let app = app.restart().await;
        app.advance(2 * HOUR);
        let (one, two) = n_shown(&app).await;
        assert!(one == 0 && (57..143).contains(&two), "{one} {two}");
        assert_eq!((n_controls(&app).await, told(&app, RecordKind::Control).await.len()), (controls, 1));
        let results = results(&app, &id).await;
        assert_eq!(results["control"]["chosen"], controls);
        assert_eq!((&results["variants"][0]["chosen"], &results["variants"][1]["chosen"]), (&json!(0), &json!(two)));
    })
    .await;
}

#[tokio::test]
async fn a_limit_of_recipients_is_none_of_the_control_group() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = experiment(&[variant("One", None), variant("Two", None)]);
        body["control"] = json!(0.5);
        body["variants"][0]["push"]["options"] = json!({"audience_limits": {"max_recipients": 10}});
        create(&app, body).await;
        let (one, two) = n_shown(&app).await;
        assert!(one == 10 && (57..143).contains(&two), "{one} {two}");
        let controls = n_controls(&app).await;
        assert!((150..250).contains(&controls), "{controls}");
    })
    .await;
}

#[tokio::test]
async fn by_local_time_the_control_group_is_held_back_zone_by_zone() {
    on_each_database(async |app| {
        let zones = ["Asia/Tokyo", "Europe/Berlin", "America/New_York"];
        for n in 0..60 {
            let device = json!({"channel": {
                "device_type": "android", "opt_in": true, "push_address": format!("t{n}"), "timezone": zones[n % 3],
            }});
            app.device().post("/api/channels", device).await.expect(201);
        }
        let mut body = experiment(&[variant("One", None), variant("Two", Some("2024-05-04T00:00:00"))]);
        body["variants"][0]["schedule"] = json!({"local_scheduled_time": "2024-05-02T09:00:00"});
        body["control"] = json!(0.5);
        let id = create(&app, body).await;
        let mut held_back = BTreeSet::new();
        for (n, wait) in [(0, 12), (1, 7), (2, 6)] {
            app.advance(HOUR * wait);
            app.step_all().await;
            let groups = told(&app, RecordKind::Control).await;
            let members: BTreeSet<u32> =
                groups.iter().flat_map(|many| audience::codec::decode(&many.ordinals).unwrap()).collect();
            let new: Vec<u32> = members.difference(&held_back).copied().collect();
            // Ordinals were given out in turn.
            assert!(!new.is_empty() && new.iter().all(|ordinal| ordinal % 3 == (new[0] % 3)), "{n} {new:?}");
            held_back = members;
        }
        let app = app.restart().await;
        app.advance(3 * DAY);
        let n_sent: usize = shown(&app).await.values().map(BTreeSet::len).sum();
        assert_eq!(n_sent + held_back.len(), 60, "everybody is in one group");
        assert_eq!(n_controls(&app).await, i64::try_from(held_back.len()).unwrap());
        assert_eq!(results(&app, &id).await["control"]["chosen"], held_back.len());
    })
    .await;
}

#[tokio::test]
async fn of_groups_that_nobody_watches_only_the_numbers_are_kept() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = experiment(&[variant("One", None), variant("Two", None)]);
        body["control"] = json!(0.25);
        let id = create(&app, body).await;
        app.step_all().await;
        let before = results(&app, &id).await;
        let bytes = async |app: &TestApp| {
            let sum = |tx: &mut store::Tx<'_>| -> store::Result<i64> {
                let sql = "select cast(sum(length(members)) as bigint) from experiment_group";
                tx.query_one(sql, &[], |row| row.get(0))
            };
            app.engine().store().read(sum).await.unwrap()
        };
        let full = bytes(&app).await;
        app.advance(2 * DAY);
        app.step_all().await;
        assert_eq!(bytes(&app).await, full);
        app.advance(2 * DAY);
        app.step_all().await;
        assert!(bytes(&app).await < full / 10, "{full}");
        assert_eq!(row_counts(app.engine().store()).await["experiment_group"], 3);
        assert_eq!(results(&app, &id).await, before);
    })
    .await;
}

/// Makes a stored experiment one that this version cannot read, or can again.
async fn rewrite(app: &TestApp, id: &str, from: &'static str, to: &str) {
    let (id, to, now) = (id.to_owned(), to.to_owned(), app.engine().clock().now());
    let write = move |tx: &mut store::Tx<'_>| {
        let stored = documents::get(tx, AppId(1), DocumentKind::Experiment, &id)?.unwrap();
        documents::put(tx, AppId(1), DocumentKind::Experiment, &id, &stored.body.replace(from, &to), now)
    };
    app.engine().store().write(AppId(1), write).await.unwrap();
}

#[tokio::test]
async fn an_experiment_that_cannot_be_read_waits_and_hides_no_other() {
    on_each_database(async |app| {
        crowd(&app).await;
        let [spoiled, deleted, good] =
            [create(&app, two_times()).await, create(&app, two_times()).await, create(&app, two_times()).await];
        for id in [&spoiled, &deleted] {
            rewrite(&app, id, "notification", "telegram").await;
        }
        for path in ["/api/experiments", "/api/experiments/scheduled"] {
            let listed = app.master().get(path).await.expect(200);
            assert_eq!(listed["experiments"].as_array().unwrap().len(), 1, "{path}");
            assert_eq!(listed["experiments"][0]["id"], json!(good));
        }
        app.master().delete(&format!("/api/experiments/scheduled/{deleted}")).await.expect(200);
        app.master().get(&format!("/api/experiments/{deleted}")).await.expect(404);
        app.advance(HOUR);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["push"], 1, "of the good one");
        let app = app.restart().await;
        // The version that wrote it is back.
        rewrite(&app, &spoiled, "telegram", "notification").await;
        app.advance(HOUR - Duration::from_millis(1));
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["push"], 1);
        app.advance(Duration::from_millis(1));
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["push"], 2);
        app.master().delete(&format!("/api/experiments/scheduled/{spoiled}")).await.expect(405);
    })
    .await;
}

#[tokio::test]
async fn an_experiment_that_would_be_refused_today_is_still_listed_and_sent() {
    on_each_database(async |app| {
        crowd(&app).await;
        let id = create(&app, two_times()).await;
        let in_app = r#"{"alert":"Hi","display_type":"banner"},"#;
        let twice = format!(r#""in_app":{in_app}"notification":{{"in_app":{in_app}"#);
        rewrite(&app, &id, r#""notification":{"#, &twice).await;
        let app = app.restart().await;
        let shown = app.master().get(&format!("/api/experiments/{id}")).await.expect(200);
        let mut today = two_times();
        today["variants"] = shown["experiment"]["variants"].clone();
        let refused = app.master().post("/api/experiments", today).await.expect(400);
        assert_eq!(refused["details"]["path"], "variants[0].push.notification.in_app", "{refused}");
        for path in ["/api/experiments", "/api/experiments/scheduled"] {
            assert_eq!(app.master().get(path).await.expect(200)["experiments"][0]["id"], json!(id), "{path}");
        }
        app.advance(HOUR * 3);
        let (one, two) = n_shown(&app).await;
        assert_eq!(one + two, CROWD);
    })
    .await;
}
