//! Jobs: due times, leases, and the fence around a worker that lost its lease.

mod leases;
mod nodes;

use std::collections::BTreeSet;

use model::ids::AppId;
use model::time::UtcMillis;
use store::jobs::{self, Backlog, ClaimedJob, Lane, NewJob, ParkUntil};
use store::nodes::Node;
use store::{Constraint, Error, Signal, Store, Tx};
use testkit::store::{Database, databases, fresh};
use tokio::task::JoinSet;

use crate::sample::{self, id, job, job_depth};
use crate::{make_apps, with_apps};

const OPERATOR: AppId = AppId(0);
const APP: AppId = AppId(1);

async fn enqueue(store: &Store, app: AppId, n: u32, due: i64) {
    store.write(app, move |tx| jobs::enqueue(tx, app, job(n, due))).await.unwrap();
}

async fn claim(store: &Store, now: i64, lease_until: i64, at_most: u32) -> Vec<ClaimedJob> {
    let (now, lease_until) = (UtcMillis(now), UtcMillis(lease_until));
    store.write(OPERATOR, move |tx| sample::claim(tx, now, lease_until, at_most)).await.unwrap()
}

async fn claim_one(store: &Store, now: i64, lease_until: i64) -> ClaimedJob {
    let claimed = claim(store, now, lease_until, 10).await;
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed.into_iter().next().unwrap()
}

#[tokio::test]
async fn the_longest_due_come_first() {
    with_apps(async |store, _| {
        let dues = [50, 20, 40, 10, 30, 60, 20];
        for (n, due) in (0..).zip(dues) {
            enqueue(store, AppId(i64::from(n) % 3), n, due).await;
        }
        let numbers = |claimed: &[ClaimedJob]| claimed.iter().map(|job| job.payload[3]).collect::<Vec<_>>();
        assert_eq!(numbers(&claim(store, 9, 1000, 10).await), [0; 0]);
        let first = claim(store, 50, 1000, 3).await;
        // Of jobs due at the same time, those of the older app come first.
        assert_eq!(numbers(&first), [3, 6, 1]);
        let expected = ClaimedJob {
            app: AppId(0),
            id: id(3),
            kind: "sample".to_owned(),
            attempt: 1,
            failures: 0,
            payload: vec![0, 0, 0, 3],
            previous_holder: None,
        };
        assert_eq!(first[0], expected);
        assert_eq!(numbers(&claim(store, 50, 1000, 10).await), [4, 2, 0]);
        assert_eq!(numbers(&claim(store, 50, 1000, 10).await), [0; 0]);
        assert_eq!(store.read(jobs::next_due).await.unwrap(), Some(UtcMillis(60)));
        assert_eq!(store.read(job_depth).await.unwrap(), (7, 6));
    })
    .await;
}

#[tokio::test]
async fn the_backlog_is_what_is_due_and_not_held() {
    with_apps(async |store, _| {
        for (n, due) in [(0, 50), (1, 20), (2, 40), (3, 1_000_000)] {
            enqueue(store, APP, n, due).await;
        }
        let backlog = async |now, at_most| {
            let read = move |tx: &mut Tx<'_>| jobs::backlog(tx, &store::Part::ALL, UtcMillis(now), at_most);
            let Backlog { n_overdue, longest_due } = store.read(read).await.unwrap();
            (n_overdue, longest_due.map(|due| due.0))
        };
        assert_eq!(backlog(19, 10).await, (0, None));
        assert_eq!(backlog(60, 10).await, (3, Some(20)));
        assert_eq!(backlog(60, 2).await, (2, Some(20)), "no more are counted");
        claim(store, 60, 100, 1).await;
        assert_eq!(backlog(60, 10).await, (2, Some(40)));
        assert_eq!(backlog(100, 10).await, (3, Some(40)), "its lease has run out");
    })
    .await;
}

/// Of those that wait for a time, and not those that wait to be woken or are held.
#[tokio::test]
async fn a_job_is_on_time_until_it_fails() {
    with_apps(async |store, _| {
        enqueue(store, APP, 0, 10).await;
        let is_on_time = async |job: u32, now: i64| {
            let read = move |tx: &mut Tx<'_>| jobs::is_on_time(tx, APP, id(job), UtcMillis(now));
            store.read(read).await.unwrap_or_else(|error: Error| panic!("{error}"))
        };
        assert_eq!([is_on_time(0, 9).await, is_on_time(0, 10).await, is_on_time(1, 10).await], [false, true, false]);
        let claimed = claim(store, 10, 200, 1).await.remove(0);
        assert!(is_on_time(0, 11).await, "it runs");
        store.write(APP, move |tx| jobs::postpone_failed(tx, &claimed, UtcMillis(20))).await.unwrap();
        assert_eq!([is_on_time(0, 11).await, is_on_time(0, 30).await], [false, false]);
    })
    .await;
}

#[tokio::test]
async fn jobs_that_wait_beyond_an_instant_are_found() {
    with_apps(async |store, _| {
        for (n, due) in [(0, 10), (1, 101), (2, 100), (3, jobs::NEVER.0), (4, jobs::NEVER.0 - 1), (5, 102)] {
            enqueue(store, APP, n, due).await;
        }
        claim(store, 10, 200, 1).await;
        let beyond = async |kind: &'static str, at_most| {
            let part = store::Part::ALL;
            let read = move |tx: &mut Tx<'_>| jobs::due_after(tx, &part, &[kind], UtcMillis(100), at_most);
            store.read(read).await.unwrap_or_else(|error: Error| panic!("{error}"))
        };
        assert_eq!(beyond("sample", 10).await, [(APP, id(1)), (APP, id(5))]);
        assert_eq!(beyond("sample", 1).await, [(APP, id(1))]);
        assert_eq!(beyond("another", 10).await, []);
        let found = beyond("sample", 10).await;
        store.write(OPERATOR, move |tx| jobs::wake(tx, &found, UtcMillis(50))).await.unwrap();
        assert_eq!(beyond("sample", 10).await, []);
        assert_eq!(claim(store, 50, 200, 10).await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_job_exists_once() {
    with_apps(async |store, _| {
        assert_eq!(store.read(jobs::next_due).await.unwrap(), None);
        enqueue(store, APP, 1, 10).await;
        enqueue(store, APP, 1, 5).await;
        enqueue(store, AppId(2), 1, 20).await;
        assert_eq!(store.read(job_depth).await.unwrap(), (2, 0));
        assert_eq!(store.read(jobs::next_due).await.unwrap(), Some(UtcMillis(10)), "the first one stays");
        let held = claim_one(store, 10, 100).await;
        enqueue(store, APP, 1, 10).await;
        assert_eq!(claim(store, 10, 100, 10).await, [], "also while it is held");
        let settled = held.clone();
        store.write(APP, move |tx| jobs::settle(tx, &settled)).await.unwrap();
        assert_eq!(leases::powers(store, &held).await, [false; 3]);
        assert_eq!(store.read(job_depth).await.unwrap(), (1, 0), "the other app's job is untouched");
        enqueue(store, APP, 1, 10).await;
        let next = claim_one(store, 10, 100).await;
        assert_eq!((next.id, next.attempt), (held.id, 1), "a settled job may be enqueued again");
    })
    .await;
}

#[tokio::test]
async fn new_work_is_signaled() {
    with_apps(async |store, _| {
        let mut signals = store.signals();
        enqueue(store, APP, 1, 10).await;
        assert_eq!(signals.next().await, Signal::Jobs);
        let held = claim_one(store, 10, 100).await;
        store.write(APP, move |tx| jobs::postpone(tx, &held, UtcMillis(50))).await.unwrap();
        assert_eq!(signals.next().await, Signal::Jobs);
    })
    .await;
}

#[tokio::test]
async fn claimers_share_nothing() {
    with_apps(async |store, _| claim_in_a_crowd(std::slice::from_ref(store)).await).await;
}

#[tokio::test]
async fn claimers_of_two_nodes_share_nothing() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    make_apps(&store).await;
    let other = home.open().await;
    claim_in_a_crowd(&[store.clone(), other.clone()]).await;
    store.close().await;
    other.close().await;
}

/// Claimers on all stores, each on a connection of its own, take everything there is.
async fn claim_in_a_crowd(stores: &[Store]) {
    let filled: Result<(), Error> = stores[0]
        .write(OPERATOR, |tx| (0..300).try_for_each(|n| jobs::enqueue(tx, AppId(i64::from(n) % 7), job(n, 10))))
        .await;
    filled.unwrap();
    let mut claimers = JoinSet::new();
    for (store, writer) in stores.iter().flat_map(|store| (0..4).map(move |writer| (store, writer))) {
        let store = store.clone();
        claimers.spawn(async move {
            let mut all = Vec::new();
            loop {
                let claim = |tx: &mut Tx<'_>| sample::claim(tx, UtcMillis(10), UtcMillis(1000), 7);
                let claimed = store.write(AppId(writer), claim).await.unwrap();
                assert!(claimed.len() <= 7, "{} jobs at once", claimed.len());
                if claimed.is_empty() {
                    return all;
                }
                all.extend(claimed);
            }
        });
    }
    let claimed: Vec<_> = claimers.join_all().await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 300);
    assert!(claimed.iter().all(|job| job.attempt == 1));
    assert_eq!(claimed.iter().map(|job| (job.app, job.id)).collect::<BTreeSet<_>>().len(), 300);
}

#[tokio::test]
async fn the_first_of_every_lane_and_turn_is_seen_behind_any_backlog() {
    with_apps(async |store, _| {
        let rows = [
            // App, lane, turn, due.
            (1, "busy", 0, 1),
            (1, "busy", 0, 2),
            (1, "busy", 0, 3),
            (1, "busy", 3, 1),
            (1, "calm", 2, 9),
            (1, "calm", 2, 8),
            (1, "later", 0, 11),
            (2, "busy", 1, 10),
            (2, "busy", 2, 11),
            (3, "calm", 0, 7),
        ];
        for (n, (app, lane, turn, due)) in (1..).zip(rows) {
            let job = NewJob { lane: lane.to_owned(), turn, ..job(n, due) };
            store.write(OPERATOR, move |tx| jobs::enqueue(tx, AppId(app), job.clone())).await.unwrap();
        }
        let due = async |at_most| {
            let due = store.read(move |tx| jobs::due(tx, &store::Part::ALL, UtcMillis(10), at_most)).await.unwrap();
            let shown = due.jobs.iter().map(|job| {
                assert_eq!(job.app, job.lane.app);
                (job.app.0, job.lane.name.clone(), job.turn, job.due.0)
            });
            (shown.collect::<Vec<_>>(), due.are_all)
        };
        let row = |(app, lane, turn, due): (i64, &str, u32, i64)| (app, lane.to_owned(), turn, due);
        let by_due = [rows[0], rows[3], rows[1], rows[2], rows[9], rows[5], rows[4], rows[7]].map(row);
        assert_eq!(due(9).await, (by_due.to_vec(), true));
        let (seen, are_all) = due(2).await;
        assert_eq!((&seen[..2], are_all), (&by_due[..2], false));
        let others: BTreeSet<_> = seen[2..].iter().cloned().collect();
        assert_eq!(others, BTreeSet::from([rows[5], rows[7], rows[9]].map(row)), "each lane and turn once");
    })
    .await;
}

#[tokio::test]
async fn only_what_is_still_due_is_claimed() {
    with_apps(async |store, _| {
        for n in 1..=3 {
            enqueue(store, APP, n, 1).await;
        }
        let claim = |tx: &mut Tx<'_>| jobs::claim(tx, Node::random(), &[(APP, id(2))], UtcMillis(5), UtcMillis(100));
        assert_eq!(store.write(OPERATOR, claim).await.unwrap().len(), 1);
        assert_eq!(store.write(OPERATOR, claim).await.unwrap(), [], "it is not due any more");
        let left = store.read(|tx| jobs::due(tx, &store::Part::ALL, UtcMillis(5), 9)).await.unwrap();
        assert_eq!(left.jobs.len(), 2, "those that were not wanted are left as they were");
    })
    .await;
}

#[tokio::test]
async fn jobs_of_a_push_wait_until_they_are_woken() {
    with_apps(async |store, _| {
        for n in 1..=3 {
            enqueue(store, APP, n, 0).await;
        }
        let mut claimed = claim(store, 1, 100, 3).await;
        let running = claimed.pop().unwrap();
        for (job, push) in claimed.into_iter().zip([id(1), id(2)]) {
            store.write(APP, move |tx| jobs::park(tx, &job, push, ParkUntil::PushWoken)).await.unwrap();
        }
        assert_eq!(claim(store, i64::MAX - 1, i64::MAX, 9).await.len(), 1, "only the one whose lease has run out");
        let parked = store.write(APP, move |tx| jobs::park(tx, &running, id(1), ParkUntil::PushWoken)).await;
        assert!(matches!(parked, Err(Error::Conflict(Constraint::LeaseLost))), "another worker has it: {parked:?}");
        let woken = store.write(APP, |tx| jobs::wake_push(tx, APP, id(1), UtcMillis(5))).await.unwrap();
        assert_eq!(woken, 1);
        assert_eq!(store.read(jobs::next_due).await.unwrap(), Some(UtcMillis(5)));
        assert_eq!(claim_one(store, 5, 100).await.id, id(1));
    })
    .await;
}

#[tokio::test]
async fn waking_a_lane_wakes_all_of_its_jobs_but_those_that_wait_for_their_push_alone() {
    with_apps(async |store, _| {
        for n in 1..=4 {
            enqueue(store, APP, n, 0).await;
        }
        let [postponed, parked @ ..] = <[ClaimedJob; 4]>::try_from(claim(store, 1, 100, 4).await).unwrap();
        let (lane, alone) = (sample::lane(postponed.app), parked[0].id);
        store.write(APP, move |tx| jobs::postpone(tx, &postponed, UtcMillis(1000))).await.unwrap();
        let waits = [ParkUntil::PushWoken, ParkUntil::LaneOrPushWoken, ParkUntil::Time(UtcMillis(1000))];
        for (job, until) in parked.into_iter().zip(waits) {
            store.write(APP, move |tx| jobs::park(tx, &job, id(9), until)).await.unwrap();
        }
        let elsewhere = Lane { app: APP, name: "elsewhere".to_owned() };
        for (lane, n_woken) in [(elsewhere, 0), (lane, 3)] {
            let woken = store.write(APP, move |tx| jobs::wake_lane(tx, &lane, UtcMillis(7))).await.unwrap();
            assert_eq!(woken, n_woken);
        }
        let claimed = claim(store, 7, 100, 4).await;
        assert!(claimed.len() == 3 && claimed.iter().all(|job| job.id != alone), "{claimed:?}");
        store.write(APP, move |tx| jobs::wake_push(tx, APP, id(9), UtcMillis(8))).await.unwrap();
        assert_eq!(claim_one(store, 8, 100).await.id, alone);
    })
    .await;
}

#[tokio::test]
async fn failures_are_counted_until_a_run_goes_well() {
    with_apps(async |store, _| {
        enqueue(store, OPERATOR, 1, 0).await;
        let mut failures = Vec::new();
        for (now, goes_well) in (1..).zip([false, false, true, false, true, false]) {
            let job = claim_one(store, now, 100).await;
            failures.push(job.failures);
            let give_back = move |tx: &mut Tx<'_>| match goes_well {
                true => jobs::postpone(tx, &job, UtcMillis(now)),
                false => jobs::postpone_failed(tx, &job, UtcMillis(now)),
            };
            store.write(OPERATOR, give_back).await.unwrap();
        }
        assert_eq!(failures, [0, 1, 2, 0, 1, 0]);
    })
    .await;
}

#[tokio::test]
async fn what_is_due_later_is_known_beside_what_is_due() {
    with_apps(async |store, _| {
        let next = async |now| {
            store.read(move |tx| jobs::next_due_after(tx, &store::Part::ALL, UtcMillis(now))).await.unwrap()
        };
        for (n, due) in [(1, 10), (2, 30), (3, 20)] {
            enqueue(store, OPERATOR, n, due).await;
        }
        assert_eq!((next(15).await, next(30).await), (Some(UtcMillis(20)), None));
    })
    .await;
}
