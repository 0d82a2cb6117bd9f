//! The rows of uploaded lists, and sets of channels that are kept in blocks.

use model::ids::{AppId, TermId};
use store::Store;
use store::lists::{self, Generation, Member};
use store::term_sets;

use crate::on_both;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

fn member(kind: &str, identifier: &str) -> Member {
    Member { kind: kind.to_owned(), identifier: identifier.to_owned() }
}

const fn vip(number: i64) -> Generation<'static> {
    Generation { list: "vip", number }
}

async fn add(store: &Store, app: AppId, generation: Generation<'static>, members: Vec<Member>) {
    store.write(app, move |tx| lists::add(tx, app, generation, &members)).await.unwrap();
}

async fn after(
    store: &Store,
    app: AppId,
    generation: Generation<'static>,
    last: Option<Member>,
    n: u32,
) -> Vec<Member> {
    store.read(move |tx| lists::after(tx, app, generation, last.as_ref(), n)).await.unwrap()
}

#[tokio::test]
async fn rows_are_paged_in_order_and_generations_are_apart() {
    on_both(async |store, _| {
        let (a, b, kim) = (member("alias", "b"), member("alias", "ä"), member("named_user", "Kim"));
        add(store, APP, vip(1), vec![kim.clone(), b.clone(), a.clone(), kim.clone()]).await;
        add(store, APP, vip(1), vec![a.clone()]).await;
        add(store, APP, vip(2), vec![member("named_user", "jo")]).await;
        add(store, APP, Generation { list: "other", number: 1 }, vec![member("named_user", "x")]).await;
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
async fn generations_are_compared_and_deleted_by_pieces() {
    on_both(async |store, _| {
        let row = |n: i32| member("named_user", &format!("u{n}"));
        add(store, APP, vip(1), (0..5).map(row).collect()).await;
        add(store, APP, vip(2), vec![row(1), row(3), member("alias", "u2")]).await;
        let rows: Vec<Member> = (0..5).map(row).collect();
        let both = store.read(move |tx| lists::among(tx, APP, vip(2), &rows)).await.unwrap();
        assert_eq!(both, [row(1), row(3)]);
        store.write(APP, move |tx| lists::delete_through(tx, APP, vip(1), &row(2))).await.unwrap();
        assert_eq!(after(store, APP, vip(1), None, 10).await, [row(3), row(4)]);
        assert_eq!(after(store, APP, vip(2), None, 10).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn sets_are_kept_by_term_and_block() {
    on_both(async |store, _| {
        let put = async |app, term, block, bytes: &'static [u8]| {
            store.write(app, move |tx| term_sets::put(tx, app, TermId(term), block, bytes.to_vec())).await.unwrap();
        };
        put(APP, 7, 2, b"two").await;
        put(APP, 7, 0, b"zero").await;
        put(APP, 7, u16::MAX, b"old").await;
        put(APP, 7, u16::MAX, b"last").await;
        put(APP, 3, 0, b"three").await;
        put(OTHER, 9, 0, b"other").await;
        let get = async |block| store.read(move |tx| term_sets::get(tx, APP, TermId(7), block)).await.unwrap();
        assert_eq!(get(2).await.as_deref(), Some(&b"two"[..]));
        assert_eq!(get(1).await, None);
        let parts = store.read(|tx| term_sets::parts(tx, APP, TermId(7))).await.unwrap();
        assert_eq!(parts, [b"zero".to_vec(), b"two".to_vec(), b"last".to_vec()]);
        assert_eq!(store.read(|tx| term_sets::terms(tx, APP)).await.unwrap(), [TermId(3), TermId(7)]);
        store.write(APP, |tx| term_sets::delete(tx, APP, TermId(7))).await.unwrap();
        assert_eq!(store.read(|tx| term_sets::terms(tx, APP)).await.unwrap(), [TermId(3)]);
        assert_eq!(store.read(|tx| term_sets::terms(tx, OTHER)).await.unwrap(), [TermId(9)]);
    })
    .await;
}
