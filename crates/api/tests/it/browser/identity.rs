//! What a browser keeps about itself: a channel that is lost only when the service says so, that ends when it is forgotten, and a
//! position that never goes past what the page was told.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use super::site::Site;
use super::{channel_named, come, send, text};

/// Answers to calls that say something about the channel come from somebody else, until they are let go.
const INTERCEPT: &str = "
window.intercept = (status, body) => {
  const real = window.fetch;
  window.fetch = (url, options) => (String(url).includes('/api/channels/sdk/batch/')
    ? Promise.resolve(new Response(body, { status })) : real(url, options));
  window.letGo = () => { window.fetch = real; window.dispatchEvent(new Event('online')); };
};
null";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn strangers_take_no_channel_away() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, id) = connected(&app, &browser).await;
        tab.run(INTERCEPT).await;
        // Whether what was said arrives when the service answers again.
        let strangers = [
            (404, "<h1>Not Found</h1>".to_owned(), true),
            (401, String::new(), true),
            (403, String::new(), true),
            // A node of an older version, without the route.
            (404, json!({"ok": false, "error": "There is no such path.", "error_code": 40400}).to_string(), true),
            // What the call was about is missing or in conflict, and not the channel.
            (404, json!({"ok": false, "error": "There is no such list.", "error_code": 40401}).to_string(), false),
            (409, json!({"ok": false, "error": "Try it later.", "error_code": 40900}).to_string(), false),
        ];
        for (n, (status, body, is_kept)) in strangers.iter().enumerate() {
            tab.run(&format!("errors.length = 0; intercept({status}, {})", json!(body))).await;
            let tag = format!("said-{n}");
            tab.run(&format!("push.addTags('{tag}')")).await;
            tab.wait_for("errors.length > 0").await;
            assert_eq!(tab.run("push.channelId").await, json!(id), "{n}");
            tab.run("letGo()").await;
            while *is_kept && !has_tag(&app, &id, &tag).await {
                tokio::task::yield_now().await;
            }
        }
        tab.complaints();
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        assert_eq!(tab.run("push.channelId").await, json!(id));
        assert_eq!(n_channels(&app).await, 1);
        app.stop().await;
    })
    .await;
}

/// The connection is closed and a call is refused, both because of the same channel: only one takes its place.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_channel_that_is_gone_is_replaced_once() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, id) = connected(&app, &browser).await;
        tab.run("push.identify('kim')").await;
        let other = browser.tab_beside(&tab).await;
        come(&site, &other, "").await;
        app.master()
            .post("/api/channels/uninstall", json!([{"channel_id": id, "device_type": "web"}]))
            .await
            .expect(202);
        for (tab, tag) in [(&tab, "here"), (&other, "there")] {
            tab.run(&format!("push.addTags('{tag}')")).await;
        }
        for tab in [&tab, &other] {
            tab.wait_for(&format!("push.channelId !== '{id}' && push.connected && !push.namedUser")).await;
        }
        let new = text(&tab.run("push.channelId").await);
        while channel_named(&app, &new).await["tags"] != json!(["here", "there"]) {
            tokio::task::yield_now().await;
        }
        assert_eq!(other.run("push.channelId").await, json!(new));
        assert_eq!(n_channels(&app).await, 2);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn what_is_forgotten_offline_is_uninstalled_later() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (site, tab, id) = connected(&app, &browser).await;
        tab.offline(true).await;
        tab.run("push.forget()").await;
        assert_eq!(tab.run("push.channelId ?? null").await, Value::Null);
        assert_eq!(channel_named(&app, &id).await["installed"], true);
        tab.offline(false).await;
        // Consent is for what comes, and not for the end of what was.
        come(&site, &tab, "?consent=required").await;
        while channel_named(&app, &id).await["installed"] != json!(false) {
            tokio::task::yield_now().await;
        }
        assert_eq!(n_channels(&app).await, 1);
        tab.run("push.consent(true)").await;
        assert_eq!(n_channels(&app).await, 2);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_message_that_cannot_be_kept_is_told_again() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, _) = connected(&app, &browser).await;
        let fails_once = "{ const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (value, key) {
              if (key !== 'seen') return put.call(this, value, key);
              IDBObjectStore.prototype.put = put;
              throw new Error('The disk is full.');
            }; null; }";
        tab.run(fails_once).await;
        for alert in ["One", "Two"] {
            send(&app, json!({"alert": alert}), Value::Null).await;
        }
        tab.wait_for("messages.length === 2").await;
        assert_eq!(tab.run("[messages.map((push) => push.alert), sockets]").await, json!([["One", "Two"], 2]));
        app.stop().await;
    })
    .await;
}

/// A site, a page of it that is connected, and its channel.
pub(super) async fn connected(app: &TestApp, browser: &Browser) -> (Site, Tab, String) {
    let site = Site::start(app).await;
    let tab = browser.tab().await;
    come(&site, &tab, "").await;
    tab.wait_for("push.connected").await;
    let id = text(&tab.run("push.channelId").await);
    (site, tab, id)
}

async fn has_tag(app: &TestApp, id: &str, tag: &str) -> bool {
    channel_named(app, id).await["tags"].as_array().is_some_and(|tags| tags.contains(&json!(tag)))
}

pub(super) async fn n_channels(app: &TestApp) -> usize {
    app.master().get("/api/channels").await.expect(200)["channels"].as_array().unwrap().len()
}
