//! Several tabs of one person: one channel, one connection, one consent and one named user.

use serde_json::{Value, json};
use testkit::app::on_each_database;
use testkit::browser::{Browser, Tab};

use super::identity::n_channels;
use super::site::Site;
use super::{channel, come, send};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn two_tabs_have_one_channel_and_one_connection() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let first = browser.tab().await;
        come(&site, &first, "").await;
        first.wait_for("push.connected").await;
        let second = browser.tab_beside(&first).await;
        come(&site, &second, "").await;
        second.wait_for("push.connected").await;
        assert_eq!(first.run("push.channelId").await, second.run("push.channelId").await);
        assert_eq!((first.run("sockets").await, second.run("sockets").await), (json!(1), json!(0)));
        send(&app, json!({"alert": "For both"}), Value::Null).await;
        for tab in [&first, &second] {
            tab.wait_for("messages.length === 1").await;
        }
        // The other one takes over.
        first.open("about:blank").await;
        second.wait_for("sockets === 1 && push.connected").await;
        send(&app, json!({"alert": "Again"}), Value::Null).await;
        second.wait_for("messages.length === 2").await;
        assert_eq!(second.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn nothing_is_sent_without_consent() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "?consent=required").await;
        tab.run("Promise.all([push.addTags('early'), push.track('looked')])").await;
        // What waits would leave now.
        tab.run("window.dispatchEvent(new Event('online'))").await;
        assert_eq!(n_channels(&app).await, 0);
        tab.run("window.askedBefore = [...asked]; push.consent(true)").await;
        assert_eq!(tab.run("askedBefore").await, json!([]));
        assert_eq!(tab.run("asked[0].endsWith('/api/web-channels')").await, true);
        while channel(&app, &tab).await["tags"] != json!(["early"]) {
            tab.run("new Promise((done) => setTimeout(done, 50))").await;
        }
        come(&site, &tab, "?consent=required").await;
        tab.wait_for("push.connected").await;
        tab.run("push.consent(false)").await;
        assert_eq!(tab.run("push.channelId ?? null").await, Value::Null);
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// After it was declined on a page that had waited, and after it was taken back.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn consent_is_given_again_on_the_same_page() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "?consent=required").await;
        for (n, tag) in ["first", "second"].into_iter().enumerate() {
            tab.run("push.addTags('declined')").await;
            tab.run("push.consent(false)").await;
            assert_eq!(tab.run("push.channelId ?? null").await, Value::Null);
            tab.run("push.consent(true)").await;
            tab.wait_for("push.connected").await;
            tab.run(&format!("push.addTags('{tag}')")).await;
            while channel(&app, &tab).await["tags"] != json!([tag]) {
                tab.run("new Promise((done) => setTimeout(done, 50))").await;
            }
            assert_eq!(n_channels(&app).await, n + 1);
        }
        // The page that was forgotten has left nothing behind that still listens.
        send(&app, json!({"alert": "Back"}), Value::Null).await;
        tab.wait_for("messages.length > 0").await;
        assert_eq!(tab.run("[messages.length, errors]").await, json!([1, []]));
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn consent_in_one_tab_is_consent_in_all() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let [first, second] = waiting(&browser, &site).await;
        second.run("push.addTags('asked')").await;
        second.run("push.consent(true)").await;
        for tab in [&first, &second] {
            tab.wait_for("push.connected").await;
        }
        // What the first one wanted to say is said by now, or by the other.
        while channel(&app, &second).await["tags"] != json!(["asked", "early"]) {
            tokio::task::yield_now().await;
        }
        assert_eq!(second.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn declining_waits_for_no_other_tab() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let [_first, second] = waiting(&browser, &site).await;
        second.run("void push.consent(false).then(() => { window.declined = true; })").await;
        second.wait_for("window.declined").await;
        assert_eq!(app.master().get("/api/channels").await.expect(200)["channels"], json!([]));
        app.stop().await;
    })
    .await;
}

/// Two tabs that wait for consent, of which the first tries to send what it has.
async fn waiting(browser: &Browser, site: &Site) -> [Tab; 2] {
    let first = browser.tab().await;
    come(site, &first, "?consent=required").await;
    first.run("push.addTags('early')").await;
    first.run("window.dispatchEvent(new Event('online'))").await;
    let second = browser.tab_beside(&first).await;
    come(site, &second, "?consent=required").await;
    [first, second]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_user_comes_back_in_another_tab() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let first = browser.tab().await;
        come(&site, &first, "").await;
        first.wait_for("push.connected").await;
        let second = browser.tab_beside(&first).await;
        come(&site, &second, "").await;
        second.run("push.identify('kim')").await;
        first.wait_for("push.namedUser === 'kim'").await;
        first.run("push.reset()").await;
        second.run("push.identify('kim')").await;
        assert_eq!(channel(&app, &second).await["named_user_id"], "kim");
        first.wait_for("push.namedUser === 'kim'").await;
        assert_eq!(second.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}
