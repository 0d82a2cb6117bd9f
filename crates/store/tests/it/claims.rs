//! Rows that several claimers want.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};

use model::ids::AppId;
use store::{Error, Tx};
use testkit::store::{Database, databases, fresh};
use tokio::task::JoinSet;

use crate::{NO_APP, execute, with_apps};

const TABLE: &str = "create table work (id bigint primary key, taken bigint not null)";
const FILL: &str = "insert into work (id, taken) values (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0)";

fn claim(tx: &mut Tx<'_>) -> Result<Vec<i64>, Error> {
    let sql = format!(
        "update work set taken = 1 where id in (select id from work where taken = 0 order by id limit 2{}) returning id",
        tx.claim_suffix()
    );
    tx.query(&sql, &[], |row| row.get(0))
}

#[tokio::test]
async fn each_row_is_claimed_once() {
    with_apps(async |store, _| {
        execute(store, TABLE).await;
        execute(store, FILL).await;
        let mut claimers = JoinSet::new();
        for app in 0..8 {
            let store = store.clone();
            claimers.spawn(async move { store.write(AppId(app), claim).await });
        }
        let claimed: Vec<i64> = claimers.join_all().await.into_iter().flat_map(Result::unwrap).collect();
        assert_eq!(claimed.len(), 7);
        assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), (1..=7).collect());
    })
    .await;
}

/// The first claimer is still in its transaction when the second claims: it must neither wait nor get the
/// same rows.
#[tokio::test]
async fn a_claim_does_not_wait_for_another_node() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    let other = home.open().await;
    execute(&store, TABLE).await;
    execute(&store, FILL).await;
    let (claimed, finish) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let first = {
        let (store, claimed, finish) = (store.clone(), Arc::clone(&claimed), Arc::clone(&finish));
        tokio::spawn(async move {
            store
                .write(NO_APP, move |tx| {
                    let ids = claim(tx)?;
                    claimed.wait();
                    finish.wait();
                    Ok::<_, Error>(ids)
                })
                .await
        })
    };
    tokio::task::spawn_blocking(move || claimed.wait()).await.unwrap();
    assert_eq!(other.write(NO_APP, claim).await.unwrap(), [3, 4]);
    tokio::task::spawn_blocking(move || finish.wait()).await.unwrap();
    assert_eq!(first.await.unwrap().unwrap(), [1, 2]);
}
