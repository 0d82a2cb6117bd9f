//! The console in a real browser. Run by `scripts/test browser`, which installs Chromium and the judge of accessibility:
//! `cargo test -p console --test it -- --ignored browser`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::browser::{Browser, Tab};

use crate::visitor::{PASSWORD, on_each_database};

/// Where pictures go, for people to look at.
fn pictures() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screens")
}

/// The text of axe-core, by which accessibility is judged; `scripts/browser` puts it there.
fn axe() -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("axe/axe.min.js");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

async fn log_in(app: &TestApp, tab: &Tab) {
    let made = app.operator().post("/operator/accounts/owner-link", "{}").await.expect(200);
    tab.open(made["link"].as_str().unwrap()).await;
    tab.fill("#email", "kim@example.com").await;
    tab.fill("#name", "Kim").await;
    tab.fill("#password", PASSWORD).await;
    tab.follow("button.main").await;
    tab.shows("Home").await;
}

/// From the link that the first start prints to the first push, which arrives while one looks.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_newcomer_sees_a_first_push_arrive() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let tab = browser.tab().await;
        tab.resize(1280, 900).await;
        log_in(&app, &tab).await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        tab.follow("form[action$='first-device'] button").await;
        tab.shows("device will see it").await;
        tab.fill("#text", "Written by hand").await;
        tab.wait_for("document.querySelector('#beside .bubble').innerText.includes('Written by hand')").await;
        tab.screenshot(&pictures().join("compose.png")).await;
        tab.follow("button[value=review]").await;
        tab.shows("1 device, now.").await;
        tab.follow("button[value=send]").await;
        tab.shows("Undo").await;
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        // Nobody touches the page: it follows by itself.
        tab.shows("done").await;
        tab.screenshot(&pictures().join("message.png")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// Every page of an owner, light and dark, narrow and wide: nothing to complain about for the browser, for people who cannot
/// see well, and nothing that sticks out at the side.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn every_page_is_in_order() {
    let (browser, axe) = (Browser::start().await, axe());
    on_each_database(async |app| {
        let tab = browser.tab().await;
        log_in(&app, &tab).await;
        let (id, channel) = fill(&app).await;
        let home = format!("/console/{}", app.app.key);
        let pages = console::routes().into_iter().filter(|route| route.method == http::Method::GET);
        for route in pages.filter(|route| !["/console/start", "/console/login", "/console"].contains(&route.path)) {
            let path =
                route.path.replace("/console/{app}", &home).replace("{push}", &id).replace("{channel}", &channel);
            // A table for spreadsheets is no page.
            if path.contains('{') || path.ends_with("/csv") {
                continue;
            }
            let name = path.replace(&home, "app").replace("/console/", "").replace('/', "-");
            for (width, is_dark) in [(1280, false), (1280, true), (390, false), (320, true)] {
                tab.resize(width, 900).await;
                tab.darken(is_dark).await;
                tab.open(&app.url(&path)).await;
                let sticks_out =
                    tab.run("document.documentElement.scrollWidth > document.documentElement.clientWidth").await;
                assert_eq!(sticks_out, json!(false), "{path} at {width}");
                assert_eq!(tab.complaints(), [""; 0], "{path} at {width}");
                let theme = if is_dark { "dark" } else { "light" };
                tab.screenshot(&pictures().join(format!("{name}-{width}-{theme}.png"))).await;
                let violations = judge(&tab, &axe).await;
                assert_eq!(violations, json!([]), "{path} at {width}, {theme}");
                tab.complaints();
            }
        }
        app.stop().await;
    })
    .await;
}

async fn judge(tab: &Tab, axe: &str) -> Value {
    tab.inject(axe).await;
    let judged = "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.map((one) => \
                  [one.id, one.nodes.map((node) => node.html).slice(0, 3)]))";
    tab.run(judged).await
}

/// Something to show on every page; the ids of a push and of a channel.
async fn fill(app: &TestApp) -> (String, String) {
    let mut channel_id = String::new();
    for (n, kind) in ["ios", "android", "android", "web"].into_iter().enumerate() {
        let web = json!({"web": {"subscription": {"p256dh": "BLXm8AgVtZ6mOaOHKVPqdA2FVC0oyGJDn4xCBWQZYzG1lGcbzzTJIqWtAJ9zuvuIQ4Yz2aDCoAMWrqgtpVSsDvI", "auth": "dGVzdC1hdXRoLXNlY3JldA"}}});
        let mut channel = json!({"device_type": kind, "opt_in": true, "push_address": format!("{n:064x}"), "set_tags": true, "tags": ["news"]});
        if kind == "web" {
            channel["push_address"] = json!("https://fcm.googleapis.com/fcm/send/abc");
            channel["web"] = web["web"].clone();
        }
        let registered = app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        channel_id = registered["channel_id"].as_str().unwrap().to_owned();
    }
    let push =
        json!({"audience": {"tag": "news"}, "device_types": "all", "notification": {"alert": "A <b>bold</b> claim"}});
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    (sent["push_ids"][0].as_str().unwrap().to_owned(), channel_id)
}
