//! What the intake of events keeps: counts of custom events, open sessions and known ids.

use std::collections::BTreeSet;

use model::ids::{AppId, EventId, Id, Ordinal, PushId, SessionId};
use model::time::UtcMillis;
use store::counters::Pushes;
use store::event_counters::{self, Conversion, Counted, EventTotal, Sum};
use store::sessions::{self, LastOpening};
use store::{Error, Tx, seen_events, seen_uploads};

use uuid::Uuid;

use crate::batch::{Command, in_one_batch};
use crate::with_apps;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);
const HOUR: i64 = 3_600_000;

#[tokio::test]
async fn custom_events_are_added_up() {
    with_apps(async |store, _| {
        let push: PushId = Id::from_uuid(Uuid::from_u128(7));
        let bought = |hour: i64, push: Option<PushId>| {
            let conversion = if push.is_some() { Conversion::Direct } else { Conversion::Unattributed };
            Counted::at(UtcMillis(hour * HOUR + 5), "bought", conversion, push)
        };
        for (app, counted, sum) in [
            (APP, bought(3, Some(push)), Sum { n: 1, millionths: 100_000.0 }),
            (APP, bought(3, Some(push)), Sum { n: 2, millionths: 200_000.0 }),
            (APP, bought(3, None), Sum { n: 1, millionths: 0.0 }),
            (APP, bought(4, None), Sum { n: 1, millionths: -1.0 }),
            (OTHER, bought(3, Some(push)), Sum { n: 9, millionths: 9.0 }),
        ] {
            store.write(app, move |tx| event_counters::add(tx, app, counted.clone(), sum)).await.unwrap();
        }
        let total = |conversion, n, millionths| {
            let sum = Sum { n, millionths };
            EventTotal { name: "bought".to_owned(), conversion, sum }
        };
        let of_push = total(Conversion::Direct, 3, 300_000.0);
        for (hours, totals) in [
            (3..4, vec![of_push.clone(), total(Conversion::Unattributed, 1, 0.0)]),
            (4..5, vec![total(Conversion::Unattributed, 1, -1.0)]),
            (3..5, vec![of_push.clone(), total(Conversion::Unattributed, 2, -1.0)]),
            (4..4, vec![]),
        ] {
            assert_eq!(store.read(move |tx| event_counters::totals(tx, APP, &hours)).await.unwrap(), totals);
        }
        let found = store.read(move |tx| event_counters::totals_of_pushes(tx, APP, Pushes::One(push))).await.unwrap();
        assert_eq!(found, [of_push]);
    })
    .await;
}

#[tokio::test]
async fn a_channel_has_one_last_opening() {
    with_apps(async |store, _| {
        let last = |session: Option<&str>, at| LastOpening { session: session.map(SessionId::of), at: UtcMillis(at) };
        for last in [last(Some("a"), 1), last(Some("b"), 2), last(None, 2), last(Some("a"), 3)] {
            let write = move |tx: &mut Tx<'_>| {
                sessions::set(tx, APP, Ordinal(5), last)?;
                sessions::get(tx, APP, Ordinal(5))
            };
            assert_eq!(store.write(APP, write).await.unwrap(), Some(last));
        }
        assert_eq!(store.read(|tx| sessions::get(tx, OTHER, Ordinal(5))).await.unwrap(), None);
        store.write(APP, |tx| sessions::forget(tx, APP, Ordinal(5))).await.unwrap();
        assert_eq!(store.read(|tx| sessions::get(tx, APP, Ordinal(5))).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn ids_are_known_until_their_hour_is_forgotten() {
    with_apps(async |store, _| {
        let id = |n: u128| -> EventId { Id::from_uuid(Uuid::from_u128(n)) };
        let events = [(10, id(1)), (10, id(2)), (11, id(3))];
        store.write(APP, move |tx| seen_events::add(tx, APP, &events)).await.unwrap();
        let asked = [(10, id(1)), (11, id(1)), (11, id(3)), (11, id(4))];
        let known = store.read(move |tx| seen_events::known(tx, APP, &asked)).await.unwrap();
        assert_eq!(known, [(10, id(1)), (11, id(3))].into());
        assert!(store.read(move |tx| seen_events::known(tx, OTHER, &asked)).await.unwrap().is_empty());
        let forget = || store.write(APP, |tx| seen_events::forget_before(tx, APP, 11, 1));
        assert_eq!([forget().await.unwrap(), forget().await.unwrap(), forget().await.unwrap()], [true, true, false]);
        let left = store.read(move |tx| Ok::<_, Error>(seen_events::known(tx, APP, &events)?.len())).await.unwrap();
        assert_eq!(left, 1);
    })
    .await;
}

#[tokio::test]
async fn uploads_that_were_taken_are_known_to_their_channel() {
    with_apps(async |store, _| {
        let id = |n: u128| -> EventId { Id::from_uuid(Uuid::from_u128(n)) };
        let (mine, others) = (Ordinal(3), Ordinal(4));
        for upload in [vec![(10, id(1)), (11, id(3)), (10, id(2))], vec![(10, id(4))]] {
            store.write(APP, move |tx| seen_uploads::add(tx, APP, mine, &upload, &BTreeSet::new())).await.unwrap();
        }
        let known = async |app, ordinal, hours: Vec<i64>| {
            let known = move |tx: &mut Tx<'_>| {
                let mut known = Vec::new();
                seen_uploads::visit_known(tx, app, ordinal, hours, |hour, ids| known.extend(ids.map(|id| (hour, id))))?;
                Ok::<_, Error>(known)
            };
            let mut known = store.read(known).await.unwrap();
            known.sort_unstable();
            known
        };
        assert_eq!(known(APP, mine, vec![10]).await, [(10, id(1)), (10, id(2)), (10, id(4))]);
        assert_eq!(known(APP, mine, vec![11, 12]).await, [(11, id(3))]);
        assert_eq!(known(APP, others, vec![10]).await, []);
        assert_eq!(known(OTHER, mine, vec![10]).await, []);
        let forget = || store.write(APP, |tx| seen_uploads::forget_before(tx, APP, 11, 1));
        assert_eq!([forget().await.unwrap(), forget().await.unwrap(), forget().await.unwrap()], [true, true, false]);
        assert_eq!(known(APP, mine, vec![10, 11]).await, [(11, id(3))]);
        let both = [(11, id(5)), (11, id(6))];
        store.write(APP, move |tx| seen_uploads::add(tx, APP, mine, &both, &BTreeSet::new())).await.unwrap();
        let erased = [(10, id(6)), (11, id(3)), (11, id(5))].into();
        store.write(APP, move |tx| seen_uploads::forget(tx, APP, mine, &erased)).await.unwrap();
        assert_eq!(known(APP, mine, vec![10, 11]).await, [(11, id(6))]);
    })
    .await;
}

#[tokio::test]
async fn rows_of_a_crowded_hour_are_merged_by_the_upload_that_adds_one() {
    with_apps(async |store, _| {
        let id = |n: u128| -> EventId { Id::from_uuid(Uuid::from_u128(n)) };
        let add = async |ordinal, events: Vec<(i64, EventId)>, crowded: &[i64]| {
            let crowded = crowded.iter().copied().collect();
            store.write(APP, move |tx| seen_uploads::add(tx, APP, ordinal, &events, &crowded)).await.unwrap();
        };
        for n in 0..4 {
            add(Ordinal(3), vec![(10, id(n)), (11, id(10 + n))], &[]).await;
            add(Ordinal(4), vec![(10, id(n))], &[]).await;
        }
        add(Ordinal(3), vec![(10, id(4))], &[10, 11]).await;
        let rows = async |ordinal: Ordinal, hour: i64| {
            let rows = move |tx: &mut Tx<'_>| {
                let mut rows = Vec::new();
                seen_uploads::visit_known(tx, APP, ordinal, [hour], |_, ids| rows.push(ids.collect::<BTreeSet<_>>()))?;
                Ok::<_, Error>(rows)
            };
            store.read(rows).await.unwrap()
        };
        assert_eq!(rows(Ordinal(3), 10).await, [(0..5).map(id).collect()]);
        assert_eq!(rows(Ordinal(3), 11).await.len(), 4, "nothing was added to that hour");
        assert_eq!(rows(Ordinal(4), 10).await.len(), 4, "another channel's");
    })
    .await;
}

#[tokio::test]
async fn an_announced_question_is_answered_as_of_when_it_is_asked() {
    with_apps(async |store, _| {
        // Each event is named by two commands of the batch, and all of them change the same session.
        let id = |n: u128| -> EventId { Id::from_uuid(Uuid::from_u128(n)) };
        let take = |n: u128| -> Command<(u128, usize)> {
            let events = [(7, id(n)), (7, id(n + 1))];
            Box::new(move |tx| {
                seen_uploads::foresee(tx, APP, Ordinal(5), [7]);
                sessions::foresee(tx, APP, Ordinal(5));
                let mut known = Vec::new();
                seen_uploads::visit_known(tx, APP, Ordinal(5), [7], |hour, ids| {
                    known.extend(ids.map(|id| (hour, id)))
                })?;
                let new: Vec<_> = events.into_iter().filter(|event| !known.contains(event)).collect();
                let n_before = sessions::get(tx, APP, Ordinal(5))?.map_or(0, |last| last.at.0);
                seen_uploads::add(tx, APP, Ordinal(5), &new, &BTreeSet::from([7]))?;
                let last = LastOpening { session: Some(SessionId::of("a")), at: UtcMillis(n_before + 1) };
                sessions::set(tx, APP, Ordinal(5), last)?;
                Ok((n, new.len()))
            })
        };
        let (answers, n_commits) = in_one_batch(store, APP, (0..8).map(take).collect()).await;
        let answers: Vec<(u128, usize)> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers.iter().map(|(_, n_new)| n_new).sum::<usize>(), 9, "{answers:?}");
        assert_eq!(n_commits, 1);
        let last = store.read(|tx| sessions::get(tx, APP, Ordinal(5))).await.unwrap().unwrap();
        assert_eq!(last.at, UtcMillis(8), "each sees what those before it have written");
    })
    .await;
}
