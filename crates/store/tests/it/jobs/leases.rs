//! Leases: who has claimed a job has it to itself until the lease ends or is given back.

use std::collections::BTreeSet;

use model::time::UtcMillis;
use store::jobs::{self, ClaimedJob};
use store::{Constraint, Error, Store, Tx};

use super::{APP, OPERATOR, claim, claim_one, enqueue};
use crate::sample::{self, id, job, job_depth};
use crate::with_apps;

/// What the holder of a job can do with it.
#[derive(Clone, Copy, Debug)]
enum Power {
    Renew,
    Postpone,
    Settle,
}

impl Power {
    const ALL: [Self; 3] = [Power::Renew, Power::Postpone, Power::Settle];

    fn use_on(self, tx: &mut Tx<'_>, job: &ClaimedJob) -> Result<(), Error> {
        let until = UtcMillis(1 << 40);
        match self {
            Power::Renew => jobs::renew(tx, job, until),
            Power::Postpone => jobs::postpone(tx, job, until),
            Power::Settle => jobs::settle(tx, job),
        }
    }
}

/// Which of the powers a claimer has, each tried in a transaction that is then undone.
pub(super) async fn powers(store: &Store, job: &ClaimedJob) -> [bool; 3] {
    let mut has = [false; 3];
    for (has, power) in has.iter_mut().zip(Power::ALL) {
        let (app, job) = (job.app, job.clone());
        let try_it = move |tx: &mut Tx<'_>| {
            power.use_on(tx, &job)?;
            Err::<(), _>(Undo::Held)
        };
        *has = matches!(store.write(app, try_it).await, Err(Undo::Held));
    }
    has
}

/// Why a transaction was undone.
enum Undo {
    Held,
    LeaseLost,
}

impl From<Error> for Undo {
    fn from(error: Error) -> Self {
        match error {
            Error::Conflict(Constraint::LeaseLost) => Undo::LeaseLost,
            error => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn a_lease_ends_at_its_due_time() {
    with_apps(async |store, _| {
        enqueue(store, APP, 1, 10).await;
        let first = claim_one(store, 10, 100).await;
        assert_eq!(claim(store, 99, 1000, 10).await, []);
        assert_eq!(powers(store, &first).await, [true; 3]);
        let renewed = first.clone();
        store.write(APP, move |tx| jobs::renew(tx, &renewed, UtcMillis(200))).await.unwrap();
        assert_eq!(claim(store, 199, 1000, 10).await, []);
        assert_eq!(powers(store, &first).await, [true; 3], "late, but nobody else has claimed it");
        let second = claim_one(store, 200, 1000).await;
        assert_eq!(second, ClaimedJob { attempt: 2, ..first.clone() });
        assert_eq!(powers(store, &first).await, [false; 3]);
        assert_eq!(powers(store, &second).await, [true; 3]);
        assert_eq!(store.read(jobs::next_due).await.unwrap(), Some(UtcMillis(1000)), "the loser moved nothing");
    })
    .await;
}

#[tokio::test]
async fn a_job_whose_lease_ran_out_names_the_node_that_held_it() {
    with_apps(async |store, _| {
        enqueue(store, APP, 1, 10).await;
        let claim = async |node, now: i64| {
            let claim = move |tx: &mut Tx<'_>| {
                jobs::claim(tx, sample::node(node), &[(APP, id(1))], UtcMillis(now), UtcMillis(now + 100))
            };
            store.write(OPERATOR, claim).await.unwrap().remove(0)
        };
        assert_eq!(claim(1, 10).await.previous_holder, None);
        let taken = claim(2, 110).await;
        assert_eq!(taken.previous_holder, Some(sample::node(1)));
        let own = claim(2, 210).await;
        assert_eq!(own.previous_holder, None, "its own");
        store.write(APP, move |tx| jobs::postpone(tx, &own, UtcMillis(300))).await.unwrap();
        assert_eq!(claim(1, 300).await.previous_holder, None, "it was given back");
    })
    .await;
}

/// However little it cares: the error is dropped here, and written after it. Commands that share its batch
/// are committed.
#[tokio::test]
async fn a_worker_that_lost_its_lease_commits_nothing() {
    with_apps(async |store, _| {
        enqueue(store, APP, 1, 10).await;
        let lost = claim_one(store, 10, 100).await;
        let held = claim_one(store, 100, 1000).await;
        for power in Power::ALL {
            let (loser, n) = (lost.clone(), 2 + power as u32);
            let careless = store.write(APP, move |tx| {
                jobs::enqueue(tx, APP, job(n, 5000))?;
                let _ = power.use_on(tx, &loser);
                let _ = jobs::enqueue(tx, APP, job(n + 10, 5000));
                Ok::<_, Error>(())
            });
            let other = store.write(APP, move |tx| jobs::enqueue(tx, APP, job(n + 20, 5000)));
            let (careless, other) = tokio::join!(careless, other);
            assert!(matches!(careless, Err(Error::Conflict(Constraint::LeaseLost))), "{power:?}: {careless:?}");
            other.unwrap();
        }
        assert_eq!(powers(store, &held).await, [true; 3]);
        let left = store.read(|tx| jobs::due(tx, &store::Part::ALL, UtcMillis(5000), 99)).await.unwrap();
        let left: BTreeSet<_> = left.jobs.into_iter().map(|job| job.id).collect();
        assert_eq!(left, BTreeSet::from([1, 22, 23, 24].map(id)));
    })
    .await;
}

/// A renewal that crosses a postponement on its way must not push the job back.
#[tokio::test]
async fn what_is_given_back_is_no_longer_held() {
    with_apps(async |store, _| {
        enqueue(store, APP, 1, 10).await;
        let held = claim_one(store, 10, 100).await;
        let given_back = held.clone();
        store.write(APP, move |tx| jobs::postpone(tx, &given_back, UtcMillis(50))).await.unwrap();
        assert_eq!(store.read(job_depth).await.unwrap(), (1, 0));
        assert_eq!(powers(store, &held).await, [false; 3]);
        assert_eq!(claim(store, 49, 100, 10).await, []);
        assert_eq!(claim_one(store, 50, 100).await.attempt, 2);
    })
    .await;
}

#[tokio::test]
async fn releasing_makes_the_leased_ones_due() {
    with_apps(async |store, _| {
        for n in 0..3 {
            enqueue(store, APP, n, 10).await;
        }
        enqueue(store, APP, 9, 500).await;
        let held = claim(store, 10, 1000, 2).await;
        assert_eq!(store.write(OPERATOR, |tx| jobs::release_all(tx, UtcMillis(20))).await.unwrap(), 2);
        assert_eq!(powers(store, &held[0]).await, [false; 3], "the previous run is over");
        assert_eq!(store.read(job_depth).await.unwrap(), (4, 0));
        let again = claim(store, 20, 1000, 10).await;
        assert_eq!(again.iter().map(|job| (job.payload[3], job.attempt)).collect::<Vec<_>>(), [(2, 1), (0, 2), (1, 2)]);
    })
    .await;
}
