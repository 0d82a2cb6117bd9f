//! Several figures over time in one call: the same numbers as those of the single reports.

use std::time::Duration;

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn series(app: &TestApp, query: &str) -> Value {
    app.master().get(&format!("/api/reports/series?{query}")).await.expect(200)
}

/// The values of a line.
fn values(answer: &Value, metric: &str, platform: Option<&str>) -> Value {
    let all = answer["series"].as_array().unwrap();
    let platform = platform.map_or(Value::Null, |platform| json!(platform));
    let is_it = |line: &&Value| line["metric"] == metric && line.get("platform").unwrap_or(&Value::Null) == &platform;
    all.iter().find(is_it).unwrap_or_else(|| panic!("{metric} {platform}: {answer}"))["values"].clone()
}

async fn send(app: &TestApp) {
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
    app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
}

/// Three days: one device and a push on the first, another one on the second, of which the first leaves on the third.
async fn three_days(app: &TestApp) {
    let crowd = Crowd::register(app, &[("a", "ios")]).await;
    send(app).await;
    app.advance(DAY);
    let _others = Crowd::register(app, &[("b", "android"), ("tv", "open::tv")]).await;
    send(app).await;
    app.advance(DAY);
    crowd.uninstall(app, "a").await;
}

#[tokio::test]
async fn figures_over_time_are_those_of_the_single_reports() {
    on_each_database(async |app| {
        three_days(&app).await;
        let period = "start=2024-04-30&end=2024-05-05";
        let all = series(&app, &format!("metrics=sends,devices,opted_in,installs,uninstalls,opens&{period}")).await;
        let dates: Vec<String> = [30, 1, 2, 3, 4].map(date).to_vec();
        assert_eq!((&all["dates"], &all["precision"]), (&json!(dates), &json!("DAILY")));
        assert_eq!(values(&all, "sends", None), json!([0, 1, 3, 0, 0]));
        assert_eq!(values(&all, "devices", None), json!([0, 1, 3, 2, 2]));
        assert_eq!(values(&all, "opted_in", None), json!([0, 1, 3, 2, 2]));
        assert_eq!(values(&all, "installs", None), json!([0, 1, 2, 0, 0]));
        assert_eq!(values(&all, "uninstalls", None), json!([0, 0, 0, 1, 0]));
        assert_eq!(values(&all, "opens", None), json!([0, 0, 0, 0, 0]));
        assert_eq!((&all["series"][0]["total"], &all["series"][1]["total"]), (&json!(4), &Value::Null));
        let single = app.master().get(&format!("/api/reports/sends?{period}")).await.expect(200);
        let by = series(&app, &format!("metrics=sends,devices&by=platform&{period}")).await;
        for platform in ["ios", "android", "open"] {
            let rows = single["sends"].as_array().unwrap().iter();
            let expected: Vec<u64> = rows.map(|row| row[platform].as_u64().unwrap_or(0)).collect();
            assert_eq!(values(&by, "sends", Some(platform)), json!(expected));
        }
        for (n, day) in ["2024-05-01", "2024-05-02", "2024-05-03"].into_iter().enumerate() {
            let devices = app.master().get(&format!("/api/reports/devices?date={day}")).await.expect(200);
            for platform in ["ios", "android", "open"] {
                let expected = devices["counts"][platform]["unique_devices"].as_u64().unwrap_or(0);
                assert_eq!(values(&by, "devices", Some(platform))[n + 1], json!(expected), "{day} {platform}");
            }
        }
    })
    .await;
}

fn date(day: u32) -> String {
    format!("2024-{:02}-{day:02} 00:00:00", if day == 30 { 4 } else { 5 })
}

#[tokio::test]
async fn hours_months_and_the_time_before() {
    on_each_database(async |app| {
        three_days(&app).await;
        let hours =
            series(&app, "metrics=sends,devices&precision=hourly&start=2024-05-02T11:00&end=2024-05-02T14:00").await;
        assert_eq!(values(&hours, "sends", None), json!([0, 3, 0]));
        assert_eq!(values(&hours, "devices", None), json!([1, 3, 3]), "with those of the days before");
        let months = series(&app, "metrics=sends,devices&precision=monthly&start=2024-04-01&end=2024-07-01").await;
        assert_eq!(values(&months, "sends", None), json!([0, 4, 0]));
        assert_eq!(values(&months, "devices", None), json!([0, 2, 2]));

        let query = "metrics=sends,devices&start=2024-05-02&end=2024-05-03&compare=previous";
        let both = series(&app, query).await;
        assert_eq!((&both["dates"], &both["previous_dates"]), (&json!([date(2)]), &json!([date(1)])));
        let sends = json!({"metric": "sends", "values": [3], "total": 3, "previous": [1], "previous_total": 1});
        assert_eq!(both["series"][0], sends);
        assert_eq!(both["series"][1]["previous"], json!([1]));
        let empty = series(&app, "metrics=sends,devices&start=2024-05-02&end=2024-05-02&compare=previous").await;
        assert_eq!((&empty["dates"], values(&empty, "devices", None)), (&json!([]), json!([])));

        let csv = app.master().get(&format!("/api/reports/series?{query}&format=csv")).await;
        assert_eq!((csv.status.as_u16(), csv.header("content-type")), (200, Some("text/csv; charset=utf-8")));
        assert_eq!(
            csv.text(),
            format!("date,sends,sends previous,devices,devices previous\r\n{},3,1,3,1\r\n", date(2))
        );
        let by_platform = "metrics=sends&by=platform&start=2024-05-01&end=2024-05-02&format=csv";
        let csv = app.master().get(&format!("/api/reports/series?{by_platform}")).await;
        assert_eq!(csv.text(), format!("date,sends ios\r\n{},1\r\n", date(1)));
    })
    .await;
}

#[tokio::test]
async fn other_apps_see_nothing_and_wrong_questions_are_refused() {
    on_each_database(async |app| {
        three_days(&app).await;
        let path = "/api/reports/series?metrics=sends,devices&start=2024-05-01&end=2024-05-02";
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        let seen = stranger.get(path).await.expect(200);
        assert_eq!((values(&seen, "sends", None), values(&seen, "devices", None)), (json!([0]), json!([0])));
        app.device().get(path).await.expect(401);
        for (query, path) in [
            ("start=2024-05-01&end=2024-05-02", "metrics"),
            ("metrics=refused&start=2024-05-01&end=2024-05-02", "metrics"),
            ("metrics=sends,&start=2024-05-01&end=2024-05-02", "metrics"),
            ("metrics=sends&end=2024-05-02", "start"),
            ("metrics=sends&start=2024-05-02&end=2024-05-01", "end"),
            ("metrics=sends&start=2024-05-01&end=2024-05-02&by=country", "by"),
            ("metrics=sends&start=2024-05-01&end=2024-05-02&compare=year", "compare"),
            ("metrics=sends&start=2024-05-01&end=2024-05-02&format=xml", "format"),
            ("metrics=sends&precision=hourly&start=2024-05-01&end=2024-07-01", "end"),
        ] {
            let refused = app.master().get(&format!("/api/reports/series?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{query}");
        }
    })
    .await;
}
