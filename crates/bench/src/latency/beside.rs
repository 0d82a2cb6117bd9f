//! What goes on beside a measurement, on threads of its own until it is ended: pushes to everybody, and changes of tags.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use futures_util::future::try_join_all;
use tokio::sync::oneshot;
use tokio::time::{interval, sleep_until};

use crate::broadcast;
use crate::clients::CLIENTS;
use crate::http::Connection;

/// Work that goes on until it is ended.
pub(super) struct Beside {
    /// The work ends when this sender is dropped.
    running: oneshot::Sender<()>,
    thread: JoinHandle<Result<()>>,
    n_done: Arc<AtomicU64>,
    began: Instant,
}

impl Beside {
    /// Sends a push again and again, each when the one before has ended.
    pub(super) fn pushes(server: SocketAddr, push: Vec<u8>) -> Self {
        Self::start(async move |n_done: Arc<AtomicU64>| {
            let mut connection = Connection::open(server).await?;
            loop {
                let id = broadcast::id_of(&connection.expect(&push).await?)?;
                broadcast::until_done(&mut connection, &id).await?;
                n_done.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Sends requests at an even pace, or as fast as they are answered if that is slower.
    pub(super) fn calls(
        server: SocketAddr,
        per_second: u32,
        request: impl Fn(u64) -> Vec<u8> + Send + 'static,
    ) -> Self {
        Self::start(async move |n_done: Arc<AtomicU64>| {
            let (began, next, request) = (Instant::now(), AtomicU64::new(0), &request);
            let callers = (0..CLIENTS).map(async |_| -> Result<()> {
                let mut connection = Connection::open(server).await?;
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    sleep_until((began + Duration::from_secs_f64(n as f64 / f64::from(per_second))).into()).await;
                    connection.expect(&request(n)).await?;
                    n_done.fetch_add(1, Ordering::Relaxed);
                }
            });
            try_join_all(callers).await.map(|_: Vec<()>| ())
        })
    }

    fn start(work: impl AsyncFnOnce(Arc<AtomicU64>) -> Result<()> + Send + 'static) -> Self {
        let (n_done, (running, ended)) = (Arc::new(AtomicU64::new(0)), oneshot::channel::<()>());
        let counted = Arc::clone(&n_done);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                tokio::select! {
                    failed = work(counted) => failed,
                    _ = ended => Ok(()),
                }
            })
        });
        Self { running, thread, n_done, began: Instant::now() }
    }

    /// Returns how often it was done a second.
    pub(super) fn end(self) -> Result<f64> {
        let rate = self.n_done.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64();
        drop(self.running);
        self.thread.join().map_err(|_| anyhow!("what went on beside it has panicked"))??;
        Ok(rate)
    }

    /// Returns when something was done. Fails soon after it has failed.
    pub(super) async fn has_begun(&self) -> Result<()> {
        let mut looks = interval(Duration::from_millis(5));
        while self.n_done.load(Ordering::Relaxed) == 0 {
            ensure!(!self.thread.is_finished(), "What should go on beside it has ended.");
            looks.tick().await;
        }
        Ok(())
    }
}
