//! What channels looked like before they changed.

use model::ids::{NamedUserId, Offset, Ordinal};
use store::faces::{self, EndedFace, EndingFace};
use store::log;

use crate::on_both;
use crate::sample::{NOW, make_app, record};

/// More than are read at once.
const CHANGES: i64 = 600;

fn face(n: i64) -> EndedFace {
    // Every other one is of the restless channel 7, the rest of one that is not asked for.
    let ordinal = Ordinal(if n % 2 == 0 { 7 } else { 8 });
    EndedFace { ordinal, until: Offset(n), body: n.to_string().into_bytes() }
}

fn ending(n: i64) -> EndingFace {
    EndingFace { face: face(n), left_user: None }
}

#[tokio::test]
async fn a_channel_is_found_as_it_was_however_often_it_has_changed() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        store.write(app, move |tx| faces::insert(tx, app, (1..=CHANGES).map(ending).collect())).await.unwrap();
        for first in [1, CHANGES - 20] {
            let offsets = (first..=CHANGES + 1).step_by(3);
            let shown: Vec<(Ordinal, Offset)> =
                offsets.flat_map(|n| [7, 9].map(|channel| (Ordinal(channel), Offset(n)))).collect();
            let asked = shown.clone();
            let found = store.read(move |tx| faces::at(tx, app, &asked)).await.unwrap();
            assert!(found.is_sorted_by_key(|face| (face.ordinal, face.until)));
            for (ordinal, offset) in shown {
                let found = found.iter().find(|face| face.ordinal == ordinal && face.until >= offset);
                let is_known = ordinal == Ordinal(7) && offset.0 <= CHANGES;
                let expected = is_known.then(|| face(offset.0 + offset.0 % 2));
                assert_eq!(found, expected.as_ref(), "channel {} at {}", ordinal.0, offset.0);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn faces_go_with_the_events_that_show_them_and_count_with_the_log() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let write = move |tx: &mut store::Tx<'_>| {
            log::append(tx, app, NOW, vec![record("event"); 10])?;
            faces::insert(tx, app, (0..10).map(ending).collect())
        };
        store.write(app, write).await.unwrap();
        let n_bytes = store.read(move |tx| log::n_bytes(tx, app)).await.unwrap();
        assert_eq!(n_bytes, 10 * 5 + 10);
        store.write(app, move |tx| log::delete_before(tx, app, Offset(4), 100)).await.unwrap();
        let shown = [(Ordinal(7), Offset(0)), (Ordinal(8), Offset(0))];
        let left = store.read(move |tx| faces::at(tx, app, &shown)).await.unwrap();
        let mut left: Vec<i64> = left.iter().map(|face| face.until.0).collect();
        left.sort_unstable();
        assert_eq!(left, (4..10).collect::<Vec<_>>());
        assert_eq!(store.read(move |tx| log::n_bytes(tx, app)).await.unwrap(), n_bytes - 3 * 5 - 4);
    })
    .await;
}

#[tokio::test]
async fn changes_are_found_newest_first_and_by_the_user_who_was_left() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let jo = NamedUserId::new("jo").unwrap();
        let leaving = {
            let jo = jo.clone();
            move |n: i64| EndingFace { face: face(n), left_user: (n % 5 == 0).then(|| jo.clone()) }
        };
        store.write(app, move |tx| faces::insert(tx, app, (1..=10).map(&leaving).collect())).await.unwrap();
        let found = store.read(move |tx| faces::before(tx, app, [Ordinal(7)], Offset(8), 2)).await.unwrap();
        assert_eq!(found, [face(6), face(4)]);
        for (user, left) in [(jo, vec![Ordinal(7), Ordinal(8)]), (NamedUserId::new("ann").unwrap(), Vec::new())] {
            let found = store.read(move |tx| faces::left_by(tx, app, &user, 10)).await.unwrap();
            assert_eq!(found, left);
        }
    })
    .await;
}
