//! Pushes that have been over for long are forgotten, with what is counted of each; what the app counts stays, and so does what
//! is still needed.

use std::time::Duration;

use model::ids::AppId;
use serde_json::json;
use store::event_counters::{self, Conversion, Counted, Sum};
use testkit::app::{START, TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::reports::{DAY, HOUR, push, register, report};

const APP: AppId = AppId(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Lets a time pass and everything happen that is due then, the daily look at pushes included.
async fn pass(app: &TestApp, time: Duration) {
    app.advance(time);
    app.step_all().await;
}

async fn count_purchase(app: &TestApp, push: &str) {
    let counted = Counted::at(app.clock().now(), "buy", Conversion::Direct, Some(push.parse().unwrap()));
    let sum = Sum { n: 2, millionths: 3_000_000.0 };
    let add = app.engine().store().write(APP, move |tx| event_counters::add(tx, APP, counted.clone(), sum));
    add.await.unwrap();
}

/// Which reports there are of a push; all or none.
async fn is_known(app: &TestApp, push: &str) -> bool {
    let paths = ["push", "reports/responses", "reports/perpush/detail", "reports/perpush/pushbody"];
    let mut answers = Vec::new();
    for path in paths {
        answers.push(app.master().get(&format!("/api/{path}/{push}")).await.status.as_u16());
    }
    assert!(answers == [200; 4] || answers == [404; 4], "{answers:?}");
    answers[0] == 200
}

async fn listed(app: &TestApp) -> Vec<String> {
    let listed = report(app, "responses/list?start=2024-01-01&end=2030-01-01").await;
    let pushes = listed["pushes"].as_array().unwrap().iter();
    pushes.map(|push| push["push_uuid"].as_str().unwrap().to_owned()).collect()
}

async fn rows(app: &TestApp, tables: &[&str]) -> Vec<i64> {
    let counts = row_counts(app.engine().store()).await;
    tables.iter().map(|table| counts[*table]).collect()
}

#[tokio::test]
async fn old_pushes_go_and_what_the_app_counts_stays() {
    on_each_database(async |app| {
        register(&app, "android", "token").await;
        let old = push(&app, json!("all")).await;
        count_purchase(&app, &old).await;
        app.advance(MINUTE);
        let other = push(&app, json!("all")).await;
        count_purchase(&app, &other).await;
        pass(&app, 10 * DAY).await;
        let young = push(&app, json!("all")).await;
        count_purchase(&app, &young).await;
        // Parts of a day are added up from hours, and whole days from days.
        let questions = [
            "sends?start=2024-05-01&end=2024-05-13&precision=HOURLY",
            "sends?start=2024-05-01&end=2024-05-13",
            "events?start=2024-05-01T10:00&end=2024-05-11T20:00",
            "events?start=2024-05-01T10:00&end=2024-05-01T20:00",
        ];
        let ask = async |app: &TestApp| {
            let mut answers = Vec::new();
            for question in questions {
                answers.push(report(app, question).await);
            }
            answers
        };
        let before = ask(&app).await;
        assert_eq!(before[3]["total_count"], 4);
        pass(&app, 389 * DAY).await;
        assert!(is_known(&app, &old).await, "it is 399 days old");

        app.advance(DAY + MINUTE);
        let app = app.restart().await;
        app.step_all().await;
        assert_eq!((is_known(&app, &old).await, is_known(&app, &other).await), (false, false));
        assert!(is_known(&app, &young).await);
        assert_eq!(listed(&app).await, std::slice::from_ref(&young));
        let tables = ["push", "push_tally", "push_counter", "push_block", "push_origin", "event_counter"];
        let left = rows(&app, &tables).await;
        assert_eq!(left, [1, 1, 2, 0, 0, 2], "what is counted of the two is counted of none");
        assert_eq!(ask(&app).await, before);
        pass(&app, HOUR).await;
        assert_eq!(rows(&app, &tables).await, left);
        pass(&app, 10 * DAY).await;
        assert!(!is_known(&app, &young).await);
        assert_eq!(ask(&app).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_push_ages_from_its_end() {
    on_each_database(async |app| {
        register(&app, "android", "token").await;
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let accepted = app.master().post("/api/push", body).await.expect(200);
        let paused = accepted["push_ids"][0].as_str().unwrap().to_owned();
        app.master().post(&format!("/api/push/{paused}/pause"), "").await.expect(200);
        pass(&app, 401 * DAY).await;
        let app = app.restart().await;
        pass(&app, 10 * DAY).await;
        assert!(is_known(&app, &paused).await, "it waits");
        app.master().post(&format!("/api/push/{paused}/resume"), "").await.expect(200);
        app.step_all().await;
        assert_eq!(app.master().get(&format!("/api/push/{paused}")).await.expect(200)["push"]["state"], "done");
        pass(&app, 399 * DAY).await;
        assert!(is_known(&app, &paused).await);
        pass(&app, 2 * DAY).await;
        assert!(!is_known(&app, &paused).await);
    })
    .await;
}

#[tokio::test]
async fn the_first_push_of_an_automation_outlives_the_others() {
    on_each_database(async |app| {
        let body = json!({"name": "Automatic", "enabled": true, "immediate_trigger": "first_open", "outcome":
            {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "One"}}}});
        let created = app.master().post("/api/pipelines", body).await.expect(201);
        let group = created["pipeline_ids"][0].as_str().unwrap().to_owned();
        for (address, wait) in [("a", DAY), ("b", 300 * DAY), ("c", MINUTE)] {
            register(&app, "android", address).await;
            app.step_all().await;
            pass(&app, wait).await;
        }
        let pushes = listed(&app).await;
        assert_eq!(pushes.len(), 3);
        assert_eq!(rows(&app, &["push_origin"]).await, [3]);
        count_purchase(&app, &pushes[1]).await;
        count_purchase(&app, &pushes[0]).await;
        let reports = async |app: &TestApp| {
            let mut reports = Vec::new();
            for path in ["pergroup/detail", "pergroup/series", "events/summary/pergroup"] {
                reports.push(report(app, &format!("{path}/{group}")).await);
            }
            reports
        };
        let before = reports(&app).await;
        assert_eq!((&before[0]["created"], &before[0]["sends"]), (&json!(START.to_report()), &json!(3)));
        assert_eq!(before[2]["total_count"], 4);
        pass(&app, 102 * DAY).await;
        let app = app.restart().await;
        assert_eq!(listed(&app).await, [pushes[0].clone(), pushes[2].clone()], "the second one is gone");
        assert!(is_known(&app, &pushes[0]).await, "also the payload, which is that of the first");
        assert_eq!(reports(&app).await, before, "what the group has counted stays");
        pass(&app, 400 * DAY).await;
        assert_eq!(listed(&app).await, [pushes[2].clone()], "and is kept as long as there can be more");
        assert_eq!(reports(&app).await, before);
        app.master().delete(&format!("/api/pipelines/{group}")).await.expect(204);
        let app = app.restart().await;
        pass(&app, 2 * DAY).await;
        assert!(listed(&app).await.is_empty());
        app.master().get(&format!("/api/reports/pergroup/detail/{group}")).await.expect(404);
        let tables = ["push", "push_origin", "push_counter", "push_tally"];
        assert_eq!(rows(&app, &tables).await, [0; 4]);
        assert_eq!(rows(&app, &["group_counter", "group_counter_day", "group_event"]).await, [0; 3]);
    })
    .await;
}

#[tokio::test]
async fn pushes_of_schedules_go_and_those_of_experiments_stay() {
    on_each_database(async |app| {
        for n in 0..8 {
            register(&app, "android", &format!("token-{n}")).await;
        }
        let content = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Later"}});
        let schedule = json!({"schedule": {"scheduled_time": "2024-05-01T13:00"}, "push": content});
        app.master().post("/api/schedules", schedule).await.expect(201);
        let variant = |alert: &str| json!({"push": {"notification": {"alert": alert}}});
        let experiment = json!({"name": "Test", "audience": "all", "device_types": "all",
            "variants": [variant("One"), variant("Two")]});
        let created = app.master().post("/api/experiments", experiment).await.expect(201);
        let id = created["experiment_id"].as_str().unwrap();
        pass(&app, HOUR).await;
        let results = async |app: &TestApp| report(app, &format!("experiment/overview/{id}")).await;
        let before = results(&app).await;
        assert_eq!(rows(&app, &["push"]).await, [3]);
        pass(&app, 401 * DAY).await;
        let app = app.restart().await;
        pass(&app, DAY).await;
        assert_eq!(rows(&app, &["push", "push_origin"]).await, [2, 2]);
        assert_eq!(results(&app).await, before);
    })
    .await;
}
