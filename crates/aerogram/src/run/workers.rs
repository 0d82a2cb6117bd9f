//! The threads of the workers. Each worker has two, with the connections to providers that they open: a message and its answer that
//! never change threads cost a quarter less.

use anyhow::{Context, Result};
use engine::Engine;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Starts all workers of the node. Workers use the connections of each other, so all threads go on until the last one has ended.
pub(super) fn start(background: &mut JoinSet<()>, engine: &Engine, stops: &watch::Receiver<bool>) -> Result<()> {
    let (works, none_works) = watch::channel(());
    for _ in 0..n_workers() {
        let for_long_jobs = runtime()?;
        let worker = engine.worker().with_long_jobs_on(for_long_jobs.handle().clone());
        let end = end_of_all(none_works.clone());
        background.spawn_blocking(move || for_long_jobs.block_on(end));
        let own = runtime()?;
        let (working, works, end) = (worker.run(stops.clone()), works.clone(), end_of_all(none_works.clone()));
        background.spawn_blocking(move || {
            own.block_on(async {
                working.await;
                drop(works);
                end.await;
            });
        });
    }
    Ok(())
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("The runtime of a worker cannot be started")
}

/// Nothing is ever sent: it ends with the last sender.
async fn end_of_all(mut none_works: watch::Receiver<()>) {
    while none_works.changed().await.is_ok() {}
}

/// One for every two cores. When both threads of each have enough to do, the system shares the cores between them, requests and the
/// database.
fn n_workers() -> usize {
    std::thread::available_parallelism().map_or(1, |n_cores| (n_cores.get() / 2).max(1))
}
