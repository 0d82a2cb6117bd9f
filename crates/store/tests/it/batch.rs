//! Commands that certainly share a batch.

use std::sync::{Arc, Barrier};

use model::ids::AppId;
use store::{Error, Store, Tx};
use tokio::task::JoinSet;

use crate::Refusal;

pub(crate) type Command<T> = Box<dyn Fn(&mut Tx<'_>) -> Result<T, Refusal> + Send>;

/// Runs commands of an app that certainly share a batch, because the writer is held inside another command
/// until all have queued. Returns their answers in order, and the number of commits after the one of the
/// holding command.
pub(crate) async fn in_one_batch<T: Send + 'static>(
    store: &Store,
    app: AppId,
    commands: Vec<Command<T>>,
) -> (Vec<Result<T, Refusal>>, u64) {
    let (held, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let holder = {
        let (store, held, release) = (store.clone(), Arc::clone(&held), Arc::clone(&release));
        tokio::spawn(async move {
            store
                .write(app, move |_| {
                    held.wait();
                    release.wait();
                    Ok::<_, Error>(())
                })
                .await
        })
    };
    tokio::task::spawn_blocking(move || held.wait()).await.unwrap();
    let before = store.commits();
    let mut callers = JoinSet::new();
    for (n, command) in commands.into_iter().enumerate() {
        let store = store.clone();
        callers.spawn(async move { (n, store.write(app, command).await) });
    }
    // The spawned tasks run on this thread: yielding lets each of them queue its command.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    tokio::task::spawn_blocking(move || release.wait()).await.unwrap();
    holder.await.unwrap().unwrap();
    let mut answers = callers.join_all().await;
    answers.sort_by_key(|(n, _)| *n);
    (answers.into_iter().map(|(_, answer)| answer).collect(), store.commits() - before - 1)
}
