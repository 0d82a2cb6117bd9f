//! What became of pushes, and who responded to them.

use model::device_type::DeviceType;
use model::ids::{Ordinal, PushId};
use model::push_outcome::PushOutcome;
use model::time::UtcMillis;
use store::push_marks::{self, ResponseKind};
use store::push_outcomes::{self, OutcomeSet};
use store::pushes::{self, PushTexts};
use store::{Tx, push_received, push_responses};

use crate::on_both;
use crate::sample::{NOW, make_app};

fn set(block: u32, outcome: PushOutcome, since: i64, members: &[u8]) -> OutcomeSet {
    let (device_type, reason) = (DeviceType::Ios, "why".to_owned());
    OutcomeSet { block, device_type, outcome, reason, since: UtcMillis(since), members: members.to_vec() }
}

#[tokio::test]
async fn sets_grow_and_are_found_by_block_and_by_outcome() {
    on_both(async |store, _| {
        let (app, push) = (make_app(store, 1).await, PushId::at(NOW));
        let sets = [
            set(0, PushOutcome::Delivered, 1, b"a"),
            set(0, PushOutcome::Delivered, 2, b"b"),
            set(3, PushOutcome::Failed, 1, b"c"),
        ];
        let written = sets.clone();
        let write = move |tx: &mut Tx<'_>| {
            written.iter().try_for_each(|set| push_outcomes::put(tx, app, push, set.clone()))?;
            push_outcomes::put(tx, app, push, set(0, PushOutcome::Delivered, 2, b"bb"))
        };
        store.write(app, write).await.unwrap();
        let read = move |tx: &mut Tx<'_>| -> store::Result<_> {
            let blocks = [0, 1, 4].map(|from| push_outcomes::next_block(tx, app, push, from));
            let members = push_outcomes::members(tx, app, push, PushOutcome::Delivered..=PushOutcome::Delivered)?;
            Ok((
                blocks.into_iter().collect::<store::Result<Vec<_>>>()?,
                members,
                push_outcomes::in_block(tx, app, push, 0)?,
            ))
        };
        let (blocks, mut members, in_block) = store.read(read).await.unwrap();
        members.sort();
        let delivered = vec![(PushOutcome::Delivered, b"a".to_vec()), (PushOutcome::Delivered, b"bb".to_vec())];
        assert_eq!((blocks, members), (vec![Some(0), Some(3), None], delivered));
        assert_eq!(in_block, [sets[0].clone(), set(0, PushOutcome::Delivered, 2, b"bb")]);
    })
    .await;
}

#[tokio::test]
async fn responses_are_rows_until_they_are_sets_and_go_with_their_push() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let row = crate::sample::push(1);
        let push = row.id;
        let write = move |tx: &mut Tx<'_>| {
            pushes::insert(tx, app, &row, &PushTexts::default())?;
            push_responses::add(tx, app, push, Ordinal(7))?;
            push_received::add_row(tx, app, push, Ordinal(9))?;
            push_marks::influence(tx, app, push, Ordinal(8))?;
            push_marks::influence(tx, app, push, Ordinal(8))
        };
        store.write(app, write).await.unwrap();
        for (kind, ordinal) in [(ResponseKind::Opened, 7), (ResponseKind::Influenced, 8), (ResponseKind::Received, 9)] {
            let read = move |tx: &mut Tx<'_>| -> store::Result<_> {
                let later = UtcMillis(4_000_000_000_000);
                let found = push_marks::between(tx, app, push, kind, Ordinal(0), Ordinal(100))?;
                Ok((found, push_marks::before(tx, app, kind, NOW, 10)?, push_marks::before(tx, app, kind, later, 10)?))
            };
            let (found, too_new, old) = store.read(read).await.unwrap();
            assert_eq!((found, too_new), (vec![Ordinal(ordinal)], vec![]));
            assert_eq!(old, [(push, Ordinal(ordinal))]);
            let fold = move |tx: &mut Tx<'_>| {
                push_marks::put_set(tx, app, push, kind, 0, vec![1])?;
                push_marks::delete(tx, app, kind, &old)
            };
            store.write(app, fold).await.unwrap();
            let read = move |tx: &mut Tx<'_>| -> store::Result<_> {
                let mut rows = 0;
                push_marks::visit(tx, app, push, kind, |_| rows += 1)?;
                Ok((rows, push_marks::sets(tx, app, push, kind)?, push_marks::set(tx, app, push, kind, 1)?))
            };
            assert_eq!(store.read(read).await.unwrap(), (0, vec![(0, vec![1])], None));
        }
        store.write(app, move |tx| pushes::forget(tx, app, push)).await.unwrap();
        let left = move |tx: &mut Tx<'_>| push_marks::sets(tx, app, push, ResponseKind::Opened);
        assert_eq!(store.read(left).await.unwrap(), []);
    })
    .await;
}
