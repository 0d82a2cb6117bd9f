//! Channels, their ordinals and their keys.

use std::collections::BTreeSet;

use model::device_type::DeviceType;
use model::ids::{AppId, NamedUserId, Ordinal, TermId};
use model::time::UtcMillis;
use store::channels::{self, Channel};
use store::recipients::Wanted;
use store::{Error, Store, apps};
use tokio::task::JoinSet;

use crate::on_both;
use crate::sample::{Reached, channel, conflict, id, key, make_app, reached_among, reached_between};

/// Stores a channel under the next ordinal.
async fn register(store: &Store, app: AppId, n: u32) -> store::Result<Ordinal> {
    let written = store.write(app, move |tx| {
        let ordinal = apps::take_ordinal(tx, app)?;
        channels::insert(tx, app, &Channel { ordinal, ..channel(n) })?;
        Ok(ordinal)
    });
    written.await
}

async fn save(store: &Store, app: AppId, changed: Channel) {
    store.write(app, move |tx| channels::update(tx, app, &changed)).await.unwrap();
}

#[tokio::test]
async fn a_channel_comes_back_as_it_was() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        register(store, app, 0).await.unwrap();
        let found = store.read(move |tx| channels::by_id(tx, app, id(0))).await.unwrap();
        assert_eq!(found, Some(channel(0)));
        let changed = Channel {
            ordinal: Ordinal(0),
            id: id(0),
            device_type: DeviceType::from_name("open::smart::fridge").unwrap(),
            installed: false,
            address: None,
            language: None,
            country: Some("AT".to_owned()),
            named_user: Some(NamedUserId::new("Åsa").unwrap()),
            created: UtcMillis(1),
            last_registration: None,
            terms: vec![TermId(0), TermId(u32::MAX)],
            profile: String::new(),
        };
        save(store, app, changed.clone()).await;
        let found = store.read(move |tx| channels::by_ordinal(tx, app, Ordinal(0))).await.unwrap();
        assert_eq!(found, Some(changed));
        for (app, n) in [(app, 5), (other, 0), (AppId(99), 0)] {
            let found = store.read(move |tx| channels::by_id(tx, app, id(n))).await.unwrap();
            assert_eq!(found, None, "{app:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn ordinals_are_dense_and_never_given_out_again() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let mut devices = JoinSet::new();
        for n in 0..64 {
            let store = store.clone();
            // Every id comes twice, and the second registration fails.
            devices.spawn(async move { register(&store, app, n / 2).await });
        }
        let (mut ordinals, mut n_refused) = (BTreeSet::new(), 0);
        for registered in devices.join_all().await {
            match registered {
                Ok(ordinal) => assert!(ordinals.insert(ordinal), "{ordinal:?} twice"),
                Err(Error::Conflict(constraint)) => {
                    assert_eq!(constraint.to_string(), "channel_by_id");
                    n_refused += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(n_refused, 32);
        assert_eq!(ordinals, (0..32).map(Ordinal).collect());
        save(store, app, Channel { installed: false, ..channel(31) }).await;
        assert_eq!(register(store, app, 100).await.unwrap(), Ordinal(32));
        let several = store.write(app, move |tx| apps::take_ordinals(tx, app, 10)).await.unwrap();
        assert_eq!(several, Ordinal(33), "the first of ten");
        assert_eq!(register(store, app, 101).await.unwrap(), Ordinal(43));
        assert_eq!(conflict(register(store, AppId(99), 1).await), "the app was deleted");
    })
    .await;
}

#[tokio::test]
async fn a_key_belongs_to_one_channel() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let replace = async |app, ordinal, keys: Vec<channels::Key>| {
            let done = store.write(app, move |tx| channels::replace_keys(tx, app, Ordinal(ordinal), &keys)).await;
            done.unwrap()
        };
        let keys_of = async |ordinal| store.read(move |tx| channels::keys_of(tx, app, Ordinal(ordinal))).await.unwrap();
        // PostgreSQL could not index this as it is.
        let long: String = (0..4096_u32).map(|n| char::from_u32(0x4e00 + n * 7 % 20_000).unwrap()).collect();
        let (a, b, c) = (key("address", "x"), key("device", "x"), key("address", long.as_str()));
        assert_eq!(replace(app, 1, vec![a.clone(), b.clone(), c.clone()]).await, []);
        assert_eq!(replace(other, 9, vec![a.clone()]).await, [], "another app has keys of its own");
        assert_eq!(replace(app, 1, vec![a.clone(), b.clone(), c.clone()]).await, [], "nothing changes");
        assert_eq!(
            replace(app, 2, vec![c.clone(), a.clone(), a.clone()]).await,
            [(Ordinal(1), c.clone()), (Ordinal(1), a.clone())],
            "both move over, and naming one twice changes nothing"
        );
        assert_eq!(keys_of(1).await, std::slice::from_ref(&b));
        for (wanted, ordinal) in [(&a, 2), (&b, 1), (&c, 2)] {
            let wanted = wanted.clone();
            let found = store.read(move |tx| channels::by_key(tx, app, &wanted)).await.unwrap();
            assert_eq!(found, Some(Ordinal(ordinal)));
        }
        let loaded = vec![(channel(3), vec![key("device", long.as_str())])];
        store.write(app, move |tx| channels::insert_many(tx, app, &loaded)).await.unwrap();
        let wanted = key("device", long.as_str());
        assert_eq!(store.read(move |tx| channels::by_key(tx, app, &wanted)).await.unwrap(), Some(Ordinal(3)));
        let similar = key("address", format!("{long}!"));
        assert_eq!(store.read(move |tx| channels::by_key(tx, app, &similar)).await.unwrap(), None);
        assert_eq!(replace(app, 2, vec![a.clone()]).await, []);
        assert_eq!(keys_of(2).await, std::slice::from_ref(&a));
        assert_eq!(store.read(move |tx| channels::by_key(tx, app, &c)).await.unwrap(), None);
        assert_eq!(store.read(move |tx| channels::by_key(tx, other, &a)).await.unwrap(), Some(Ordinal(9)));
    })
    .await;
}

#[tokio::test]
async fn recipients_are_the_reachable_ones_in_order() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        for n in 0..10 {
            register(store, app, n).await.unwrap();
            register(store, other, n).await.unwrap();
        }
        save(store, app, Channel { address: None, ..channel(3) }).await;
        save(store, app, Channel { installed: false, ..channel(5) }).await;
        for (locale, profile) in [(true, true), (false, false), (true, false)] {
            let wanted = Wanted { locale, profile };
            let expected = [2, 4, 6].map(|n| Reached {
                ordinal: Ordinal(n),
                id: id(n),
                address: format!("address {n}"),
                language: locale.then(|| "de".to_owned()),
                country: None,
                profile: profile.then(|| format!("{{\"n\":{n}}}")),
            });
            let range = (Ordinal(2), Ordinal(6));
            let between = store.read(move |tx| reached_between(tx, app, range, wanted)).await.unwrap();
            assert_eq!(between, expected);
            let some = [2, 3, 4, 5, 6, 4_000_000_000].map(Ordinal);
            let among = store.read(move |tx| reached_among(tx, app, &some, wanted)).await.unwrap();
            assert_eq!(among, expected);
        }
        let ordinals =
            store.read(move |tx| Ok::<_, Error>([3, 5, 77].map(|n| channels::ordinal_of(tx, app, id(n)).unwrap())));
        assert_eq!(ordinals.await.unwrap(), [Some(Ordinal(3)), None, None], "installed is enough");
    })
    .await;
}

#[tokio::test]
async fn pages_follow_each_other() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        // Ids in another order than ordinals.
        for n in [7, 3, 9, 1, 5] {
            register(store, app, n).await.unwrap();
        }
        let page = async |start: Option<u32>, at_most| {
            let found = store.read(move |tx| channels::page(tx, app, start.map(id), at_most)).await;
            found.unwrap().into_iter().map(|channel| channel.id).collect::<Vec<_>>()
        };
        assert_eq!(page(None, 100).await, [7, 3, 9, 1, 5].map(id));
        assert_eq!(page(None, 2).await, [7, 3].map(id));
        assert_eq!(page(Some(9), 2).await, [9, 1].map(id));
        assert_eq!(page(Some(5), 2).await, [5].map(id));
        assert_eq!(page(Some(6), 2).await, []);
        assert_eq!(page(None, 0).await, []);
        let gone = Channel { ordinal: Ordinal(1), installed: false, ..channel(3) };
        save(store, app, gone).await;
        let terms = store.read(move |tx| channels::terms_from(tx, app, 1, 2)).await.unwrap();
        assert_eq!(terms, [(Ordinal(2), channel(9).terms), (Ordinal(3), channel(1).terms)]);
    })
    .await;
}

#[tokio::test]
async fn the_first_channel_since_an_instant_is_found_by_halving() {
    on_both(async |store, _| {
        let (app, empty) = (make_app(store, 1).await, make_app(store, 2).await);
        for n in 0..20 {
            register(store, app, n).await.unwrap();
            // Two at a time, an hour apart.
            let created = UtcMillis(i64::from(n / 2) * 3_600_000);
            save(store, app, Channel { created, installed: n % 3 != 0, ..channel(n) }).await;
        }
        let since = async |app, half_hours: i64| {
            let instant = UtcMillis(half_hours * 1_800_000);
            store.read(move |tx| channels::first_since(tx, app, instant)).await.unwrap()
        };
        for hour in 0..10_u32 {
            let half_hours = i64::from(hour) * 2;
            assert_eq!(since(app, half_hours).await, Some(Ordinal(hour * 2)), "{hour}");
            assert_eq!(since(app, half_hours - 1).await, Some(Ordinal(hour * 2)), "{hour}");
        }
        assert_eq!(since(app, 19).await, None);
        assert_eq!(since(empty, 0).await, None);
    })
    .await;
}
