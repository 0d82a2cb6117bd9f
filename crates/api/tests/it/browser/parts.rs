//! The ready-made parts: the inbox behind its bell, and the prompt.

use serde_json::{Value, json};
use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::site::Site;
use super::{come, send};

const BELL: &str = "document.querySelector('aerogram-bell').shadowRoot";
const PROMPT: &str = "document.querySelector('aerogram-prompt').shadowRoot";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_bell_shows_the_inbox() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "?ui").await;
        tab.wait_for(&format!("push.connected && {BELL}.querySelector('button').ariaLabel === 'Messages: 0'")).await;
        let message = |title: &str| json!({"message": {"title": title, "body": "<p>It is here</p>"}});
        send(&app, json!({"alert": "New"}), message("Spring")).await;
        tab.wait_for(&format!("{BELL}.querySelector('.count').textContent === '1'")).await;
        // The service has told how many are unread, so that the bell need not ask.
        assert_eq!(tab.run("lists").await, 1);
        tab.run(&format!("{BELL}.querySelector('button').click()")).await;
        let inbox = format!("{BELL}.querySelector('aerogram-inbox').shadowRoot");
        tab.wait_for(&format!("{inbox}.querySelector('li.unread').innerText.includes('Spring')")).await;
        send(&app, json!({"alert": "New"}), message("Summer")).await;
        tab.wait_for(&format!("{inbox}.querySelectorAll('li.unread').length === 2")).await;
        tab.run(&format!("{inbox}.querySelector('.open').click()")).await;
        tab.wait_for(&format!("{inbox}.querySelector('iframe')")).await;
        tab.run(&format!("{inbox}.querySelector('button').click()")).await;
        tab.wait_for(&format!("{inbox}.querySelector('li:not(.unread)')")).await;
        tab.wait_for(&format!("{BELL}.querySelector('.count').textContent === '1'")).await;
        tab.run(&format!("{inbox}.querySelector('li:not(.unread) [part=remove]').click()")).await;
        tab.wait_for(&format!("{inbox}.querySelectorAll('li').length === 1")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn the_prompt_asks_once_and_again_much_later() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        browser.permit(&tab, &site.origin(), "notifications", "prompt").await;
        // Not at the first visit.
        come(&site, &tab, "?ui&prompt=30").await;
        tab.wait_for("push.connected").await;
        assert_eq!(tab.run("prompts").await, 0);
        come(&site, &tab, "?ui&prompt=30").await;
        let click = async |part: &str| {
            let button = format!("{PROMPT}.querySelector('[role=dialog] [part={part}]')");
            tab.wait_for(&button).await;
            tab.run(&format!("{button}.click()")).await;
            tab.wait_for(&format!("!{PROMPT}.querySelector('[role=dialog]')")).await;
        };
        tab.wait_for(&format!("{PROMPT}.textContent.includes('May we send you notifications?')")).await;
        click("dismiss").await;
        while tab.run("kept('dismissed').then((at) => at ?? null)").await == Value::Null {}
        // Not soon after somebody has said no.
        come(&site, &tab, "?ui&prompt=30").await;
        tab.wait_for("push.connected").await;
        assert_eq!(tab.run("[prompts, permissions]").await, json!([0, []]));
        // The browser is asked as soon as somebody says yes.
        come(&site, &tab, "?ui&prompt=0").await;
        tab.wait_for("prompts === 1").await;
        browser.permit(&tab, &site.origin(), "notifications", "denied").await;
        click("accept").await;
        tab.wait_for("permissions.length === 1").await;
        assert_eq!(tab.run("[permissions, errors]").await, json!([["denied"], []]));
        // Who has answered the browser is not asked any more.
        come(&site, &tab, "?ui&prompt=0").await;
        tab.wait_for("push.connected").await;
        assert_eq!(tab.run("prompts").await, 0);
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}
