//! The sandbox: the last deliveries of an app, oldest first.

use model::ids::AppId;
use store::Store;
use store::sandbox::{self, Filter, KEPT, SandboxDelivery};

use crate::on_both;
use crate::sample::{conflict, delivery, id, make_app};

async fn add(store: &Store, app: AppId, deliveries: Vec<SandboxDelivery>) {
    store.write(app, move |tx| sandbox::add(tx, app, &deliveries)).await.unwrap();
}

async fn newest(store: &Store, app: AppId, filter: Filter, at_most: u32) -> Vec<(i64, SandboxDelivery)> {
    store.read(move |tx| sandbox::newest(tx, app, i64::MAX, filter, at_most)).await.unwrap()
}

async fn after(store: &Store, app: AppId, position: i64, filter: Filter, at_most: u32) -> Vec<i64> {
    let found = store.read(move |tx| sandbox::after(tx, app, position, filter, at_most)).await.unwrap();
    found.into_iter().map(|(position, _)| position).collect()
}

#[tokio::test]
async fn deliveries_are_listed_in_order() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        add(store, app, vec![delivery(1, 1), delivery(1, 2)]).await;
        add(store, other, vec![delivery(9, 9)]).await;
        add(store, app, Vec::new()).await;
        add(store, app, vec![delivery(2, 1), delivery(2, 2), delivery(2, 3)]).await;
        let all = newest(store, app, Filter::default(), 100).await;
        let expected = [delivery(1, 1), delivery(1, 2), delivery(2, 1), delivery(2, 2), delivery(2, 3)];
        assert_eq!(all, (1..).zip(expected).collect::<Vec<_>>());
        assert_eq!(newest(store, app, Filter::default(), 2).await, all[3..]);
        assert_eq!(newest(store, other, Filter::default(), 2).await, [(1, delivery(9, 9))]);
        assert_eq!(store.read(move |tx| sandbox::head(tx, app)).await.unwrap(), 5);
        let of_push = Filter { push: Some(id(2)), channel: None };
        let to_channel = Filter { push: None, channel: Some(id(1)) };
        let both = Filter { push: Some(id(2)), channel: Some(id(1)) };
        assert_eq!(after(store, app, 1, Filter::default(), 2).await, [2, 3]);
        assert_eq!(after(store, app, 5, Filter::default(), 2).await, [0; 0]);
        assert_eq!(after(store, app, 0, of_push, 2).await, [3, 4]);
        assert_eq!(after(store, app, 0, to_channel, 9).await, [1, 3]);
        assert_eq!(after(store, app, 0, both, 9).await, [3]);
        assert_eq!(newest(store, app, of_push, 1).await, all[4..]);
        assert_eq!(newest(store, app, to_channel, 9).await, [all[0].clone(), all[2].clone()]);
    })
    .await;
}

#[tokio::test]
async fn the_oldest_make_room() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        add(store, other, vec![delivery(1, 1)]).await;
        let kept = u32::try_from(KEPT).unwrap();
        add(store, app, (0..kept - 1).map(|n| delivery(1, n)).collect()).await;
        for n in 0..3 {
            add(store, app, vec![delivery(2, n)]).await;
        }
        let positions = after(store, app, 0, Filter::default(), u32::MAX).await;
        assert_eq!(positions, (3..=KEPT + 2).collect::<Vec<_>>());
        assert_eq!(newest(store, app, Filter::default(), 1).await, [(KEPT + 2, delivery(2, 2))]);
        assert_eq!(newest(store, other, Filter::default(), 9).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_app_that_is_gone_gets_none() {
    on_both(async |store, _| {
        let nobody = AppId(99);
        let done = store.write(nobody, move |tx| sandbox::add(tx, nobody, &[delivery(1, 1)])).await;
        assert_eq!(conflict(done), "the app was deleted");
        assert_eq!(store.read(move |tx| sandbox::head(tx, nobody)).await.unwrap(), 0);
    })
    .await;
}
