//! Experiments: made, shown and deleted, who gets which variant at which moment, and what is told of the control group, across
//! restarts.

mod control;
mod local_times;
mod results;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::device_type::DeviceType;
use model::event::{Many, RecordKind};
use model::ids::{AppId, Offset};
use serde_json::{Value, json};
use store::counters::{self, Metric};
use store::log;
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel;
use testkit::rows::row_counts;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const CROWD: usize = 400;

fn variant(alert: &str, time: Option<&str>) -> Value {
    let mut variant = json!({"push": {"notification": {"alert": alert}}});
    if let Some(time) = time {
        variant["schedule"] = json!({"scheduled_time": time});
    }
    variant
}

/// The clock begins at 2024-05-01 12:00:00.
fn experiment(variants: &[Value]) -> Value {
    json!({"name": "Test", "audience": "all", "device_types": "all", "variants": variants})
}

fn two_times() -> Value {
    experiment(&[variant("One", Some("2024-05-01T13:00:00")), variant("Two", Some("2024-05-01T15:00:00"))])
}

async fn crowd(app: &TestApp) {
    let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
    let first = app.device().post("/api/channels", device).await.expect(201);
    let original = first["channel_id"].as_str().unwrap().parse().unwrap();
    copy_channel(app.engine().store(), AppId(1), original, CROWD - 1).await;
}

/// Makes an experiment and answers its id.
async fn create(app: &TestApp, body: Value) -> String {
    let created = app.master().post("/api/experiments/", body).await.expect(201);
    created["experiment_id"].as_str().unwrap().to_owned()
}

async fn deliveries(app: &TestApp) -> Vec<Value> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    sandbox["deliveries"].as_array().unwrap().clone()
}

fn alert(delivery: &Value) -> &'static str {
    let body = delivery["request"]["body"].to_string();
    ["One", "Two", "Three"].into_iter().find(|alert| body.contains(alert)).unwrap_or("?")
}

/// Who got which variant.
async fn shown(app: &TestApp) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut shown: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    let mut everybody = BTreeSet::new();
    for delivery in deliveries(app).await {
        let channel = delivery["channel_id"].as_str().unwrap().to_owned();
        assert!(everybody.insert(channel.clone()), "{channel} got two");
        shown.entry(alert(&delivery)).or_default().insert(channel);
    }
    shown
}

async fn n_shown(app: &TestApp) -> (usize, usize) {
    let shown = shown(app).await;
    let n = |alert| shown.get(alert).map_or(0, BTreeSet::len);
    (n("One"), n("Two"))
}

/// The records of a kind that tell of many channels.
async fn told(app: &TestApp, kind: RecordKind) -> Vec<Many> {
    let read = app.engine().store().read(|tx| log::after(tx, AppId(1), Offset(0), 1_000_000)).await.unwrap();
    let found = read.into_iter().filter(|record| record.kind == kind);
    found.map(|record| postcard::from_bytes(&record.body).unwrap()).collect()
}

async fn n_controls(app: &TestApp) -> i64 {
    let read = |tx: &mut store::Tx<'_>| counters::totals_until(tx, AppId(1), &[Metric::Controls], i64::MAX);
    let totals = app.engine().store().read(read).await.unwrap();
    totals.iter().filter(|total| total.device_type == DeviceType::Android).map(|total| total.n).sum()
}

/// What devices are told to report back.
fn metadata(delivery: &Value) -> Value {
    let text = delivery["request"]["body"].to_string();
    let rest = text.split("com.urbanairship.metadata").nth(1).unwrap();
    let encoded = rest.split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c))).find(|part| part.len() > 20);
    serde_json::from_slice(&STANDARD.decode(encoded.unwrap()).unwrap()).unwrap()
}

#[tokio::test]
async fn an_experiment_is_shown_as_it_was_made() {
    on_each_database(async |app| {
        let mut body = two_times();
        (body["description"], body["control"]) = (json!("Which is better?"), json!(0.2));
        (body["campaigns"], body["variants"][1]["weight"]) = (json!({"categories": ["spring"]}), json!(3));
        app.master().post("/api/experiments/validate", &body).await.expect_done(200);
        assert_eq!(app.master().get("/api/experiments").await.expect(200)["total_count"], 0);
        let reply = app.master().post("/api/experiments", &body).await;
        let created = reply.expect(201);
        let id = created["experiment_id"].as_str().unwrap();
        let operation = &created["operation_id"];
        assert_eq!(created, json!({"ok": true, "operation_id": operation, "experiment_id": id, "push_id": id}));
        assert_eq!(reply.header("location"), Some(app.url(&format!("/api/experiments/{id}")).as_str()));

        let mut record = body.clone();
        (record["id"], record["push_id"], record["created_at"]) = (json!(id), json!(id), json!("2024-05-01T12:00:00"));
        (record["variants"][0]["id"], record["variants"][1]["id"]) = (json!(0), json!(1));
        let app = app.restart().await;
        let shown = app.master().get(&format!("/api/experiments/{id}/")).await.expect(200);
        assert_eq!(shown, json!({"ok": true, "experiment": record}));
        let page = json!({"ok": true, "count": 1, "total_count": 1, "experiments": [record]});
        for path in ["/api/experiments", "/api/experiments/scheduled/"] {
            let reply = app.master().get(path).await;
            assert_eq!(reply.expect(200), page);
            assert_eq!((reply.header("count"), reply.header("total-count")), (Some("1"), Some("1")));
        }
        // What a listing told can be sent back.
        create(&app, record).await;
        for path in [UNKNOWN, "x"] {
            app.master().get(&format!("/api/experiments/{path}")).await.expect(404);
            app.master().delete(&format!("/api/experiments/scheduled/{path}")).await.expect(404);
        }
    })
    .await;
}

#[tokio::test]
async fn listings_have_pages_and_an_order() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for time in ["2024-05-01T16:00", "2024-05-01T14:00", "2024-05-01T15:00"] {
            app.advance(Duration::from_millis(1));
            ids.push(
                create(&app, experiment(&[variant("One", Some(time)), variant("Two", Some("2025-01-01T00:00"))])).await,
            );
        }
        let newest_first = [&ids[2], &ids[1], &ids[0]];
        let soonest_first = [&ids[1], &ids[2], &ids[0]];
        for (path, wanted) in [("/api/experiments", newest_first), ("/api/experiments/scheduled", soonest_first)] {
            let mut seen = Vec::new();
            let mut next = Some(format!("{path}?limit=2"));
            while let Some(path) = next {
                let page = app.master().get(&path).await.expect(200);
                assert_eq!(page["total_count"], 3);
                let found = page["experiments"].as_array().unwrap();
                seen.extend(found.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
                next = page["next_page"].as_str().map(|url| url.strip_prefix(&app.url("")).unwrap().to_owned());
            }
            assert_eq!(seen.iter().collect::<Vec<_>>(), wanted);
        }
        let last = app.master().get("/api/experiments?offset=2").await.expect(200);
        assert_eq!((&last["count"], &last["experiments"][0]["id"]), (&json!(1), &json!(ids[0])));
        assert_eq!(app.master().get("/api/experiments?offset=3").await.expect(200)["experiments"], json!([]));
        for query in ["limit=0", "limit=101", "offset=-1"] {
            app.master().get(&format!("/api/experiments?{query}")).await.expect(400);
        }
        app.advance(2 * HOUR);
        app.step_all().await;
        let waiting = app.master().get("/api/experiments/scheduled").await.expect(200);
        assert_eq!(waiting["total_count"], 2, "one of them has started");
        assert_eq!(waiting["experiments"][0]["id"].as_str(), Some(ids[2].as_str()));
        assert_eq!(app.master().get("/api/experiments").await.expect(200)["total_count"], 3);
    })
    .await;
}

#[tokio::test]
async fn everybody_gets_one_variant_or_none() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = experiment(&[variant("One", None), variant("Two", None)]);
        (body["control"], body["variants"][0]["weight"]) = (json!(0.25), json!(2));
        body["campaigns"] = json!({"categories": ["spring"]});
        let id = create(&app, body).await;
        let app = app.restart().await;
        let (one, two) = n_shown(&app).await;
        let held_back = CROWD - one - two;
        // Shares of a half and two quarters, give or take five standard deviations.
        assert!((150..250).contains(&one) && (57..143).contains(&two) && (57..143).contains(&held_back), "{one} {two}");

        let controls = told(&app, RecordKind::Control).await;
        assert_eq!(controls.len(), 1, "one record for the block");
        let members = audience::codec::decode(&controls[0].ordinals).unwrap();
        assert_eq!(members.len(), held_back as u64);
        let push = &controls[0].push;
        assert_eq!((push.push_id.to_string(), push.group_id.map(|id| id.to_string())), (id.clone(), Some(id.clone())));
        assert_eq!(push.experiment_id.map(|id| id.to_string()), Some(id.clone()));
        assert_eq!((push.variant_id, push.categories.as_slice()), (None, ["spring".to_owned()].as_slice()));
        assert_eq!(n_controls(&app).await, i64::try_from(held_back).unwrap());

        let mut of_variants: BTreeMap<Option<u32>, roaring::RoaringBitmap> = BTreeMap::new();
        for send in told(&app, RecordKind::Send).await {
            assert_eq!(send.push.experiment_id.map(|id| id.to_string()), Some(id.clone()));
            *of_variants.entry(send.push.variant_id).or_default() |= audience::codec::decode(&send.ordinals).unwrap();
        }
        let sizes: Vec<_> = of_variants.iter().map(|(variant, members)| (*variant, members.len())).collect();
        assert_eq!(sizes, [(Some(0), one as u64), (Some(1), two as u64)]);
        assert!(of_variants.values().all(|got| got.is_disjoint(&members)));

        for delivery in deliveries(&app).await {
            let told = metadata(&delivery);
            let variant = if alert(&delivery) == "One" { 0 } else { 1 };
            assert_eq!((&told["group_id"], &told["variant_id"]), (&json!(id), &json!(variant)));
            assert_eq!(told["push_id"], delivery["push_id"]);
        }
        let read = app.engine().store().read(|tx| log::after(tx, AppId(1), Offset(0), 1_000_000)).await.unwrap();
        let bodies = read.into_iter().filter(|record| record.kind == RecordKind::PushBody);
        let bodies: Vec<Value> = bodies.map(|record| serde_json::from_slice(&record.body).unwrap()).collect();
        assert_eq!(bodies.len(), 2);
        for body in &bodies {
            assert_eq!((&body["body"]["resource"], &body["body"]["group_id"]), (&json!("EXPERIMENTS"), &json!(id)));
        }
        let push = bodies[0]["body"]["push_id"].as_str().unwrap();
        let status = app.master().get(&format!("/api/push/{push}")).await.expect(200);
        assert_eq!(status["push"]["origin"], json!({"type": "experiment", "id": id}));
    })
    .await;
}

#[tokio::test]
async fn variants_fire_on_their_own_and_once() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = two_times();
        body["control"] = json!(0.5);
        let id = create(&app, body).await;
        let path = format!("/api/experiments/scheduled/{id}");
        assert_eq!(n_shown(&app).await, (0, 0));
        let app = app.restart().await;
        app.advance(HOUR - Duration::from_millis(1));
        assert_eq!(n_shown(&app).await, (0, 0));
        app.advance(Duration::from_millis(1));
        // The worker may die between the firing and everything else.
        assert!(app.engine().worker().step().await.unwrap());
        let app = app.restart().await;
        tokio::join!(app.step_all(), app.step_all());
        let (one, two) = n_shown(&app).await;
        assert!(one > 50 && two == 0, "{one} {two}");
        let refused = app.master().delete(&path).await;
        assert_eq!((refused.expect(405)["ok"].as_bool(), refused.header("allow")), (Some(false), Some("")));
        assert_eq!(app.master().get("/api/experiments/scheduled").await.expect(200)["total_count"], 0);
        let controls = n_controls(&app).await;
        assert!(controls > 100);

        let app = app.restart().await;
        app.advance(2 * HOUR);
        tokio::join!(app.step_all(), app.step_all());
        let (still_one, two) = n_shown(&app).await;
        assert!(still_one == one && two > 50, "{still_one} {two}");
        assert_eq!(i64::try_from(CROWD - one - two).unwrap(), controls);
        let app = app.restart().await;
        app.advance(2 * DAY);
        assert_eq!(n_shown(&app).await, (one, two));
        assert_eq!((n_controls(&app).await, told(&app, RecordKind::Control).await.len()), (controls, 1));
        assert_eq!(row_counts(app.engine().store()).await["push_origin"], 2);
        app.master().delete(&path).await.expect(405);
        app.master().get(&format!("/api/experiments/{id}")).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_experiment_never_fires() {
    on_each_database(async |app| {
        crowd(&app).await;
        let before = row_counts(app.engine().store()).await;
        let id = create(&app, two_times()).await;
        let app = app.restart().await;
        let path = format!("/api/experiments/scheduled/{id}");
        app.master().delete(&path).await.expect_done(200);
        app.master().delete(&path).await.expect(404);
        app.master().get(&format!("/api/experiments/{id}")).await.expect(404);
        let after = row_counts(app.engine().store()).await;
        assert_eq!((after["job"], after["document"]), (before["job"], before["document"]), "nothing of it is left");
        let app = app.restart().await;
        app.advance(DAY);
        assert_eq!(n_shown(&app).await, (0, 0));
    })
    .await;
}

#[tokio::test]
async fn problems_are_told_with_their_places_and_nothing_is_kept() {
    on_each_database(async |app| {
        let before = row_counts(app.engine().store()).await;
        let past = experiment(&[variant("One", None), variant("Two", Some("2024-05-01T11:00:00"))]);
        let large = experiment(&[variant("One", None), variant(&"x".repeat(9000), None)]);
        let mut unknown = experiment(&[variant("One", None), variant("Two", None)]);
        unknown["device_types"] = json!(["open::teapot"]);
        let mut nowhere = experiment(&[variant("One", None), variant("Two", None)]);
        nowhere["audience"] = json!({"location": {"id": "x"}});
        let alone = experiment(&[variant("One", None)]);
        let with_audience =
            experiment(&[variant("One", None), json!({"push": {"audience": "all", "notification": {"alert": "x"}}})]);
        for (body, path) in [
            (past, "variants[1].schedule.scheduled_time"),
            (large, "variants[1].push.notification.alert"),
            (unknown, "device_types"),
            (alone, "variants"),
            (with_audience, "variants[1].push.audience"),
            (nowhere, "audience.location"),
            (json!({"variants": []}), "audience"),
        ] {
            for call in ["/api/experiments", "/api/experiments/validate"] {
                let refused = app.master().post(call, &body).await.expect(400);
                let found = refused["details"]["path"].as_str().unwrap();
                assert!(found.starts_with(path), "{path}: {refused}");
            }
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_repeated_request_makes_one_experiment() {
    on_each_database(async |app| {
        crowd(&app).await;
        let body = experiment(&[variant("One", None), variant("Two", None)]).to_string();
        let mut answers = BTreeSet::new();
        for _ in 0..3 {
            let request = app.master().request(http::Method::POST, "/api/experiments").header("idempotency-key", "k");
            let reply = app.master().send(request.body(bytes::Bytes::from(body.clone())).unwrap()).await;
            answers.insert(reply.expect(201).to_string());
        }
        assert_eq!(answers.len(), 1);
        let (one, two) = n_shown(&app).await;
        assert_eq!(one + two, CROWD);
    })
    .await;
}
