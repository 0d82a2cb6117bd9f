//! Answers kept for repeated requests.

use model::ids::AppId;
use model::time::UtcMillis;
use store::Store;
use store::idempotency::{self, Kept};
use tokio::task::JoinSet;

use crate::sample::conflict;
use crate::with_apps;

const APP: AppId = AppId(1);

async fn keep(store: &Store, app: AppId, key: &'static str, n: u8, now: i64) -> store::Result<()> {
    store.write(app, move |tx| idempotency::keep(tx, app, key, &kept(n), UtcMillis(now))).await
}

async fn find(store: &Store, app: AppId, key: &'static str) -> Option<Kept> {
    store.read(move |tx| idempotency::find(tx, app, key)).await.unwrap()
}

fn kept(n: u8) -> Kept {
    Kept { request: vec![n; 32], answer: format!("{{\"n\":{n}}}") }
}

#[tokio::test]
async fn the_first_answer_stays() {
    with_apps(async |store, _| {
        keep(store, APP, "k", 1, 10).await.unwrap();
        assert_eq!(conflict(keep(store, APP, "k", 2, 11).await), "idempotency_pkey");
        keep(store, AppId(2), "k", 3, 12).await.unwrap();
        keep(store, APP, "K", 4, 13).await.unwrap();
        assert_eq!(find(store, APP, "k").await, Some(kept(1)));
        assert_eq!(find(store, AppId(2), "k").await, Some(kept(3)));
        assert_eq!(find(store, APP, "other").await, None);
        let forget = |at_most| {
            store.write(AppId(0), move |tx| idempotency::forget_before(tx, &store::Part::ALL, UtcMillis(12), at_most))
        };
        assert_eq!(forget(9).await.unwrap(), 1, "what was kept at the instant itself stays");
        assert_eq!(find(store, APP, "k").await, None);
        keep(store, APP, "k", 5, 14).await.unwrap();
        assert_eq!(find(store, APP, "k").await, Some(kept(5)));
    })
    .await;
}

#[tokio::test]
async fn one_of_many_wins() {
    with_apps(async |store, _| {
        let mut requests = JoinSet::new();
        for n in 0..16 {
            let store = store.clone();
            requests.spawn(async move { (n, keep(&store, APP, "k", n, 10).await) });
        }
        let (won, lost): (Vec<_>, Vec<_>) = requests.join_all().await.into_iter().partition(|(_, done)| done.is_ok());
        assert_eq!(won.len(), 1);
        assert!(lost.into_iter().all(|(_, done)| conflict(done) == "idempotency_pkey"));
        assert_eq!(find(store, APP, "k").await, Some(kept(won[0].0)));
    })
    .await;
}

#[tokio::test]
async fn old_answers_go_in_portions() {
    with_apps(async |store, _| {
        for (n, app) in [(1, APP), (2, AppId(2)), (3, APP), (4, AppId(2)), (5, APP)] {
            keep(store, app, ["a", "b", "c", "d", "e"][n - 1], u8::try_from(n).unwrap(), i64::try_from(n).unwrap())
                .await
                .unwrap();
        }
        let forget = || store.write(AppId(0), |tx| idempotency::forget_before(tx, &store::Part::ALL, UtcMillis(5), 3));
        assert_eq!((forget().await.unwrap(), find(store, AppId(2), "d").await.is_some()), (3, true));
        assert_eq!((forget().await.unwrap(), forget().await.unwrap()), (1, 0));
        assert!(find(store, APP, "e").await.is_some());
    })
    .await;
}
