//! Who was in which place on which day.

use model::ids::AppId;
use model::place::PlaceId;
use store::{Error, Store, place_days};

use crate::on_both;
use crate::sample::make_app;

const HERE: PlaceId = PlaceId(7);
const ELSEWHERE: PlaceId = PlaceId(8);

async fn put(store: &Store, app: AppId, place: PlaceId, day: i32, block: u16, members: &'static [u8]) {
    store.write(app, move |tx| place_days::put(tx, app, place, day, block, members.to_vec())).await.unwrap();
}

async fn seen(store: &Store, app: AppId, place: PlaceId, first: i32, last: i32) -> Vec<Vec<u8>> {
    let read = store.read(move |tx| {
        let mut parts = Vec::new();
        place_days::visit(tx, app, place, first..=last, |part| {
            parts.push(part.to_vec());
            Ok(())
        })?;
        Ok::<_, Error>(parts)
    });
    let mut parts = read.await.unwrap();
    parts.sort();
    parts
}

#[tokio::test]
async fn sets_are_found_by_place_and_period_and_forgotten_by_day() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        put(store, app, HERE, 10, 0, b"first").await;
        put(store, app, HERE, 10, 0, b"a").await;
        put(store, app, HERE, 10, 3, b"b").await;
        put(store, app, HERE, 12, 0, b"c").await;
        put(store, app, ELSEWHERE, 11, 0, b"d").await;
        put(store, other, HERE, 11, 0, b"e").await;
        assert_eq!(seen(store, app, HERE, 10, 12).await, [b"a", b"b", b"c"]);
        assert_eq!(seen(store, app, HERE, 11, 11).await, Vec::<Vec<u8>>::new());
        assert_eq!(seen(store, other, HERE, 10, 12).await, [b"e"]);
        let one = store.read(move |tx| place_days::get(tx, app, HERE, 10, 3)).await.unwrap();
        assert_eq!(one.as_deref(), Some(&b"b"[..]));
        let forget = |at_most| store.write(app, move |tx| place_days::forget_before(tx, app, 12, at_most));
        assert!(forget(2).await.unwrap(), "there may be more");
        assert!(!forget(2).await.unwrap());
        assert_eq!(seen(store, app, HERE, 0, 99).await, [b"c"]);
        assert_eq!(seen(store, app, ELSEWHERE, 0, 99).await, Vec::<Vec<u8>>::new());
        assert_eq!(seen(store, other, HERE, 0, 99).await, [b"e"], "of another app");
    })
    .await;
}
