//! A second real browser for tests: Firefox without a window, driven by WebDriver BiDi over a WebSocket.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

/// Names and values as `user.js` has them. Nothing is fetched that a test has not asked for.
const PREFERENCES: [(&str, &str); 8] = [
    // Without a desktop, notifications can only be drawn by the browser itself.
    ("alerts.useSystemBackend", "false"),
    ("app.update.enabled", "false"),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("network.captive-portal-service.enabled", "false"),
    // A browser that is driven would have no push service.
    ("remote.prefs.recommended", "false"),
    ("toolkit.telemetry.server", "\"\""),
];

/// One browser with one tab.
pub struct Firefox {
    child: Mutex<Child>,
    socket: AsyncMutex<Socket>,
    tab: String,
    _profile: TempDir,
}

struct Socket {
    stream: WebSocketStream<TcpStream>,
    last_number: u64,
}

impl Firefox {
    /// Starts Debian's Firefox with preferences beside those of every test.
    pub async fn start(preferences: &[(&'static str, String)]) -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let own = PREFERENCES.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let lines = own.chain(preferences.iter().cloned());
        let text: String = lines.map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect();
        std::fs::write(profile.path().join("user.js"), text).expect("preferences can be written");
        let mut child = Command::new("firefox-esr")
            .args(["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile"])
            .arg(profile.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("firefox-esr is installed");
        let address = address(BufReader::new(child.stderr.take().expect("its errors are a pipe"))).await;
        let stream = TcpStream::connect(&address).await.expect("the browser listens where it says");
        let (stream, _) = client_async(format!("ws://{address}/session"), stream).await.expect("it speaks BiDi");
        let mut socket = Socket { stream, last_number: 0 };
        socket.call("session.new", json!({"capabilities": {}})).await;
        let tree = socket.call("browsingContext.getTree", json!({})).await;
        let tab = tree["contexts"][0]["context"].as_str().expect("there is a tab").to_owned();
        Self { child: Mutex::new(child), socket: AsyncMutex::new(socket), tab, _profile: profile }
    }

    /// Opens a page and waits until it is there.
    pub async fn open(&self, url: &str) {
        let page = json!({"context": self.tab, "url": url, "wait": "complete"});
        self.socket.lock().await.call("browsingContext.navigate", page).await;
    }

    /// The value of an expression in the page; a promise is waited for.
    pub async fn run(&self, expression: &str) -> Value {
        let wrapped = format!("(async () => JSON.stringify((await ({expression})) ?? null))()");
        let script = json!({"expression": wrapped, "target": {"context": self.tab}, "awaitPromise": true});
        let answer = self.socket.lock().await.call("script.evaluate", script).await;
        assert_eq!(answer["type"], "success", "{expression}: {answer}");
        let text = answer["result"]["value"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{expression}: {error} in {answer}"))
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let mut child = self.child.lock();
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Socket {
    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_number += 1;
        let message = json!({"id": self.last_number, "method": method, "params": params});
        self.stream.send(Message::text(message.to_string())).await.expect("the browser listens");
        loop {
            let message = self.stream.next().await.expect("the browser runs").expect("the browser speaks");
            let answer: Value = serde_json::from_str(message.to_text().unwrap_or_default()).unwrap_or_default();
            if answer["id"] == self.last_number {
                assert_eq!(answer["type"], "success", "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

/// The address that a browser says it listens on. What it says later is read, too, so that it never has to wait.
async fn address(errors: BufReader<std::process::ChildStderr>) -> String {
    let (sender, address) = oneshot::channel();
    thread::spawn(move || {
        let mut sender = Some(sender);
        for line in errors.lines().map_while(Result::ok) {
            let found =
                line.split_once("WebDriver BiDi listening on ws://").map(|(_, address)| address.trim().to_owned());
            if let Some(address) = found
                && let Some(sender) = sender.take()
            {
                // A test that has ended does not need it.
                let _ = sender.send(address);
            }
        }
    });
    address.await.expect("the browser says where it listens")
}
