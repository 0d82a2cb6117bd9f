//! Web push from end to end: a page in a real browser subscribes with the SDK at its push service, which the simulator plays; a
//! push is encrypted, decrypted by the browser and shown by the worker of the SDK, and a click counts. The page subscribes anew
//! when the browser drops its subscription or the service changes its key, and is another channel when its own was uninstalled.

use http::HeaderValue;
use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::TestApp;
use testkit::browser::Tab;
use testkit::firefox::Firefox;
use testkit::site::{File, Policies, Site};

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

/// How the page uses the SDK.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// What the worker is registered for. Where it has a part of the site only, another one covers the page.
    pub(crate) scope: &'static str,
    /// Whether the page has a live connection as well.
    pub(crate) live: bool,
}

/// Allows as little as possible.
pub(crate) async fn site(app: &TestApp) -> Site {
    let service = app.url("");
    let live = service.replace("http://", "ws://");
    let of_pages = format!(
        "default-src 'none'; script-src 'self' {service}; connect-src {service} {live}; img-src data:; worker-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types aerogram page"
    );
    let of_workers = format!("default-src 'none'; script-src 'self' {service}; connect-src {service}; img-src 'self'");
    let [of_pages, of_workers] = [of_pages, of_workers].map(|policy| HeaderValue::try_from(policy).unwrap());
    Site::start(&FILES, Policies { of_pages, of_workers }).await
}

/// A simulator that tells the time as the service does, with nothing wrong.
pub(crate) async fn push_service(app: &TestApp) -> Simulator {
    simulator(app, Faults::default()).await
}

/// Plays the whole story, and returns what the browser has shown of the first push.
pub(crate) async fn play(app: &TestApp, sim: &Simulator, site: &Site, page: Page<'_>, way: Way) -> Value {
    let Way { scope, live } = way;
    let endpoint = json!({"url": sim.url(Protocol::WebPush), "ca": sim.ca_pem()});
    let mut platform = json!({"subject": "mailto:push@example.com", "endpoint": endpoint});
    configure(app, "webpush", &platform).await;
    let query = format!("service={}&key={}&scope={scope}&live={live}", app.url(""), app.app.key);
    page.open(&format!("{}/?{query}", site.origin())).await;
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
    assert_eq!((&disabled["opt_in"], &disabled["push_address"]), (&json!(live), &Value::Null), "{disabled}");
    if live {
        let id = push(app, storm.clone()).await;
        app.step_all().await;
        assert_eq!(page.run("next('message').then(({ push }) => push.push_id)").await, json!(id));
    }
    assert_eq!(page.run("told.message").await, json!([]), "what the browser has shown came by web push alone");
    page.is_content();

    // The browser unsubscribes, which the service learns from the next push: the channel ends, and the page gets another one, at
    // once if it is connected.
    assert_eq!(page.enable().await, channel);
    assert_eq!(page.run("unsubscribe()").await, json!(true));
    sim.wait_until(|stats| stats.subscriptions == 0).await;
    let id = push(app, storm.clone()).await;
    app.step_all().await;
    assert_eq!(status(app, &id).await["total"]["gone"], 1);
    assert_eq!(look_up(app, &channel).await["installed"], false);
    until(async || n_installed(app).await == i64::from(live)).await;
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
