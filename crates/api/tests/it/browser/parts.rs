//! The ready-made parts: the inbox behind its bell, and the prompt.

use serde_json::{Value, json};
use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::sessions::LATER;
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
        // It lies over the page, inside the window, and a click beside it closes it.
        let place = format!("{BELL}.querySelector('[part=box]').getBoundingClientRect()");
        for width in [1280, 320] {
            tab.resize(width, 900).await;
            tab.wait_for(&format!("{place}.left >= 0 && {place}.right <= {width} && {place}.width > 0")).await;
            assert_eq!(tab.run("document.querySelector('aerogram-bell').offsetHeight < 100").await, true);
        }
        tab.run("document.querySelector('h1').click()").await;
        tab.wait_for(&format!("!{BELL}.querySelector('aerogram-inbox')")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// While the list is shown, a server deletes a message, which devices are not told of, and then the network is away for a while.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_message_that_cannot_be_fetched_is_no_dead_end() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "?ui").await;
        tab.wait_for(&format!("push.connected && {BELL}.querySelector('button').ariaLabel === 'Messages: 0'")).await;
        let message = |title: &str| json!({"message": {"title": title, "body": "<p>It is here</p>"}});
        send(&app, json!({"alert": "New"}), message("Spring")).await;
        let deleted = send(&app, json!({"alert": "New"}), message("Summer")).await;
        tab.wait_for(&format!("{BELL}.querySelector('button').ariaLabel === 'Messages: 2'")).await;
        tab.run(&format!("{BELL}.querySelector('button').click()")).await;
        let inbox = format!("{BELL}.querySelector('aerogram-inbox').shadowRoot");
        let titles =
            format!("[...{inbox}.querySelectorAll('.open')].map(({{ firstChild }}) => firstChild.data).sort()");
        tab.wait_for(&format!("{titles}.length === 2")).await;
        app.master().delete(&format!("/api/user/messages/{deleted}")).await.expect(202);
        assert_eq!(tab.run(&titles).await, json!(["Spring", "Summer"]));
        // The list and the bell are right again.
        let open = |title: &str| {
            format!("[...{inbox}.querySelectorAll('.open')].find((one) => one.innerText.includes('{title}')).click()")
        };
        tab.run(&open("Summer")).await;
        tab.wait_for(&format!("{titles}.length === 1")).await;
        assert_eq!(tab.run(&titles).await, json!(["Spring"]));
        tab.wait_for(&format!("{BELL}.querySelector('button').ariaLabel === 'Messages: 1'")).await;
        tab.offline(true).await;
        tab.run(&open("Spring")).await;
        tab.wait_for(&format!("{inbox}.textContent === 'Messages cannot be shown now.'")).await;
        tab.offline(false).await;
        tab.run("window.dispatchEvent(new Event('online'))").await;
        tab.wait_for(&format!("push.connected && {titles}.length === 1")).await;
        // The browser has written down what failed meanwhile, as it should.
        tab.complaints();
        tab.run(&open("Spring")).await;
        tab.wait_for(&format!("{inbox}.querySelector('iframe')")).await;
        tab.wait_for(&format!("{BELL}.querySelector('button').ariaLabel === 'Messages: 0'")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// A list that was asked for before a message came is answered after the page was told of the message.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_late_list_does_not_undo_what_was_told() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "?ui").await;
        tab.wait_for(&format!("push.connected && {BELL}.querySelector('button').ariaLabel === 'Messages: 0'")).await;
        tab.run(
            "{ const [quick, late] = [window.fetch, new Promise((answer) => { window.answer = answer; })];
               window.held = 0;
               window.fetch = async (url, options) => {
                 const reply = await quick(url, options);
                 if (String(url).endsWith('/messages') && held < 2) { window.held += 1; await late; }
                 return reply;
               };
               document.querySelector('aerogram-bell').refresh();
               window.list = push.inbox.list(); null; }",
        )
        .await;
        tab.wait_for("held === 2").await;
        send(&app, json!({"alert": "New"}), json!({"message": {"title": "Spring", "body": "<p>It is here</p>"}})).await;
        tab.wait_for(&format!("{BELL}.querySelector('button').ariaLabel === 'Messages: 1'")).await;
        assert_eq!(
            tab.run("answer(), list.then((messages) => [messages.length, push.inbox.unread])").await,
            json!([0, 1])
        );
        assert_eq!(tab.run(&format!("{BELL}.querySelector('button').ariaLabel")).await, "Messages: 1");
        // What is asked for from now on counts again.
        assert_eq!(tab.run("push.inbox.list().then((messages) => messages.length)").await, 1);
        app.stop().await;
    })
    .await;
}

/// Frameworks move elements, and pages may load the parts after they have given them the SDK.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_bell_goes_on_at_another_place_of_the_page() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        tab.run("{ document.querySelector('aerogram-bell').push = push; null; }").await;
        tab.run(&format!("import('{}').then(() => null)", app.url("/sdk/1/aerogram-ui.js"))).await;
        tab.wait_for(&format!("{BELL}.querySelector('button').ariaLabel === 'Messages: 0'")).await;
        tab.run("document.body.append(document.querySelector('aerogram-bell'))").await;
        send(&app, json!({"alert": "New"}), json!({"message": {"title": "Spring", "body": "<p>It is here</p>"}})).await;
        tab.wait_for(&format!("{BELL}.querySelector('button').ariaLabel === 'Messages: 1'")).await;
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
        // Not at the first visit, on however many pages.
        for _ in 0..2 {
            come(&site, &tab, "?ui&prompt=30").await;
            tab.wait_for("push.connected").await;
            assert_eq!(tab.run("prompts").await, 0);
        }
        tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": LATER })).await;
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
