//! The connection over which nodes announce commits to each other. It is apart from the writers' because
//! PostgreSQL serializes commits that notify; a lost signal only means that its receiver polls a little
//! later. It also holds the lock by which the others know that this node lives.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use model::ids::{AppId, Id};
use tokio::sync::oneshot;
use tokio_postgres::AsyncMessage;

use super::server::{Connection, Server};
use super::session::Purpose;
use super::{FIRST_PAUSE, NODE_LOCKS, failure};
use crate::db::{Hub, Signal};
use crate::error::{Error, Result};
use crate::nodes::Node;

const LISTEN: &str = "listen aerogram";
/// Shared, because the server may not have noticed yet that the connection before is gone.
const LOCK_NODE: &str = "select pg_advisory_lock_shared($1, $2)";
/// Signals of the commits of this time leave together: under load there are hundreds of commits a second, and each notice is a
/// transaction that every node hears of.
const BETWEEN_NOTICES: Duration = Duration::from_millis(5);
/// Shorter than that of other connections: after a failover, nodes whose lock is not there for two seconds count as dead.
const LONGEST_PAUSE_OF_NODE: Duration = Duration::from_secs(1);
const NOTIFY: &str = "select pg_notify('aerogram', $1)";

/// Distinguishes the signals of this process from those of others.
enum NodeKind {}

pub(crate) struct Listener {
    pub(crate) server: Arc<Server>,
    pub(crate) hub: Arc<Hub>,
    /// Whose lock the connection holds.
    pub(crate) node: Node,
    /// Told once the first connection listens, or why it does not.
    pub(crate) ready: Option<oneshot::Sender<Result<()>>>,
    /// Whether the log already says that signals are missed.
    pub(crate) is_interrupted: bool,
}

impl Listener {
    /// Serves until the store closes; a lost connection is made again, unless it is the first.
    pub(crate) async fn run(mut self) {
        let node = Id::<NodeKind>::random().to_string();
        let mut pause = FIRST_PAUSE;
        while let Err(error) = self.serve(&node, &mut pause).await {
            if let Some(ready) = self.ready.take() {
                // Whoever opens the store has gone if nobody hears of it.
                let _ = ready.send(Err(error));
                return;
            }
            if !std::mem::replace(&mut self.is_interrupted, true) {
                tracing::warn!(%error, "signals from other nodes are interrupted");
            }
            let mut over = pin!(tokio::time::sleep(pause));
            pause = (pause * 2).min(LONGEST_PAUSE_OF_NODE);
            loop {
                tokio::select! {
                    () = &mut over => break,
                    // The other nodes cannot be notified now, and will poll.
                    unsent = self.hub.outgoing() => if unsent.is_none() { return },
                }
            }
        }
    }

    /// Returns without an error only when the store closes.
    async fn serve(&mut self, node: &str, pause: &mut Duration) -> Result<()> {
        let (client, connection) = self.server.connect(Purpose::Listen).await?;
        let mut driver = tokio::spawn(hear(connection, node.to_owned(), Arc::clone(&self.hub)));
        let number = i32::try_from(self.node.0).map_err(|error| Error::corrupt(error.to_string()))?;
        client.query(LOCK_NODE, &[&NODE_LOCKS, &number]).await.map_err(failure::classify)?;
        client.batch_execute(LISTEN).await.map_err(failure::classify)?;
        let notify = client.prepare(NOTIFY).await.map_err(failure::classify)?;
        *pause = FIRST_PAUSE;
        if std::mem::take(&mut self.is_interrupted) {
            tracing::info!("signals from other nodes are heard again");
        }
        match self.ready.take() {
            Some(ready) => drop(ready.send(Ok(()))),
            // Notifications sent meanwhile are lost.
            None => self.hub.publish_here(&BTreeSet::from([Signal::Jobs, Signal::Apps])),
        }
        loop {
            tokio::select! {
                signals = self.hub.outgoing() => {
                    let Some(signals) = signals else { break };
                    for signal in signals {
                        client.execute(&notify, &[&format!("{node} {}", print(signal))]).await.map_err(failure::classify)?;
                    }
                    tokio::time::sleep(BETWEEN_NOTICES).await;
                }
                ended = &mut driver => return Err(Error::unavailable(ended.unwrap_or_else(|error| error.to_string()))),
            }
        }
        // Without a client the driver says goodbye to the server and ends.
        drop((client, notify));
        if let Err(error) = driver.await {
            tracing::error!(%error, "the driver of the listening connection failed");
        }
        Ok(())
    }
}

/// Passes on the signals of the other nodes until the connection ends; returns why it ended.
async fn hear(mut connection: Connection, node: String, hub: Arc<Hub>) -> String {
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(notification))) => {
                if let Some((sender, signal)) = notification.payload().split_once(' ')
                    && sender != node
                    && let Some(signal) = parse(signal)
                {
                    hub.publish_here(&BTreeSet::from([signal]));
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return failure::text(&error),
            None => return "the connection was closed".to_owned(),
        }
    }
}

fn print(signal: Signal) -> String {
    match signal {
        Signal::Jobs => "jobs".to_owned(),
        Signal::Apps => "apps".to_owned(),
        Signal::Log(app) => format!("log {}", app.0),
    }
}

/// `None` for signals that only a newer version knows.
fn parse(text: &str) -> Option<Signal> {
    match text.split_once(' ') {
        None if text == "jobs" => Some(Signal::Jobs),
        None if text == "apps" => Some(Signal::Apps),
        Some(("log", app)) => app.parse().ok().map(|app| Signal::Log(AppId(app))),
        _ => None,
    }
}
