//! The newest records in memory: read once for all followers of a node, and the same as in the database.

use std::cell::Cell;
use std::collections::BTreeSet;

use model::event::RecordKind;
use model::ids::{AppId, Offset};
use proptest::collection::{btree_set, vec};
use proptest::prelude::{Strategy, any};
use proptest::prop_assert_eq;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store::log::{self, NewRecord, Record};
use store::{Error, Store, Tx, apps};
use testkit::store::{Database, Home, databases, fresh};
use tokio::task::JoinSet;

use crate::on_both;
use crate::sample::{NOW, make_app};

const KINDS: [RecordKind; 4] = [RecordKind::Terms, RecordKind::Send, RecordKind::Open, RecordKind::Custom];
const CASES: u32 = 24;
const STEPS: usize = 60;
/// More than one portion, and some of them more than a window holds.
const BODIES: [usize; 4] = [0, 30, 5_000, 700_000];

fn new(kind: RecordKind, n_bytes: usize) -> NewRecord {
    NewRecord { kind, ordinal: None, body: vec![7; n_bytes] }
}

async fn append(store: &Store, app: AppId, records: Vec<NewRecord>) -> Offset {
    store.write(app, move |tx| log::append(tx, app, NOW, records.clone())).await.unwrap()
}

/// What a follower reads.
fn read(tx: &mut Tx<'_>, app: AppId, after: Offset, kinds: &BTreeSet<RecordKind>, at_most: u32) -> Vec<Record> {
    let (head, mut found) = (log::head(tx, app).unwrap(), Vec::new());
    let visited = log::visit_kinds(tx, app, after, head, kinds, at_most, |row| {
        found.push(Record::from(row));
        Ok(())
    });
    visited.unwrap();
    found
}

async fn follow(store: &Store, app: AppId, after: Offset, kinds: &[RecordKind], at_most: u32) -> Vec<Record> {
    let kinds = kinds.iter().copied().collect();
    store.read(move |tx| Ok::<_, Error>(read(tx, app, after, &kinds, at_most))).await.unwrap()
}

#[tokio::test]
async fn followers_of_one_log_read_new_records_once() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let followers: [&[RecordKind]; 5] =
            [&KINDS[..1], &KINDS[1..2], &KINDS, &KINDS[2..], &[RecordKind::Terms, RecordKind::Custom]];
        let mut after = append(store, app, KINDS.map(|kind| new(kind, 10)).to_vec()).await;
        for round in 0..4 {
            let head = append(store, app, KINDS.repeat(3).into_iter().map(|kind| new(kind, 10)).collect()).await;
            let before = store.log_reads();
            for kinds in followers {
                let found = follow(store, app, after, kinds, 100).await;
                assert_eq!(found.len(), 3 * kinds.len(), "in round {round}");
            }
            let sends = store.read(move |tx| {
                let mut n_found = 0;
                log::visit_sends(tx, app, after, head, 100, |_, _| {
                    n_found += 1;
                    Ok(())
                })?;
                Ok::<_, Error>(n_found)
            });
            assert_eq!(sends.await.unwrap(), 3);
            let terms = store.read(move |tx| log::terms_after(tx, app, after, 100)).await.unwrap();
            assert_eq!((terms.found.len(), terms.looked, terms.is_gap), (3, head, false));
            let reads = store.log_reads();
            // In the first round it is not known yet what the others ask for.
            if round > 0 {
                assert_eq!(reads.from_database - before.from_database, 1, "in round {round}");
                assert_eq!(reads.from_memory - before.from_memory, followers.len() as u64 + 1, "in round {round}");
            }
            after = head;
        }
    })
    .await;
}

#[tokio::test]
async fn a_follower_that_is_behind_reads_by_itself() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        append(store, app, vec![new(RecordKind::Open, 10); 3_000]).await;
        append(store, app, vec![new(RecordKind::Open, 900_000); 8]).await;
        let head = Offset(3_008);
        // The window goes along with the first reader and keeps what it can.
        assert_eq!(follow(store, app, Offset(0), &KINDS, 5_000).await.len(), 3_008);
        let before = store.log_reads();
        assert_eq!(follow(store, app, Offset(10), &KINDS, 5_000).await.len(), 2_998);
        assert_eq!(follow(store, app, Offset(head.0 - 2), &KINDS, 5_000).await.len(), 2);
        let reads = store.log_reads();
        assert_eq!(reads.from_database - before.from_database, 1, "it was behind the window");
        assert_eq!(reads.from_memory - before.from_memory, 1, "the newest records were in memory");
    })
    .await;
}

#[tokio::test]
async fn a_kind_that_nobody_asked_for_is_not_missed() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        append(store, app, vec![new(RecordKind::Terms, 1), new(RecordKind::Open, 2), new(RecordKind::Terms, 3)]).await;
        assert_eq!(follow(store, app, Offset(0), &[RecordKind::Terms], 9).await.len(), 2);
        assert_eq!(follow(store, app, Offset(0), &[RecordKind::Open], 9).await.len(), 1);
        append(store, app, vec![new(RecordKind::Open, 4), new(RecordKind::Terms, 5)]).await;
        assert_eq!(follow(store, app, Offset(3), &[RecordKind::Terms], 9).await.len(), 1);
        assert_eq!(follow(store, app, Offset(1), &[RecordKind::Open], 9).await.len(), 2);
        assert_eq!(follow(store, app, Offset(0), &KINDS, 9).await.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_app_leaves_nothing_in_memory() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        for app in [app, other] {
            append(store, app, vec![new(RecordKind::Open, 10)]).await;
            assert_eq!(follow(store, app, Offset(0), &KINDS, 9).await.len(), 1);
        }
        store.write(app, move |tx| apps::delete(tx, app)).await.unwrap();
        assert_eq!(follow(store, app, Offset(0), &KINDS, 9).await, []);
        assert_eq!(store.apps_with_recent_log(), [other]);
        store.retain_recent_logs(|_| false);
        assert_eq!(store.apps_with_recent_log(), []);
        assert_eq!(follow(store, other, Offset(0), &KINDS, 9).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn records_of_another_node_are_seen() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    let (app, other) = (make_app(&store, 1).await, home.open().await);
    let mut after = Offset(0);
    for n in 1..20 {
        let writer = if n % 2 == 0 { &store } else { &other };
        let head = append(writer, app, vec![new(KINDS[n % KINDS.len()], n)]).await;
        for reader in [&store, &other] {
            let found = follow(reader, app, after, &KINDS, 9).await;
            assert_eq!(found.iter().map(|record| (record.offset, record.body.len())).collect::<Vec<_>>(), [(head, n)]);
        }
        after = head;
    }
    store.close().await;
    other.close().await;
}

#[tokio::test]
async fn followers_beside_a_writer_miss_nothing_and_keep_the_order() {
    const RECORDS: i64 = 3_000;
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let mut tasks = JoinSet::new();
        for follower in 0..6_usize {
            let store = store.clone();
            tasks.spawn(async move {
                let kinds = &KINDS[..=follower % KINDS.len()];
                let (mut seen, mut after) = (Vec::new(), Offset(0));
                while after.0 < RECORDS {
                    let set: BTreeSet<_> = kinds.iter().copied().collect();
                    let at_most = 7 + 50 * u32::try_from(follower).unwrap();
                    let look = move |tx: &mut Tx<'_>| {
                        Ok::<_, Error>((log::head(tx, app)?, read(tx, app, after, &set, at_most)))
                    };
                    let (head, found) = store.read(look).await.unwrap();
                    let is_full = found.len() >= at_most as usize;
                    after = found.last().filter(|_| is_full).map_or(head, |last| last.offset);
                    seen.extend(found);
                }
                let wanted: Vec<i64> = (1..=RECORDS).filter(|n| kinds.contains(&kind_of(*n))).collect();
                assert_eq!(seen.iter().map(|record| record.offset.0).collect::<Vec<_>>(), wanted);
                assert!(seen.iter().all(|record| record.kind == kind_of(record.offset.0)));
            });
        }
        for first in (1..=RECORDS).step_by(5) {
            append(store, app, (first..first + 5).map(|n| new(kind_of(n), 20)).collect()).await;
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    })
    .await;
}

fn kind_of(position: i64) -> RecordKind {
    KINDS[usize::try_from(position * 7 % 11).unwrap() % KINDS.len()]
}

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<(RecordKind, usize)>),
    Shorten(u8),
    Read { after: u8, kinds: BTreeSet<RecordKind>, at_most: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = || btree_set(select(&KINDS[..]), 1..4);
    let records = vec((select(&KINDS[..]), select(&BODIES[..])), 1..6);
    proptest::prop_oneof![
        2 => records.prop_map(Step::Append),
        1 => any::<u8>().prop_map(Step::Shorten),
        5 => (any::<u8>(), kinds(), 1..9_u32).prop_map(|(after, kinds, at_most)| Step::Read { after, kinds, at_most }),
    ]
}

#[test]
fn answers_are_those_of_the_database() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let homes: Vec<_> = databases().into_iter().map(Home::new).collect();
    let stores: Vec<_> = homes.iter().map(|home| runtime.block_on(home.open())).collect();
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(CASES) });
    let n_apps = Cell::new(0);
    let ran = runner.run(&vec(step(), 1..STEPS), |steps| {
        n_apps.set(n_apps.get() + 1);
        stores.iter().try_for_each(|store| runtime.block_on(check(store, n_apps.get(), &steps)))
    });
    for store in stores {
        runtime.block_on(store.close());
    }
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn check(store: &Store, n: u8, steps: &[Step]) -> Result<(), TestCaseError> {
    let app = make_app(store, n).await;
    for step in steps {
        match step.clone() {
            Step::Append(records) => {
                append(store, app, records.into_iter().map(|(kind, n_bytes)| new(kind, n_bytes)).collect()).await;
            }
            Step::Shorten(share) => {
                let shorten = move |tx: &mut Tx<'_>| {
                    let first_kept = part(log::head(tx, app)?, share / 2);
                    log::delete_before(tx, app, first_kept, 1_000)
                };
                store.write(app, shorten).await.unwrap();
            }
            Step::Read { after, kinds, at_most } => {
                let look = move |tx: &mut Tx<'_>| {
                    // Mostly near the end, as followers are, and never before the oldest that is kept.
                    let (head, start) = (log::head(tx, app)?, log::start(tx, app)?);
                    let after = Offset(head.0 - part(Offset(head.0 - start.0 + 1), after / 4).0);
                    let mut expected = log::after(tx, app, after, u32::MAX >> 1)?;
                    expected.retain(|record| kinds.contains(&record.kind));
                    expected.truncate(at_most as usize);
                    Ok::<_, Error>((read(tx, app, after, &kinds, at_most), expected))
                };
                let (found, expected) = store.read(look).await.unwrap();
                prop_assert_eq!(found, expected);
            }
        }
    }
    Ok(())
}

/// A part of the offsets up to one: none of them for 0, all of them for 255.
fn part(of: Offset, share: u8) -> Offset {
    Offset(of.0.max(0) * i64::from(share) / 255)
}
