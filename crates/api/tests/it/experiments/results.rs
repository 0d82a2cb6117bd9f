//! What experiments have shown: who opened the app, and the reports.

use std::time::Duration;

use model::device_type::DeviceType;
use model::event::{Event, Open, RecordKind};
use model::ids::{AppId, EventId, Ordinal, PushId};
use serde_json::json;
use store::counters::{self, Metric};
use store::log::{self, NewRecord};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{CROWD, DAY, HOUR, UNKNOWN, create, crowd, experiment, n_shown, told, variant};

/// The app is opened on some channels, a while after now.
async fn open(app: &TestApp, channels: impl IntoIterator<Item = u32>, wait: Duration) {
    let occurred = app.engine().clock().now().plus(wait);
    let body = Open { session_id: "s".to_owned(), last_delivered: None, triggering_push: None };
    let record = |ordinal| {
        let event = Event { id: EventId::random(), occurred, body: body.clone() };
        let body = serde_json::to_vec(&event).unwrap();
        NewRecord { kind: RecordKind::Open, ordinal: Some(Ordinal(ordinal)), body }
    };
    let records: Vec<NewRecord> = channels.into_iter().map(record).collect();
    let append = move |tx: &mut store::Tx<'_>| log::append(tx, AppId(1), occurred, records.clone());
    app.engine().store().write(AppId(1), append).await.unwrap();
}

/// Who is in which group: the variants, and the control group.
async fn groups(app: &TestApp) -> [Vec<u32>; 3] {
    let mut groups = [Vec::new(), Vec::new(), Vec::new()];
    for many in told(app, RecordKind::Send).await.into_iter().chain(told(app, RecordKind::Control).await) {
        let place = many.push.variant_id.map_or(2, |variant| variant as usize);
        groups[place].extend(audience::codec::decode(&many.ordinals).unwrap());
    }
    groups
}

#[tokio::test]
async fn results_compare_who_opened_the_app() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = experiment(&[variant("One", None), variant("Two", Some("2024-05-01T13:00:00"))]);
        (body["control"], body["variants"][0]["name"]) = (json!(0.2), json!("First"));
        let id = create(&app, body).await;
        let path = format!("/api/experiments/{id}/results");
        let before = app.master().get(&path).await.expect(200);
        assert_eq!(
            (&before["verdict"], &before["variants"][0]["chosen"]),
            (&json!("Nothing has been sent yet."), &json!(0))
        );
        app.step_all().await;
        let [first, _, control] = groups(&app).await;
        // Some open it twice, some too late, and one who is in no group yet.
        open(&app, first[..30].iter().chain(&first[..10]).copied(), HOUR).await;
        open(&app, control[..2].iter().copied(), 12 * HOUR).await;
        open(&app, control[2..9].iter().chain(&first[30..40]).copied(), 12 * HOUR + Duration::from_millis(1)).await;
        let app = app.restart().await;
        app.advance(HOUR);
        app.step_all().await;
        let [_, second, still_control] = groups(&app).await;
        assert_eq!(still_control, control);
        open(&app, second[..second.len() - 10].iter().copied(), HOUR).await;
        let app = app.restart().await;
        tokio::join!(app.step_all(), app.step_all());

        let results = app.master().get(&path).await.expect(200);
        let groups = [&results["variants"][0], &results["variants"][1], &results["control"]];
        let shown = groups.map(|group| (group["chosen"].as_u64().unwrap(), group["opened"].as_u64().unwrap()));
        let n = |group: &[u32]| group.len() as u64;
        assert_eq!(shown, [(n(&first), 30), (n(&second), n(&second) - 10), (n(&control), 2)]);
        assert_eq!(groups.map(|group| group["audience_pct"].as_f64().unwrap()), [40.0, 40.0, 20.0]);
        let verdict = results["verdict"].as_str().unwrap();
        assert!(verdict.starts_with("Variant B is better than First: "), "{verdict}");
        assert!(verdict.contains("Variant B is better than sending nothing: "), "{verdict}");
        assert_eq!(results["variants"][1]["difference_to_control"]["clear"], true);
        let to_best = &results["variants"][0]["difference_to_best"];
        assert!(
            to_best["points"].as_f64().unwrap() < -50.0 && to_best["interval"][1].as_f64().unwrap() < 0.0,
            "{to_best}"
        );
        assert_eq!((results["variants"][1].get("difference_to_best"), &results["has_started"]), (None, &json!(true)));

        // Nobody watches any more when all has been told.
        app.advance(4 * DAY);
        open(&app, first[..50].iter().copied(), Duration::ZERO).await;
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["follower"], 0);
        assert_eq!(app.master().get(&path).await.expect(200), results);
        // And somebody does again.
        create(&app, experiment(&[variant("One", None), variant("Two", None)])).await;
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["follower"], 1);
    })
    .await;
}

#[tokio::test]
async fn an_opening_that_cannot_be_read_hides_no_other() {
    on_each_database(async |app| {
        crowd(&app).await;
        let id = create(&app, experiment(&[variant("One", None), variant("Two", None)])).await;
        app.step_all().await;
        let [first, ..] = groups(&app).await;
        let (channel, now) = (Ordinal(first[0]), app.engine().clock().now());
        let unreadable = NewRecord { kind: RecordKind::Open, ordinal: Some(channel), body: b"{".to_vec() };
        let append = move |tx: &mut store::Tx<'_>| log::append(tx, AppId(1), now, vec![unreadable.clone()]);
        app.engine().store().write(AppId(1), append).await.unwrap();
        open(&app, first[..30].iter().copied(), Duration::ZERO).await;
        app.step_all().await;
        let results = app.master().get(&format!("/api/experiments/{id}/results")).await.expect(200);
        assert_eq!(results["variants"][0]["opened"], 30);
    })
    .await;
}

#[tokio::test]
async fn reports_have_the_keys_that_clients_know() {
    on_each_database(async |app| {
        crowd(&app).await;
        let mut body = experiment(&[variant("One", None), variant("Two", None)]);
        (body["control"], body["variants"][1]["name"]) = (json!(0.5), json!("Second"));
        let id = create(&app, body).await;
        let (one, two) = n_shown(&app).await;
        let results = app.master().get(&format!("/api/experiments/{id}/results")).await.expect(200);
        let push: PushId = results["variants"][1]["push_ids"][0].as_str().unwrap().parse().unwrap();
        let now = app.engine().clock().now();
        let count = move |tx: &mut store::Tx<'_>| {
            counters::add_of_push(tx, AppId(1), push, Metric::DirectResponses, now, &DeviceType::Android, 3)?;
            counters::add_of_push(tx, AppId(1), push, Metric::InfluencedResponses, now, &DeviceType::Web, 5)?;
            counters::add_of_push(tx, AppId(1), push, Metric::DirectResponses, now, &DeviceType::Web, 1)
        };
        app.engine().store().write(AppId(1), count).await.unwrap();

        let percent = |n: usize| (n as f64 * 10_000.0 / two as f64).round() / 100.0;
        let held_back = CROWD - one - two;
        let overview = app.master().get(&format!("/api/reports/experiment/overview/{id}/")).await.expect(200);
        assert_eq!(
            overview,
            json!({
                "ok": true, "app_key": app.app.key, "experiment_id": id, "push_id": id,
                "created": "2024-05-01 12:00:00", "sends": one + two, "direct_responses": 4, "influenced_responses": 5,
                "web_clicks": 1, "web_sessions": 6,
                "variants": [
                    {"id": 0, "name": "A", "audience_pct": 25.0, "sends": one, "direct_responses": 0,
                     "direct_response_pct": 0.0, "indirect_responses": 0, "indirect_response_pct": 0.0},
                    {"id": 1, "name": "Second", "audience_pct": 25.0, "sends": two, "direct_responses": 4,
                     "direct_response_pct": percent(4), "indirect_responses": 5, "indirect_response_pct": percent(5)},
                ],
                "control": {"audience_pct": 50.0, "sends": held_back, "responses": 0, "response_rate_pct": 0.0},
            })
        );
        let path = format!("/api/reports/experiment/detail/{id}");
        let detail = app.master().get(&format!("{path}/1")).await.expect(200);
        let figures = |sends: usize, direct: u32, influenced: u32| {
            json!({"sends": sends, "direct_responses": direct, "influenced_responses": influenced})
        };
        assert_eq!(
            detail,
            json!({
                "ok": true, "app_key": app.app.key, "experiment_id": id, "push_id": id,
                "created": "2024-05-01 12:00:00", "variant": 1, "variant_name": "Second",
                "sends": two, "direct_responses": 4, "influenced_responses": 5,
                "platforms": {"android": figures(two, 3, 0), "ios": figures(0, 0, 0), "web": figures(0, 1, 5)},
            })
        );
        for path in [format!("{path}/2"), format!("{path}/x"), format!("/api/reports/experiment/detail/{UNKNOWN}/0")] {
            app.master().get(&path).await.expect(404);
        }
        for path in ["reports/experiment/overview/{}", "experiments/{}/results"] {
            app.master().get(&format!("/api/{}", path.replace("{}", UNKNOWN))).await.expect(404);
        }
    })
    .await;
}
