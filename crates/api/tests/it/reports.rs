//! Reports over time and of pushes: what is counted when, in which form it is told, and what is refused.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::time::UtcMillis;
use serde_json::{Value, json};
use store::counters::{self, Metric};
use testkit::app::{START, TestApp, on_each_database};

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const APP: AppId = AppId(1);
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

pub(crate) async fn register(app: &TestApp, device_type: &str, address: &str) -> String {
    let device = json!({"channel": {"device_type": device_type, "opt_in": true, "push_address": address}});
    let answer = app.device().post("/api/channels", device).await.expect(201);
    answer["channel_id"].as_str().unwrap().to_owned()
}

pub(crate) async fn push(app: &TestApp, audience: Value) -> String {
    let body = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
    let answer = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

/// Counts something as those do who take events in.
pub(crate) async fn count(app: &TestApp, metric: Metric, at: UtcMillis, platform: &'static str, n: u64) {
    let device_type = DeviceType::from_name(platform).unwrap();
    let add = app.engine().store().write(APP, move |tx| counters::add(tx, APP, metric, at, &device_type, n));
    add.await.unwrap();
}

async fn count_of_push(app: &TestApp, push: &str, metric: Metric, at: UtcMillis, platform: &'static str, n: u64) {
    let (push, device_type): (PushId, _) = (push.parse().unwrap(), DeviceType::from_name(platform).unwrap());
    let add = move |tx: &mut store::Tx<'_>| counters::add_of_push(tx, APP, push, metric, at, &device_type, n);
    app.engine().store().write(APP, add).await.unwrap();
}

pub(crate) async fn report(app: &TestApp, path: &str) -> Value {
    app.master().get(&format!("/api/reports/{path}")).await.expect(200)
}

#[tokio::test]
async fn sends_are_counted_by_hour_day_and_month() {
    on_each_database(async |app| {
        register(&app, "ios", "ABCDEF01").await;
        register(&app, "android", "token").await;
        push(&app, json!("all")).await;
        app.advance(HOUR);
        push(&app, json!("all")).await;
        // Into the next day, and the month after it.
        app.advance(11 * HOUR);
        push(&app, json!("all")).await;
        app.advance(31 * DAY);
        register(&app, "web", "https://push.example/1").await;
        push(&app, json!("all")).await;
        let app = app.restart().await;

        let row = |date: &str, n: u64| json!({"date": date, "ios": n, "android": n});
        assert_eq!(
            report(&app, "sends/?start=2024-05-01%2011:00&end=2024-05-01%2015:00&precision=HOURLY").await["sends"],
            json!([
                row("2024-05-01 11:00:00", 0),
                row("2024-05-01 12:00:00", 1),
                row("2024-05-01 13:00:00", 1),
                row("2024-05-01 14:00:00", 0),
            ])
        );
        let days = report(&app, "sends?start=2024-5-1&end=2024-5-4").await;
        assert_eq!(
            days,
            json!({"ok": true, "sends": [
                row("2024-05-01 00:00:00", 2), row("2024-05-02 00:00:00", 1), row("2024-05-03 00:00:00", 0),
            ]})
        );
        let months = report(&app, "sends?start=2024-04-30&end=2024-07-01&precision=monthly").await;
        let mut june = row("2024-06-01 00:00:00", 1);
        assert_eq!(months["sends"][2]["web"], june["ios"], "{months}");
        june["web"] = json!(1);
        assert_eq!(months["sends"], json!([row("2024-04-01 00:00:00", 0), row("2024-05-01 00:00:00", 3), june]));
        // An hour counts where it begins.
        let cut = report(&app, "sends?start=2024-05-01T12:00:01&end=2024-05-01T13:00:01Z&precision=DAILY").await;
        assert_eq!(cut["sends"], json!([row("2024-05-01 00:00:00", 1)]));
    })
    .await;
}

#[tokio::test]
async fn what_clients_write_is_understood_and_the_rest_refused_by_name() {
    on_each_database(async |app| {
        count(&app, Metric::Sends, START, "ios", 5).await;
        let fine = [
            "start=2024-05-01+00%3A00%3A00&end=2024-05-02+00%3A00%3A00&precision=DAILY",
            "start=2024-05-01T00:00:00&end=2024-05-02T00:00:00&precision=daily",
            "start=2024-05-01T02:00:00+02:00&end=2024-05-02T02:00:00+02:00&precision=HOURLY",
            "start=2024-5-1&end=2024-5-2&precision=MONTHLY",
            "start=2024-05-01%2000:00&end=2024-05-02%2000:00",
            "start=2024-05-01Z&end=2024-05-02Z&unknown=1",
        ];
        for query in fine {
            let sends = report(&app, &format!("sends/?{query}")).await;
            let rows = sends["sends"].as_array().unwrap().iter();
            assert_eq!(rows.map(|row| row["ios"].as_u64().unwrap()).sum::<u64>(), 5, "{query}: {sends}");
        }
        let odd = format!("responses/list?start=2024-05-01&end=2024-05-02&limit20&push_id_start&{UNKNOWN}");
        assert_eq!(report(&app, &odd).await, json!({"ok": true, "pushes": []}));

        let refused = [
            ("", "start", 40202),
            ("end=2024-05-01", "start", 40202),
            ("start=2024-05-01", "end", 40202),
            ("start=&end=2024-05-01", "start", 40202),
            ("start=soon&end=2024-05-01", "start", 40000),
            ("start=2024-02-30&end=2024-05-01", "start", 40000),
            ("start=2024-05-01&end=2024-05-01T25:00", "end", 40000),
            ("start=2024-05-02&end=2024-05-01", "end", 40000),
            ("start=2024-05-01&end=2024-05-02&precision=WEEKLY", "precision", 40000),
        ];
        for report in ["sends", "opens", "optins", "optouts", "timeinapp", "responses", "web/interaction"] {
            for (query, path, code) in refused {
                let answer = app.master().get(&format!("/api/reports/{report}?{query}")).await.expect(400);
                assert_eq!(
                    (&answer["details"]["path"], &answer["error_code"]),
                    (&json!(path), &json!(code)),
                    "{query}"
                );
            }
            app.device().get(&format!("/api/reports/{report}?{}", fine[0])).await.expect(401);
        }
        let both = app.master().get("/api/reports/sends?precision=x").await;
        assert_eq!(both.header("aerogram-problems"), Some("3"));
        let query = "/api/reports/responses/list?start=2024-05-01&end=2024-05-02&push_id_start=x";
        assert_eq!(app.master().get(query).await.expect(400)["details"]["path"], "push_id_start");
        for report in ["responses", "perpush/detail", "perpush/series", "perpush/pushbody", "mappings/send_ids"] {
            app.master().get(&format!("/api/reports/{report}/{UNKNOWN}")).await.expect(404);
            app.master().get(&format!("/api/reports/{report}/x")).await.expect(400);
        }
        for report in ["pergroup/detail", "pergroup/series"] {
            app.master().get(&format!("/api/reports/{report}/{UNKNOWN}")).await.expect(404);
            let answer = app.master().get(&format!("/api/reports/{report}/x")).await.expect(400);
            assert_eq!(answer["details"]["path"], "group_id");
        }
    })
    .await;
}

#[tokio::test]
async fn long_reports_have_pages_that_add_up() {
    on_each_database(async |app| {
        for (n, hour) in [0, 999, 1000, 1001, 2399].into_iter().enumerate() {
            count(&app, Metric::Opens, START.plus(HOUR * hour), "android", n as u64 + 1).await;
        }
        let mut path = "/api/reports/opens?start=2024-05-01%2012:00&end=2024-08-09%2012:00&precision=HOURLY".to_owned();
        let mut rows = Vec::new();
        let mut sizes = Vec::new();
        loop {
            let reply = app.master().get(&path).await;
            let page = reply.expect(200);
            let on_page = page["opens"].as_array().unwrap();
            sizes.push(on_page.len());
            rows.extend(on_page.clone());
            let Some(next) = page["next_page"].as_str() else { break };
            assert_eq!(reply.header("link"), Some(format!("<{next}>; rel=next").as_str()));
            path = next.strip_prefix(&app.url("")).unwrap().to_owned();
        }
        assert_eq!(sizes, [1000, 1000, 400]);
        assert_eq!(
            (&rows[0]["date"], &rows[2399]["date"]),
            (&json!("2024-05-01 12:00:00"), &json!("2024-08-09 11:00:00"))
        );
        assert_eq!(rows.iter().map(|row| row["android"].as_u64().unwrap()).sum::<u64>(), 15);
        assert!(rows.is_sorted_by(|a, b| a["date"].as_str() < b["date"].as_str()));
        let all = report(&app, "opens?start=2024-05-01&end=2025-01-01&precision=MONTHLY").await;
        let months: Vec<u64> =
            all["opens"].as_array().unwrap().iter().map(|row| row["android"].as_u64().unwrap()).collect();
        assert_eq!(months, [1, 9, 0, 5, 0, 0, 0, 0]);

        // A report until the end of time has a second page, and that has the same end.
        let endless = report(&app, "opens?start=2024-05-01&end=9999-12-31&precision=DAILY").await;
        let next = endless["next_page"].as_str().unwrap();
        let second = app.master().get(next.strip_prefix(&app.url("")).unwrap()).await.expect(200);
        assert_eq!(second["opens"][0]["date"], "2027-01-26 00:00:00");
        let long = "/api/reports/web/interaction?start=2024-05-01&end=2024-08-09";
        assert_eq!(app.master().get(long).await.expect(400)["details"]["path"], "end");
    })
    .await;
}

#[tokio::test]
async fn a_push_is_told_about_alone_in_a_list_and_over_time() {
    on_each_database(async |app| {
        let ios = register(&app, "ios", "ABCDEF01").await;
        register(&app, "android", "token").await;
        let open = json!({"channel": {
            "type": "open", "opt_in": true, "address": "desk-7", "open": {"open_platform_name": "kiosk"},
        }});
        app.master().post("/api/channels/open", open).await.expect(200);
        let all = push(&app, json!("all")).await;
        app.advance(HOUR);
        let one = push(&app, json!({"ios_channel": ios})).await;
        let later = START.plus(2 * HOUR);
        count_of_push(&app, &all, Metric::DirectResponses, later, "ios", 1).await;
        count_of_push(&app, &all, Metric::InfluencedResponses, later, "android", 2).await;
        count_of_push(&app, &all, Metric::RichReads, START.plus(25 * HOUR), "ios", 4).await;

        let record = |id: &str, time: &str, kind: &str, sends: u64, direct: u64| {
            json!({
                "push_id": id, "push_uuid": id, "push_time": time, "push_type": kind, "sends": sends,
                "direct_responses": direct,
            })
        };
        let mut of_all = record(&all, "2024-05-01 12:00:00", "BROADCAST_PUSH", 2, 1);
        of_all["open_channels_sends"] = json!({"platforms": [{"id": "kiosk", "sends": 1}]});
        let of_one = record(&one, "2024-05-01 13:00:00", "UNICAST_PUSH", 1, 0);
        let list = report(&app, "responses/list?start=2024-05-01&end=2024-05-02").await;
        assert_eq!(list, json!({"ok": true, "pushes": [of_one, of_all]}));
        let mut alone = of_all.clone();
        alone["ok"] = json!(true);
        assert_eq!(report(&app, &format!("responses/{all}/")).await, alone);
        let first = report(&app, "responses/list/?start=2024-05-01&end=2024-05-02&limit=1").await;
        assert_eq!(first["pushes"], json!([of_one]));
        let next = first["next_page"].as_str().unwrap().strip_prefix(&app.url("")).unwrap();
        let second = app.master().get(next).await.expect(200);
        assert_eq!(second, json!({"ok": true, "pushes": [of_all]}));
        let from = report(&app, &format!("responses/list?start=2024-05-01&end=2024-05-02&start_id={all}")).await;
        assert_eq!(from["pushes"], json!([of_all]));
        let until = report(&app, "responses/list?start=2024-05-01&end=2024-05-01T13:00").await;
        assert_eq!(until["pushes"], json!([of_all]), "the end is not included");

        let figures = |sends: u64, direct: u64, influenced: u64| {
            json!({"sends": sends, "direct_responses": direct, "influenced_responses": influenced})
        };
        let detail = report(&app, &format!("perpush/detail/{all}")).await;
        let body = STANDARD.decode(detail["push_body"].as_str().unwrap()).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["notification"]["alert"], "Hi");
        let mut expected = json!({
            "app_key": app.app.key, "push_id": all, "created": "2024-05-01 12:00:00",
            "sends": 2, "alerting_sends": 2, "silent_sends": 0, "direct_responses": 1, "influenced_responses": 2,
            "rich_sends": 0, "rich_responses": 4, "rich_deletions": 0,
            "platforms": {"ios": figures(1, 1, 0), "android": figures(1, 0, 2)},
            "open_channels_sends": {"platforms": [{"id": "kiosk", "sends": 1}]},
        });
        let several = json!({"push_ids": [all, UNKNOWN, one, all]});
        let several = app.master().post("/api/reports/perpush/detail/", several).await.expect(200);
        assert_eq!(several.as_array().unwrap().len(), 3);
        assert_eq!((&several[0], &several[1]["push_id"], &several[2]), (&expected, &json!(one), &expected));
        expected["push_body"] = detail["push_body"].clone();
        expected["ok"] = json!(true);
        assert_eq!(detail, expected);
        let said = report(&app, &format!("perpush/pushbody/{all}")).await;
        assert_eq!(said, json!({"ok": true, "push_body": detail["push_body"]}));

        let bucket = |time: &str, all: Value, android: Value, ios: Value, rich: u64| {
            json!({
                "time": time, "push_platforms": {"all": all, "android": android, "ios": ios},
                "rich_push_platforms": {"all": {"responses": rich, "sends": 0}},
            })
        };
        let none = figures(0, 0, 0);
        let hours = report(&app, &format!("perpush/series/{all}")).await;
        assert_eq!((&hours["start"], &hours["end"]), (&json!("2024-05-01 12:00:00"), &json!("2024-05-02 00:00:00")));
        assert_eq!((&hours["precision"], &hours["push_id"]), (&json!("HOURLY"), &json!(all)));
        let counts = hours["counts"].as_array().unwrap();
        assert_eq!(counts.len(), 12);
        let send = bucket("2024-05-01 12:00:00", figures(2, 0, 0), figures(1, 0, 0), figures(1, 0, 0), 0);
        let open = bucket("2024-05-01 14:00:00", figures(0, 1, 2), figures(0, 0, 2), figures(0, 1, 0), 0);
        assert_eq!((&counts[0], &counts[2]), (&send, &open));
        assert_eq!(counts[1], bucket("2024-05-01 13:00:00", none.clone(), none.clone(), none.clone(), 0));
        let days = report(&app, &format!("perpush/series/{all}?precision=DAILY")).await;
        assert_eq!(days["counts"].as_array().unwrap().len(), 7);
        assert_eq!(days["counts"][1], bucket("2024-05-02 00:00:00", none.clone(), none.clone(), none, 4));
        let months = report(&app, &format!("perpush/series/{all}?precision=MONTHLY")).await;
        assert_eq!((&months["end"], months["counts"].as_array().unwrap().len()), (&json!("2024-08-01 00:00:00"), 3));
        let range = format!("perpush/series/{all}?start=2024-05-01%2014:00&end=2024-05-01%2015:00");
        assert_eq!(report(&app, &range).await["counts"], json!([open]));
        for (query, path) in [("precision=x", "precision"), ("start=x", "start"), ("end=2024-01-01", "end")] {
            let answer = app.master().get(&format!("/api/reports/perpush/series/{all}?{query}")).await.expect(400);
            assert_eq!(answer["details"]["path"], path);
        }

        let in_app = json!({"impressions": 0, "impressions_opted_in": 0, "impressions_opted_out": 0});
        let delivery =
            json!({"web": {"total": 0}, "app": {"silent": 0, "alerting": 2, "rich": 0, "in_app": in_app}});
        let interaction = json!({"web": {"clicks": 0, "sessions": 0},
                                 "app": {"direct": 1, "indirect": 2, "influenced": 2, "rich_read": 4}});
        let activity = report(&app, "activity/details?start=2024-05-01&end=2024-05-02&limit=1").await;
        let details = json!({"interaction": interaction, "delivery": delivery});
        let only = json!({
            "push_id": all, "timestamp": "2024-05-01 12:00:00", "type": "PUSH", "experiment": false, "details": details,
            "delivery": delivery,
        });
        assert_eq!((&activity["activities"], &activity["limit"]), (&json!([only]), &json!(1)));
        assert_eq!(activity.get("next_page"), None, "a push to one device is left out");
        let mapped = report(&app, &format!("mappings/send_ids/{one}")).await;
        assert_eq!(mapped, json!({"ok": true, "send_id": one, "push_id": one}));
    })
    .await;
}

#[tokio::test]
async fn what_is_not_to_be_kept_is_not_shown_while_it_is_sent() {
    on_each_database(async |app| {
        register(&app, "ios", "ABCDEF01").await;
        let body = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "Your code is 1234"},
            "options": {"redact_payload": true},
        });
        let answer = app.master().post("/api/push", body).await.expect(200);
        let push = answer["push_ids"][0].as_str().unwrap();
        for _ in ["before it is sent", "and after"] {
            app.master().get(&format!("/api/reports/perpush/pushbody/{push}")).await.expect(404);
            let detail = report(&app, &format!("perpush/detail/{push}")).await;
            assert_eq!(detail.get("push_body"), None, "{detail}");
            app.step_all().await;
        }
        assert_eq!(report(&app, &format!("perpush/detail/{push}")).await["sends"], 1);
    })
    .await;
}
