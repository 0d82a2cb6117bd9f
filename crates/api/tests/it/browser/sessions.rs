//! Sessions: what one person does on pages and tabs without a long pause.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use super::identity::connected;
use super::{come, send, text};

/// For a page, more than half an hour passes.
pub(super) const LATER: &str = "{ const now = Date.now; Date.now = () => now() + 31 * 60_000; null; }";
/// The page is put away, and shown again as it was.
const TURN: &str =
    "for (const type of ['pagehide', 'pageshow']) dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
null";
const SHOW: &str = "Object.defineProperty(document, 'hidden', { value: false, configurable: true });
document.dispatchEvent(new Event('visibilitychange'));
null";

/// What the app has been told, in its order: the type of each event, its session, and its body.
async fn told(app: &TestApp) -> Vec<(String, String, Value)> {
    let request = json!({"follow": false, "filters": [{"types": ["OPEN", "CLOSE", "CUSTOM"]}]});
    let reply = app.master().post("/api/events", request).await;
    let events = reply.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| (text(&event["type"]), text(&event["body"]["session_id"]), event["body"].clone())).collect()
}

/// What the app has been told by the time that it hears of a custom event of the page: nothing overtakes anything.
async fn told_before(app: &TestApp, tab: &Tab, name: &str) -> Vec<(String, String, Value)> {
    tab.run(&format!("push.track('{name}')")).await;
    loop {
        let told = told(app).await;
        if told.last().is_some_and(|(_, _, body)| body["name"] == name) {
            return told;
        }
        tokio::task::yield_now().await;
    }
}

fn types(told: &[(String, String, Value)]) -> Vec<&str> {
    told.iter().map(|(kind, _, _)| kind.as_str()).collect()
}

/// Waits for so many sessions.
async fn until_opened(app: &TestApp, n_wanted: usize) -> Vec<(String, String, Value)> {
    loop {
        let told = told(app).await;
        if types(&told).iter().filter(|kind| **kind == "OPEN").count() == n_wanted {
            return told;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_session_goes_on_over_pages_and_tabs() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, _) = connected(&app, &browser).await;
        come(&site, &tab, "").await;
        let other = browser.tab_beside(&tab).await;
        come(&site, &other, "").await;
        let first = told_before(&app, &other, "first").await;
        assert_eq!(types(&first), ["OPEN", "CUSTOM"]);
        assert_eq!((&first[0].1, other.run("kept('visits')").await), (&first[1].1, json!(1)));
        // The next page comes late, and tells when somebody was there last.
        other.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": LATER })).await;
        come(&site, &other, "").await;
        let second = told_before(&app, &other, "second").await;
        assert_eq!(types(&second[2..]), ["CLOSE", "OPEN", "CUSTOM"]);
        assert_eq!((&second[2].1, &second[3].1), (&first[0].1, &second[4].1));
        assert_ne!(first[0].1, second[3].1);
        assert_eq!(other.run("kept('visits')").await, json!(2));
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_that_is_shown_again_late_begins_a_session() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, _) = connected(&app, &browser).await;
        for again in [TURN, SHOW] {
            tab.run(again).await;
            tab.wait_for("push.connected").await;
        }
        assert_eq!(types(&told_before(&app, &tab, "soon").await), ["OPEN", "CUSTOM"]);
        for (n, again) in [TURN, SHOW].into_iter().enumerate() {
            tab.run(LATER).await;
            tab.run(again).await;
            let told = until_opened(&app, n + 2).await;
            assert_eq!(types(&told[n * 2 + 2..]), ["CLOSE", "OPEN"]);
        }
        // So does one that is shown again by a notification.
        let id = send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        tab.run(&format!("keep('click', {{ push: '{id}', at: Date.now() }})")).await;
        tab.run(SHOW).await;
        let told = until_opened(&app, 4).await;
        assert_eq!(told.last().unwrap().2["triggering_push"]["push_id"], json!(id));
        tab.run(SHOW).await;
        assert_eq!(types(&told_before(&app, &tab, "once").await[told.len()..]), ["CUSTOM"]);
        // Nothing of it is left of a browser that was forgotten.
        tab.run("push.forget()").await;
        assert_eq!(
            tab.run("Promise.all(['session', 'active', 'visits'].map((key) => kept(key).then((one) => one ?? null)))")
                .await,
            json!([null, null, null])
        );
        app.stop().await;
    })
    .await;
}
