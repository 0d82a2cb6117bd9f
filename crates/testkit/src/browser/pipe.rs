//! The protocol of the browser: JSON messages that end with a zero byte, answers by number, and events in between.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

pub(super) struct Pipe {
    input: Mutex<ChildStdin>,
    last_number: AtomicU64,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    /// By session.
    complaints: Mutex<Vec<(String, String)>>,
    /// What has come of a trace.
    traced: Mutex<Vec<Value>>,
    trace_wanted: Mutex<Option<oneshot::Sender<Vec<Value>>>>,
}

impl Pipe {
    pub(super) fn open(input: ChildStdin, output: ChildStdout) -> Arc<Self> {
        let shared = Arc::new(Shared::default());
        let reading = shared.clone();
        thread::spawn(move || reading.read(BufReader::new(output)));
        Arc::new(Self { input: Mutex::new(input), last_number: AtomicU64::new(0), shared })
    }

    pub(super) async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, String> {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        let mut message = json!({"id": number, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let (sender, answer) = oneshot::channel();
        self.shared.waiting.lock().insert(number, sender);
        let bytes = [message.to_string().as_bytes(), b"\0"].concat();
        self.input.lock().write_all(&bytes).map_err(|error| format!("the browser does not listen: {error}"))?;
        let answer = answer.await.map_err(|_| "the browser has ended".to_owned())?;
        match answer.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(answer["result"].clone()),
        }
    }

    pub(super) async fn end_trace(&self) -> Result<Vec<Value>, String> {
        let (sender, whole) = oneshot::channel();
        *self.shared.trace_wanted.lock() = Some(sender);
        self.call(None, "Tracing.end", json!({})).await?;
        whole.await.map_err(|_| "the browser has ended".to_owned())
    }

    pub(super) fn take_complaints(&self, session: &str) -> Vec<String> {
        let mut all = self.shared.complaints.lock();
        let (own, others) = std::mem::take(&mut *all).into_iter().partition(|(of, _)| of == session);
        *all = others;
        let own: Vec<(String, String)> = own;
        own.into_iter().map(|(_, complaint)| complaint).collect()
    }
}

impl Shared {
    fn read(&self, mut output: BufReader<ChildStdout>) {
        let mut message = Vec::new();
        while output.read_until(0, &mut message).is_ok_and(|n_bytes| n_bytes > 0) {
            message.pop();
            if let Ok(message) = serde_json::from_slice(&message) {
                self.take(message);
            }
            message.clear();
        }
        // Everybody who waits learns that there is no answer.
        self.waiting.lock().clear();
        self.trace_wanted.lock().take();
    }

    fn take(&self, mut message: Value) {
        if let Some(number) = message["id"].as_u64() {
            if let Some(waiting) = self.waiting.lock().remove(&number) {
                // A test that has given up does not need it.
                let _ = waiting.send(message);
            }
            return;
        }
        match message["method"].as_str() {
            Some("Tracing.dataCollected") => {
                if let Value::Array(events) = message["params"]["value"].take() {
                    self.traced.lock().extend(events);
                }
                return;
            }
            Some("Tracing.tracingComplete") => {
                let whole = std::mem::take(&mut *self.traced.lock());
                if let Some(wanted) = self.trace_wanted.lock().take() {
                    // A test that has given up does not need it.
                    let _ = wanted.send(whole);
                }
                return;
            }
            _ => {}
        }
        let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
        if let Some(complaint) = complaint(&message) {
            self.complaints.lock().push((session, complaint));
        }
    }
}

/// What an event says, if it is a complaint of a page.
fn complaint(event: &Value) -> Option<String> {
    let params = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" if ["error", "warning", "assert"].contains(&params["type"].as_str()?) => {
            Some(params["args"].to_string())
        }
        "Log.entryAdded" if ["error", "warning"].contains(&params["entry"]["level"].as_str()?) => {
            Some(params["entry"].to_string())
        }
        "Audits.issueAdded" => Some(params["issue"].to_string()),
        _ => None,
    }
}
