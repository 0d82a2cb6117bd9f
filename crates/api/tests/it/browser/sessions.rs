//! Sessions: what one person does on pages and tabs without a long pause.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use super::identity::connected;
use super::receipts::with_worker;
use super::{Site, come, send, text};

/// For a page, more than half an hour passes.
pub(super) const LATER: &str = "{ const now = Date.now; Date.now = () => now() + 31 * 60_000; null; }";
/// Twenty minutes pass: less than ends a session, and twice as much is more.
const SOON: &str = "{ const now = Date.now; Date.now = () => now() + 20 * 60_000; null; }";
/// What the page does once a minute can be done at once.
const MINUTELY: &str = "{ const real = window.setInterval;
  window.setInterval = (work, time) => {
    if (time === 60_000) window.minute ??= work;
    return real(work, time);
  }; }";
/// Notes the events that the page sends.
const LISTEN: &str = "window.sent = [];
{ const fetch = window.fetch;
  window.fetch = (url, options) => {
    if (String(url).endsWith('/api/web-events')) sent.push(...JSON.parse(options.body));
    return fetch(url, options);
  }; }";
/// The page is put away, and shown again as it was.
const TURN: &str =
    "for (const type of ['pagehide', 'pageshow']) dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
null";
/// Nobody sees the page.
pub(super) const HIDE: &str = "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); null";
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
        // Nobody looks at one of them any more. The next page comes late, and tells when somebody was there last.
        tab.open("about:blank").await;
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

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_that_is_left_was_looked_at_until_then() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, _) = connected(&app, &browser).await;
        let began = tab.run("kept('session')").await;
        // Each page comes more than half an hour after the one before has begun, and at once after its end.
        for next in ["location.reload()", "location.replace('/?next')"] {
            tab.run(SOON).await;
            tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": SOON })).await;
            tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": SOON })).await;
            tab.run(&format!("window.leaving = true; setTimeout(() => {next}); null")).await;
            tab.wait_for("!window.leaving && window.push").await;
            assert_eq!(tab.run("kept('session')").await, began, "{next}");
        }
        assert_eq!(types(&told_before(&app, &tab, "still").await), ["OPEN", "CUSTOM"]);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_that_stays_is_looked_at_as_long_as_it_is_visible() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": MINUTELY })).await;
        come(&site, &tab, "").await;
        // Of a page that nobody sees nothing is noted.
        tab.run(HIDE).await;
        let (began, active) = (tab.run("kept('session')").await, tab.run("kept('active')").await);
        tab.run(SOON).await;
        tab.run("minute(); null").await;
        assert_eq!(tab.run("kept('active')").await, active);
        tab.run("Object.defineProperty(document, 'hidden', { value: false, configurable: true }); null").await;
        tab.run("minute(); null").await;
        while tab.run("kept('active')").await == active {}
        // Another window opens later, and somebody still looks at the first.
        let other = browser.tab_beside(&tab).await;
        for _ in 0..2 {
            other.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": SOON })).await;
        }
        come(&site, &other, "").await;
        assert_eq!(other.run("kept('session')").await, began);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_session_does_not_end_before_it_has_begun() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": LISTEN })).await;
        come(&site, &tab, "").await;
        tab.wait_for("sent.some(({ type }) => type === 'app_foreground')").await;
        // Nobody has looked again since it began.
        tab.run(LATER).await;
        tab.run(SHOW).await;
        tab.wait_for("sent.some(({ type }) => type === 'app_background')").await;
        let times =
            "['app_foreground', 'app_background'].map((wanted) => sent.find(({ type }) => type === wanted).time)
            .map(Number)";
        let times = tab.run(times).await;
        assert!(times[0].as_f64() <= times[1].as_f64(), "{times}");
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_click_on_a_notification_begins_a_session_of_a_visible_page() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        tab.run(SHOW).await;
        let id = send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        let click = async |button: &str| {
            let data =
                json!({"push_id": id, "aerogram": app.app.key, "buttons": [{"id": "later", "background": true}]});
            worker.run(&format!("self.registration.showNotification('Shoes', {{ data: {data} }})")).await;
            let act = format!(
                "self.registration.getNotifications().then(([notification]) =>
                   happens(new NotificationEvent('notificationclick', {{ notification, action: '{button}' }})))"
            );
            worker.run(&act).await;
        };
        click("").await;
        let told = until_opened(&app, 2).await;
        assert_eq!(types(&told), ["OPEN", "CLOSE", "OPEN"]);
        // The worker tells of the click as well, and whichever comes first is the response.
        let path = format!("/api/reports/responses/{id}");
        while app.master().get(&path).await.expect(200)["direct_responses"] != json!(1) {
            tokio::task::yield_now().await;
        }
        // A button that brings no page to the front begins none.
        click("later").await;
        tab.wait_for("clicks.length === 2").await;
        assert_eq!(tab.run("kept('click').then((click) => click ?? null)").await, Value::Null);
        assert_eq!(types(&told_before(&app, &tab, "after").await[told.len()..]), ["CUSTOM"]);
        app.stop().await;
    })
    .await;
}
