//! Whose the service worker is: that of the SDK, or one that the page has anyway.

use serde_json::json;
use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::identity::connected;

/// No push service is asked; who subscribes is noted.
const SUBSCRIBE: &str = "
window.subscribers = [];
PushManager.prototype.subscribe = async function () { subscribers.push(this); return {}; };
null";

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
