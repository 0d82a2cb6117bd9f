//! The browser SDK in Chromium, on a page of another origin under a strict policy. Run by `scripts/test browser`:
//! `cargo test -p api --test it -- --ignored browser::`.

mod adversity;
mod connection;
mod demo;
mod identity;
mod insecure;
mod parts;
mod queue;
mod receipts;
mod recipes;
mod sessions;
mod site;
mod tabs;
mod tasks;
mod workers;

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use crate::user_rules::{proof_key, signed};
use site::Site;

async fn channel(app: &TestApp, tab: &Tab) -> Value {
    channel_named(app, &text(&tab.run("push.channelId").await)).await
}

async fn channel_named(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Sends a push to everybody and returns its id.
async fn send(app: &TestApp, notification: Value, more: Value) -> String {
    let mut push = json!({"audience": "all", "device_types": ["web"], "notification": notification});
    if let Value::Object(more) = more {
        push.as_object_mut().unwrap().extend(more);
    }
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    text(&sent["push_ids"][0])
}

/// Opens the page and waits until it is a channel that is connected.
async fn come(site: &Site, tab: &Tab, query: &str) {
    tab.open(&site.url(query)).await;
    tab.wait_for("window.push").await;
}

/// How often a notification is looked for before its message is sent again.
const LOOKS: usize = 300;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_is_a_device() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        let registered = channel(&app, &tab).await;
        assert_eq!((&registered["device_type"], &registered["opt_in"]), (&json!("web"), &json!(true)));
        // What it is sent is shown, and told to be received.
        let id = send(
            &app,
            json!({"alert": "Live <b>now</b>"}),
            json!({"message": {"title": "More", "body": "<p>Read me</p>"}}),
        )
        .await;
        tab.wait_for("messages.length === 1").await;
        assert_eq!(tab.run("messages[0].alert").await, "Live <b>now</b>");
        let mut received = Value::Null;
        while received != json!(1) {
            received = app.master().get(&format!("/api/push/{id}")).await.expect(200)["push"]["received"].clone();
            tab.run("new Promise((done) => setTimeout(done, 50))").await;
        }
        // Its inbox.
        let listed = tab.run("push.inbox.list()").await;
        assert_eq!((&listed[0]["title"], &listed[0]["unread"]), (&json!("More"), &json!(true)));
        let message = text(&listed[0]["id"]);
        assert_eq!(tab.run(&format!("push.inbox.get('{message}').then((one) => one.body)")).await, "<p>Read me</p>");
        tab.run(&format!("push.inbox.read('{message}')")).await;
        assert_eq!(
            tab.run("push.inbox.list().then((all) => [all[0].unread, push.inbox.unread])").await,
            json!([false, 0])
        );
        tab.run(&format!("push.inbox.remove('{message}')")).await;
        assert_eq!(tab.run("push.inbox.list()").await, json!([]));
        // What it says about itself.
        tab.run("push.addTags(['beta', 'gone']); push.removeTags('gone'); push.addTags('gold', 'loyalty')").await;
        tab.run("push.setAttributes({plan: 'gold', trial: null}); push.subscribe('weekly')").await;
        tab.run("push.track('bought', {value: 12.5, category: 'shoes'})").await;
        let mut about = channel(&app, &tab).await;
        while about["attributes"]["plan"].is_null() {
            tab.run("new Promise((done) => setTimeout(done, 50))").await;
            about = channel(&app, &tab).await;
        }
        assert_eq!((&about["tags"], &about["tag_groups"]["loyalty"]), (&json!(["beta"]), &json!(["gold"])), "{about}");
        assert_eq!(about["attributes"]["plan"], "gold");
        // Nothing is sent when nothing has changed.
        assert_eq!(tab.run("push.identify('kim').then(() => push.namedUser)").await, "kim");
        assert_eq!(channel(&app, &tab).await["named_user_id"], "kim");
        let before = site.n_registered(&app).await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected && push.namedUser === 'kim'").await;
        assert_eq!(site.n_registered(&app).await, before);
        tab.run("push.reset()").await;
        assert_eq!(channel(&app, &tab).await["named_user_id"], Value::Null);
        // The end: the service knows, and the browser keeps nothing.
        let id = text(&tab.run("push.channelId").await);
        tab.run("push.forget()").await;
        assert_eq!(app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"]["installed"], false);
        assert_eq!(tab.run("[push.channelId ?? null, push.connected, errors]").await, json!([null, false, []]));
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// No connection can be opened until the network is back, and the browser says so.
const CUT: &str = "
{ const Real = window.WebSocket;
  window.WebSocket = class { static OPEN = 1; constructor() { throw new Error('There is no network.'); } };
  window.mend = () => { window.WebSocket = Real; window.dispatchEvent(new Event('online')); };
  window.dispatchEvent(new Event('offline'));
  null; }";

/// What was sent meanwhile is told then, in order and each once, and what the page has said is kept.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_is_offline_and_comes_back() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        send(&app, json!({"alert": "Before"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        tab.offline(true).await;
        tab.run(CUT).await;
        tab.wait_for("!push.connected").await;
        tab.run("push.setAttributes({seat: 'window'})").await;
        tab.wait_for("errors.length > 0").await;
        for alert in ["One", "Two", "Three"] {
            send(&app, json!({"alert": alert}), Value::Null).await;
        }
        assert_eq!(channel(&app, &tab).await["attributes"]["seat"], Value::Null);
        assert_eq!(tab.run("[push.connected, messages.length]").await, json!([false, 1]));
        tab.offline(false).await;
        tab.run("mend()").await;
        tab.wait_for("push.connected && messages.length === 4").await;
        send(&app, json!({"alert": "After"}), Value::Null).await;
        tab.wait_for("messages.length >= 5").await;
        let told = tab.run("messages.map(({ alert }) => alert)").await;
        assert_eq!(told, json!(["Before", "One", "Two", "Three", "After"]));
        while channel(&app, &tab).await["attributes"]["seat"] != json!("window") {
            tab.run("new Promise((done) => setTimeout(done, 50))").await;
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn in_production_a_page_needs_its_origin_and_people_a_proof() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let path = format!("/operator/apps/{}", app.app.key);
        app.operator().patch(&path, json!({"mode": "production"})).await.expect(200);
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "").await;
        tab.wait_for("errors.length > 0").await;
        assert!(text(&tab.run("errors[0]").await).contains("aerogram app web-origins"), "{}", tab.run("errors").await);
        app.operator().patch(&path, json!({"web_origins": [site.origin()]})).await.expect(200);
        tab.complaints();
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        let refused = tab.run("push.identify('kim').catch((error) => error.status)").await;
        assert_eq!(refused, 403);
        let claims = json!({"aud": app.app.key, "sub": "kim", "exp": app.clock().now().seconds() + 60});
        let proof = signed(&proof_key(&app).await, "HS256", &claims);
        tab.run(&format!("push.identify('kim', '{proof}')")).await;
        assert_eq!(channel(&app, &tab).await["named_user_id"], "kim");
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn notifications_that_are_not_allowed_are_no_error() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        browser.permit(&tab, &site.origin(), "notifications", "denied").await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        assert_eq!(tab.run("push.enablePush()").await, "denied");
        assert_eq!(tab.run("[push.permission, errors]").await, json!(["denied", []]));
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// The worker shows what a push brings; a click is a direct response. What the push service does is not part of this.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_worker_shows_and_tells() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        browser.permit(&tab, &site.origin(), "notifications", "granted").await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        tab.run("registerWorker()").await;
        let worker = browser.worker_of(&tab).await;
        // A push that the channel got, so that what is told about it counts.
        let id = send(&app, json!({"alert": "Shoes"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        let payload = json!({"push_id": id, "title": "Shop", "alert": "Shoes", "require_interaction": true,
            "image": {"url": format!("{}/none.png", site.origin())},
            "buttons": [{"id": "yes", "label": "Yes"}, {"id": "no", "label": "No"}]});
        tab.call("ServiceWorker.enable", json!({})).await;
        let shown = "self.registration.getNotifications().then((all) => all.map((one) => \
                     [one.title, one.body, one.actions.length]))";
        // The protocol of the browser loses some messages; one that comes twice is shown once.
        let deliver = async |data: String, expected: &str| {
            let push = json!({"origin": site.origin(), "registrationId": "0", "data": data});
            loop {
                tab.call("ServiceWorker.deliverPushMessage", push.clone()).await;
                for _ in 0..LOOKS {
                    if worker.run(shown).await.to_string().contains(expected) {
                        return;
                    }
                }
            }
        };
        deliver(payload.to_string(), r#"["Shop","Shoes",2]"#).await;
        tab.wait_for("shown.length >= 1").await;
        let act = |kind: &str, action: &str| {
            format!(
                "self.registration.getNotifications().then(([notification]) => {{
                   self.dispatchEvent(new NotificationEvent('{kind}', {{notification, action: '{action}'}})); }})"
            )
        };
        worker.run(&act("notificationclick", "yes")).await;
        tab.wait_for("clicks.length === 1 && clicks[0].button === 'yes'").await;
        let direct = async || {
            let path = format!("/api/reports/responses/{id}");
            app.master().get(&path).await.expect(200)["direct_responses"].clone()
        };
        while direct().await != json!(1) {
            tokio::task::yield_now().await;
        }
        // Once more, and what is no JSON.
        deliver(payload.to_string(), r#"["Shop","Shoes",2]"#).await;
        worker.run(&act("notificationclick", "")).await;
        tab.wait_for("clicks.length === 2").await;
        deliver("Only words".to_owned(), "Only words").await;
        worker.run(&act("notificationclose", "")).await;
        assert_eq!(direct().await, 1);
        assert_eq!(app.master().get(&format!("/api/push/{id}")).await.expect(200)["push"]["received"], 1);
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// A page opens as long as the browser allows it after a click, however slow the network is.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_click_opens_a_page_before_it_is_told() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        browser.permit(&tab, &site.origin(), "notifications", "granted").await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        tab.run("registerWorker()").await;
        let worker = browser.worker_of(&tab).await;
        let slow = "self.asked = 0; self.fetch = () => { self.asked += 1; return new Promise(() => {}); };
                    self.clients.openWindow = async (url) => { self.opened = String(url); }; null";
        worker.run(slow).await;
        let click = "self.registration.showNotification('Sale', { data: { push_id: crypto.randomUUID(),
                       aerogram: new URL(self.location).searchParams.get('app'), actions: { '^u': 'https://example.com/sale' } } })
                     .then(() => self.registration.getNotifications())
                     .then(([notification]) => {
                       self.dispatchEvent(new NotificationEvent('notificationclick', { notification })); })";
        worker.run(click).await;
        worker.wait_for("self.opened === 'https://example.com/sale' && self.asked === 1").await;
        app.stop().await;
    })
    .await;
}

/// Where `scripts/browser` puts what the tests need, and finds what they leave.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
