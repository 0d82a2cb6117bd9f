//! The SDK leaves the main thread of a page alone.

use serde_json::Value;
use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::come;
use super::site::Site;

/// Of CPU time, which other work of the machine does not count in.
const LONGEST_MICROS: f64 = 50_000.0;
/// The browser's name of a task, and where it and the marks of pages are found in a trace.
const TASK: &str = "RunTask";
const CATEGORIES: [&str; 3] =
    ["blink.user_timing", "disabled-by-default-devtools.timeline", "disabled-by-default-lighthouse"];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn no_task_of_the_sdk_takes_50_ms() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        browser.start_trace(&CATEGORIES).await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        tab.run("push.addTags('new').then(() => push.inbox.list())").await;
        // Says which of all the threads is the one of the page.
        tab.run("void performance.mark('page-of-the-test')").await;
        let trace = browser.end_trace().await;
        let mark = trace.iter().find(|event| event["name"] == "page-of-the-test").expect("the mark is in the trace");
        let is_of_page = |event: &&Value| event["pid"] == mark["pid"] && event["tid"] == mark["tid"];
        let tasks = trace.iter().filter(is_of_page).filter(|event| event["name"] == TASK);
        let times: Vec<f64> = tasks.filter_map(|task| task["tdur"].as_f64()).collect();
        let longest = times.iter().copied().fold(0.0, f64::max);
        assert!(longest > 0.0, "a trace without CPU time shows nothing: {} tasks, {} events", times.len(), trace.len());
        assert!(longest < LONGEST_MICROS, "the longest of {} tasks took {longest} µs", times.len());
        app.stop().await;
    })
    .await;
}
