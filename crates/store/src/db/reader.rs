//! Reading: a few threads with a connection each take queries from one queue.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{Mutex, mpsc, oneshot};

use super::answer::Look;
use super::command::run_guarded;
use super::{Access, Connection, DatabaseHealth, Durations, Operation};
use crate::error::Error;
use crate::log::LogWindows;

/// Queries that may be queued. Further callers wait for room in the queue.
pub(crate) const QUEUE: usize = 4096;

/// A caller's closure and its way back to the caller.
pub(crate) struct Query {
    body: Look,
    caller: oneshot::Sender<Option<Error>>,
}

pub(crate) struct Reader {
    pub(crate) connection: Connection,
    pub(crate) queue: Arc<Mutex<mpsc::Receiver<Query>>>,
    pub(crate) durations: Durations,
    pub(crate) health: Arc<DatabaseHealth>,
    pub(crate) windows: Arc<LogWindows>,
}

impl Reader {
    /// Serves until every sender is gone and the queue is empty.
    pub(crate) fn run(mut self) {
        let queue = Arc::clone(&self.queue);
        while let Some(query) = self.connection.wait(async { queue.lock().await.recv().await }) {
            let began = Instant::now();
            query.run(&mut self.connection, &self.health, &self.windows);
            self.durations.reads.observe(began.elapsed().as_secs_f64());
        }
        self.connection.close();
    }
}

impl Query {
    /// The receiver gets the error that stands for the result, if there is one.
    pub(crate) fn new(body: Look) -> (Self, oneshot::Receiver<Option<Error>>) {
        let (caller, answer) = oneshot::channel();
        (Self { body, caller }, answer)
    }

    fn run(self, connection: &mut Connection, health: &DatabaseHealth, windows: &Arc<LogWindows>) {
        // A caller that has gone while the query waited needs no answer, and reading has no other effect.
        if self.caller.is_closed() {
            return;
        }
        match connection.begin(Access::Snapshot) {
            Ok(mut tx) => {
                tx.use_log_windows(windows);
                let failure = run_guarded(|| (self.body)(&mut tx)).err();
                match tx.broken() {
                    Some(error) if !tx.is_database_to_blame() => {
                        tracing::debug!(%error, "a server behind the database does not answer");
                    }
                    Some(error) => health.failed(Operation::Read, error),
                    None => health.succeeded(Operation::Read),
                }
                // Answered before the transaction ends: nothing in it could still fail the caller, who may also have stopped
                // waiting.
                let _ = self.caller.send(failure);
            }
            Err(error) => {
                health.failed(Operation::Read, &error);
                let _ = self.caller.send(Some(error));
            }
        }
    }
}
