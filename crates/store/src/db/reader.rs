//! Reading: a few threads with a connection each take queries from one queue.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use super::writer::run_guarded;
use super::{Access, Connection, DatabaseHealth, Operation, Tx};
use crate::error::{Error, Result};

/// Queries that may be queued. Further callers wait for room in the queue.
pub(crate) const QUEUE: usize = 4096;

/// A caller's closure together with its way back to the caller.
pub(crate) type Query = Box<dyn FnOnce(&mut Connection, &DatabaseHealth) + Send>;

pub(crate) struct Reader {
    pub(crate) connection: Connection,
    pub(crate) queue: Arc<Mutex<mpsc::Receiver<Query>>>,
    pub(crate) health: Arc<DatabaseHealth>,
}

impl Reader {
    /// Serves until every sender is gone and the queue is empty.
    pub(crate) fn run(mut self) {
        let queue = Arc::clone(&self.queue);
        while let Some(query) = self.connection.wait(async { queue.lock().await.recv().await }) {
            query(&mut self.connection, &self.health);
        }
        self.connection.close();
    }
}

pub(crate) fn query<T, E>(
    body: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
) -> (Query, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let (caller, answer) = oneshot::channel();
    let query = move |connection: &mut Connection, health: &DatabaseHealth| {
        // A caller that has gone while the query waited needs no answer, and reading has no other effect.
        if caller.is_closed() {
            return;
        }
        match connection.begin(Access::Snapshot) {
            Ok(mut tx) => {
                let result = match run_guarded(|| body(&mut tx)) {
                    Ok(result) => result,
                    Err(panic) => Err(E::from(panic)),
                };
                match tx.broken() {
                    Some(error) => health.failed(Operation::Read, error),
                    None => health.succeeded(Operation::Read),
                }
                // Answered before the transaction ends: nothing in it could still fail the caller, who may
                // also have stopped waiting.
                let _ = caller.send(result);
            }
            Err(error) => {
                health.failed(Operation::Read, &error);
                let _ = caller.send(Err(E::from(error)));
            }
        }
    };
    (Box::new(query), answer)
}
