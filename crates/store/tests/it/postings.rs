//! Which channels the records of full sections of the log are about.

use std::collections::BTreeSet;

use model::event::RecordKind;
use model::ids::{Offset, Ordinal};
use store::log::{self, Mention, NewRecord};
use store::postings::{self, Bucket, Section};

use crate::on_both;
use crate::sample::{NOW, make_app, record};

fn section(n: i64) -> Section {
    Section::of(Offset(n * 8_192))
}

fn bucket(n: i64, bucket: u32) -> Bucket {
    Bucket { bucket, section: section(n), body: vec![u8::try_from(n).unwrap()] }
}

#[test]
fn sections_follow_each_other() {
    assert_eq!((section(2).first(), section(2).last()), (Offset(16_384), Offset(24_575)));
    assert_eq!(Section::of(section(2).last()), section(2));
    assert_eq!(
        (section(2).next(), section(2).first_of(2), section(2).first_of(1)),
        (section(3), section(1), section(2))
    );
}

#[tokio::test]
async fn sections_are_found_by_their_buckets() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        assert_eq!(store.read(move |tx| postings::last(tx, app)).await.unwrap(), None);
        let rows = || (0..5).flat_map(|n| [bucket(n, 0), bucket(n, 7)]).collect();
        store.write(app, move |tx| postings::insert(tx, app, rows())).await.unwrap();
        assert_eq!(store.read(move |tx| postings::last(tx, app)).await.unwrap(), Some(section(4)));
        let read = move |tx: &mut store::Tx<'_>| postings::read(tx, app, (section(1), section(2)), &[7, 8].into());
        let mut found = store.read(read).await.unwrap();
        found.sort_unstable_by_key(|bucket| bucket.section);
        assert_eq!(found, [bucket(1, 7), bucket(2, 7)]);
        assert_eq!(store.read(move |tx| postings::last(tx, other)).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn sections_go_with_their_records() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let write = move |tx: &mut store::Tx<'_>| {
            log::append(tx, app, NOW, vec![record("event"); 20_000])?;
            postings::insert(tx, app, vec![bucket(0, 0), bucket(0, 32), bucket(1, 0), bucket(1, 32)])
        };
        store.write(app, write).await.unwrap();
        for (first_kept, left) in [(8_191, 4), (8_192, 2), (16_000, 2), (17_000, 0)] {
            let delete = move |tx: &mut store::Tx<'_>| log::delete_before(tx, app, Offset(first_kept), 10_000);
            store.write(app, delete).await.unwrap();
            let buckets: BTreeSet<u32> = (0..=32).collect();
            let read = move |tx: &mut store::Tx<'_>| postings::read(tx, app, (section(0), section(2)), &buckets);
            assert_eq!(store.read(read).await.unwrap().len(), left, "before {first_kept}");
        }
        // A follower that read the records before they were deleted comes too late.
        let rows = || vec![bucket(0, 0), bucket(1, 0), bucket(1, 32), bucket(2, 0)];
        store.write(app, move |tx| postings::insert(tx, app, rows())).await.unwrap();
        let read = move |tx: &mut store::Tx<'_>| postings::read(tx, app, (section(0), section(2)), &[0, 32].into());
        assert_eq!(store.read(read).await.unwrap(), [bucket(2, 0)]);
    })
    .await;
}

#[tokio::test]
async fn records_say_what_they_are_about_and_are_found_by_their_offsets() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let kinds = [RecordKind::Terms, RecordKind::Custom, RecordKind::Custom, RecordKind::Send, RecordKind::Open];
        let ordinals = [None, None, Some(Ordinal(7)), None, Some(Ordinal(8))];
        let records = kinds.into_iter().zip(ordinals);
        let records: Vec<_> =
            records.map(|(kind, ordinal)| NewRecord { kind, ordinal, body: b"body".to_vec() }).collect();
        store.write(app, move |tx| log::append(tx, app, NOW, records.clone())).await.unwrap();
        let mut seen = Vec::new();
        let visit = move |tx: &mut store::Tx<'_>| {
            seen.clear();
            log::visit_mentions(tx, app, (Offset(1), Offset(4)), |Mention { offset, kind, ordinal, body }| {
                seen.push((offset.0, kind, ordinal, body.map(<[u8]>::to_vec)));
                Ok(())
            })?;
            Ok::<_, store::Error>(seen.clone())
        };
        let body = Some(b"body".to_vec());
        let expected = [
            (1, RecordKind::Terms, None, None),
            (2, RecordKind::Custom, None, body.clone()),
            (3, RecordKind::Custom, Some(Ordinal(7)), None),
            (4, RecordKind::Send, None, body),
        ];
        assert_eq!(store.read(visit).await.unwrap(), expected);
        let wanted = [Offset(5), Offset(9), Offset(2)];
        let found = store.read(move |tx| log::at_offsets(tx, app, &wanted)).await.unwrap();
        assert_eq!(found.iter().map(|record| record.offset.0).collect::<Vec<_>>(), [5, 2]);
    })
    .await;
}
