//! What other reports count: devices, opens, time in the app, responses, groups of pushes, custom events and browsers.

use model::ids::AppId;
use model::time::UtcMillis;
use serde_json::{Value, json};
use store::counters::Metric;
use store::event_counters::{self, Conversion, Counted, Sum};
use testkit::app::{START, TestApp, on_each_database};

use crate::reports::{DAY, HOUR, count, push, register, report};

const APP: AppId = AppId(1);

fn devices(unique: u64, opted_in: u64, uninstalled: u64) -> Value {
    json!({
        "unique_devices": unique, "opted_in": opted_in, "opted_out": unique - opted_in, "uninstalled": uninstalled,
    })
}

#[tokio::test]
async fn devices_are_counted_as_they_come_change_and_go() {
    on_each_database(async |app| {
        assert_eq!(
            report(&app, "devices/?date=2024-05-01").await,
            json!({
                "ok": true, "total_unique_devices": 0, "date_closed": "2024-05-01 00:00:00",
                "date_computed": "2024-05-01 12:00:00",
                "counts": {"ios": devices(0, 0, 0), "android": devices(0, 0, 0)},
            })
        );
        let ios = register(&app, "ios", "ABCDEF01").await;
        let android = register(&app, "android", "token").await;
        register(&app, "android", "token-2").await;
        let open = json!({"channel": {
            "type": "open", "opt_in": true, "address": "desk-7", "open": {"open_platform_name": "kiosk"},
        }});
        app.master().post("/api/channels/open", open.clone()).await.expect(200);

        app.advance(DAY);
        let out = json!({"channel": {"device_type": "ios", "opt_in": false, "push_address": "ABCDEF01"}});
        app.device().put(&format!("/api/channels/{ios}"), &out).await.expect(200);
        app.device().put(&format!("/api/channels/{ios}"), &out).await.expect(200);
        let gone = json!({"channel_id": android, "device_type": "android"});
        app.master().post("/api/channels/uninstall", &gone).await.expect(202);
        app.master().post("/api/channels/uninstall", &gone).await.expect(202);
        let address = json!({"address": "desk-7", "open_platform_name": "kiosk"});
        app.master().post("/api/channels/open/uninstall", address).await.expect(202);

        app.advance(DAY);
        let back = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCDEF01"}});
        app.device().put(&format!("/api/channels/{ios}"), back).await.expect(200);
        app.master().post("/api/channels/open", open).await.expect(200);
        let app = app.restart().await;

        let on = async |date: &str| report(&app, &format!("devices?date={date}")).await;
        let first = json!({"ios": devices(1, 1, 0), "android": devices(2, 2, 0), "open": devices(1, 1, 0)});
        let second = json!({"ios": devices(1, 0, 0), "android": devices(1, 1, 1), "open": devices(0, 0, 1)});
        let third = json!({"ios": devices(1, 1, 0), "android": devices(1, 1, 1), "open": devices(1, 1, 1)});
        assert_eq!(on("2024-04-30").await["counts"], json!({"ios": devices(0, 0, 0), "android": devices(0, 0, 0)}));
        for (date, counts, total) in [
            ("2024-05-01", &first, 4),
            ("2024-5-1+23:59", &first, 4),
            ("2024-05-02", &second, 2),
            ("2024-05-03", &third, 3),
            ("2030-01-01", &third, 3),
        ] {
            let answer = on(date).await;
            assert_eq!((&answer["counts"], &answer["total_unique_devices"]), (counts, &json!(total)), "{date}");
            assert_eq!(answer["date_computed"], "2024-05-03 12:00:00");
        }
        for now in ["devices/", "devices?date="] {
            let answer = report(&app, now).await;
            assert_eq!((&answer["counts"], &answer["date_closed"]), (&third, &json!("2024-05-03 00:00:00")), "{now}");
        }
        let refused = app.master().get("/api/reports/devices?date=x").await.expect(400);
        assert_eq!(refused["details"]["path"], "date");
    })
    .await;
}

#[tokio::test]
async fn opens_time_in_app_and_responses_have_their_forms() {
    on_each_database(async |app| {
        // On a leap day.
        let at = UtcMillis(1_709_208_000_000);
        for (metric, platform, n) in [
            (Metric::Opens, "ios", 7),
            (Metric::OptedInOfDay, "ios", 4),
            (Metric::OptedOutOfDay, "ios", 3),
            (Metric::Sessions, "ios", 3),
            (Metric::SessionSeconds, "ios", 200),
            (Metric::DirectResponses, "android", 1),
            (Metric::InfluencedResponses, "android", 5),
            (Metric::DirectResponses, "web", 2),
            (Metric::Opens, "web", 9),
            (Metric::Sends, "open::kiosk", 1),
            (Metric::Sends, "open::fridge", 2),
        ] {
            count(&app, metric, at, platform, n).await;
        }
        let day = "start=2024-02-29&end=2024-03-01&precision=DAILY";
        let row = |more: Value| {
            let mut row = json!({"date": "2024-02-29 00:00:00"});
            row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!([row])
        };
        let none = json!({"direct": 0, "influenced": 0});
        let responses = json!({
            "ios": none, "android": {"direct": 1, "influenced": 5}, "web": {"direct": 2, "influenced": 0},
        });
        let table = [
            ("opens", json!({"ios": 7, "android": 0, "web": 9})),
            ("optins", json!({"ios": 4, "android": 0})),
            ("optouts", json!({"ios": 3, "android": 0})),
            ("timeinapp", json!({"ios": 66.667, "android": 0.0})),
            ("sends", json!({"ios": 0, "android": 0, "open": 3})),
            ("responses", responses),
        ];
        for (name, platforms) in table {
            let reply = app.master().get(&format!("/api/reports/{name}/?{day}")).await;
            assert_eq!(reply.expect(200)[name], row(platforms), "{name}");
            assert_eq!(reply.header("data-attribute"), Some(name));
        }
        let web = report(&app, "web/interaction/?app_key=x&start=2024-02-29T12:00&end=2024-02-29T13:00").await;
        assert_eq!(
            web,
            json!({
                "app_key": app.app.key, "start": "2024-02-29 12:00:00", "end": "2024-02-29 13:00:00",
                "precision": "HOURLY",
                "total_counts": [{"date": "2024-02-29 12:00:00", "counts": {"clicks": 2, "sessions": 9}}],
            })
        );
    })
    .await;
}

/// What the Python library does with answers, as a table: the key it reads the rows from, and the keys of a row it turns into
/// dates.
#[tokio::test]
async fn rows_are_where_client_libraries_look_for_them() {
    on_each_database(async |app| {
        register(&app, "ios", "ABCDEF01").await;
        push(&app, json!("all")).await;
        let period = "start=2024-05-01+00%3A00%3A00&end=2024-05-02+00%3A00%3A00";
        let table = [
            ("sends/", "sends", Some("date")),
            ("responses/", "responses", Some("date")),
            ("opens/", "opens", Some("date")),
            ("timeinapp/", "timeinapp", Some("date")),
            ("optins/", "optins", Some("date")),
            ("optouts/", "optouts", Some("date")),
            ("events/", "events", None),
            ("web/interaction/", "total_counts", Some("date")),
            ("responses/list", "pushes", Some("push_time")),
        ];
        for (path, rows, date) in table {
            for precision in ["HOURLY", "DAILY", "MONTHLY"] {
                let answer = report(&app, &format!("{path}?{period}&precision={precision}")).await;
                assert!(answer[rows].is_array() && answer.get("next_page").is_none(), "{path}: {answer}");
                let Some(date) = date else { continue };
                let text = answer[rows][0][date].as_str().unwrap();
                let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
                assert_eq!(form, "0000-00-00 00:00:00", "{path}: {answer}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn pushes_of_one_schedule_are_a_group() {
    on_each_database(async |app| {
        register(&app, "android", "token").await;
        let cadence = json!({"type": "daily", "count": 1});
        let schedule = json!({
            "schedule": {"scheduled_time": "2024-05-01T13:00", "recurring": {"cadence": cadence}},
            "push": {"audience": "all", "device_types": "all", "notification": {"alert": "Again"}},
        });
        let created = app.master().post("/api/schedules", schedule).await.expect(201);
        let group = created["schedule_ids"][0].as_str().unwrap().to_owned();
        app.master().get(&format!("/api/reports/pergroup/detail/{group}")).await.expect(404);
        for wait in [HOUR, DAY, DAY] {
            app.advance(wait);
            app.step_all().await;
        }
        let app = app.restart().await;
        let list = report(&app, "responses/list?start=2024-05-01&end=2024-05-04").await;
        let pushes = list["pushes"].as_array().unwrap();
        let times: Vec<_> = pushes.iter().map(|push| push["push_time"].as_str().unwrap()).collect();
        assert_eq!(times, ["2024-05-03 13:00:00", "2024-05-02 13:00:00", "2024-05-01 13:00:00"]);
        for push in pushes {
            assert_eq!((&push["group_id"], &push["push_type"]), (&json!(group), &json!("SCHEDULED_PUSH")));
        }
        let detail = report(&app, &format!("pergroup/detail/{group}")).await;
        assert_eq!((&detail["group_id"], &detail["created"]), (&json!(group), &json!("2024-05-01 13:00:00")));
        assert_eq!((&detail["sends"], &detail["platforms"]["android"]["sends"]), (&json!(3), &json!(3)));
        let series = report(&app, &format!("pergroup/series/{group}?precision=DAILY")).await;
        let sends: Vec<u64> = series["counts"].as_array().unwrap().iter().map(all_sends).collect();
        assert_eq!((&series["group_id"], sends), (&json!(group), vec![1, 1, 1, 0, 0, 0, 0]));
        let activity = report(&app, "activity/details?start=2024-05-01&end=2024-05-04").await;
        assert_eq!(activity["activities"][0]["type"], "GROUP");
    })
    .await;
}

fn all_sends(bucket: &Value) -> u64 {
    bucket["push_platforms"]["all"]["sends"].as_u64().unwrap()
}

async fn count_event(app: &TestApp, name: &str, conversion: Conversion, push: Option<&str>, n: u64) {
    let counted = Counted::at(app.clock().now(), name, conversion, push.map(|push| push.parse().unwrap()));
    let sum = Sum { n, millionths: n as f64 * 1_500_000.0 };
    let add = app.engine().store().write(APP, move |tx| event_counters::add(tx, APP, counted.clone(), sum));
    add.await.unwrap();
}

#[tokio::test]
async fn custom_events_are_listed_by_name() {
    on_each_database(async |app| {
        let sent = push(&app, json!("all")).await;
        count_event(&app, "buy", Conversion::Direct, Some(&sent), 2).await;
        count_event(&app, "buy", Conversion::Unattributed, None, 3).await;
        app.advance(DAY);
        count_event(&app, "add", Conversion::Indirect, Some(&sent), 4).await;
        let event = |name: &str, conversion: &str, count: u64| {
            let value = count as f64 * 1.5;
            json!({"name": name, "conversion": conversion, "location": "custom", "count": count, "value": value})
        };
        let all = [event("add", "indirect", 4), event("buy", "direct", 2), event("buy", "unattributed", 3)];
        let listing = report(&app, "events?start=2024-05-01&end=2024-05-03&precision=DAILY").await;
        assert_eq!(listing, json!({"ok": true, "total_count": 9, "total_value": 13.5, "events": all}));
        let first = report(&app, "events?start=2024-05-01&end=2024-05-02").await;
        assert_eq!((&first["total_count"], &first["events"]), (&json!(5), &json!(all[1..])));

        let mut path = "/api/reports/events?start=2024-05-01&end=2024-05-03&page_size=1".to_owned();
        let mut seen = Vec::new();
        loop {
            let page = app.master().get(&path).await.expect(200);
            assert_eq!(page["total_count"], 9);
            assert_eq!(page["prev_page"].is_string(), !seen.is_empty());
            seen.extend(page["events"].as_array().unwrap().clone());
            let Some(next) = page["next_page"].as_str() else { break };
            path = next.strip_prefix(&app.url("")).unwrap().to_owned();
        }
        assert_eq!(seen, all);
        let of_push = report(&app, &format!("events/summary/perpush/{sent}")).await;
        assert_eq!((&of_push["push_id"], &of_push["events"]), (&json!(sent), &json!(all[..2])));
        for path in ["events/summary/perpush", "events/summary/pergroup"] {
            let unknown = format!("/api/reports/{path}/00000000-0000-4000-8000-000000000000");
            app.master().get(&unknown).await.expect(404);
            app.master().get(&format!("/api/reports/{path}/x")).await.expect(400);
        }
        for page in ["0", "-1", "x", "4294967296"] {
            let path = format!("events?start=2024-05-01&end=2024-05-03&page_size=1&page={page}");
            assert_eq!(report(&app, &path).await["events"], json!(all[..1]), "{page}");
        }
        for query in ["page_size=0", "page_size=101"] {
            let query = format!("/api/reports/events?start=2024-05-01&end=2024-05-03&{query}");
            app.master().get(&query).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn old_statistics_are_rows_of_hours() {
    on_each_database(async |app| {
        for (platform, n) in [("ios", 1), ("android", 2), ("wns", 3), ("web", 4)] {
            count(&app, Metric::Sends, START, platform, n).await;
        }
        let hours = "start=2024-05-01+12:00&end=2024-05-01+14:00";
        let csv = app.master().get(&format!("/api/push/stats/?{hours}&format=csv")).await;
        assert_eq!((csv.status.as_u16(), csv.header("content-type")), (200, Some("text/csv")));
        assert_eq!(csv.text(), "2024-05-01 12:00:00,1,0,0,0,2,3,0\r\n2024-05-01 13:00:00,0,0,0,0,0,0,0\r\n");
        let rows = app.master().get(&format!("/api/push/stats?{hours}")).await.expect(200);
        assert_eq!((&rows[0]["start"], &rows[0]["gcm"]), (&json!("2024-05-01 12:00:00"), &json!(2)));
        assert_eq!(rows.as_array().unwrap().len(), 2);
        app.master().get("/api/push/stats?start=2024-05-01&end=2024-08-01").await.expect(400);
        app.master().get(&format!("/api/push/stats?{hours}&format=xml")).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn active_users_are_those_who_came_this_month() {
    on_each_database(async |app| {
        register(&app, "ios", "ABCDEF01").await;
        register(&app, "android", "token").await;
        let gone = register(&app, "android", "token-2").await;
        app.advance(DAY);
        register(&app, "web", "https://push.example/1").await;
        let gone = json!({"channel_id": gone, "device_type": "android"});
        app.master().post("/api/channels/uninstall", gone).await.expect(202);
        let may = json!({"ok": true, "ios": 1, "android": 1, "web": 1});
        assert_eq!(report(&app, "activeusers/?date=2024-05-20").await, may);
        assert_eq!(report(&app, "activeusers?date=2024-06-01").await, json!({"ok": true, "ios": 0, "android": 0}));
        app.advance(29 * DAY);
        assert_eq!(report(&app, "activeusers?date=2024-05-01").await, may, "on the last day of the month");
        app.advance(DAY);
        register(&app, "ios", "ABCDEF02").await;
        let june = json!({"ok": true, "ios": 1, "android": 0});
        assert_eq!(report(&app, "activeusers?date=2024-06-01").await, june);
        app.advance(64 * DAY);
        app.step_all().await;
        assert_eq!(report(&app, "activeusers?date=2024-05-31").await, may, "it began 95 days ago");
        app.advance(DAY);
        for query in ["date=2024-05-01", "date=2023-06-01", "date=x", ""] {
            let refused = app.master().get(&format!("/api/reports/activeusers?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], "date");
        }
    })
    .await;
}
