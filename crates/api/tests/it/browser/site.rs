//! Sites of another origin than the service whose pages use the SDK. The shop is under a policy that allows as little as possible.

use std::sync::Arc;

use testkit::app::TestApp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The page counts what happens, so that a test can ask it.
const SCRIPT: &str = "
import { Aerogram } from '{service}/sdk/1/aerogram.js';
const query = new URLSearchParams(location.search);
Object.assign(window, { messages: [], shown: [], clicks: [], errors: [], permissions: [], asked: [] });
Object.assign(window, { prompts: 0, sockets: 0, lists: 0, pongs: 0, lives: [] });
const Real = window.WebSocket;
window.WebSocket = class extends Real {
  constructor(...all) {
    super(...all);
    window.sockets += 1;
    this.addEventListener('message', ({ data }) => { window.pongs += JSON.parse(data).type === 'pong'; });
  }
};
const realFetch = window.fetch;
window.fetch = (url, options) => {
  asked.push(String(url));
  window.lists += String(url).endsWith('/messages');
  return realFetch(url, options);
};
if (query.has('ui')) await import('{service}/sdk/1/aerogram-ui.js');
const days = query.get('prompt');
const prompt = days === null ? undefined : { visits: 2, againAfterDays: Number(days) };
const push = await Aerogram.init({ url: '{service}', appKey: '{key}', consent: query.get('consent') ?? undefined, prompt });
push.addEventListener('message', ({ detail }) => messages.push(detail.push));
push.addEventListener('push', ({ detail }) => shown.push(detail.push));
push.addEventListener('click', ({ detail }) => clicks.push(detail));
push.addEventListener('live', ({ detail }) => lives.push(detail.connected));
push.addEventListener('error', ({ detail }) => errors.push(detail.error.message));
push.addEventListener('permission', ({ detail }) => permissions.push(detail.permission));
push.addEventListener('prompt', () => { window.prompts += 1; });
if (query.has('ui')) {
  for (const part of document.querySelectorAll('aerogram-bell, aerogram-prompt')) part.push = push;
}
// What the SDK keeps in this browser.
const read = (store, look, mode) => new Promise((resolve) => {
  indexedDB.open('aerogram-{key}').onsuccess = ({ target }) => {
    const found = look(target.result.transaction(store, mode).objectStore(store));
    found.onsuccess = () => { target.result.close(); resolve(found.result); };
  };
});
window.kept = (key) => read('state', (state) => state.get(key));
window.keep = (key, value) => read('state', (state) => state.put(value, key), 'readwrite');
window.queued = () => read('queue', (queue) => queue.count());
const policy = trustedTypes.createPolicy('page', { createScriptURL: (url) => url });
window.register = (path) => navigator.serviceWorker.register(policy.createScriptURL(path));
window.registerWorker = async (more = '') => {
  await register(`/aerogram-sw.js?app={key}${more}`);
  await navigator.serviceWorker.ready;
};
// Another one of this browser.
window.start = (more) => Aerogram.init({ url: '{service}', appKey: '{key}', ...more });
window.push = push;
";
const PAGE: &str = "<!doctype html><html lang=en><title>Shop</title><meta name=viewport content='width=device-width'>\
    <link rel=icon href='data:,'><script type=module src=/page.js></script><main><h1>Shop</h1><aerogram-prompt></aerogram-prompt>\
    <aerogram-bell></aerogram-bell></main></html>";
const WORKER_PATH: &str = "/aerogram-sw.js";
const WORKER: &str = "importScripts('{service}/sdk/1/aerogram-sw.js');";
/// A worker that the site has anyway, and registers itself.
const OWN_WORKER_PATH: &str = "/own.js";
const OWN_WORKER: &str = "self.aerogramApp = '{key}'; importScripts('{service}/sdk/1/aerogram-sw.js');";

pub(super) struct Site {
    origin: String,
}

/// The path of a file, its media type and its text.
pub(super) type File = (&'static str, &'static str, String);

struct Files {
    policy: String,
    files: Vec<File>,
}

impl Site {
    pub(super) async fn start(app: &TestApp) -> Self {
        let service = app.url("");
        let filled = |text: &str| text.replace("{service}", &service).replace("{key}", &app.app.key);
        let policy = format!(
            "default-src 'none'; script-src 'self' {service}; connect-src {service} {}; img-src data:; worker-src 'self'; \
             frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
             trusted-types aerogram page",
            service.replace("http://", "ws://")
        );
        let files = vec![
            ("/", "text/html", PAGE.to_owned()),
            ("/page.js", "text/javascript", filled(SCRIPT)),
            (WORKER_PATH, "text/javascript", filled(WORKER)),
            (OWN_WORKER_PATH, "text/javascript", filled(OWN_WORKER)),
        ];
        Self::serve(Files { policy, files }).await
    }

    /// A site with files of its own, whose pages may have scripts in them.
    pub(super) async fn with(app: &TestApp, files: Vec<File>) -> Self {
        let (service, live) = (app.url(""), app.url("").replace("http://", "ws://"));
        let policy = format!(
            "default-src 'none'; script-src 'self' 'unsafe-inline' {service}; connect-src {service} {live}; img-src data:; \
             worker-src 'self'"
        );
        Self::serve(Files { policy, files }).await
    }

    async fn serve(files: Files) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let files = Arc::new(files);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let files = files.clone();
                // A browser that has gone needs no answer.
                tokio::spawn(async move { files.answer(stream).await.ok() });
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

impl Files {
    /// One request for each connection.
    async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head);
        let path = head.split(' ').nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let found = self.files.iter().find(|(of_file, _, _)| *of_file == path);
        let (status, kind, text) = match found {
            Some((_, kind, text)) => ("200 OK", *kind, text.as_str()),
            None => ("404 Not Found", "text/plain", ""),
        };
        // A worker has a policy of its own.
        let is_worker = [WORKER_PATH, OWN_WORKER_PATH].contains(&path);
        let policy = if is_worker { "default-src *" } else { &self.policy };
        let n_bytes = text.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Security-Policy: {policy}\r\n\
             Content-Length: {n_bytes}\r\nConnection: close\r\n\r\n{text}"
        );
        stream.write_all(answer.as_bytes()).await
    }
}
