//! A real browser for tests: Chromium without a window, driven by its own protocol over a pipe. Everything that a page
//! complains about (errors, refused by the content policy, failed requests) is kept, so that a test can demand silence.

mod pipe;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use pipe::Pipe;

/// How long a page may take for what a test waits for. Generous: machines that run tests can be very busy.
const PATIENCE_MILLIS: u64 = 60_000;

const FLAGS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=Translate,MediaRouter",
    "--remote-debugging-pipe",
];

/// One browser; its tabs share nothing unless told.
pub struct Browser {
    child: Mutex<Child>,
    pipe: Arc<Pipe>,
    _profile: TempDir,
}

/// A tab, or a service worker of one.
pub struct Tab {
    pipe: Arc<Pipe>,
    session: String,
    /// Tabs of the same context share cookies and storage, as those of one person do; `None` is that of the profile.
    context: Option<String>,
}

impl Browser {
    /// Starts Debian's Chromium.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// The same with more flags.
    pub async fn start_with(flags: &[String]) -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        // The protocol is spoken over descriptors 3 and 4, which here are the standard input and output.
        let script = format!("exec chromium {} \"$@\" about:blank 3<&0 4>&1", FLAGS.join(" "));
        let mut child = Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let pipe = Pipe::open(input.expect("its input is a pipe"), output.expect("its output is a pipe"));
        let browser = Self { child: Mutex::new(child), pipe, _profile: profile };
        browser.pipe.call(None, "Browser.getVersion", json!({})).await.expect("chromium is installed and speaks");
        browser
    }

    /// A tab with cookies and storage of its own.
    pub async fn tab(&self) -> Tab {
        let context = self.call("Target.createBrowserContext", json!({})).await;
        self.tab_in(context["browserContextId"].as_str()).await
    }

    /// Another tab of the same person.
    pub async fn tab_beside(&self, tab: &Tab) -> Tab {
        self.tab_in(tab.context.as_deref()).await
    }

    /// A tab that shares cookies and subscriptions with others of the profile. Others are private, and cannot be sent to.
    pub async fn tab_of_profile(&self) -> Tab {
        self.tab_in(None).await
    }

    /// Answers the question whether a site may show notifications to the tabs of the profile.
    pub async fn allow_notifications(&self, origin: &str) {
        self.call("Browser.grantPermissions", json!({"origin": origin, "permissions": ["notifications"]})).await;
    }

    async fn tab_in(&self, context: Option<&str>) -> Tab {
        let mut target = json!({"url": "about:blank"});
        if let Some(context) = context {
            target["browserContextId"] = context.into();
        }
        let target = self.call("Target.createTarget", target).await;
        let tab = self.attach(&target["targetId"], context).await;
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            tab.call(&format!("{domain}.enable"), json!({})).await;
        }
        tab
    }

    /// The service worker of a tab, once it runs.
    pub async fn worker_of(&self, tab: &Tab) -> Tab {
        let is_of_tab =
            |target: &Value| tab.context.as_deref().is_none_or(|context| target["browserContextId"] == context);
        let is_meant = |target: &Value| target["type"] == "service_worker" && is_of_tab(target);
        loop {
            let all = self.call("Target.getTargets", json!({})).await;
            let found =
                all["targetInfos"].as_array().and_then(|all| all.iter().find(|target| is_meant(target)).cloned());
            if let Some(worker) = found {
                return self.attach(&worker["targetId"], tab.context.as_deref()).await;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Lets pages of an origin do something that people are asked about, or not.
    pub async fn permit(&self, tab: &Tab, origin: &str, name: &str, setting: &str) {
        let mut params = json!({"permission": {"name": name}, "setting": setting, "origin": origin});
        if let Some(context) = &tab.context {
            params["browserContextId"] = context.as_str().into();
        }
        self.call("Browser.setPermission", params).await;
    }

    /// Begins to record what the threads of all pages do, and for how long.
    pub async fn start_trace(&self, categories: &[&str]) {
        let config = json!({"includedCategories": categories, "excludedCategories": ["*"]});
        self.call("Tracing.start", json!({"transferMode": "ReportEvents", "traceConfig": config})).await;
    }

    /// The events since then, in the browser's own format. Threads tell their CPU time as `tdur`, in microseconds.
    pub async fn end_trace(&self) -> Vec<Value> {
        self.pipe.end_trace().await.unwrap_or_else(|error| panic!("Tracing.end: {error}"))
    }

    async fn attach(&self, target: &Value, context: Option<&str>) -> Tab {
        let attach = json!({"targetId": target, "flatten": true});
        let session = self.call("Target.attachToTarget", attach).await["sessionId"].as_str().expect("an id").to_owned();
        Tab { pipe: self.pipe.clone(), session, context: context.map(str::to_owned) }
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.pipe.call(None, method, params).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let mut child = self.child.lock();
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Tab {
    /// Opens a page and waits until it is there.
    pub async fn open(&self, url: &str) {
        self.run("window.leaving = true").await;
        let opened = self.call("Page.navigate", json!({"url": url})).await;
        assert!(opened.get("errorText").is_none(), "{url}: {opened}");
        self.wait_for("!window.leaving && document.readyState === 'complete'").await;
    }

    /// The value of an expression in the page; a promise is waited for.
    pub async fn run(&self, expression: &str) -> Value {
        let answer = self.evaluate(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true, on this page or the next.
    pub async fn wait_for(&self, condition: &str) {
        let promise = format!(
            "new Promise((done) => {{
               const began = performance.now();
               const look = () => {{
                 let is = false;
                 try {{ is = Boolean({condition}); }} catch {{ /* Not there yet. */ }}
                 if (is) return done('yes');
                 if (performance.now() - began > {PATIENCE_MILLIS}) return done('no');
                 setTimeout(look, 20);
               }};
               look();
             }})"
        );
        loop {
            match self.evaluate(&promise).await {
                Ok(answer) if answer["result"]["value"] == "yes" => return,
                Ok(answer) if answer["result"]["value"] == "no" => {
                    let text = self.run("document.body.innerText").await;
                    panic!("waited in vain for {condition} on a page that shows {text}");
                }
                // Another page has come meanwhile, on which the promise is made anew.
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Waits until a page shows some words.
    pub async fn shows(&self, words: &str) {
        self.wait_for(&format!("document.body.innerText.includes({})", json!(words))).await;
    }

    /// Clicks what a selector finds, once it is there, with the mouse of a person: who aims again if it has moved meanwhile.
    pub async fn click(&self, selector: &str) {
        self.wait_for(&format!("document.querySelector({})", json!(selector))).await;
        let aim = format!(
            "(() => {{ const found = document.querySelector({}); found.scrollIntoView({{block: 'center'}});
              window.isHit = false;
              found.addEventListener('click', () => {{ window.isHit = true; }}, {{once: true}});
              const at = found.getBoundingClientRect();
              return [at.left + at.width / 2, at.top + at.height / 2]; }})()",
            json!(selector)
        );
        loop {
            let place = self.run(&aim).await;
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
                self.call("Input.dispatchMouseEvent", event).await;
            }
            // On the next page nobody has missed anything.
            if self.evaluate("window.isHit").await.is_ok_and(|answer| answer["result"]["value"] == json!(false)) {
                continue;
            }
            return;
        }
    }

    /// Clicks, and waits for the page that follows.
    pub async fn follow(&self, selector: &str) {
        self.run("window.leaving = true").await;
        self.click(selector).await;
        self.wait_for("!window.leaving && document.readyState === 'complete'").await;
    }

    /// Types into a field.
    pub async fn fill(&self, selector: &str, text: &str) {
        self.wait_for(&format!("document.querySelector({})", json!(selector))).await;
        let field = json!(selector);
        let has_focus = format!(
            "(() => {{ const field = document.querySelector({field}); field.focus(); field.select();
              return document.activeElement === field; }})()"
        );
        assert_eq!(self.run(&has_focus).await, json!(true), "{selector} cannot be typed into");
        self.call("Input.insertText", json!({"text": text})).await;
    }

    pub async fn resize(&self, width: u32, height: u32) {
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", screen).await;
    }

    /// As with the dark theme of the system, or the light one.
    pub async fn darken(&self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.call("Emulation.setEmulatedMedia", features).await;
    }

    /// Saves what the page looks like, for people to look at.
    pub async fn screenshot(&self, path: &Path) {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"})).await;
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap_or_default()).expect("a picture in base64");
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder for pictures can be made");
        }
        std::fs::write(path, bytes).expect("a picture can be written");
    }

    /// Takes the network away from the page, or gives it back.
    pub async fn offline(&self, offline: bool) {
        let conditions = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.call("Network.emulateNetworkConditions", conditions).await;
    }

    /// What the pages of this tab have complained about since the last time.
    pub fn complaints(&self) -> Vec<String> {
        self.pipe.take_complaints(&self.session)
    }

    /// Reads a script into the page as a tool of the test, whatever the policy of the page.
    pub async fn inject(&self, script: &str) {
        self.call("Page.setBypassCSP", json!({"enabled": true})).await;
        let answer = self.evaluate(script).await.unwrap_or_else(|error| panic!("{error}"));
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        self.call("Page.setBypassCSP", json!({"enabled": false})).await;
    }

    async fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        self.pipe.call(Some(&self.session), "Runtime.evaluate", params).await
    }

    /// A command of the browser's own protocol.
    pub async fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.pipe.call(Some(&self.session), method, params).await;
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }
}
