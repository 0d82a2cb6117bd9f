//! Connections that end after their request in work once the server stops. Like the helper of hyper-util, which does not take
//! connections that can be upgraded.

use std::pin::pin;

use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::service::HttpService;
use tokio::sync::watch;

pub(super) struct Graceful(watch::Sender<()>);

impl Graceful {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(()))
    }

    /// Counts a connection from now on.
    pub(super) fn enter(&self) -> Guest {
        Guest(self.0.subscribe())
    }

    /// How many connections are open.
    pub(super) fn count(&self) -> usize {
        self.0.receiver_count()
    }

    /// Ends all connections, and waits for their requests in work.
    pub(super) async fn shutdown(&self) {
        self.0.send_replace(());
        self.0.closed().await;
    }
}

/// One of the connections, until it is dropped.
pub(super) struct Guest(watch::Receiver<()>);

impl Guest {
    /// Runs a connection to its end, or to that of its request in work when the server stops.
    pub(super) fn run<I, S, B>(
        self,
        connection: UpgradeableConnection<I, S>,
    ) -> impl Future<Output = hyper::Result<()>> + Send + use<I, S, B>
    where
        I: Read + Write + Unpin + Send + 'static,
        S: HttpService<Incoming, ResBody = B, Future: Send> + Send + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        B: hyper::body::Body<Data: Send> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Self(mut stops) = self;
        async move {
            let mut connection = pin!(connection);
            tokio::select! {
                biased;
                ended = connection.as_mut() => return ended,
                // An error means that the server is gone.
                _ = stops.changed() => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        }
    }
}
