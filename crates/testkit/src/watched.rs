//! A second server of a service, alone on a thread: the time that this thread spends computing is time in which it answers nobody
//! else. Time on a processor is measured, and not how late it is, so that a busy machine changes nothing.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::watch;

use crate::app::{OPERATOR_TOKEN, TestApp, limits};
use crate::client::Caller;

pub struct WatchedServer {
    /// A caller without credentials.
    pub caller: Caller,
    /// Begins with the nanoseconds that the thread has spent on a processor.
    statistics: PathBuf,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl WatchedServer {
    pub fn start(app: &TestApp) -> Self {
        let (stop, stops) = watch::channel(false);
        let (started, starts) = mpsc::channel();
        let engine = app.engine().clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
                let base = format!("http://{}", listener.local_addr().expect("a listener has an address"));
                let own = fs::read_link("/proc/thread-self").expect("the system tells about threads");
                started.send((base, own)).expect("the test waits");
                let settings = api::Settings {
                    public_url: None,
                    operator_token: OPERATOR_TOKEN.to_owned(),
                    serves_api: true,
                    keep_alive: api::KEEP_ALIVE,
                    drain: Duration::ZERO,
                    limits: limits(),
                    tls: None,
                    trusted_proxies: Vec::new(),
                    demo: false,
                    pages: None,
                };
                api::serve(listener, engine, settings, stops).await;
            });
        });
        let (base, own) = starts.recv().expect("the server starts");
        let statistics = PathBuf::from("/proc").join(own).join("schedstat");
        Self { caller: Caller::new(base), statistics, stop, thread: Some(thread) }
    }

    /// The time that the server has spent computing on its thread.
    pub fn computed(&self) -> Duration {
        let text = fs::read_to_string(&self.statistics).expect("the thread runs");
        let nanos = text.split(' ').next().and_then(|first| first.parse().ok());
        Duration::from_nanos(nanos.expect("the first number is the time on a processor"))
    }
}

impl Drop for WatchedServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
