//! `/demo`: the page that is a device, plays phones and sends itself pushes.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use super::workers::SUBSCRIBE;
use super::{channel_named, folder, text};

/// From the first paint to a message that was received, at the width of a phone and of a desk, light and dark.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_demo_sends_itself_a_push() {
    let browser = Browser::start().await;
    let (folder, axe) = (folder(), axe());
    on_each_database(async |app| {
        let link = link(&app).await;
        for (width, is_dark) in [(1280, false), (390, true), (320, false)] {
            let tab = browser.tab().await;
            tab.resize(width, 900).await;
            tab.darken(is_dark).await;
            tab.open(&link).await;
            tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
            tab.fill("#text", "Written in the demo").await;
            tab.click("#send button").await;
            tab.wait_for("document.querySelector('[data-stage=accepted].done')").await;
            app.step_all().await;
            tab.wait_for("document.querySelectorAll('[data-stage].done').length === 4").await;
            tab.wait_for("document.getElementById('shown').innerText.includes('Written in the demo')").await;
            tab.wait_for("document.getElementById('inbox').innerText.includes('unread')").await;
            let sticks_out = tab.run("document.documentElement.scrollWidth > document.documentElement.clientWidth").await;
            assert_eq!(sticks_out, json!(false), "at {width}");
            assert_eq!(tab.complaints(), [""; 0], "at {width}");
            tab.screenshot(&folder.join(format!("screens/demo-{width}.png"))).await;
            tab.inject(&axe).await;
            let judged = "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.map((one) => \
                          [one.id, one.nodes.map((node) => node.html).slice(0, 3)]))";
            assert_eq!(tab.run(judged).await, json!([]), "at {width}");
            is_answered(&app, &tab).await;
        }
        app.stop().await;
    })
    .await;
}

/// The page is a phone as long as it plays one: a channel of that type, which gets what is sent to phones.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_demo_plays_phones() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let tab = browser.tab().await;
        tab.open(&link(&app).await).await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        let page = text(&tab.run("document.getElementById('channel').textContent").await);
        let mut former = None;
        for device_type in ["ios", "android"] {
            tab.click(&format!("[value={device_type}]")).await;
            tab.wait_for(&format!("document.getElementById('kind').textContent === '{device_type}'")).await;
            tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
            let id = text(&tab.run("document.getElementById('channel').textContent").await);
            assert_eq!(channel_named(&app, &id).await["device_type"], device_type);
            tab.fill("#text", &format!("To {device_type}")).await;
            tab.click("#send button").await;
            tab.wait_for("document.querySelector('[data-stage=accepted].done')").await;
            app.step_all().await;
            tab.wait_for("document.querySelectorAll('[data-stage].done').length === 4").await;
            tab.wait_for(&format!("document.getElementById('shown').innerText.includes('To {device_type}')")).await;
            tab.wait_for("document.querySelectorAll('#shown li:first-child button').length === 2").await;
            is_answered(&app, &tab).await;
            if let Some(former) = former.replace(id) {
                is_uninstalled(&app, &former).await;
            }
        }
        tab.click("[value=web]").await;
        tab.wait_for(&format!("document.getElementById('channel').textContent === '{page}'")).await;
        is_uninstalled(&app, &former.unwrap()).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// Whoever allows notifications is told whether any can come.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_demo_says_whether_web_push_is_set_up() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let tab = browser.tab().await;
        browser.permit(&tab, &app.url(""), "notifications", "granted").await;
        tab.open(&link(&app).await).await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        tab.run(SUBSCRIBE).await;
        let command = format!("aerogram platform set {} webpush --subject mailto:", app.app.key);
        tab.wait_for(&format!("document.getElementById('setup').innerText.includes('{command}')")).await;
        tab.click("#allow").await;
        let allowed = "document.getElementById('allowed').innerText";
        tab.wait_for(&format!("{allowed}.includes('not set up') && {allowed}.includes('{command}')")).await;
        let path = format!("/operator/apps/{}/platforms/webpush", app.app.key);
        app.operator().put(&path, json!({"subject": "mailto:push@example.com"})).await.expect(200);
        tab.click("#allow").await;
        tab.wait_for(&format!("{allowed} === 'granted. Web push is set up.'")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// A push that takes long is followed to its end.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_demo_waits_for_a_push_that_takes_long() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let tab = browser.tab().await;
        tab.open(&link(&app).await).await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        // The page counts its looks, and its pauses pass at once.
        let hurry = "{ const [fetch, setTimeout] = [window.fetch, window.setTimeout]; window.looks = 0;
            window.setTimeout = (work) => setTimeout(work, 0);
            window.fetch = (...all) => { window.looks += String(all[0]).startsWith('/demo/push/'); return fetch(...all); }; null; }";
        tab.run(hurry).await;
        tab.click("#send button").await;
        tab.wait_for("looks > 250").await;
        app.step_all().await;
        tab.wait_for("document.querySelectorAll('[data-stage].done').length === 4").await;
        app.stop().await;
    })
    .await;
}

pub(super) async fn link(app: &TestApp) -> String {
    let shown = app.operator().get(&format!("/operator/apps/{}/demo", app.app.key)).await.expect(200);
    text(&shown["link"])
}

/// A button of the push that was sent last is a direct response to it.
async fn is_answered(app: &TestApp, tab: &Tab) {
    let sent = app.master().get("/api/events?follow=false&types=SEND").await;
    let last: Value = serde_json::from_str(sent.text().lines().last().unwrap()).unwrap();
    let path = format!("/api/reports/responses/{}", text(&last["body"]["push_id"]));
    tab.click("#shown li:first-child button").await;
    while app.master().get(&path).await.expect(200)["direct_responses"] != json!(1) {
        tokio::task::yield_now().await;
    }
    tab.wait_for("document.getElementById('events').innerText.includes('a direct response')").await;
}

async fn is_uninstalled(app: &TestApp, channel: &str) {
    while channel_named(app, channel).await["installed"] != json!(false) {
        tokio::task::yield_now().await;
    }
}

/// The text of axe-core, by which accessibility is judged; `scripts/browser` puts it there.
fn axe() -> String {
    let path = folder().join("axe/axe.min.js");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
