//! A shop of another origin than the service, under a policy that allows as little as possible, whose page uses the SDK.

use std::sync::Arc;

use testkit::app::TestApp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The page counts what happens, so that a test can ask it.
const SCRIPT: &str = "
import { Aerogram } from '{service}/sdk/1/aerogram.js';
const query = new URLSearchParams(location.search);
Object.assign(window, { messages: [], shown: [], clicks: [], errors: [], sockets: 0 });
const Real = window.WebSocket;
window.WebSocket = class extends Real { constructor(...all) { super(...all); window.sockets += 1; } };
const push = await Aerogram.init({ url: '{service}', appKey: '{key}', consent: query.get('consent') ?? undefined });
push.addEventListener('message', ({ detail }) => messages.push(detail.push));
push.addEventListener('push', ({ detail }) => shown.push(detail.push));
push.addEventListener('click', ({ detail }) => clicks.push(detail));
push.addEventListener('error', ({ detail }) => errors.push(detail.error.message));
if (query.has('ui')) {
  await import('{service}/sdk/1/aerogram-ui.js');
  for (const part of document.querySelectorAll('aerogram-bell, aerogram-prompt')) part.push = push;
}
window.registerWorker = async () => {
  const policy = trustedTypes.createPolicy('page', { createScriptURL: (url) => url });
  await navigator.serviceWorker.register(policy.createScriptURL('/aerogram-sw.js?app={key}'));
  await navigator.serviceWorker.ready;
};
window.push = push;
";
const PAGE: &str = "<!doctype html><html lang=en><title>Shop</title><meta name=viewport content='width=device-width'>\
    <link rel=icon href='data:,'><script type=module src=/page.js></script><main><h1>Shop</h1><aerogram-prompt></aerogram-prompt>\
    <aerogram-bell></aerogram-bell></main></html>";
const WORKER: &str = "importScripts('{service}/sdk/1/aerogram-sw.js');";

pub(super) struct Site {
    origin: String,
}

struct Texts {
    policy: String,
    script: String,
    worker: String,
}

impl Site {
    pub(super) async fn start(app: &TestApp) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let service = app.url("");
        let filled = |text: &str| text.replace("{service}", &service).replace("{key}", &app.app.key);
        let live = service.replace("http://", "ws://");
        let policy = format!(
            "default-src 'none'; script-src 'self' {service}; connect-src {service} {live}; img-src data:; worker-src 'self'; \
             frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
             trusted-types aerogram page"
        );
        let texts = Arc::new(Texts { policy, script: filled(SCRIPT), worker: filled(WORKER) });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let texts = texts.clone();
                // A browser that has gone needs no answer.
                tokio::spawn(async move { texts.answer(stream).await.ok() });
            }
        });
        Self { origin }
    }

    pub(super) fn origin(&self) -> String {
        self.origin.clone()
    }

    pub(super) fn url(&self, query: &str) -> String {
        format!("{}/{query}", self.origin)
    }

    /// When the channels of an app registered last: another registration makes it another time.
    pub(super) async fn n_registered(&self, app: &TestApp) -> Vec<serde_json::Value> {
        app.advance(std::time::Duration::from_secs(1));
        let all = app.master().get("/api/channels").await.expect(200);
        all["channels"].as_array().unwrap().iter().map(|channel| channel["last_registration"].clone()).collect()
    }
}

impl Texts {
    /// One request for each connection.
    async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head);
        let path = head.split(' ').nth(1).unwrap_or_default();
        let (status, kind, text) = match path.split('?').next().unwrap_or_default() {
            "/" => ("200 OK", "text/html", PAGE),
            "/page.js" => ("200 OK", "text/javascript", &*self.script),
            "/aerogram-sw.js" => ("200 OK", "text/javascript", &*self.worker),
            _ => ("404 Not Found", "text/plain", ""),
        };
        // A worker has a policy of its own.
        let policy = if text == self.worker { "default-src *" } else { &self.policy };
        let n_bytes = text.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Security-Policy: {policy}\r\n\
             Content-Length: {n_bytes}\r\nConnection: close\r\n\r\n{text}"
        );
        stream.write_all(answer.as_bytes()).await
    }
}
