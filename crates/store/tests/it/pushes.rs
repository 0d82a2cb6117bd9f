//! Pushes, their tallies and their blocks.

use model::device_type::DeviceType::{self, Ios, Web};
use model::ids::AppId;
use model::time::UtcMillis;
use store::blocks::{self, BlockKey, BlockProgress};
use store::pushes::{self, PushRow, PushState, PushTexts, SendingState, Tally};
use store::{Error, Store};

use crate::sample::{NOW, block, conflict, id, progress, push};
use crate::with_apps;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

async fn insert(store: &Store, app: AppId, row: PushRow) -> store::Result<()> {
    store.write(app, move |tx| pushes::insert(tx, app, &row, &PushTexts::default())).await
}

#[tokio::test]
async fn a_push_comes_back_as_it_was() {
    with_apps(async |store, _| {
        let expiring = PushRow { expires: Some(UtcMillis(5)), payload: Some("{\"a\":\"ü\"}".to_owned()), ..push(2) };
        for row in [push(1), expiring.clone()] {
            insert(store, APP, row).await.unwrap();
        }
        insert(store, OTHER, push(1)).await.unwrap();
        assert_eq!(conflict(insert(store, APP, push(1)).await), "push_pkey");
        for state in [PushState::Sending, PushState::Done, PushState::Canceled, PushState::Accepted] {
            store.write(APP, move |tx| pushes::set_state(tx, APP, id(1), state, NOW)).await.unwrap();
            let found = store.read(|tx| pushes::by_id(tx, APP, id(1))).await.unwrap();
            assert_eq!(found, Some(PushRow { state, ..push(1) }));
            let others = store.read(|tx| pushes::by_id(tx, OTHER, id(1))).await.unwrap();
            assert_eq!(others, Some(push(1)), "the other app's push has the same id and is another");
        }
        assert_eq!(store.read(|tx| pushes::by_id(tx, APP, id(2))).await.unwrap(), Some(expiring));
        assert_eq!(store.read(|tx| pushes::by_id(tx, OTHER, id(2))).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn payloads_that_are_the_same_are_kept_once() {
    with_apps(async |store, _| {
        let alike = |n| PushRow { payload: push(1).payload, ..push(n) };
        for n in [1, 2, 3] {
            insert(store, APP, alike(n)).await.unwrap();
        }
        insert(store, OTHER, push(1)).await.unwrap();
        let share = |tx: &mut store::Tx<'_>| {
            pushes::share_payload(tx, APP, id(2), id(1))?;
            pushes::share_payload(tx, APP, id(3), id(2))
        };
        store.write(APP, share).await.unwrap();
        for n in [1, 2, 3] {
            assert_eq!(store.read(move |tx| pushes::by_id(tx, APP, id(n))).await.unwrap(), Some(alike(n)));
        }
        let kept = |tx: &mut store::Tx<'_>| -> store::Result<i64> {
            tx.query_one("select count(payload) from push", &[], |row| row.get(0))
        };
        assert_eq!(store.read(kept).await.unwrap(), 2, "one in each app");
    })
    .await;
}

#[tokio::test]
async fn a_payload_that_is_not_to_be_kept_goes_when_the_push_is_done() {
    with_apps(async |store, _| {
        let redacted = PushRow { redact: true, ..push(1) };
        insert(store, APP, redacted.clone()).await.unwrap();
        insert(store, APP, push(2)).await.unwrap();
        for (state, payload) in [(PushState::Sending, redacted.payload.clone()), (PushState::Done, None)] {
            for n in [1, 2] {
                store.write(APP, move |tx| pushes::set_state(tx, APP, id(n), state, NOW)).await.unwrap();
            }
            let found = store.read(|tx| pushes::by_id(tx, APP, id(1))).await.unwrap();
            assert_eq!(found, Some(PushRow { state, payload, ..redacted.clone() }));
            let kept = store.read(|tx| pushes::by_id(tx, APP, id(2))).await.unwrap();
            assert_eq!(kept, Some(PushRow { state, ..push(2) }));
        }
    })
    .await;
}

#[tokio::test]
async fn pausing_leaves_the_rest_of_a_push_alone() {
    with_apps(async |store, _| {
        insert(store, APP, push(1)).await.unwrap();
        insert(store, OTHER, push(1)).await.unwrap();
        for paused in [true, false, true] {
            store.write(APP, move |tx| pushes::set_paused(tx, APP, id(1), paused)).await.unwrap();
            let found = store.read(|tx| pushes::by_id(tx, APP, id(1))).await.unwrap();
            assert_eq!(found, Some(PushRow { paused, ..push(1) }));
            let found = store.read(|tx| pushes::sending_state(tx, APP, id(1))).await.unwrap();
            assert_eq!(found, Some(SendingState { state: PushState::Accepted, is_paused: paused }));
        }
        let other = store.read(|tx| pushes::sending_state(tx, OTHER, id(1))).await.unwrap();
        assert_eq!(other, Some(SendingState { state: PushState::Accepted, is_paused: false }));
        assert_eq!(store.read(|tx| pushes::sending_state(tx, APP, id(2))).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn tallies_add_up_by_device_type() {
    with_apps(async |store, _| {
        let targeted = Tally { targeted: 9, ..Tally::default() };
        let failed = Tally { delivered: 1, failed: 2, reason: Some("no credentials".to_owned()), ..Tally::default() };
        let more = Tally { delivered: 3, gone: 4, expired: 5, ..Tally::default() };
        let steps = [(Web, &targeted), (Ios, &targeted), (Web, &failed), (Web, &more)];
        for (device_type, tally) in steps {
            let tally = tally.clone();
            store.write(APP, move |tx| pushes::add_tally(tx, APP, id(1), &device_type, &tally)).await.unwrap();
        }
        let reason = Some("no credentials".to_owned());
        let web = Tally { targeted: 9, delivered: 4, gone: 4, failed: 2, expired: 5, reason };
        let found = store.read(|tx| pushes::tallies(tx, APP, id(1))).await.unwrap();
        assert_eq!(found, [(Ios, targeted), (Web, web.clone())]);
        let other = Tally { reason: Some("no route".to_owned()), ..Tally::default() };
        store.write(APP, move |tx| pushes::add_tally(tx, APP, id(1), &Web, &other)).await.unwrap();
        let found = store.read(|tx| pushes::tallies(tx, APP, id(1))).await.unwrap();
        assert_eq!(found[1].1, Tally { reason: Some("no route".to_owned()), ..web }, "the last reason counts");
        assert_eq!(store.read(|tx| pushes::tallies(tx, APP, id(2))).await.unwrap(), []);
        assert_eq!(store.read(|tx| pushes::tallies(tx, OTHER, id(1))).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn blocks_settle_one_by_one() {
    with_apps(async |store, _| {
        let keys = [
            block(1, 0),
            block(1, 65_535),
            BlockKey { device_type: DeviceType::from_name("open::x").unwrap(), ..block(1, 0) },
            block(2, 0),
        ];
        let inserted = keys.clone();
        let insert =
            store.write(APP, move |tx| inserted.iter().try_for_each(|key| blocks::insert(tx, APP, key, progress())));
        let inserted: Result<(), Error> = insert.await;
        inserted.unwrap();
        let again = store.write(APP, |tx| blocks::insert(tx, APP, &block(1, 0), progress())).await;
        assert_eq!(conflict(again), "push_block_pkey");
        let unsettled = async |push| store.read(move |tx| blocks::unsettled(tx, APP, id(push))).await.unwrap();
        assert_eq!((unsettled(1).await, unsettled(2).await, unsettled(3).await), (3, 1, 0));
        let settled = BlockProgress {
            settled: true,
            tries: 3,
            pending: Vec::new(),
            delivered: vec![0, 0xff],
            gone: vec![7; 9000],
            failed: vec![1],
        };
        let (key, saved) = (keys[2].clone(), settled.clone());
        store.write(APP, move |tx| blocks::save(tx, APP, &key, saved.clone())).await.unwrap();
        assert_eq!((unsettled(1).await, unsettled(2).await), (2, 1));
        for (key, expected) in keys.into_iter().zip([progress(), progress(), settled, progress()]) {
            let wanted = key.clone();
            let found = store.read(move |tx| blocks::get(tx, APP, &wanted)).await.unwrap();
            assert_eq!(found, Some(expected), "{key:?}");
            assert_eq!(store.read(move |tx| blocks::get(tx, OTHER, &key)).await.unwrap(), None);
        }
    })
    .await;
}
