//! Whose the service worker is: that of the SDK, or one that the page has anyway.

use model::app::Mode;
use serde_json::json;
use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::identity::connected;
use super::receipts::{CLICK, WATCH, with_worker};
use super::sessions::HIDE;
use super::{channel_named, come};

/// No push service is asked; who subscribes is noted.
pub(super) const SUBSCRIBE: &str = "
window.subscribers = [];
PushManager.prototype.subscribe = async function () { subscribers.push(this); return {}; };
null";

/// The browser is subscribed with the key `-__-AQ`, and what the page registers is noted instead of sent.
const SUBSCRIBED: &str = "
Object.assign(window, { unsubscribed: 0, addresses: [] });
PushManager.prototype.getSubscription = async () => ({
  options: { applicationServerKey: new Uint8Array([251, 255, 254, 1]).buffer },
  toJSON: () => ({ endpoint: 'https://push.example.com/1', keys: {} }),
  unsubscribe: async () => { window.unsubscribed += 1; },
});
{ const fetch = window.fetch;
  window.fetch = async (url, options) => {
    if (options.method !== 'PUT' || !/\\/channels\\/[^/]+$/.test(url)) return fetch(url, options);
    addresses.push(JSON.parse(options.body).channel.push_address);
    return new Response('{}');
  }; }
null";

/// Notes what is fetched and opened, and acts on a notification with some data.
const ACT: &str = "
self.reached = [];
self.fetch = async (url) => { reached.push(String(url)); return new Response('{}'); };
self.clients.openWindow = async (url) => { reached.push(String(url)); };
self.act = async (type, data) => {
  await self.registration.showNotification('Sale', { tag: 'sale', data });
  const [notification] = await self.registration.getNotifications();
  await happens(new NotificationEvent(type, { notification }));
};
null";
const N_NOTIFICATIONS: &str = "self.registration.getNotifications().then(({ length }) => length)";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_worker_that_the_page_registers_stays_as_it_is() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, _) = connected(&app, &browser).await;
        browser.permit(&tab, &site.origin(), "notifications", "granted").await;
        tab.run(SUBSCRIBE).await;
        tab.run("start({ worker: window.own = register('/own.js') }).then((push) => { window.other = push; })").await;
        assert_eq!(tab.run("other.enablePush()").await, "granted");
        assert_eq!(
            tab.run("own.then(({ pushManager }) => [subscribers.length, subscribers[0] === pushManager])").await,
            json!([1, true])
        );
        let scripts = "navigator.serviceWorker.getRegistrations().then((all) => all.map(({ active, waiting }) => \
                       [active.scriptURL.replace(location.origin, ''), waiting]))";
        assert_eq!(tab.run(scripts).await, json!([["/own.js", null]]));
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn notifications_of_others_are_left_to_them() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        worker.run(ACT).await;
        for kind in ["notificationclick", "notificationclose"] {
            for data in ["undefined", "'/theirs'", "{ url: '/' }", "{ push_id: 'theirs', aerogram: 'another' }"] {
                worker.run(&format!("act('{kind}', {data})")).await;
                assert_eq!(worker.run(N_NOTIFICATIONS).await, 1, "{kind} {data}");
            }
        }
        assert_eq!(worker.run("reached").await, json!([]));
        assert_eq!(tab.run("kept('click').then((click) => [click ?? null, clicks.length])").await, json!([null, 0]));
        // Otherwise the page takes the click for its session at once.
        tab.run(HIDE).await;
        let own = format!("act('notificationclick', {{ push_id: 'ours', aerogram: '{}' }})", app.app.key);
        worker.run(&own).await;
        while worker.run(N_NOTIFICATIONS).await != json!(0) {}
        assert_eq!(tab.run("kept('click').then(({ push }) => push)").await, "ours");
        tab.wait_for("clicks.length === 1 && !('aerogram' in clicks[0].push)").await;
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_worker_of_the_site_keeps_its_pushes_and_its_own_time() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, _) = connected(&app, &browser).await;
        browser.permit(&tab, &site.origin(), "notifications", "granted").await;
        tab.run("register('/own.js').then((own) => { window.own = own; })").await;
        tab.wait_for("own.active?.state === 'activated'").await;
        assert_eq!(tab.run("navigator.serviceWorker.controller").await, json!(null), "the page is not taken over");
        let worker = browser.worker_of(&tab).await;
        worker.run(WATCH).await;
        let push = |data: &str| format!("happens(new PushEvent('push', {{ data: {} }}))", json!(data));
        let shown = "self.registration.getNotifications().then((all) => all.map(({ body }) => body))";
        for theirs in [r#"{"alert": "Theirs"}"#, "Theirs"] {
            worker.run(&push(theirs)).await;
        }
        assert_eq!(worker.run(shown).await, json!([]));
        worker.run(&push(r#"{"push_id": "00000000-0000-4000-8000-000000000000", "alert": "Ours"}"#)).await;
        assert_eq!(worker.run(shown).await, json!(["Ours"]));
        // A newer one waits until no page has the old one.
        come(&site, &tab, "").await;
        tab.run("register('/own.js?version=2').then((own) => { window.own = own; })").await;
        tab.wait_for("own.waiting?.state === 'installed'").await;
        let script = "navigator.serviceWorker.controller.scriptURL.replace(location.origin, '')";
        assert_eq!(tab.run(script).await, "/own.js");
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_storage_that_fails_keeps_nothing_from_being_shown_and_opened() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        worker.run(ACT).await;
        worker.run("IDBFactory.prototype.open = () => { throw new Error('The disk is full.'); }; null").await;
        let push = json!({"push_id": "00000000-0000-4000-8000-000000000000", "alert": "Shoes",
            "actions": {"^u": "https://example.com/sale"}});
        worker.run(&format!("happens(new PushEvent('push', {{ data: {} }}))", json!(push.to_string()))).await;
        tab.wait_for("shown.length === 1").await;
        worker.run(CLICK).await;
        tab.wait_for("clicks.length === 1").await;
        assert_eq!(worker.run("reached").await, json!(["https://example.com/sale"]), "a page is opened");
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_worker_that_cannot_be_registered_keeps_nobody_from_leaving() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, id) = connected(&app, &browser).await;
        tab.run("registerWorker()").await;
        tab.run(SUBSCRIBED).await;
        tab.run("keep('push', '-__-AQ')").await;
        // There is no such file any more.
        tab.run("start({ worker: register('/none.js') }).then((push) => { window.other = push; })").await;
        let subscribed = "https://push.example.com/1";
        assert_eq!(tab.run("addresses").await, json!([subscribed]), "the subscription from before is still there");
        tab.run("other.disablePush()").await;
        assert_eq!(tab.run("[unsubscribed, addresses]").await, json!([1, [subscribed, null]]));
        tab.run("keep('push', '-__-AQ')").await;
        tab.run("other.consent(false)").await;
        assert_eq!(tab.run("[unsubscribed, other.channelId ?? null]").await, json!([2, null]));
        assert_eq!(tab.run("kept('channel').then((channel) => channel ?? null)").await, json!(null));
        assert_eq!(channel_named(&app, &id).await["installed"], false);
        // A promise may also never be kept.
        tab.run("start({ worker: new Promise(() => {}) }).then((push) => { window.other = push; })").await;
        tab.run("keep('push', '-__-AQ')").await;
        tab.run("other.forget()").await;
        assert_eq!(tab.run("kept('channel').then((channel) => channel ?? null)").await, json!(null));
        app.stop().await;
    })
    .await;
}

/// Notes what the page hears of notifications of another app.
const HEAR: &str = "start({ appKey: '{key}', live: false }).then((push) => {
  window.heard = [];
  for (const type of ['push', 'click', 'inbox']) push.addEventListener(type, () => heard.push(type));
})";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn apps_of_one_origin_hear_their_own_worker_only() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, worker) = with_worker(&app, &browser).await;
        let other = app.another_app(Mode::Development).await;
        tab.run(&HEAR.replace("{key}", &other.key)).await;
        worker.run(ACT).await;
        let push = json!({"push_id": "00000000-0000-4000-8000-000000000000", "alert": "Shoes", "_uamid": "one"});
        worker.run(&format!("happens(new PushEvent('push', {{ data: {} }}))", json!(push.to_string()))).await;
        tab.wait_for("shown.length === 1").await;
        worker.run(CLICK).await;
        tab.wait_for("clicks.length === 1").await;
        assert_eq!(tab.run("heard").await, json!([]));
        // A worker of an earlier version does not say whose it is.
        let earlier = "void navigator.serviceWorker.dispatchEvent(new MessageEvent('message',
            { data: { aerogram: { type: 'click', push: { push_id: 'earlier' } } } }))";
        tab.run(earlier).await;
        assert_eq!(tab.run("[clicks.length, heard]").await, json!([2, ["click"]]));
        app.stop().await;
    })
    .await;
}

/// Versions before this one did not note whose a notification is.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn notifications_of_an_earlier_version_are_those_of_the_sdk_in_its_own_worker() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        for (script, is_taken) in [("registerWorker()", true), ("register('/own.js')", false)] {
            let (site, tab, _) = connected(&app, &browser).await;
            browser.permit(&tab, &site.origin(), "notifications", "granted").await;
            tab.run(&format!("{script}.then(() => null)")).await;
            let worker = browser.worker_of(&tab).await;
            worker.wait_for("self.registration.active?.state === 'activated'").await;
            for script in [WATCH, ACT] {
                worker.run(script).await;
            }
            worker.run("act('notificationclick', { push_id: 'earlier' })").await;
            assert_eq!(worker.run("reached.length > 0").await, is_taken, "{script}");
        }
        app.stop().await;
    })
    .await;
}
