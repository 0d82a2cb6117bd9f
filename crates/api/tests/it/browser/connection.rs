//! The live connection of a page: one that is dead without a word is noticed, and one that is not there leaves nothing behind.

use serde_json::{Value, json};
use testkit::app::on_each_database;
use testkit::browser::{Browser, Tab};

use super::identity::connected;
use super::site::Site;
use super::{come, send};

/// What a page does again and again, it does when the test says so, but for what it does each minute, which is about its session.
const CLOCK: &str = "
{ const intervals = new Map();
  const real = window.setInterval;
  let last = 0;
  window.setInterval = (work, time) => {
    if (time === 60_000) return real(work, time);
    // Real ones have numbers above 0.
    intervals.set(last -= 1, { work, time });
    return last;
  };
  window.clearInterval = (number) => void intervals.delete(number);
  window.periods = () => [...intervals.values()].map(({ time }) => time);
  window.tick = () => [...intervals.values()].forEach(({ work }) => work()); }";

/// What the page says is lost, until it is not. Counts the connections that it closes.
const MUTE: &str = "
{ const { close } = WebSocket.prototype;
  window.n_closed = 0;
  WebSocket.prototype.send = () => {};
  WebSocket.prototype.close = function () { window.n_closed += 1; close.call(this); };
  window.unmute = () => { delete WebSocket.prototype.send; };
  null; }";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_dead_connection_is_noticed() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": CLOCK })).await;
        come(&site, &tab, "").await;
        tab.wait_for("push.connected").await;
        assert_eq!(tab.run("periods()").await, json!([45_000]), "as often as the service has said");
        for n in 1..=5 {
            tab.run("tick()").await;
            tab.wait_for(&format!("pongs === {n}")).await;
        }
        // Nothing that the page says arrives any more, and nothing can come in between.
        tab.run(MUTE).await;
        let closed = tab.run("tick(); tick(); window.early = n_closed; tick(); unmute(); [early, n_closed]").await;
        assert_eq!(closed, json!([0, 1]), "two questions are not answered");
        tab.wait_for("sockets === 2 && push.connected").await;
        assert_eq!(tab.run("lives.slice(-2)").await, json!([false, true]));
        assert_eq!(tab.run("periods()").await, json!([45_000]));
        send(&app, json!({"alert": "Back"}), Value::Null).await;
        tab.wait_for("messages.length === 1").await;
        assert_eq!(tab.run("errors").await, json!([]));
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// No connection can be opened, and the page tries again without waiting. Only requests have all the time that they may take.
const HASTE: &str = "
{ const { setTimeout } = window;
  window.tried = 0;
  window.setTimeout = (work, time) => setTimeout(work, time === 30_000 ? time : 0);
  window.WebSocket = class {
    static OPEN = 1;
    constructor() {
      window.tried += 1;
      throw new Error('There is no network.');
    }
  };
  window.dispatchEvent(new Event('offline'));
  null; }";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_that_tries_again_and_again_listens_once() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, _) = connected(&app, &browser).await;
        while tab.run("queued()").await != 0 {}
        let before = n_waiting(&tab).await;
        tab.run(HASTE).await;
        tab.wait_for("tried >= 10").await;
        let after = n_waiting(&tab).await;
        assert!(after <= before + 1, "{after} wait for the network, and {before} before");
        tab.open("about:blank").await;
        app.stop().await;
    })
    .await;
}

/// How many wait for the browser to be online.
async fn n_waiting(tab: &Tab) -> i64 {
    let asked = "getEventListeners(window).online.length";
    let params = json!({"expression": asked, "includeCommandLineAPI": true, "returnByValue": true});
    let answer = tab.call("Runtime.evaluate", params).await;
    answer["result"]["value"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}
