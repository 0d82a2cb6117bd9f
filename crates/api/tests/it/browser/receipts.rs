//! What page and worker keep together: which pushes were told, and receipts that wait.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use super::identity::connected;
use super::sessions::HIDE;
use super::{Site, send};

/// Notes which transactions read and write the list of pushes that were told.
pub(super) const WATCH: &str = "
self.touched = [];
for (const name of ['get', 'put']) {
  const real = IDBObjectStore.prototype[name];
  IDBObjectStore.prototype[name] = function (...all) {
    if (all.at(-1) === 'seen') touched.push(this.transaction);
    return real.apply(this, all);
  };
}
// Hands an event to the worker and waits for all that follows.
self.happens = async (event) => {
  let work;
  event.waitUntil = (promise) => { work = promise; };
  self.dispatchEvent(event);
  await work;
};
null";
/// Clicks the notification that is shown.
pub(super) const CLICK: &str = "self.registration.getNotifications()
    .then(([notification]) => happens(new NotificationEvent('notificationclick', { notification })))";
const HUNDRED_DAYS: Duration = Duration::from_secs(100 * 24 * 60 * 60);
const IS_ONE: &str = "touched.length === 2 && touched[0] === touched[1] && touched[0].mode === 'readwrite'";

/// A connected page that may show notifications, and its worker, which is watched.
pub(super) async fn with_worker(app: &TestApp, browser: &Browser) -> (Site, Tab, Tab) {
    let (site, tab, _) = connected(app, browser).await;
    browser.permit(&tab, &site.origin(), "notifications", "granted").await;
    tab.run("registerWorker()").await;
    let worker = browser.worker_of(&tab).await;
    worker.run(WATCH).await;
    (site, tab, worker)
}

/// A push that comes both ways at once must not be told twice: nobody looks at the list between a look and its change.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_push_is_noted_in_one_transaction() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        tab.run(WATCH).await;
        send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        assert_eq!(tab.run(IS_ONE).await, true);
        let other = json!({"push_id": "00000000-0000-4000-8000-000000000000", "alert": "Hats"}).to_string();
        worker.run(&format!("happens(new PushEvent('push', {{ data: {} }}))", json!(other))).await;
        assert_eq!(worker.run(IS_ONE).await, true);
        app.stop().await;
    })
    .await;
}

/// Notes the events that a page sends.
const LISTEN: &str = "
{ const fetch = window.fetch;
  window.sent = [];
  window.fetch = (url, options) => {
    if (String(url).endsWith('/api/web-events')) sent.push(...JSON.parse(options.body).map(({ type, data }) => [type, data]));
    return fetch(url, options);
  };
  null; }";

/// A page that shows a push itself tells what became of it. A click counts once, whatever else is told.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_tells_of_pushes_that_it_shows_itself() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, _) = connected(&app, &browser).await;
        while tab.run("queued()").await != 0 {}
        tab.run(LISTEN).await;
        let id = send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        // Somebody answers in a tunnel.
        tab.offline(true).await;
        tab.run("push.clicked(messages[0].push_id, { button: 'yes' })").await;
        tab.run("push.clicked(messages[0].push_id)").await;
        tab.run("push.dismissed(messages[0].push_id)").await;
        tab.offline(false).await;
        tab.run("window.dispatchEvent(new Event('online'))").await;
        while tab.run("queued()").await != 0 {}
        let report = app.master().get(&format!("/api/reports/responses/{id}")).await.expect(200);
        assert_eq!(report["direct_responses"], 1, "{report}");
        let told = "sent.slice(-3).map(([type, { push_id, button_id }]) => [type, push_id, button_id ?? null])";
        let clicked = json!([["push_click", id, "yes"], ["push_click", id, null], ["push_dismiss", id, null]]);
        assert_eq!(tab.run(told).await, clicked);
        app.stop().await;
    })
    .await;
}

/// A receipt is kept when a proxy refuses it, and not when the browser was forgotten.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn receipts_wait_for_the_service_and_end_with_the_channel() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        worker.run("self.fetch = async () => new Response('<h1>Forbidden</h1>', { status: 403 }); null").await;
        let id = send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        worker.run(&notification(&app, &id)).await;
        // Otherwise the page takes the click for its session at once.
        tab.run(HIDE).await;
        worker.run(CLICK).await;
        assert_eq!(tab.run("kept('click').then((click) => click.push)").await, json!(id));
        tab.run("window.dispatchEvent(new Event('online'))").await;
        let path = format!("/api/reports/responses/{id}");
        while app.master().get(&path).await.expect(200)["direct_responses"] != json!(1) {
            tokio::task::yield_now().await;
        }
        tab.run("push.forget()").await;
        worker.run(&notification(&app, &id)).await;
        worker.run(CLICK).await;
        assert_eq!(
            tab.run("Promise.all([queued(), kept('click')]).then(([n, click]) => [n, click ?? null])").await,
            json!([0, null])
        );
        app.stop().await;
    })
    .await;
}

/// What neither page nor worker would ever get past a proxy is not kept by either.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_receipt_that_is_too_large_for_a_proxy_is_given_up() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        tab.run(HIDE).await;
        while tab.run("queued()").await != 0 {}
        for (status, n_kept) in [(413, 0), (502, 1)] {
            worker.run(&format!("self.fetch = async () => new Response('', {{ status: {status} }}); null")).await;
            worker.run(&notification(&app, "00000000-0000-4000-8000-000000000000")).await;
            worker.run(CLICK).await;
            assert_eq!(tab.run("queued()").await, n_kept, "{status}");
        }
        app.stop().await;
    })
    .await;
}

/// Events that are older than the service takes them are put right like all others.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn receipts_count_whatever_time_the_worker_believes_it_is() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        let id = send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        tab.run(HIDE).await;
        let long_ago = app.clock().now().minus(HUNDRED_DAYS);
        worker.run(&format!("Date.now = () => {}; null", long_ago.0)).await;
        worker.run(&notification(&app, &id)).await;
        worker.run(CLICK).await;
        let report = app.master().get(&format!("/api/reports/responses/{id}")).await.expect(200);
        assert_eq!(report["direct_responses"], 1, "{report}");
        app.stop().await;
    })
    .await;
}

/// Shows the notification of a push, as the worker does.
fn notification(app: &TestApp, id: &str) -> String {
    let data = json!({"push_id": id, "aerogram": app.app.key});
    format!("self.registration.showNotification('Shoes', {{ data: {data} }})")
}

/// Opens no pages, and notes which ones it was to open.
const NOTE_OPENED: &str = "
self.opened = [];
self.fetch = async () => new Response('{}');
self.clients.matchAll = async () => [];
self.clients.openWindow = async (url) => { opened.push(String(url)); };
self.act = async (action) => {
  const buttons = [{ id: 'later', background: true }, { id: 'plain' },
    { id: 'own', background: true, actions: { '^u': 'https://example.com/own' } }];
  const aerogram = new URL(self.location).searchParams.get('app');
  const data = { aerogram, push_id: crypto.randomUUID(), actions: { '^u': 'https://example.com/sale' }, buttons };
  await self.registration.showNotification('Sale', { tag: 'sale', data });
  const [notification] = await self.registration.getNotifications();
  await happens(new NotificationEvent('notificationclick', { notification, action }));
};
null";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_button_in_the_background_opens_no_page() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, _tab, worker) = with_worker(&app, &browser).await;
        worker.run(NOTE_OPENED).await;
        let (own, sale) = ("https://example.com/own", "https://example.com/sale");
        for (button, opened) in [("later", vec![]), ("own", vec![own]), ("plain", vec![own, sale])] {
            worker.run(&format!("act('{button}')")).await;
            assert_eq!(worker.run("opened").await, json!(opened), "{button}");
        }
        app.stop().await;
    })
    .await;
}
