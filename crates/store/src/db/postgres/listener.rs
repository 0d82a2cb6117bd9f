//! The connection over which nodes tell each other that something was committed. It is apart from the writers' because
//! PostgreSQL serializes commits that notify; a signal lost here only means that its receiver polls a little later.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;

use model::ids::AppId;
use tokio::sync::oneshot;
use tokio_postgres::{AsyncMessage, Config, NoTls};
use uuid::Uuid;

use super::{FIRST_PAUSE, LONGEST_PAUSE, failure};
use crate::db::{Hub, Signal};

const LISTEN: &str = "set synchronous_commit = off; listen aerogram";
const NOTIFY: &str = "select pg_notify('aerogram', $1)";

pub(crate) struct Listener {
    pub(crate) config: Arc<Config>,
    pub(crate) hub: Arc<Hub>,
    /// Told once the first connection listens.
    pub(crate) ready: Option<oneshot::Sender<()>>,
}

impl Listener {
    /// Serves until the store closes; a lost connection is made again.
    pub(crate) async fn run(mut self) {
        let node = Uuid::new_v4().simple().to_string();
        let mut pause = FIRST_PAUSE;
        while let Err(error) = self.serve(&node, &mut pause).await {
            tracing::warn!(error = failure::text(&error), "signals from other nodes are interrupted");
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                closing = self.hub.outgoing() => if closing.is_none() { return },
            }
        }
    }

    /// Returns without an error when the store closes.
    async fn serve(&mut self, node: &str, pause: &mut std::time::Duration) -> Result<(), tokio_postgres::Error> {
        let (client, mut connection) = self.config.connect(NoTls).await?;
        let hub = Arc::clone(&self.hub);
        let own = node.to_owned();
        let mut driver = tokio::spawn(async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(notification) = message?
                    && let Some((sender, signal)) = notification.payload().split_once(' ')
                    && sender != own
                    && let Some(signal) = parse(signal)
                {
                    hub.heard(&BTreeSet::from([signal]));
                }
            }
            Ok(())
        });
        client.batch_execute(LISTEN).await?;
        *pause = FIRST_PAUSE;
        match self.ready.take() {
            Some(ready) => drop(ready.send(())),
            // Whatever was said meanwhile went unheard.
            None => self.hub.heard(&BTreeSet::from([Signal::Jobs, Signal::Apps])),
        }
        let notify = client.prepare(NOTIFY).await?;
        loop {
            tokio::select! {
                signals = self.hub.outgoing() => {
                    let Some(signals) = signals else { break };
                    for signal in signals {
                        client.execute(&notify, &[&format!("{node} {}", print(signal))]).await?;
                    }
                }
                // The driver ends only when the connection does.
                ended = &mut driver => return ended.unwrap_or(Ok(())),
            }
        }
        drop((client, notify));
        driver.await.unwrap_or(Ok(()))
    }
}

fn print(signal: Signal) -> String {
    match signal {
        Signal::Jobs => "jobs".to_owned(),
        Signal::Apps => "apps".to_owned(),
        Signal::Log(app) => format!("log {}", app.0),
    }
}

/// `None` for what a newer version may say.
fn parse(text: &str) -> Option<Signal> {
    match text.split_once(' ') {
        None if text == "jobs" => Some(Signal::Jobs),
        None if text == "apps" => Some(Signal::Apps),
        Some(("log", app)) => app.parse().ok().map(|app| Signal::Log(AppId(app))),
        _ => None,
    }
}
