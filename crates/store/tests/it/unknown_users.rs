//! Unknown users: what is theirs, and what becomes of their attributes.

use std::collections::BTreeSet;

use model::ids::{AppId, NamedUserId, Ordinal, TermId};
use model::time::UtcMillis;
use store::attributes::{self, Owner, Write};
use store::unknown_users::{self, UnknownUser};

use crate::with_apps;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

#[tokio::test]
async fn what_is_theirs_is_kept_by_channel() {
    with_apps(async |store, _| {
        let of = async |app, n| store.read(move |tx| unknown_users::get(tx, app, Ordinal(n))).await.unwrap();
        assert_eq!(of(APP, 7).await, None);
        let mut user =
            UnknownUser { terms: vec![TermId(1), TermId(9)], attributes: BTreeSet::from(["a \"b\"".into()]) };
        for _ in 0..2 {
            user.attributes.insert("c".to_owned());
            let put = user.clone();
            store.write(APP, move |tx| unknown_users::put(tx, APP, Ordinal(7), &put)).await.unwrap();
            assert_eq!(of(APP, 7).await.as_ref(), Some(&user));
        }
        assert_eq!((of(OTHER, 7).await, of(APP, 8).await), (None, None));
        store.write(OTHER, move |tx| unknown_users::delete(tx, OTHER, Ordinal(7))).await.unwrap();
        assert!(of(APP, 7).await.is_some());
        store.write(APP, move |tx| unknown_users::delete(tx, APP, Ordinal(7))).await.unwrap();
        assert_eq!(of(APP, 7).await, None);
    })
    .await;
}

#[tokio::test]
async fn attributes_are_handed_over_with_their_times() {
    with_apps(async |store, _| {
        let set = |name: &str, value: &str, at| Write {
            name: name.to_owned(),
            value: Some(value.to_owned()),
            at: UtcMillis(at),
            expires: None,
        };
        let (channel, user) = (Owner::Channel(Ordinal(7)), Owner::NamedUser(NamedUserId::new("jo").unwrap()));
        let (from, to) = (channel.clone(), user.clone());
        let writes = [set("a", "1", 10), set("b", "2", 10), set("c", "3", 10)];
        store
            .write(APP, move |tx| {
                attributes::write(tx, APP, &from, &writes)?;
                attributes::write(tx, APP, &to, &[set("b", "5", 11)])?;
                attributes::hand_over(tx, APP, &from, &to, ["a", "b", "d"].into_iter())?;
                // Earlier than what was handed over.
                attributes::write(tx, APP, &to, &[set("a", "9", 9)])
            })
            .await
            .unwrap();
        for (owner, expected) in [(channel, vec![("c", "3")]), (user, vec![("a", "1"), ("b", "5")])] {
            let found = store.read(move |tx| attributes::of_owner(tx, APP, &owner)).await.unwrap();
            let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(found, expected);
        }
    })
    .await;
}
