//! Whom pushes to places reach, as devices move and time passes.

use std::collections::BTreeMap;
use std::time::Duration;

use devices::LocationSettings;
use model::ids::AppId;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;
use testkit::store::databases;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const PORTLAND: (f64, f64) = (45.523, -122.676);
const SEATTLE: (f64, f64) = (47.61, -122.33);

struct Travelers(BTreeMap<&'static str, String>);

impl Travelers {
    async fn register(app: &TestApp, names: &[&'static str]) -> Self {
        let mut ids = BTreeMap::new();
        for name in names {
            let channel = json!({"device_type": "ios", "opt_in": true, "push_address": name});
            let reply = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
            ids.insert(*name, reply["channel_id"].as_str().unwrap().to_owned());
        }
        Self(ids)
    }

    /// A device says where it is, or where it was.
    async fn at(&self, app: &TestApp, name: &str, (lat, lon): (f64, f64), date: Option<&str>) {
        let location = json!({"latitude": lat, "longitude": lon, "date": date});
        let body = json!({"channel": {"device_type": "ios", "location": location}});
        app.device().put(&format!("/api/channels/{}", self.0[name]), body).await.expect(200);
    }

    async fn reached(&self, app: &TestApp, audience: &Value) -> String {
        let push = json!({"audience": audience, "device_types": ["ios"], "notification": {"alert": "Hi"}});
        let accepted = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let path = format!("/api/sandbox?limit=1000&push_id={}", accepted["push_ids"][0].as_str().unwrap());
        let sandbox = app.master().get(&path).await.expect(200);
        let deliveries = sandbox["deliveries"].as_array().unwrap();
        let reached: Vec<&str> = deliveries.iter().map(|it| it["channel_id"].as_str().unwrap()).collect();
        let names = self.0.iter().filter(|(_, id)| reached.contains(&id.as_str())).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(" ")
    }
}

async fn place(app: &TestApp, query: &str) -> String {
    let found = app.master().get(&format!("/api/location/{query}")).await.expect(200);
    found["features"][0]["id"].as_str().unwrap().to_owned()
}

fn location(id: &str, date: &Value) -> Value {
    json!({"location": {"id": id, "date": date}})
}

#[tokio::test]
async fn a_segment_of_those_seen_in_portland_in_the_last_three_months_moves_with_the_clock() {
    on_each_database(async |app| {
        let mut app = app;
        let travelers = Travelers::register(&app, &["at-home", "in-july", "mover", "nowhere", "seattle"]).await;
        let portland = place(&app, "?q=Portland&type=city").await;
        let criteria = location(&portland, &json!({"recent": {"months": 3}}));
        let body = json!({"display_name": "Portland", "criteria": criteria});
        let created = app.master().post("/api/segments", body).await.expect(201);
        let segment = json!({"segment": created["segment_id"]});
        assert_eq!(travelers.reached(&app, &segment).await, "");

        // It is 1 May 2024.
        travelers.at(&app, "at-home", PORTLAND, None).await;
        travelers.at(&app, "mover", PORTLAND, None).await;
        travelers.at(&app, "seattle", SEATTLE, None).await;
        travelers.at(&app, "nowhere", (0.0, 0.0), None).await;
        assert_eq!(travelers.reached(&app, &segment).await, "at-home mover");
        for day in 1..=125_u32 {
            app.advance(DAY);
            if day == 75 {
                // 15 July.
                travelers.at(&app, "in-july", PORTLAND, None).await;
                travelers.at(&app, "mover", SEATTLE, None).await;
            }
            // The months before the last three are over on 1 August and on 1 September.
            let wanted = match day {
                0..75 => "at-home mover",
                75..92 => "at-home in-july mover",
                92.. => "in-july",
            };
            if [30, 61, 74, 75, 91, 92, 122, 125].contains(&day) {
                assert_eq!(travelers.reached(&app, &segment).await, wanted, "day {day}");
            }
            if day == 80 {
                app = app.restart().await;
            }
            if day == 100 {
                app = app.restart_without_snapshots().await;
            }
        }
        // 1 October.
        app.advance(28 * DAY);
        assert_eq!(travelers.reached(&app, &segment).await, "");
        let everybody_else = json!({"and": [{"not": segment}, {"tag": "true", "group": "ua_opt_in"}]});
        assert_eq!(travelers.reached(&app, &everybody_else).await, "at-home in-july mover nowhere seattle");
    })
    .await;
}

#[tokio::test]
async fn a_stored_place_that_is_not_known_any_more_selects_nobody_also_under_not() {
    on_each_database(async |app| {
        let travelers = Travelers::register(&app, &["here", "there"]).await;
        travelers.at(&app, "here", PORTLAND, None).await;
        let location = json!({"location": {"us_state": "OR", "date": {"recent": {"months": 3}}}});
        let create = async |criteria: Value| {
            let body = json!({"display_name": "Oregon", "criteria": criteria});
            let created = app.master().post("/api/segments", body).await.expect(201);
            json!({"segment": created["segment_id"]})
        };
        let inside = create(location.clone()).await;
        let outside = create(json!({"not": {"segment": inside["segment"]}})).await;
        let here = json!({"channel": travelers.0["here"]});
        let wants = [
            (inside.clone(), "here", ""),
            (json!({"not": inside}), "there", ""),
            (outside.clone(), "there", ""),
            (json!({"not": outside}), "here", ""),
            (json!({"or": [outside, here]}), "here there", "here"),
            (json!({"and": [{"not": {"and": [inside, here]}}, {"not": here}]}), "there", ""),
            // What has nothing to do with the place is not touched by it.
            (json!({"or": [inside, {"not": here}]}), "here there", "there"),
        ];
        for (audience, known, _) in &wants {
            assert_eq!(travelers.reached(&app, audience).await, *known, "{audience}");
        }

        // As if a later version had dropped the state from its atlas.
        let id = inside["segment"].as_str().unwrap().to_owned();
        let now = app.engine().clock().now();
        let forget = move |tx: &mut store::Tx<'_>| {
            let stored = documents::get(tx, AppId(1), DocumentKind::Segment, &id)?.unwrap();
            let body = stored.body.replace(r#""OR""#, r#""XX""#);
            assert_ne!(body, stored.body);
            documents::put(tx, AppId(1), DocumentKind::Segment, &id, &body, now)
        };
        app.engine().store().write(AppId(1), forget).await.unwrap();
        for (audience, _, unknown) in &wants {
            assert_eq!(travelers.reached(&app, audience).await, *unknown, "{audience}");
            let body = json!({"audience": audience, "device_types": "all"});
            let explained = app.master().post("/api/audience/explain", body).await.expect(200);
            let n_reached = unknown.split_whitespace().count();
            assert_eq!(explained["matched"], n_reached, "{explained}");
            let warning = &explained["warnings"][0];
            assert!(warning["message"].as_str().unwrap().contains("us_state 'XX'"), "{explained}");
        }
    })
    .await;
}

#[tokio::test]
async fn every_form_of_a_period_is_understood() {
    on_each_database(async |app| {
        let travelers = Travelers::register(&app, &["again", "april", "may", "moved", "now"]).await;
        let portland = place(&app, "?q=Portland&type=city").await;
        // It is 1 May 2024, a Wednesday.
        travelers.at(&app, "again", PORTLAND, Some("2024-04-20T10:00:00")).await;
        travelers.at(&app, "again", PORTLAND, Some("2024-04-28T10:00:00")).await;
        travelers.at(&app, "april", PORTLAND, Some("2024-04-20T10:00:00")).await;
        travelers.at(&app, "moved", PORTLAND, Some("2024-04-20T10:00:00")).await;
        travelers.at(&app, "moved", SEATTLE, Some("2024-04-28T10:00:00")).await;
        travelers.at(&app, "may", PORTLAND, Some("2024-05-01T09:00:00")).await;
        travelers.at(&app, "now", PORTLAND, None).await;
        // What a device only tells later does not change where it was last seen.
        travelers.at(&app, "now", SEATTLE, Some("2024-04-30T09:00:00")).await;
        let everybody = "again april may moved now";
        for (date, wanted) in [
            (json!({"recent": {"months": 1}}), "may now"),
            (json!({"recent": {"months": 2}}), everybody),
            (json!({"months": {"recent": 2}}), everybody),
            (json!({"recent": {"hours": 1}}), "may now"),
            (json!({"recent": {"days": 1}}), "may now"),
            (json!({"recent": {"days": 12}}), everybody),
            (json!({"recent": {"weeks": 1}}), "may now"),
            (json!({"recent": {"weeks": 3}}), everybody),
            (json!({"recent": {"years": 1}}), everybody),
            (json!({"days": {"start": "2024-04-20", "end": "2024-04-20"}}), "again april moved"),
            (json!({"days": {"start": "2024-04-21", "end": "2024-04-30"}}), "again"),
            (json!({"weeks": {"start": "2024-W16", "end": "2024-W16"}}), "again april moved"),
            (json!({"months": {"start": "2024-04", "end": "2024-04"}}), "again april moved"),
            (json!({"years": {"start": "2023", "end": "2024"}}), everybody),
            (json!({"hours": {"start": "2024-04-20 09", "end": "2024-04-20 11"}}), "again april moved"),
            (json!({"minutes": {"start": "2024-04-20 09:30", "end": "2024-04-20 10:30"}}), "again april moved"),
            (json!({"days": {"start": "2024-06-01", "end": "2024-06-02"}}), ""),
            (json!({"recent": {"months": 2}, "last_seen": true}), "again april may now"),
            (json!({"recent": {"months": 2}, "last_seen": false}), everybody),
            // Who was there again was last seen there later.
            (json!({"days": {"start": "2024-04-20", "end": "2024-04-20"}, "last_seen": true}), "april"),
            (json!({"days": {"start": "2024-04-20", "end": "2024-04-28"}, "last_seen": true}), "again april"),
        ] {
            let audience = location(&portland, &date);
            assert_eq!(travelers.reached(&app, &audience).await, wanted, "{date}");
        }
        // A device is in everything that is around it.
        let recent = json!({"recent": {"months": 2}});
        let county = place(&app, "45.523,-122.676?type=county").await;
        let country = place(&app, "?q=USA&type=country").await;
        assert_eq!(travelers.reached(&app, &location(&county, &recent)).await, everybody);
        assert_eq!(travelers.reached(&app, &location(&country, &recent)).await, everybody);
        let by_alias = |kind: &str, name: &str| json!({"location": {kind: name, "date": recent}});
        assert_eq!(travelers.reached(&app, &by_alias("us_state", "WA")).await, "moved now");
        assert_eq!(travelers.reached(&app, &by_alias("country", "de")).await, "");
        let zip =
            json!({"audience": by_alias("us_zip", "97201"), "device_types": ["ios"], "notification": {"alert": "x"}});
        let refused = app.master().post("/api/push", zip).await.expect(400);
        assert!(refused.to_string().contains("us_zip"), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_segment_by_place_needs_a_platform_that_knows_places() {
    on_each_database(async |app| {
        let portland = place(&app, "?q=Portland&type=city").await;
        let create = async |criteria: Value| {
            let body = json!({"display_name": "By place", "criteria": criteria});
            app.master().post("/api/segments", body).await.expect(201)["segment_id"].clone()
        };
        let inner = create(location(&portland, &json!({"recent": {"days": 1}}))).await;
        let outer = create(json!({"or": [{"tag": "news"}, {"not": {"segment": inner}}]})).await;
        let push = |device_types: Value| {
            json!({"audience": {"segment": outer}, "device_types": device_types, "notification": {"alert": "x"}})
        };
        for (path, types) in [("/api/push", json!("all")), ("/api/push/validate", json!(["web"]))] {
            let refused = app.master().post(path, push(types)).await.expect(400);
            assert_eq!(refused["details"]["path"], "device_types", "{refused}");
            assert!(refused.to_string().contains("'By place'"), "{refused}");
        }
        let scheduled = json!({"schedule": {"scheduled_time": "2024-06-01T00:00:00"}, "push": push(json!("all"))});
        let refused = app.master().post("/api/schedules", scheduled).await.expect(400);
        assert_eq!(refused["details"]["path"], "push.device_types", "{refused}");
        app.master().post("/api/push", push(json!(["android", "web"]))).await.expect(200);
        app.master().delete(&format!("/api/segments/{}", inner.as_str().unwrap())).await.expect(204);
        app.master().post("/api/push", push(json!("all"))).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn unknown_places_are_pointed_out() {
    on_each_database(async |app| {
        let audience = location("4oFkxX7RcUdirjtaenEQIV", &json!({"recent": {"days": 1}}));
        let body = json!({"audience": audience, "device_types": ["ios"]});
        let explained = app.master().post("/api/audience/explain", body).await.expect(200);
        assert_eq!(explained["warnings"][0]["path"], "audience.location.id", "{explained}");
        // Sending is another matter: not in a place that does not exist would be everybody.
        let nowhere = json!({"not": audience});
        let push = json!({"audience": nowhere, "device_types": ["ios"], "notification": {"alert": "x"}});
        let refused = app.master().post("/api/push", push).await.expect(400);
        assert_eq!(refused["details"]["path"], "audience.not.location.id", "{refused}");
        let segment = json!({"display_name": "nowhere", "criteria": {"or": [audience]}});
        let refused = app.master().post("/api/segments", segment).await.expect(400);
        assert!(refused.to_string().contains("4oFkxX7RcUdirjtaenEQIV"), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn where_devices_were_is_forgotten() {
    on_each_database(async |app| {
        let travelers = Travelers::register(&app, &["gone", "stays"]).await;
        let portland = place(&app, "?q=Portland&type=city").await;
        let last_seen = location(&portland, &json!({"recent": {"years": 20}, "last_seen": true}));
        travelers.at(&app, "gone", PORTLAND, None).await;
        travelers.at(&app, "stays", PORTLAND, None).await;
        assert_eq!(travelers.reached(&app, &last_seen).await, "gone stays");
        let body = json!({"channel_id": travelers.0["gone"], "device_type": "ios"});
        app.master().post("/api/channels/uninstall", body).await.expect(202);
        assert_eq!(travelers.reached(&app, &last_seen).await, "stays");
        let count = async |table: &str| row_counts(app.engine().store()).await[table];
        assert_eq!((count("last_place").await, count("place_day").await), (1, 4));
        app.advance(1_461 * DAY);
        app.step_all().await;
        assert_eq!(travelers.reached(&app, &last_seen).await, "stays");
        app.advance(DAY);
        app.step_all().await;
        assert_eq!((count("last_place").await, count("place_day").await), (0, 0));
        assert_eq!(travelers.reached(&app, &last_seen).await, "");
        // What is as old as that is not noted any more.
        travelers.at(&app, "stays", PORTLAND, Some("2024-05-01T12:00:00")).await;
        assert_eq!(count("last_place").await, 0);
    })
    .await;
}

#[tokio::test]
async fn places_are_kept_for_as_many_days_as_the_operator_says() {
    for database in databases() {
        let locations = LocationSettings { kept_days: 3, ..LocationSettings::default() };
        let app = Box::pin(TestApp::with_locations(database, locations)).await;
        let travelers = Travelers::register(&app, &["traveler"]).await;
        let portland = location(&place(&app, "?q=Portland&type=city").await, &json!({"recent": {"days": 60}}));
        let seattle = location(&place(&app, "?q=Seattle&type=city").await, &json!({"recent": {"days": 60}}));
        travelers.at(&app, "traveler", PORTLAND, None).await;
        travelers.at(&app, "traveler", SEATTLE, Some("2024-04-27T12:00:00")).await;
        assert_eq!(travelers.reached(&app, &seattle).await, "", "four days ago is not noted");
        travelers.at(&app, "traveler", SEATTLE, Some("2024-04-28T12:00:00")).await;
        assert_eq!(travelers.reached(&app, &seattle).await, "traveler");
        app.advance(3 * DAY);
        app.step_all().await;
        assert_eq!(travelers.reached(&app, &seattle).await, "");
        assert_eq!(travelers.reached(&app, &portland).await, "traveler");
        app.advance(DAY);
        app.step_all().await;
        assert_eq!(travelers.reached(&app, &portland).await, "");
        let counts = row_counts(app.engine().store()).await;
        assert_eq!((counts["last_place"], counts["place_day"]), (0, 0));
    }
}

/// An app may have tens of millions of sets of channels that were in a place on a day: nothing is known of them in memory, in
/// snapshots of the index or in the log it is made of.
#[tokio::test]
async fn days_in_places_are_in_the_database_only() {
    on_each_database(async |app| {
        let travelers = Travelers::register(&app, &["traveler"]).await;
        travelers.at(&app, "traveler", PORTLAND, None).await;
        app.step_all().await;
        let before = row_counts(app.engine().store()).await;
        for _ in 0..5 {
            app.advance(DAY);
            travelers.at(&app, "traveler", PORTLAND, None).await;
        }
        let after = row_counts(app.engine().store()).await;
        assert_eq!(after["place_day"], before["place_day"] + 5 * 4);
        for table in ["term", "term_set", "log"] {
            assert_eq!(after[table], before[table], "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn channels_leave_the_sets_of_places_they_were_in_last() {
    on_each_database(async |app| {
        let travelers = Travelers::register(&app, &["mover", "stays"]).await;
        let portland = place(&app, "?q=Portland&type=city").await;
        for name in ["mover", "stays"] {
            travelers.at(&app, name, PORTLAND, None).await;
        }
        travelers.at(&app, "mover", SEATTLE, None).await;
        travelers.at(&app, "stays", PORTLAND, None).await;
        let app = app.restart_without_snapshots().await;
        let last = location(&portland, &json!({"recent": {"months": 3}, "last_seen": true}));
        assert_eq!(travelers.reached(&app, &last).await, "stays");
    })
    .await;
}
