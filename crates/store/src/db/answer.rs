//! The way of a result from the thread of the database back to its caller. Callers by the hundred have closures of their own, so
//! all that knows their types is here, and the queues, the waiting and the transactions exist once for all of them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;

use super::Tx;
use crate::closed;
use crate::error::{Error, Result};

/// Where a closure leaves its result.
type ResultCell<T, E> = Arc<Mutex<Option<Result<T, E>>>>;

/// A closure that may be run several times. It leaves its result behind and says whether that is no error.
pub(crate) type Change = Box<dyn FnMut(&mut Tx<'_>) -> bool + Send>;

/// A closure that is run once and leaves its result behind.
pub(crate) type Look = Box<dyn FnOnce(&mut Tx<'_>) + Send>;

/// Ready when the closure was run for the last time; an error is one of the database, and the result does not count.
pub(crate) type Done<'s> = Pin<Box<dyn Future<Output = Result<()>> + Send + 's>>;

/// The result of a closure that the database runs; see [`crate::Store::read`] and [`crate::Store::write`].
#[must_use = "nothing is read or written before the answer is awaited"]
pub struct Answer<'s, T, E> {
    done: Done<'s>,
    cell: ResultCell<T, E>,
}

impl<'s, T, E> Answer<'s, T, E>
where
    T: Send + 'static,
    E: Send + 'static,
{
    pub(crate) fn to_change(
        body: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        run: impl FnOnce(Change) -> Done<'s>,
    ) -> Self {
        let cell = ResultCell::default();
        let left = Arc::clone(&cell);
        let done = run(Box::new(move |tx| leave(&left, body(tx))));
        Self { done, cell }
    }

    pub(crate) fn to_look(
        body: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        run: impl FnOnce(Look) -> Done<'s>,
    ) -> Self {
        let cell = ResultCell::default();
        let left = Arc::clone(&cell);
        let done = run(Box::new(move |tx| {
            leave(&left, body(tx));
        }));
        Self { done, cell }
    }
}

impl<T, E: From<Error>> Future for Answer<'_, T, E> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.get_mut();
        ready!(answer.done.as_mut().poll(context))?;
        let result = answer.cell.lock().take();
        Poll::Ready(result.unwrap_or_else(|| Err(E::from(closed()))))
    }
}

fn leave<T, E>(cell: &ResultCell<T, E>, result: Result<T, E>) -> bool {
    let is_ok = result.is_ok();
    *cell.lock() = Some(result);
    is_ok
}
