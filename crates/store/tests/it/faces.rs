//! What channels looked like before they changed.

use model::ids::{Offset, Ordinal};
use store::faces::{self, EndedFace};
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

#[tokio::test]
async fn a_channel_is_found_as_it_was_however_often_it_has_changed() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        store.write(app, move |tx| faces::insert(tx, app, (1..=CHANGES).map(face).collect())).await.unwrap();
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
            faces::insert(tx, app, (0..10).map(face).collect())
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
