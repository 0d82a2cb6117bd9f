//! Web push from end to end: a page in a real browser subscribes with the SDK at its push service, which the simulator plays; a
//! push is encrypted, decrypted by the browser and shown by the worker of the SDK, and a click counts. The page subscribes anew
//! when the browser drops its subscription or the service changes its key, and is another channel when its own was uninstalled.

use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::TestApp;
use testkit::browser::Tab;
use testkit::firefox::Firefox;
use testkit::site::{File, Site};

use crate::devices::{push, status};
use crate::provider::{configure, n_installed, simulator};

const FILES: [File; 5] = [
    ("/", "text/html", include_bytes!("web_push_story/page.html")),
    ("/page.js", "text/javascript", include_bytes!("web_push_story/page.js")),
    ("/worker.js", "text/javascript", include_bytes!("web_push_story/worker.js")),
    ("/other.js", "text/javascript", include_bytes!("web_push_story/other.js")),
    ("/picture.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"),
];

/// A page in a browser.
pub(crate) enum Page<'a> {
    Chromium(&'a Tab),
    Firefox(&'a Firefox),
}

pub(crate) async fn site() -> Site {
    Site::start(&FILES).await
}

/// A simulator that tells the time as the service does, with nothing wrong.
pub(crate) async fn push_service(app: &TestApp) -> Simulator {
    simulator(app, Faults::default()).await
}

/// Plays the whole story with the worker at a scope of the site, and returns what the browser has shown of the first push. Beside a
/// worker that has a part of the site only, there is another one, which covers the page.
pub(crate) async fn play(app: &TestApp, sim: &Simulator, site: &Site, page: Page<'_>, scope: &str) -> Value {
    let endpoint = json!({"url": sim.url(Protocol::WebPush), "ca": sim.ca_pem()});
    let mut platform = json!({"subject": "mailto:push@example.com", "endpoint": endpoint});
    configure(app, "webpush", &platform).await;
    page.open(&format!("{}/?service={}&key={}&scope={scope}", site.origin(), app.url(""), app.app.key)).await;
    let channel = page.enable().await;
    let registered = look_up(app, &channel).await;
    assert_eq!((&registered["opt_in"], sim.stats().subscriptions), (&json!(true), 1), "{registered}");
    assert_eq!(page.run("subscribed()").await, json!([scope]));

    let picture = format!("{}/picture.svg", site.origin());
    let web = json!({
        "title": "Storm", "image": {"url": picture}, "extra": {"level": "3"},
        "buttons": [{"id": "map", "label": "Show the map"}, {"id": "later", "label": "Later"}],
    });
    let storm = json!({"audience": "all", "device_types": ["web"], "notification": {"alert": "Stay at home tonight", "web": web}});
    let (id, first) = shown(app, &page, &storm).await;
    assert_eq!((&first["title"], &first["body"]), (&json!("Storm"), &json!("Stay at home tonight")));
    let data = &first["data"];
    assert_eq!((&data["extra"], &data["image"]["url"]), (&json!({"level": "3"}), &json!(picture)));
    assert_eq!(data["buttons"][1]["label"], "Later");
    assert_eq!(page.run("click('map')").await, json!([id, "map"]));
    let responses = format!("/api/reports/responses/{id}");
    until(async || app.master().get(&responses).await.expect(200)["direct_responses"] == 1).await;
    until(async || status(app, &id).await["received"] == 1).await;

    // The browser drops the subscription, and the worker makes another one.
    page.run("inWorker('drop')").await;
    until(async || look_up(app, &channel).await["push_address"] != registered["push_address"]).await;
    shown(app, &page, &storm).await;

    // The service gets another key pair, and the page subscribes with that.
    platform["private_key"] = json!(sim.apns_key());
    configure(app, "webpush", &platform).await;
    assert_eq!(page.enable().await, channel);
    sim.wait_until(|stats| stats.subscriptions == 1).await;
    shown(app, &page, &storm).await;

    page.run("disable()").await;
    sim.wait_until(|stats| stats.subscriptions == 0).await;
    let disabled = look_up(app, &channel).await;
    assert_eq!((&disabled["opt_in"], &disabled["push_address"]), (&json!(false), &Value::Null), "{disabled}");
    page.is_content();

    // The browser unsubscribes, which the service learns from the next push: the channel ends, and the page gets another one.
    assert_eq!(page.enable().await, channel);
    assert_eq!(page.run("unsubscribe()").await, json!(true));
    sim.wait_until(|stats| stats.subscriptions == 0).await;
    let id = push(app, storm.clone()).await;
    app.step_all().await;
    assert_eq!(status(app, &id).await["total"]["gone"], 1);
    let left = look_up(app, &channel).await;
    assert_eq!((&left["installed"], n_installed(app).await), (&json!(false), 0), "{left}");
    assert_ne!(page.enable().await, channel);
    assert_eq!(n_installed(app).await, 1);
    shown(app, &page, &storm).await;
    first
}

/// Sends a push, and returns its id and what the browser has shown of it.
async fn shown(app: &TestApp, page: &Page<'_>, body: &Value) -> (String, Value) {
    let id = push(app, body.clone()).await;
    app.step_all().await;
    assert_eq!(status(app, &id).await["total"]["delivered"], 1);
    let shown = page.run("shown()").await;
    assert_eq!(shown["data"]["push_id"], json!(id), "{shown}");
    (id, shown)
}

async fn look_up(app: &TestApp, channel: &str) -> Value {
    app.master().get(&format!("/api/channels/{channel}")).await.expect(200)["channel"].clone()
}

/// Asks until it is so.
async fn until(is_so: impl AsyncFn() -> bool) {
    while !is_so().await {
        tokio::task::yield_now().await;
    }
}

impl Page<'_> {
    /// The channel of the page, which may show notifications from now on.
    async fn enable(&self) -> String {
        let enabled = self.run("enable()").await;
        assert_eq!(enabled["permission"], "granted", "{enabled}");
        enabled["channel"].as_str().expect("an id").to_owned()
    }

    /// Has not complained so far. Only Chromium says so.
    fn is_content(&self) {
        if let Page::Chromium(tab) = self {
            assert_eq!(tab.complaints(), [""; 0]);
        }
    }

    async fn open(&self, url: &str) {
        match self {
            Page::Chromium(tab) => tab.open(url).await,
            Page::Firefox(firefox) => firefox.open(url).await,
        }
    }

    async fn run(&self, expression: &str) -> Value {
        match self {
            Page::Chromium(tab) => tab.run(expression).await,
            Page::Firefox(firefox) => firefox.run(expression).await,
        }
    }
}
