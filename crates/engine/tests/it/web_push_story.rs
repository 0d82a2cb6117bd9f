//! Web push from end to end: a page in a real browser subscribes at its push service, which the simulator plays; a push is
//! encrypted, decrypted by the browser and shown by the page's worker; and the channel of a page that unsubscribes is uninstalled.

use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::TestApp;
use testkit::browser::Tab;
use testkit::firefox::Firefox;
use testkit::site::{File, Site};

use crate::devices::{push, register, status};
use crate::provider::{configure, n_installed, simulator};

const FILES: [File; 4] = [
    ("/", "text/html", include_bytes!("web_push_story/page.html")),
    ("/page.js", "text/javascript", include_bytes!("web_push_story/page.js")),
    ("/worker.js", "text/javascript", include_bytes!("web_push_story/worker.js")),
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

/// Plays the whole story, and returns what the browser has shown.
pub(crate) async fn play(app: &TestApp, sim: &Simulator, site: &Site, page: Page<'_>) -> Value {
    let endpoint = json!({"url": sim.url(Protocol::WebPush), "ca": sim.ca_pem()});
    configure(app, "webpush", &json!({"subject": "mailto:push@example.com", "endpoint": endpoint})).await;
    let key = app.device().get("/api/platforms/web/vapid").await.expect(200)["public_key"].clone();
    page.open(&site.origin()).await;
    let subscription = page.run(&format!("subscribe({key})")).await;
    assert_eq!(sim.stats().subscriptions, 1, "{subscription}");
    let address = subscription["endpoint"].as_str().unwrap();
    let channel = register(app, "web", address, json!({"web": {"subscription": subscription["keys"]}})).await;

    let picture = format!("{}/picture.svg", site.origin());
    let web = json!({
        "title": "Storm", "image": {"url": picture}, "extra": {"level": "3"},
        "buttons": [{"id": "map", "label": "Show the map"}, {"id": "later", "label": "Later"}],
    });
    let storm = json!({"audience": "all", "device_types": ["web"], "notification": {"alert": "Stay at home tonight", "web": web}});
    let id = push(app, storm.clone()).await;
    app.step_all().await;
    assert_eq!(status(app, &id).await["total"]["delivered"], 1);
    let shown = page.run("shown()").await;
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown}");
    let first = &shown[0];
    assert_eq!((&first["title"], &first["body"]), (&json!("Storm"), &json!("Stay at home tonight")));
    let told = &first["data"];
    assert_eq!(
        (&told["push_id"], &told["extra"], &told["image"]["url"]),
        (&json!(id), &json!({"level": "3"}), &json!(picture))
    );
    assert_eq!(told["buttons"][1]["label"], "Later");

    assert_eq!(page.run("unsubscribe()").await, json!(true));
    sim.wait_until(|stats| stats.subscriptions == 0).await;
    let id = push(app, storm).await;
    app.step_all().await;
    assert_eq!(status(app, &id).await["total"]["gone"], 1);
    let left = app.master().get(&format!("/api/channels/{channel}")).await.expect(200);
    assert_eq!((&left["channel"]["installed"], n_installed(app).await), (&json!(false), 0), "{left}");
    shown
}

impl Page<'_> {
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
