//! Nodes: what one has claimed is free again when it dies, and not before.

use std::time::Duration;

use model::time::{Clock, UtcMillis};
use store::nodes;
use store::{Error, Part, Store, Tx, jobs};
use testkit::store::{Database, databases, fresh};

use super::{APP, OPERATOR, enqueue};
use crate::make_apps;
use crate::sample::id;

async fn claim_as_itself(store: &Store, n: u32) {
    let node = store.node();
    let claim = move |tx: &mut Tx<'_>| jobs::claim(tx, node, &[(APP, id(n))], UtcMillis(10), UtcMillis(1000));
    assert_eq!(store.write(OPERATOR, claim).await.unwrap().len(), 1);
}

async fn release(store: &Store, node: nodes::Node) -> u64 {
    store.write(OPERATOR, move |tx| jobs::release_of(tx, &Part::ALL, node, UtcMillis(20))).await.unwrap()
}

#[tokio::test]
async fn a_node_is_missing_when_its_connection_has_ended() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    make_apps(&store).await;
    let other = home.open().await;
    for n in 0..2 {
        enqueue(&store, APP, n, 10).await;
    }
    claim_as_itself(&store, 0).await;
    claim_as_itself(&other, 1).await;
    let missing = async || store.read(|tx| nodes::missing(tx, &Part::ALL)).await.unwrap();
    assert_eq!(missing().await, Vec::new(), "both live");
    let own = store.node();
    assert!(store.read(move |tx| nodes::are_others(tx, own)).await.unwrap());
    let died = other.node();
    other.close().await;
    // The server notices the end of a connection a moment later.
    while missing().await != vec![died] {
        tokio::task::yield_now().await;
    }
    assert_eq!(release(&store, died).await, 1);
    assert_eq!(release(&store, died).await, 0, "nothing is left to release");
    assert_eq!(missing().await, Vec::new());
    let due: Result<_, Error> = store.read(|tx| jobs::due(tx, &Part::ALL, UtcMillis(20), 10)).await;
    assert_eq!(due.unwrap().jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [id(1)]);
    store.close().await;
}

#[tokio::test]
async fn the_one_process_of_a_file_is_never_missing() {
    let (store, _home) = fresh(Database::Sqlite).await;
    make_apps(&store).await;
    enqueue(&store, APP, 0, 10).await;
    claim_as_itself(&store, 0).await;
    assert_eq!(store.read(|tx| nodes::missing(tx, &Part::ALL)).await.unwrap(), Vec::new());
    store.close().await;
}

#[tokio::test]
async fn a_server_tells_the_time() {
    const FAR: Duration = Duration::from_secs(60 * 60);
    for database in databases() {
        let (store, _home) = fresh(database).await;
        let told: Result<_, Error> = store.read(|tx| tx.database_time()).await;
        let now = Clock::System.now();
        match (database, told.unwrap()) {
            (Database::Sqlite, told) => assert_eq!(told, None),
            (Database::Postgres, told) => {
                assert!(told.is_some_and(|told| now.minus(FAR) < told && told < now.plus(FAR)), "{told:?} {now:?}");
            }
        }
        store.close().await;
    }
}
