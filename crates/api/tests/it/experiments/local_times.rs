//! Variants by the clocks of the devices: each comes to everybody once, and to nobody where there is nobody.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use testkit::app::on_each_database;
use testkit::rows::row_counts;

use super::{DAY, HOUR, create, experiment, shown, variant};

#[tokio::test]
async fn an_experiment_whose_times_came_to_nobody_has_not_started() {
    on_each_database(async |app| {
        let mut body = experiment(&[variant("One", None), variant("Two", None)]);
        for n in 0..2 {
            body["variants"][n]["schedule"] = json!({"local_scheduled_time": "2024-05-02T09:00:00"});
        }
        let before = row_counts(app.engine().store()).await;
        let id = create(&app, body).await;
        for _ in 0..48 {
            app.advance(2 * HOUR);
            app.step_all().await;
        }
        let app = app.restart().await;
        let path = format!("/api/experiments/scheduled/{id}");
        app.master().delete(&path).await.expect_done(200);
        app.master().delete(&path).await.expect(404);
        let after = row_counts(app.engine().store()).await;
        assert_eq!((after["job"], after["document"]), (before["job"], before["document"]), "nothing of it is left");
    })
    .await;
}

#[tokio::test]
async fn a_variant_by_local_time_comes_to_everybody_once() {
    on_each_database(async |app| {
        let mut zones = BTreeMap::new();
        for n in 0..24 {
            let zone = ["Asia/Tokyo", "Europe/Berlin", "America/New_York"][n % 3];
            let device = json!({"channel": {
                "device_type": "android", "opt_in": true, "push_address": format!("t{n}"), "timezone": zone,
            }});
            let channel = app.device().post("/api/channels", device).await.expect(201)["channel_id"].clone();
            zones.insert(channel.as_str().unwrap().to_owned(), zone);
        }
        let mut body = experiment(&[variant("One", None), variant("Two", None)]);
        body["variants"][1]["schedule"] = json!({"local_scheduled_time": "2024-05-02T09:00:00"});
        create(&app, body).await;
        let one = shown(&app).await["One"].clone();
        let mut seen = one.len();
        for (zone, wait) in [("Asia/Tokyo", 12), ("Europe/Berlin", 7), ("America/New_York", 6)] {
            app.advance(HOUR * wait);
            let now = shown(&app).await;
            let two = now.get("Two").cloned().unwrap_or_default();
            assert!(two.is_disjoint(&one));
            let in_zone = zones.iter().filter(|(channel, of)| **of == zone && !one.contains(*channel));
            assert_eq!(two.iter().filter(|channel| zones[*channel] == zone).count(), in_zone.count(), "{zone}");
            seen = one.len() + two.len();
        }
        assert_eq!(seen, zones.len());
        let app = app.restart().await;
        app.advance(3 * DAY);
        assert_eq!(shown(&app).await.values().map(BTreeSet::len).sum::<usize>(), zones.len());
    })
    .await;
}
