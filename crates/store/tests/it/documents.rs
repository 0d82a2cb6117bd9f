//! Configuration objects.

use model::ids::AppId;
use model::time::UtcMillis;
use store::Store;
use store::documents::{self, Document, DocumentKind, Order};

use crate::with_apps;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);
const KIND: DocumentKind = DocumentKind::Platform;

async fn put(store: &Store, app: AppId, id: &'static str, body: &'static str, now: i64) {
    store.write(app, move |tx| documents::put(tx, app, KIND, id, body, UtcMillis(now))).await.unwrap();
}

fn document(id: &str, created: i64, modified: i64, body: &str) -> Document {
    let (created, modified) = (UtcMillis(created), UtcMillis(modified));
    Document { id: id.to_owned(), created, modified, body: body.to_owned() }
}

#[tokio::test]
async fn documents_are_replaced_listed_and_deleted() {
    with_apps(async |store, _| {
        put(store, APP, "fcm", "{}", 1).await;
        put(store, APP, "apns", "{\"a\":1}", 2).await;
        put(store, APP, "open::Äpfel", "x", 3).await;
        put(store, APP, "Zeta", "x", 3).await;
        put(store, OTHER, "fcm", "other", 4).await;
        put(store, APP, "fcm", "{\"b\":2}", 5).await;
        let expected = [
            document("Zeta", 3, 3, "x"),
            document("apns", 2, 2, "{\"a\":1}"),
            document("fcm", 1, 5, "{\"b\":2}"),
            document("open::Äpfel", 3, 3, "x"),
        ];
        assert_eq!(store.read(|tx| documents::list(tx, APP, KIND)).await.unwrap(), expected);
        let found = store.read(|tx| documents::get(tx, APP, KIND, "fcm")).await.unwrap();
        assert_eq!(found.as_ref(), Some(&expected[2]));
        assert_eq!(store.read(|tx| documents::get(tx, APP, KIND, "FCM")).await.unwrap(), None);
        assert!(store.write(APP, |tx| documents::delete(tx, APP, KIND, "fcm")).await.unwrap());
        assert!(!store.write(APP, |tx| documents::delete(tx, APP, KIND, "fcm")).await.unwrap());
        assert_eq!(store.read(|tx| documents::get(tx, APP, KIND, "fcm")).await.unwrap(), None);
        let others = store.read(|tx| documents::list(tx, OTHER, KIND)).await.unwrap();
        assert_eq!(others, [document("fcm", 4, 4, "other")]);
    })
    .await;
}

#[tokio::test]
async fn documents_are_read_in_pages_in_either_order() {
    with_apps(async |store, _| {
        for id in ["b", "a", "d", "c"] {
            put(store, APP, id, "{}", 1).await;
        }
        put(store, OTHER, "b2", "{}", 1).await;
        for (start, order, expected) in [
            (None, Order::Ascending, ["a", "b"]),
            (None, Order::Descending, ["d", "c"]),
            (Some("b"), Order::Ascending, ["b", "c"]),
            (Some("bb"), Order::Ascending, ["c", "d"]),
            (Some("bb"), Order::Descending, ["b", "a"]),
        ] {
            let page = store.read(move |tx| documents::page(tx, APP, KIND, start, order, 2)).await.unwrap();
            let ids: Vec<&str> = page.iter().map(|document| document.id.as_str()).collect();
            assert_eq!(ids, expected, "{start:?} {order:?}");
        }
        let kind = DocumentKind::Segment;
        let others = store.read(move |tx| documents::page(tx, APP, kind, None, Order::Ascending, 2)).await.unwrap();
        assert_eq!(others, []);
    })
    .await;
}

#[tokio::test]
async fn documents_are_read_in_slices_in_lists_and_without_bodies() {
    with_apps(async |store, _| {
        for (id, now) in [("b", 1), ("a", 2), ("d", 3), ("c", 4)] {
            put(store, APP, id, "{}", now).await;
        }
        put(store, OTHER, "b2", "{}", 5).await;
        for (order, offset, expected) in [
            (Order::Ascending, 0, vec!["a", "b", "c"]),
            (Order::Ascending, 3, vec!["d"]),
            (Order::Descending, 1, vec!["c", "b", "a"]),
            (Order::Descending, 4, vec![]),
        ] {
            let found = store.read(move |tx| documents::slice(tx, APP, KIND, order, offset, 3)).await.unwrap();
            let ids: Vec<&str> = found.iter().map(|document| document.id.as_str()).collect();
            assert_eq!(ids, expected, "{order:?} {offset}");
        }
        let found = store.read(|tx| documents::get_many(tx, APP, KIND, &["d", "b2", "a"])).await.unwrap();
        assert_eq!(found, [document("d", 3, 3, "{}"), document("a", 2, 2, "{}")]);
        let heads = store.read(|tx| documents::heads(tx, APP, KIND)).await.unwrap();
        let heads: Vec<_> = heads.iter().map(|head| (head.id.as_str(), head.modified.0)).collect();
        assert_eq!(heads, [("a", 2), ("b", 1), ("c", 4), ("d", 3)]);
    })
    .await;
}
