//! What a writer is asked to do, and the queue in which it waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use model::ids::AppId;
use tokio::sync::{mpsc, oneshot};

use super::Tx;
use super::answer::Change;
use crate::audit::{self, Request};
use crate::error::{Error, Result};

/// Commands that may be queued for one writer. Further callers wait for room in the queue.
const QUEUE: usize = 4096;
/// Commands in one transaction. At some 25 microseconds each, a full batch takes about 50 milliseconds.
const BATCH: usize = 2048;

/// A caller's closure and its way back to the caller.
pub(crate) struct Command {
    pub(super) app: AppId,
    /// The app whose rows it is about, which may be another one if it is the operator's.
    pub(super) place: AppId,
    /// On whose behalf it is.
    pub(super) request: Option<Arc<Request>>,
    body: Change,
    /// Makes the result of the last run void.
    failure: Option<Error>,
    caller: oneshot::Sender<Option<Error>>,
}

/// The commands that wait for one writer.
pub(crate) struct CommandQueue {
    incoming: mpsc::Receiver<Command>,
    /// Taken, and put off to the next transaction.
    put_off: Vec<Command>,
}

impl CommandQueue {
    /// The queue of a writer, and the way into it.
    pub(crate) fn new() -> (mpsc::Sender<Command>, Self) {
        let (sender, incoming) = mpsc::channel(QUEUE);
        (sender, Self { incoming, put_off: Vec::new() })
    }

    pub(super) fn len(&self) -> usize {
        self.put_off.len() + self.incoming.len()
    }

    /// Waits for commands, no longer than until an instant. False when there will be none.
    pub(super) async fn take(&mut self, batch: &mut Vec<Command>, until: Option<Instant>) -> bool {
        batch.append(&mut self.put_off);
        if !batch.is_empty() {
            return true;
        }
        let receiving = self.incoming.recv_many(batch, BATCH);
        match until {
            None => receiving.await > 0,
            Some(until) => tokio::time::timeout_at(until.into(), receiving).await != Ok(0),
        }
    }

    /// Adds what is there and fits in.
    pub(super) fn take_more(&mut self, batch: &mut Vec<Command>, fits: impl Fn(&Command) -> bool) {
        while batch.len() + self.put_off.len() < BATCH
            && let Ok(command) = self.incoming.try_recv()
        {
            if fits(&command) { batch.push(command) } else { self.put_off.push(command) }
        }
    }
}

impl Command {
    /// Of the task that is running. The receiver gets the error that stands for the result, if there is one, after the last run.
    pub(crate) fn new(app: AppId, place: AppId, body: Change) -> (Self, oneshot::Receiver<Option<Error>>) {
        let (caller, answer) = oneshot::channel();
        let request = audit::current_request();
        (Self { app, place, request, body, failure: None, caller }, answer)
    }

    /// Runs the body, which keeps its result. False when its changes must not be committed.
    pub(super) fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let is_ok = match run_guarded(|| (self.body)(tx)) {
            Ok(is_ok) => is_ok,
            Err(panic) => {
                self.failure = Some(panic);
                return false;
            }
        };
        self.failure = tx.broken().filter(|_| is_ok).cloned();
        // A command that only read and then declined leaves nothing to undo.
        tx.broken().is_none() && (is_ok || !tx.wrote)
    }

    /// What it has written without waiting for an answer may still fail.
    pub(super) fn send_queue(&mut self, tx: &mut Tx<'_>) -> bool {
        self.failure = tx.send_queue().err();
        self.failure.is_none()
    }

    /// Lets the caller have the result of the last run.
    pub(super) fn answer(self) {
        // The caller may have stopped waiting; the change is made all the same.
        let _ = self.caller.send(self.failure);
    }

    pub(super) fn refuse(self, error: Error) {
        let _ = self.caller.send(Some(error));
    }
}

/// Runs a caller's closure; a panic in it becomes an error, so that the thread lives on for the others.
pub(super) fn run_guarded<R>(body: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Error::corrupt(format!("a command panicked: {text}"))
    })
}
