//! Named users by the ids under which devices know them, and apps by the channels they have.

use model::ids::{AppId, ContactId, NamedUserId};
use store::{channels, contacts};

use crate::sample::{self, make_app};
use crate::{on_both, with_apps};

#[tokio::test]
async fn contacts_are_kept_once_and_per_app() {
    with_apps(async |store, _| {
        let (app, other) = (AppId(1), AppId(2));
        let jo = NamedUserId::new("jo").unwrap();
        let id = ContactId::of_named_user(&[7; 16]);
        let find = async |app| store.read(move |tx| contacts::named_user(tx, app, id)).await.unwrap();
        assert_eq!(find(app).await, None);
        for _ in 0..2 {
            let jo = jo.clone();
            store.write(app, move |tx| contacts::keep(tx, app, id, &jo)).await.unwrap();
        }
        let jo_again = jo.clone();
        assert_eq!(find(app).await, Some(jo));
        assert_eq!(find(other).await, None);
        store.write(other, move |tx| contacts::forget(tx, other, id)).await.unwrap();
        assert!(find(app).await.is_some());
        store.write(app, move |tx| contacts::forget(tx, app, id)).await.unwrap();
        assert_eq!(find(app).await, None);
        // A user has many, and they can end together.
        let mine = [7, 8].map(|n| ContactId::of_named_user(&[n; 16]));
        let theirs = ContactId::of_named_user(&[9; 16]);
        let kim = NamedUserId::new("kim").unwrap();
        let (jo, of_kim) = (jo_again, kim.clone());
        let write = move |tx: &mut store::Tx<'_>| {
            mine.iter().try_for_each(|id| contacts::keep(tx, app, *id, &jo))?;
            contacts::keep(tx, app, theirs, &of_kim)?;
            contacts::forget_user(tx, app, &jo)
        };
        store.write(app, write).await.unwrap();
        assert_eq!(find(app).await, None);
        assert_eq!(store.read(move |tx| contacts::named_user(tx, app, theirs)).await.unwrap(), Some(kim));
    })
    .await;
}

#[tokio::test]
async fn a_channel_tells_its_apps() {
    on_both(async |store, _| {
        let (first, _, third) = (make_app(store, 1).await, make_app(store, 2).await, make_app(store, 3).await);
        for (app, n) in [(third, 7), (first, 7), (first, 8)] {
            store.write(app, move |tx| channels::insert(tx, app, &sample::channel(n))).await.unwrap();
        }
        let key = |n: u8| sample::app(n).key.as_str().to_owned();
        for (n, keys) in [(7, vec![key(1), key(3)]), (8, vec![key(1)]), (9, vec![])] {
            assert_eq!(
                store.read(move |tx| channels::apps_with(tx, &store::Part::ALL, sample::id(n))).await.unwrap(),
                keys,
                "{n}"
            );
        }
    })
    .await;
}
