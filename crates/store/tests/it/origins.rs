//! Where pushes come from, who has got them, and timers that are called off.

use model::ids::{AppId, Id};
use model::origin::{Origin, Part, Provenance};
use model::time::UtcMillis;
use store::blocks::{self, BlockProgress};
use store::jobs::{self, NewJob};
use store::{documents, origins};

use crate::sample::{self, block, id, progress};
use crate::with_apps;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

fn of_run(origin: Origin, run: &str) -> Provenance {
    Provenance { origin, run: Some(run.to_owned()), part: Part::Clocks(vec!["Asia/Tokyo".to_owned()]) }
}

#[tokio::test]
async fn origins_come_back_as_they_were() {
    with_apps(async |store, _| {
        let (schedule, another) = (Origin::Schedule(id(7)), Origin::Schedule(id(8)));
        let rows = [
            (1, of_run(schedule, "a")),
            (2, of_run(schedule, "b")),
            (3, Provenance::of(Origin::Template(id(7)))),
            (4, of_run(another, "a")),
            (5, of_run(schedule, "a")),
        ];
        for (push, provenance) in rows.clone() {
            store.write(APP, move |tx| origins::insert(tx, APP, id(push), &provenance)).await.unwrap();
        }
        let api = Provenance::of(Origin::Api);
        let unstored = api.clone();
        store.write(APP, move |tx| origins::insert(tx, APP, id(6), &unstored)).await.unwrap();
        for (push, provenance) in rows.into_iter().chain([(6, api.clone()), (9, api.clone())]) {
            assert_eq!(store.read(move |tx| origins::of(tx, APP, id(push))).await.unwrap(), provenance);
        }
        assert_eq!(store.read(|tx| origins::of(tx, OTHER, id(1))).await.unwrap(), api);

        let of = async |origin, run: &'static str| {
            store.read(move |tx| origins::pushes_of_run(tx, APP, origin, run)).await.unwrap()
        };
        assert_eq!(of(schedule, "a").await, [id(1), id(5)]);
        assert_eq!(of(another, "a").await, [id(4)]);
        assert_eq!(of(schedule, "c").await, []);
        assert_eq!(of(Origin::Api, "a").await, []);
        let last =
            async |at_most| store.read(move |tx| origins::last_pushes(tx, APP, schedule, at_most)).await.unwrap();
        // The template has the same id, which happens in tests only.
        assert_eq!(last(2).await, [id(3), id(5)]);
        assert_eq!(last(9).await, [id(1), id(2), id(3), id(5)]);
        assert_eq!(store.read(move |tx| origins::last_pushes(tx, OTHER, schedule, 9)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn recipients_are_in_all_of_the_sets() {
    with_apps(async |store, _| {
        let sets = BlockProgress { pending: vec![1], delivered: vec![2], gone: vec![3], failed: vec![4], ..progress() };
        store.write(APP, move |tx| blocks::insert(tx, APP, &block(1, 0), sets.clone())).await.unwrap();
        let other = BlockProgress { pending: vec![5], delivered: vec![], gone: vec![], failed: vec![], ..progress() };
        store.write(APP, move |tx| blocks::insert(tx, APP, &block(1, 7), other.clone())).await.unwrap();
        store.write(APP, move |tx| blocks::insert(tx, APP, &block(2, 0), progress())).await.unwrap();
        let mut found = store.read(|tx| blocks::recipients(tx, APP, id(1))).await.unwrap().concat();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 4, 5]);
        assert!(store.read(|tx| blocks::recipients(tx, OTHER, id(1))).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_timer_can_be_called_off_even_while_it_runs() {
    with_apps(async |store, _| {
        let timers = [Id::from_uuid(id::<()>(1).uuid()), Id::from_uuid(id::<()>(2).uuid())];
        for timer in timers {
            let job = NewJob {
                id: timer,
                kind: "fire_schedule",
                lane: "fire_schedule".to_owned(),
                due: UtcMillis(5),
                turn: 0,
                push: None,
                payload: Vec::new(),
            };
            store.write(APP, move |tx| jobs::enqueue(tx, APP, job.clone())).await.unwrap();
        }
        let claim = |tx: &mut store::Tx<'_>| sample::claim(tx, UtcMillis(5), UtcMillis(9), 9);
        let mine = store.write(APP, claim).await.unwrap().into_iter().filter(|job| job.app == APP);
        let mine: Vec<_> = mine.collect();
        assert_eq!(mine.len(), 2);
        store.write(APP, move |tx| jobs::cancel(tx, OTHER, timers[0])).await.unwrap();
        store.write(APP, move |tx| jobs::cancel(tx, APP, timers[0])).await.unwrap();
        for job in mine {
            let is_left = job.id == timers[1];
            assert_eq!(store.write(APP, move |tx| jobs::settle(tx, &job)).await.is_ok(), is_left);
        }
    })
    .await;
}

#[tokio::test]
async fn documents_are_counted_by_kind() {
    with_apps(async |store, _| {
        use documents::DocumentKind::{Schedule, Template};
        for name in ["a", "b"] {
            store.write(APP, move |tx| documents::put(tx, APP, Schedule, name, "{}", UtcMillis(1))).await.unwrap();
        }
        let count = async |app, kind| store.read(move |tx| documents::count(tx, app, kind)).await.unwrap();
        assert_eq!((count(APP, Schedule).await, count(APP, Template).await, count(OTHER, Schedule).await), (2, 0, 0));
    })
    .await;
}
