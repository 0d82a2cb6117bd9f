//! The audit log: a row is there exactly if the change of its request is.

use std::net::IpAddr;

use futures_util::future::join_all;
use model::ids::AppId;
use model::tag::Tag;
use model::time::UtcMillis;
use store::audit::{self, AuditRow, Filter, Request, Rows, Wanted};
use store::{Error, Part, Store, Tx, legacy_tags};

use crate::on_both;
use crate::sample::{NOW, make_app};

fn request(rows: Rows, action: &'static str, at: UtcMillis) -> Request {
    let wanted = Wanted {
        credential: "master secret 01234567".to_owned(),
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
        let delete = |tx: &mut Tx<'_>| audit::delete_before(tx, &Part::ALL, UtcMillis(NOW.0 + 5), 3);
        let deleted = [
            store.write(store::apps::OPERATOR, delete).await.unwrap(),
            store.write(store::apps::OPERATOR, delete).await.unwrap(),
            store.write(store::apps::OPERATOR, delete).await.unwrap(),
        ];
        assert_eq!(deleted, [3, 2, 0]);
        assert_eq!(log(store, None).await.len(), 5);
    })
    .await;
}
