//! Reports and the calendar: figures as charts, tables and files, and what was sent and will be sent, by days.

use std::time::Duration;

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MARKUP: &str = "<script>storm</script>";

/// A device, a push on each of two days, and a custom event with an odd name.
async fn two_days(app: &TestApp) {
    let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ab".repeat(32)}});
    let made = app.device().post("/api/channels", channel).await.expect(201);
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": MARKUP}});
    for _ in 0..2 {
        app.advance(DAY);
        app.master().post("/api/push", push.clone()).await.expect(200);
        app.step_all().await;
    }
    let event = json!({"occurred": "2024-05-03T12:00:00", "user": {"ios_channel": made["channel_id"]},
        "body": {"name": "=bought", "value": 12.5}});
    app.master().post("/api/custom-events", event).await.expect(200);
    app.step_all().await;
}

#[tokio::test]
async fn reports_have_charts_tables_and_files() {
    on_each_database(async |app| {
        two_days(&app).await;
        let viewer = Visitor::with_role(&app, "viewer").await;
        let page = format!("/console/{}/reports", app.app.key);
        let shown = viewer.get(&format!("{page}?days=7")).await;
        for words in
            ["Messages that providers took", "the time before", "Custom events", "=bought", "12.50", "Time in the app"]
        {
            shown.shows(words);
        }
        let period = "from=2024-05-01&to=2024-05-03";
        let file = viewer.get(&format!("{page}/sends.csv?{period}")).await;
        assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
        assert_eq!(
            file.expect(200),
            "date,ios,time before\r\n2024-05-01 00:00:00,0,0\r\n2024-05-02 00:00:00,1,0\r\n2024-05-03 00:00:00,1,0\r\n"
        );
        viewer.get(&format!("{page}/events.csv?{period}")).await.shows("'=bought,");
        viewer.get(&format!("{page}/nothing.csv")).await.expect(404);
        viewer.get(&format!("{page}?from=2024-05-03&to=2024-05-01")).await.expect(400);
        viewer.get(&format!("{page}?from=2023-01-01&to=2024-05-01")).await.shows("2023-01-01 00:00:00");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_calendar_has_what_was_sent_and_what_will_be() {
    on_each_database(async |app| {
        two_days(&app).await;
        let schedule = json!({"name": "Weekend", "schedule": {"scheduled_time": "2024-05-11T09:30:00"},
            "push": {"audience": "all", "device_types": "all", "notification": {"alert": "Sale"}}});
        app.master().post("/api/schedules", schedule).await.expect(201);
        let viewer = Visitor::with_role(&app, "viewer").await;
        let page = format!("/console/{}/calendar", app.app.key);
        let shown = viewer.get(&page).await;
        for words in ["May 2024", "&lt;script&gt;storm", "09:30", "Weekend", "?month=2024-06"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains(MARKUP));
        viewer.get(&format!("{page}?month=2023-01")).await.shows("Nothing was sent or is planned");
        viewer.get(&format!("{page}?month=wrong")).await.shows("May 2024");
        // Days of other months are called by their own.
        shown.shows("1<span class=\"hidden\"> June 2024</span>");
        let week = viewer.get(&format!("{page}?week=2024-05-08")).await;
        for words in ["6 – 12 May 2024", "Weekend", "?week=2024-05-13", "?month=2024-05"] {
            week.shows(words);
        }
        // By the clock of whoever looks: half past nine of UTC is the next day at the other end of the world.
        let there = viewer.cookie().unwrap() + "; aerogram-zone=Pacific/Kiritimati";
        let there = Visitor::with_cookie(&app, Some(there)).get(&format!("{page}?week=2024-05-06")).await;
        there.shows("23:30");
        there.shows("those of Pacific/Kiritimati");
        let lie = viewer.cookie().unwrap() + "; aerogram-zone=Moon/Base";
        Visitor::with_cookie(&app, Some(lie)).get(&page).await.shows("those of UTC");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn who_comes_back_is_a_table_and_a_file() {
    on_each_database(async |app| {
        let viewer = Visitor::with_role(&app, "viewer").await;
        let page = format!("/console/{}/reports", app.app.key);
        viewer.get(&page).await.shows("No device has registered in this time");
        two_days(&app).await;
        // Two days without use end a login.
        let viewer = Visitor::with_role(&app, "support").await;
        let weeks = viewer.get(&page).await;
        for words in
            ["Who comes back", "2024-04-29", "week 1", "/api/reports/retention?cohort=week", "From sent to opened"]
        {
            weeks.shows(words);
        }
        viewer.get(&format!("{page}?cohort=day")).await.shows("day 13");
        let file = viewer.get(&format!("{page}/retention.csv?cohort=day")).await;
        assert!(file.expect(200).starts_with("date,channels,day 1,"), "{}", file.text);
        assert!(file.text.contains("2024-05-01 00:00:00,1,0,0\r\n"), "{}", file.text);
        assert!(file.headers["content-disposition"].to_str().unwrap().contains("retention-by-day.csv"));
        app.stop().await;
    })
    .await;
}
