//! Those who follow the log: their places in it, and when their jobs are due.

use std::collections::BTreeMap;

use model::event::EventOffset;
use model::ids::{AppId, Id, Offset};
use model::time::UtcMillis;
use store::followers::Lag;
use store::jobs::{self, ClaimedJob, JobId, NEVER, NewJob};
use store::{Part, Store, Tx, followers, log};

use crate::on_both;
use crate::sample::{self, make_app, record};

const NOW: UtcMillis = UtcMillis(1_000);

async fn claim(store: &Store) -> Option<ClaimedJob> {
    let claim = |tx: &mut Tx<'_>| sample::claim(tx, NOW, UtcMillis(2_000), 1);
    store.write(AppId(0), claim).await.unwrap().pop()
}

async fn behind(store: &Store, at: i64) -> Vec<(AppId, JobId)> {
    store.read(move |tx| followers::behind(tx, &Part::ALL, UtcMillis(at))).await.unwrap()
}

#[tokio::test]
async fn a_follower_sleeps_until_its_log_grows() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let id: JobId = Id::random();
        let begin = move |tx: &mut Tx<'_>| {
            let job =
                NewJob { id, kind: "x", lane: "x".to_owned(), due: NOW, turn: 0, push: None, payload: Vec::new() };
            jobs::enqueue(tx, app, job)?;
            followers::start(tx, app, id, EventOffset::START)
        };
        store.write(app, begin).await.unwrap();
        let append = move |tx: &mut Tx<'_>| log::append(tx, app, NOW, vec![record("a"), record("b")]);

        let job = claim(store).await.unwrap();
        store.write(app, append).await.unwrap();
        assert_eq!(behind(store, 1_000).await, [], "it is running, and looks for itself before it rests");
        let first = EventOffset::new(Offset(1), 0);
        let resting = job.clone();
        let rest = move |tx: &mut Tx<'_>| {
            followers::advance(tx, app, id, first)?;
            followers::rest(tx, &resting, NOW)
        };
        store.write(app, rest).await.unwrap();
        let job = claim(store).await.expect("the second record is left to read");

        let rest = move |tx: &mut Tx<'_>| {
            followers::advance(tx, app, id, EventOffset::end_of(Offset(2)))?;
            followers::rest(tx, &job, NOW)
        };
        store.write(app, rest).await.unwrap();
        assert_eq!(claim(store).await, None);
        assert_eq!(behind(store, 1_000).await, []);
        assert_eq!(store.read(jobs::next_due).await.unwrap(), Some(NEVER));

        store.write(app, append).await.unwrap();
        let sleeping = behind(store, 1_000).await;
        assert_eq!(sleeping, [(app, id)]);
        store.write(AppId(0), move |tx| jobs::wake(tx, &sleeping, NOW)).await.unwrap();
        let job = claim(store).await.unwrap();

        let until = move |tx: &mut Tx<'_>| followers::rest_until(tx, &job, UtcMillis(1_500));
        store.write(app, until).await.unwrap();
        assert_eq!(behind(store, 1_499).await, [], "what has failed is left alone for a while");
        store.write(app, move |tx| followers::stop(tx, app, id)).await.unwrap();
        assert_eq!(store.read(move |tx| followers::position(tx, app, id)).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn followers_are_told_by_how_far_they_are_behind() {
    on_both(async |store, _| {
        let apps = [make_app(store, 1).await, make_app(store, 2).await];
        // One at the end of its log, one that has read a record of three, one that has read none, and one that rests for good.
        let followers = [(apps[0], "done", 3), (apps[0], "first", 1), (apps[1], "none", 0), (apps[1], "disabled", 0)];
        for app in apps {
            let append = move |tx: &mut Tx<'_>| {
                let records = ["a", "b", "c"].map(record);
                log::append(tx, app, NOW, records.into())
            };
            store.write(app, append).await.unwrap();
        }
        for (n, (app, kind, n_read)) in (1..).zip(followers) {
            let begin = move |tx: &mut Tx<'_>| {
                jobs::enqueue(tx, app, NewJob { kind, ..sample::job(n, NOW.0) })?;
                followers::start(tx, app, sample::id(n), EventOffset::end_of(Offset(n_read)))
            };
            store.write(app, begin).await.unwrap();
        }
        let claim =
            move |tx: &mut Tx<'_>| jobs::claim(tx, sample::node(7), &[(apps[1], sample::id(4))], NOW, UtcMillis(2_000));
        let disabled = store.write(apps[1], claim).await.unwrap().pop().unwrap();
        store.write(apps[1], move |tx| followers::rest_until(tx, &disabled, NEVER)).await.unwrap();
        let lags =
            async |at_most| store.read(move |tx| followers::furthest_behind(tx, &Part::ALL, at_most)).await.unwrap();
        let lag = |app, kind: &str, n_records| Lag { app, kind: kind.to_owned(), n_records };
        let expected = [lag(apps[1], "none", 3), lag(apps[0], "first", 2), lag(apps[0], "done", 0)];
        assert_eq!(lags(10).await, expected);
        assert_eq!(lags(2).await, expected[..2]);
        let heads = store.read(|tx| log::heads(tx, &Part::ALL)).await.unwrap();
        assert_eq!(BTreeMap::from_iter(heads), BTreeMap::from(apps.map(|app| (app, Offset(3)))));
    })
    .await;
}
