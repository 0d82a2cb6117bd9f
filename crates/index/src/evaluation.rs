//! Evaluating plans over whole populations: on threads of its own, a few at a time. On a connection to the database it would keep
//! one of a few from everybody else.

use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use tokio::sync::Semaphore;

use crate::Indexes;

/// How many evaluations run at once. Each may take a processor and as much memory as its sets.
const AT_ONCE: usize = 4;

pub(crate) struct Evaluations(Arc<Semaphore>);

impl Default for Evaluations {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

#[boxed]
impl Indexes {
    /// Waits for its turn and does the work.
    pub async fn evaluate<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let turn = self.0.evaluations.0.clone().acquire_owned().await.map_err(Error::internal)?;
        let work = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}
