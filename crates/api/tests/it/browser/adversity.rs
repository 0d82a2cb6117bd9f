//! What goes wrong around a page: a service that is overloaded, clocks that differ, and a worker of an earlier version.

use std::time::Duration;

use model::time::UtcMillis;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::Browser;

use super::identity::connected;
use super::site::Site;
use super::{channel_named, come, text};

/// The service refuses everything, and wants to be left alone for an hour. While the first answer is on its way, more is said.
const STORM: &str = "
{ const [fetch, setTimeout] = [window.fetch, window.setTimeout];
  Object.assign(window, { refused: 0, waits: [] });
  window.setTimeout = (work, time) => { waits.push(time); return setTimeout(work, time); };
  window.fetch = async () => {
    window.refused += 1;
    await push.addTags(`meanwhile-${refused}`);
    const body = JSON.stringify({ ok: false, error: 'There are too many.', error_code: 42900 });
    return new Response(body, { status: 429, headers: { 'Retry-After': '3600' } });
  };
  window.calm = () => { window.fetch = fetch; window.dispatchEvent(new Event('online')); };
  null; }";
const HOUR: u64 = 3_600_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_service_with_too_much_to_do_is_left_alone() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, id) = connected(&app, &browser).await;
        // What it says at the beginning.
        while tab.run("queued()").await != 0 {}
        tab.run(STORM).await;
        tab.run("push.addTags('first')").await;
        tab.wait_for(&format!("waits.includes({HOUR})")).await;
        tab.run("Promise.all(Array.from({ length: 20 }, (_, n) => push.addTags(`later-${n}`)))").await;
        assert_eq!(tab.run("refused").await, 1);
        assert_eq!(tab.run("queued()").await, 22);
        // Nothing of it is lost, and the channel is the same.
        tab.run("calm()").await;
        let n_tags = async || channel_named(&app, &id).await["tags"].as_array().map_or(0, Vec::len);
        while n_tags().await != 22 {
            tokio::task::yield_now().await;
        }
        assert_eq!(tab.run("push.channelId").await, json!(id));
        app.stop().await;
    })
    .await;
}

/// What happens on a page has happened at the time of the service, whatever the page believes, and the page is connected.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_clock_that_is_wrong_by_a_day_makes_no_difference() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let now = app.clock().now();
        for (name, at) in [("ahead", now.plus(DAY)), ("behind", now.minus(DAY))] {
            let tab = browser.tab().await;
            let source = format!(
                "{{ const [real, began] = [Date.now, Date.now()]; Date.now = () => {} + real() - began; }}",
                at.0
            );
            tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source })).await;
            come(&site, &tab, "").await;
            tab.wait_for("push.connected").await;
            tab.run(&format!("push.track('{name}')")).await;
            let occurred = loop {
                match occurred(&app, name).await {
                    Some(occurred) => break occurred,
                    None => tokio::task::yield_now().await,
                }
            };
            let difference = (occurred.0 - now.0).unsigned_abs();
            assert!(difference < HOUR, "{name}: {difference} ms");
            assert_eq!(tab.run("errors").await, json!([]));
        }
        app.stop().await;
    })
    .await;
}

/// When the custom event with this name has happened.
async fn occurred(app: &TestApp, name: &str) -> Option<UtcMillis> {
    let request = json!({"follow": false, "filters": [{"types": ["CUSTOM"]}]});
    let reply = app.master().post("/api/events", request).await;
    let events = reply.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    let event = events.iter().find(|event| event["body"]["name"] == name)?;
    UtcMillis::parse_with_offset(&text(&event["occurred"]))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_newer_worker_takes_over_at_once() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, _) = connected(&app, &browser).await;
        browser.permit(&tab, &site.origin(), "notifications", "granted").await;
        tab.run("registerWorker()").await;
        tab.wait_for("navigator.serviceWorker.controller").await;
        // On the next page, while another tab is still open at the one before.
        let other = browser.tab_beside(&tab).await;
        come(&site, &other, "").await;
        other.run("registerWorker('&version=2')").await;
        for tab in [&tab, &other] {
            tab.wait_for("navigator.serviceWorker.controller.scriptURL.endsWith('&version=2')").await;
        }
        let worker = loop {
            let worker = browser.worker_of(&tab).await;
            if text(&worker.run("self.location.search").await).ends_with("&version=2") {
                break worker;
            }
        };
        let push = json!({"push_id": "00000000-0000-4000-8000-000000000000", "alert": "Hats"}).to_string();
        worker.run(&format!("void self.dispatchEvent(new PushEvent('push', {{ data: {} }}))", json!(push))).await;
        for tab in [&tab, &other] {
            tab.wait_for("shown.length === 1 && shown[0].alert === 'Hats'").await;
        }
        app.stop().await;
    })
    .await;
}

/// Changes are sent, and no answer comes until the page gives up.
const STALL: &str = "
{ const fetch = window.fetch;
  window.stalled = 0;
  window.fetch = (url, options) => {
    if (!String(url).includes('/batch/')) return fetch(url, options);
    window.stalled += 1;
    return new Promise((_, fail) => options.signal.addEventListener('abort', () => fail(new Error('Given up.'))));
  };
  null; }";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_request_without_an_answer_does_not_keep_a_browser_from_being_forgotten() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, id) = connected(&app, &browser).await;
        while tab.run("queued()").await != 0 {}
        tab.run(STALL).await;
        tab.run("push.addTags('stalled')").await;
        tab.wait_for("stalled === 1").await;
        // From another tab, which does not know of it.
        let other = browser.tab_beside(&tab).await;
        come(&site, &other, "").await;
        other.run("push.forget()").await;
        let channel = channel_named(&app, &id).await;
        assert_eq!((&channel["installed"], &channel["tags"]), (&json!(false), &json!([])));
        assert_eq!(other.run("queued()").await, json!(0));
        app.stop().await;
    })
    .await;
}

/// The token has ended, and the answer with a new one is held back.
const HOLD_TOKEN: &str = "
{ const [fetch, now] = [window.fetch, Date.now];
  Date.now = () => now() + 3 * 86_400_000;
  const held = new Promise((release) => { window.release = () => { release(); }; });
  window.holding = false;
  window.fetch = async (url, options) => {
    if (String(url).endsWith('/api/auth/device')) { window.holding = true; await held; }
    return fetch(url, options);
  };
  window.turn = (type) => void dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
  null; }";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_that_is_left_opens_no_connection() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, _) = connected(&app, &browser).await;
        while tab.run("queued()").await != 0 {}
        let before = tab.run("kept('token').then(({ ends }) => ends)").await;
        tab.run(HOLD_TOKEN).await;
        // It is put away, shown again, and put away while it asks for a token.
        tab.run("turn('pagehide'); turn('pageshow')").await;
        tab.wait_for("holding").await;
        tab.run("turn('pagehide'); release()").await;
        while tab.run("kept('token').then(({ ends }) => ends)").await == before {}
        assert_eq!(tab.run("kept('token').then(() => sockets)").await, json!(1));
        tab.run("turn('pageshow')").await;
        tab.wait_for("push.connected && sockets === 2").await;
        app.stop().await;
    })
    .await;
}
