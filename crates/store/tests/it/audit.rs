//! The audit log: a row is there exactly if the change of its request is.

use std::net::IpAddr;

use futures_util::future::join_all;
use model::ids::AppId;
use model::tag::Tag;
use model::time::UtcMillis;
use store::audit::{self, AuditRow, Filter, Request, Rows, Wanted};
use store::{Error, Part, Store, Tx, legacy_tags};
use testkit::store::{databases, fresh};

use crate::on_both;
use crate::sample::{NOW, make_app};

fn request(rows: Rows, action: &'static str, at: UtcMillis) -> Request {
    let wanted = Wanted {
        credential: "master secret 01234567".into(),
        address: Some(IpAddr::from([127, 0, 0, 1])),
        action,
        rows,
        object: Vec::new(),
        request_id: Some("r".to_owned()),
    };
    Request::new(at, wanted)
}

fn everything(app: Option<AppId>) -> Filter {
    Filter { at: UtcMillis(i64::MIN)..UtcMillis(i64::MAX), app, credential: None, action: None }
}

async fn log(store: &Store, app: Option<AppId>) -> Vec<AuditRow> {
    store.write_audit_counts().await;
    written(store, app).await
}

/// The rows as they are, without the counts that wait.
async fn written(store: &Store, app: Option<AppId>) -> Vec<AuditRow> {
    let read = move |tx: &mut Tx<'_>| audit::newest(tx, &Part::ALL, &everything(app), None, 10_000);
    let (rows, next) = store.read(read).await.unwrap();
    assert_eq!(next, None);
    rows
}

/// A command that fails by itself.
#[derive(Debug)]
struct Declined;

impl From<Error> for Declined {
    fn from(error: Error) -> Self {
        panic!("{error}")
    }
}

async fn tag(store: &Store, app: AppId, tag: String, fails: bool) -> Result<(), Declined> {
    let write = move |tx: &mut Tx<'_>| {
        legacy_tags::insert(tx, app, &Tag::new(&tag).unwrap())?;
        // After it has written something.
        if fails { Err(Declined) } else { Ok(()) }
    };
    store.write(app, write).await
}

#[tokio::test]
async fn rows_and_changes_are_committed_together_or_not_at_all() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let commands = (0..60).map(|n| {
            let fails = n % 7 == 0;
            let at = UtcMillis(NOW.0 + n);
            async move {
                let work = tag(store, app, format!("tag {n}"), fails);
                (n, fails, audit::on_behalf_of(request(Rows::Each, "tag.create", at), work).await)
            }
        });
        for (n, fails, done) in join_all(commands).await {
            assert_eq!(done.is_err(), fails, "{n}");
        }
        let times: Vec<i64> = log(store, Some(app)).await.iter().map(|row| row.position.at.0 - NOW.0).collect();
        let expected: Vec<i64> = (0..60).rev().filter(|n| n % 7 != 0).collect();
        assert_eq!(times, expected);
    })
    .await;
}

#[tokio::test]
async fn a_request_has_one_row_however_many_transactions_it_takes() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let work = async {
            // Reading and changing nothing is no change.
            store.write(app, |_| Ok::<_, Error>(())).await.unwrap();
            assert_eq!(log(store, None).await.len(), 0);
            for n in 0..3 {
                tag(store, app, format!("tag {n}"), false).await.unwrap();
            }
        };
        audit::on_behalf_of(request(Rows::Each, "tag.batch", NOW), work).await;
        let [row] = &log(store, None).await[..] else { panic!("one row") };
        assert_eq!((row.n, row.action.as_str(), row.address.as_deref()), (1, "tag.batch", Some("127.0.0.1")));
        tag(store, app, "of nobody".to_owned(), false).await.unwrap();
        assert_eq!(log(store, None).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn requests_of_a_minute_are_counted_together() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let minute = NOW.0.div_euclid(60_000) * 60_000;
        let commands = (0..50).map(|n| {
            let at = UtcMillis(minute + n * 2_000);
            let work = tag(store, app, format!("tag {n}"), false);
            audit::on_behalf_of(request(Rows::PerMinute, "channel.tag", at), work)
        });
        join_all(commands).await;
        let rows = log(store, Some(app)).await;
        let counts: Vec<(i64, u64)> = rows.iter().map(|row| (row.position.at.0 - minute, row.n)).collect();
        assert_eq!(counts, [(60_000, 20), (0, 30)]);
        assert_eq!(rows.len(), log(store, None).await.len());
    })
    .await;
}

#[tokio::test]
async fn old_rows_are_deleted_in_portions() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        for n in 0..10 {
            let work = tag(store, app, format!("tag {n}"), false);
            audit::on_behalf_of(request(Rows::Each, "tag.create", UtcMillis(NOW.0 + n)), work).await.unwrap();
        }
        let delete = move |tx: &mut Tx<'_>| audit::delete_before(tx, app, UtcMillis(NOW.0 + 5), 3);
        let deleted = [
            store.write(app, delete).await.unwrap(),
            store.write(app, delete).await.unwrap(),
            store.write(app, delete).await.unwrap(),
        ];
        assert_eq!(deleted, [3, 2, 0]);
        assert_eq!(log(store, None).await.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn rows_of_all_apps_are_one_log() {
    on_both(async |store, _| {
        let mut apps = Vec::new();
        for n in 1..=5 {
            apps.push(make_app(store, n).await);
        }
        // Some apps have many rows at one time, some share times, and one has none.
        let plan = [(0, 40, 0), (1, 30, 1), (2, 30, 2), (3, 1, 7)];
        for (n_app, n_rows, step) in plan {
            let app = apps[n_app];
            for n in 0..n_rows {
                let work = tag(store, app, format!("tag {n}"), false);
                let at = UtcMillis(NOW.0 + n * step);
                audit::on_behalf_of(request(Rows::Each, "tag.create", at), work).await.unwrap();
            }
        }
        let all = log(store, None).await;
        assert_eq!(all.len(), 101);
        assert!(all.is_sorted_by_key(|row| std::cmp::Reverse(row.position)), "the newest first");
        for app in apps {
            let own: Vec<AuditRow> = all.iter().filter(|row| row.position.app == app).cloned().collect();
            assert_eq!(log(store, Some(app)).await, own);
        }
        let (mut paged, mut start) = (Vec::new(), None);
        loop {
            let read = move |tx: &mut Tx<'_>| audit::newest(tx, &Part::ALL, &everything(None), start, 7);
            let (rows, next) = store.read(read).await.unwrap();
            paged.extend(rows);
            start = next;
            if start.is_none() {
                break;
            }
        }
        assert_eq!(paged, all);
    })
    .await;
}

async fn count(store: &Store, app: AppId, tag_name: &str, fails: bool) {
    let work = tag(store, app, tag_name.to_owned(), fails);
    let _ = audit::on_behalf_of(request(Rows::PerMinute, "channel.tag", NOW), work).await;
}

#[tokio::test]
async fn a_shared_row_is_there_with_its_first_change_and_its_count_follows() {
    on_both(async |store, home| {
        let app = make_app(store, 1).await;
        count(store, app, "undone", true).await;
        assert_eq!(written(store, Some(app)).await, []);
        count(store, app, "first", false).await;
        let [first] = &written(store, Some(app)).await[..] else { panic!("one row") };
        assert_eq!(first.n, 1);
        for n in 0..4 {
            count(store, app, &format!("tag {n}"), false).await;
            count(store, app, &format!("undone {n}"), true).await;
        }
        assert_eq!(log(store, Some(app)).await.iter().map(|row| row.n).collect::<Vec<_>>(), [5]);
        assert_eq!(log(store, Some(app)).await[0].n, 5, "and none is counted twice");
        // Another node counts by itself.
        if !store.is_single_process() {
            let other = home.open().await;
            for n in 0..3 {
                count(&other, app, &format!("other {n}"), false).await;
            }
            other.close().await;
            assert_eq!(log(store, Some(app)).await[0].n, 8, "what waits is written when a node stops");
        }
    })
    .await;
}

#[tokio::test]
async fn counts_are_written_when_the_store_is_closed() {
    for database in databases() {
        let (store, home) = fresh(database).await;
        let app = make_app(&store, 1).await;
        for n in 0..3 {
            count(&store, app, &format!("tag {n}"), false).await;
        }
        store.close().await;
        let store = home.open().await;
        assert_eq!(written(&store, Some(app)).await[0].n, 3);
        store.close().await;
    }
}

#[tokio::test]
async fn counts_of_an_app_that_was_deleted_are_forgotten() {
    on_both(async |store, home| {
        let app = make_app(store, 1).await;
        for n in 0..3 {
            count(store, app, &format!("tag {n}"), false).await;
        }
        let node = if store.is_single_process() { store.clone() } else { home.open().await };
        node.write(store::apps::OPERATOR, move |tx| store::apps::delete(tx, app)).await.unwrap();
        while node.write(store::apps::OPERATOR, move |tx| store::apps::erase_some(tx, app, 100)).await.unwrap() {}
        store.write_audit_counts().await;
        let rows = "select count(*) from audit where app = 1";
        let n_rows: i64 = store.read(move |tx| tx.query_one(rows, &[], |row| row.get(0))).await.unwrap();
        assert_eq!(n_rows, 0);
    })
    .await;
}
