//! The rows of uploaded lists, and sets of channels that are kept in blocks.

use model::ids::{AppId, TermId};
use store::lists::{self, Member, Upload, UploadNumber};
use store::term_sets::{self, Part};
use store::{Store, Tx, terms};

use crate::sample::{make_app, term};
use crate::{on_both, with_apps};

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

fn member(kind: &str, identifier: &str) -> Member {
    Member { kind: kind.to_owned(), identifier: identifier.to_owned() }
}

const fn vip(number: i64) -> Upload<'static> {
    Upload { list: "vip", number: UploadNumber(number) }
}

async fn add(store: &Store, app: AppId, upload: Upload<'static>, members: Vec<Member>) {
    store.write(app, move |tx| lists::add(tx, app, upload, &members)).await.unwrap();
}

async fn after(store: &Store, app: AppId, upload: Upload<'static>, last: Option<Member>, n: u32) -> Vec<Member> {
    store.read(move |tx| lists::after(tx, app, upload, last.as_ref(), n)).await.unwrap()
}

#[tokio::test]
async fn rows_are_paged_in_order_and_uploads_are_apart() {
    with_apps(async |store, _| {
        let (a, b, kim) = (member("alias", "b"), member("alias", "ä"), member("named_user", "Kim"));
        add(store, APP, vip(1), vec![kim.clone(), b.clone(), a.clone(), kim.clone()]).await;
        add(store, APP, vip(1), vec![a.clone()]).await;
        add(store, APP, vip(2), vec![member("named_user", "jo")]).await;
        add(store, APP, Upload { list: "other", number: UploadNumber(1) }, vec![member("named_user", "x")]).await;
        add(store, OTHER, vip(1), vec![member("named_user", "y")]).await;
        let all = [a.clone(), b.clone(), kim.clone()];
        assert_eq!(after(store, APP, vip(1), None, 10).await, all);
        assert_eq!(after(store, APP, vip(1), None, 2).await, all[..2]);
        assert_eq!(after(store, APP, vip(1), Some(b.clone()), 2).await, all[2..]);
        assert_eq!(after(store, APP, vip(1), Some(kim.clone()), 2).await, []);
        assert_eq!(after(store, APP, vip(3), None, 2).await, []);
    })
    .await;
}

#[tokio::test]
async fn uploads_are_compared_and_deleted_by_pieces() {
    with_apps(async |store, _| {
        let row = |n: i32| member("named_user", &format!("u{n}"));
        add(store, APP, vip(1), (0..5).map(row).collect()).await;
        add(store, APP, vip(2), vec![row(1), row(3), member("alias", "u2")]).await;
        let rows: Vec<Member> = (0..5).map(row).collect();
        let both = store.read(move |tx| lists::among(tx, APP, vip(2), &rows)).await.unwrap();
        assert_eq!(both, [row(1), row(3)]);
        let first: Vec<Member> = (0..=2).map(row).collect();
        store.write(APP, move |tx| lists::delete(tx, APP, vip(1), &first)).await.unwrap();
        assert_eq!(after(store, APP, vip(1), None, 10).await, [row(3), row(4)]);
        assert_eq!(after(store, APP, vip(2), None, 10).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn sets_are_kept_by_term_and_part() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let name = async |app, tag: &'static str| {
            store.write(app, move |tx| terms::insert(tx, app, &term("crew", tag))).await.unwrap()
        };
        let (first, second, foreign) = (name(app, "a").await, name(app, "b").await, name(other, "a").await);
        let put = async |app, term, part, bytes: &'static [u8]| {
            let parts = [(part, bytes.to_vec())];
            store.write(app, move |tx| term_sets::put(tx, app, term, parts.clone())).await.unwrap();
        };
        let (slice, last_slice) = (Part::Slice(33), Part::Slice(u32::MAX >> 12));
        put(app, second, slice, b"slice").await;
        put(app, second, last_slice, b"old").await;
        put(app, second, last_slice, b"last").await;
        put(app, first, Part::Slice(0), b"first").await;
        put(other, foreign, Part::Slice(0), b"other").await;
        let around = async |slices: &'static [u32]| {
            let around = move |tx: &mut Tx<'_>| term_sets::around(tx, app, second, slices.iter().copied());
            let mut found = store.read(around).await.unwrap();
            found.sort();
            found
        };
        assert_eq!(around(&[33]).await, [(slice, b"slice".to_vec())]);
        assert_eq!(around(&[32, 47]).await, []);
        assert_eq!(around(&[31, 48, u32::MAX >> 12]).await, [(last_slice, b"last".to_vec())]);
        let mut parts = store.read(move |tx| term_sets::parts(tx, app, second)).await.unwrap();
        parts.sort();
        assert_eq!(parts, [b"last".to_vec(), b"slice".to_vec()]);
        let terms = async |app| store.read(move |tx| term_sets::terms(tx, app)).await.unwrap();
        assert_eq!(terms(app).await, [first, second]);
        store.write(app, move |tx| term_sets::delete(tx, app, second)).await.unwrap();
        assert_eq!(terms(app).await, [first]);
        assert_eq!(terms(other).await, [foreign]);
        // A set whose term has lost its name means nothing any more.
        put(app, TermId(99), Part::Slice(0), b"former").await;
        assert_eq!(terms(app).await, [first]);
    })
    .await;
}
