//! Attributes: the latest write wins, whichever arrives first, and selectors find channels by them.

use std::collections::BTreeMap;

use model::ids::{AppId, NamedUserId, Ordinal};
use model::time::UtcMillis;
use store::attributes::{self, Owner, Values, Write};
use store::{Store, channels};

use crate::sample;
use crate::{on_both, with_apps};

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

fn user(id: &str) -> NamedUserId {
    NamedUserId::new(id).unwrap()
}

fn set(name: &str, value: &str, at: i64) -> Write {
    Write { name: name.to_owned(), value: Some(value.to_owned()), at: UtcMillis(at), expires: None }
}

fn remove(name: &str, at: i64) -> Write {
    Write { name: name.to_owned(), value: None, at: UtcMillis(at), expires: None }
}

fn values(pairs: &[(&str, &str)]) -> Values {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

async fn write(store: &Store, app: AppId, owner: &Owner, writes: Vec<Write>) {
    let owner = owner.clone();
    store.write(app, move |tx| attributes::write(tx, app, &owner, &writes)).await.unwrap();
}

async fn of(store: &Store, app: AppId, owner: &Owner) -> Values {
    let owner = owner.clone();
    store.read(move |tx| attributes::of_owner(tx, app, &owner)).await.unwrap()
}

#[tokio::test]
async fn the_later_write_wins_whichever_arrives_first() {
    with_apps(async |store, _| {
        let owner = Owner::Channel(Ordinal(7));
        write(store, APP, &owner, vec![set("city", "\"Oslo\"", 10), set("age", "30", 10)]).await;
        write(store, APP, &owner, vec![set("city", "\"Rome\"", 9)]).await;
        assert_eq!(of(store, APP, &owner).await, values(&[("age", "30"), ("city", "\"Oslo\"")]));
        write(store, APP, &owner, vec![set("city", "\"Bonn\"", 10)]).await;
        assert_eq!(of(store, APP, &owner).await["city"], "\"Bonn\"", "of equals the one that arrives last");
        write(store, APP, &owner, vec![remove("city", 20), set("age", "31", 20)]).await;
        write(store, APP, &owner, vec![set("city", "\"Late\"", 19), remove("age", 19)]).await;
        assert_eq!(of(store, APP, &owner).await, values(&[("age", "31")]));
        write(store, APP, &owner, vec![set("city", "\"Kiel\"", 21)]).await;
        assert_eq!(of(store, APP, &owner).await, values(&[("age", "31"), ("city", "\"Kiel\"")]));
    })
    .await;
}

#[tokio::test]
async fn owners_and_apps_are_told_apart_and_forgotten_alone() {
    with_apps(async |store, _| {
        // A user may be called like the ordinal of a channel.
        let owners = [Owner::Channel(Ordinal(7)), Owner::NamedUser(user("0000000007")), Owner::Channel(Ordinal(70))];
        for (owner, value) in owners.iter().zip(["1", "2", "3"]) {
            write(store, APP, owner, vec![set("n", value, 1), remove("gone", 1)]).await;
        }
        write(store, OTHER, &owners[0], vec![set("n", "4", 1)]).await;
        let forgotten = owners[0].clone();
        store.write(APP, move |tx| attributes::forget(tx, APP, &forgotten)).await.unwrap();
        assert_eq!(of(store, APP, &owners[0]).await, Values::new());
        assert_eq!(of(store, APP, &owners[1]).await, values(&[("n", "2")]));
        assert_eq!(of(store, APP, &owners[2]).await, values(&[("n", "3")]));
        assert_eq!(of(store, OTHER, &owners[0]).await, values(&[("n", "4")]));
        // What is forgotten includes when it was set.
        write(store, APP, &owners[0], vec![set("n", "5", 0)]).await;
        assert_eq!(of(store, APP, &owners[0]).await, values(&[("n", "5")]));
    })
    .await;
}

#[tokio::test]
async fn only_the_latest_removals_are_remembered() {
    with_apps(async |store, _| {
        let owner = Owner::Channel(Ordinal(7));
        write(store, APP, &owner, vec![set("kept", "1", 1)]).await;
        write(store, APP, &owner, (0..1001).map(|n| remove(&format!("a{n}"), 10 + n)).collect()).await;
        write(store, APP, &owner, vec![set("a0", "1", 1), set("a1", "1", 1), set("a1000", "1", 1)]).await;
        assert_eq!(of(store, APP, &owner).await, values(&[("a0", "1"), ("kept", "1")]));
    })
    .await;
}

#[tokio::test]
async fn a_range_of_channels_is_read_at_once() {
    with_apps(async |store, _| {
        for n in [1, 9, 10, 11, 99, 100, u32::MAX] {
            write(store, APP, &Owner::Channel(Ordinal(n)), vec![set("n", &n.to_string(), 1), remove("x", 1)]).await;
        }
        write(store, APP, &Owner::NamedUser(user("0000000050")), vec![set("n", "0", 1)]).await;
        let found = store.read(|tx| attributes::of_channels(tx, APP, Ordinal(9), Ordinal(99))).await.unwrap();
        let expected = [9, 10, 11, 99].map(|n: u32| (Ordinal(n), values(&[("n", n.to_string().as_str())])));
        assert_eq!(found, BTreeMap::from(expected));
    })
    .await;
}

#[tokio::test]
async fn selectors_visit_channels_and_the_installed_channels_of_users() {
    on_both(async |store, _| {
        let app = sample::make_app(store, 1).await;
        let rows: Vec<_> = (0..5)
            .map(|n| {
                let named_user = (n < 4).then(|| user(if n < 3 { "kim" } else { "lee" }));
                (channels::Channel { named_user, installed: n != 1, ..sample::channel(n) }, Vec::new())
            })
            .collect();
        store.write(app, move |tx| channels::insert_many(tx, app, &rows)).await.unwrap();
        write(store, app, &Owner::NamedUser(user("kim")), vec![set("city", "\"Oslo\"", 1)]).await;
        write(store, app, &Owner::NamedUser(user("lee")), vec![remove("city", 1), set("age", "3", 1)]).await;
        write(store, app, &Owner::NamedUser(user("nobody's")), vec![set("city", "\"Lund\"", 1)]).await;
        // Long values are found as well.
        let long = format!("\"{}\"", "Ä".repeat(4_000));
        write(store, app, &Owner::Channel(Ordinal(4)), vec![set("city", &long, 1)]).await;
        write(store, app, &Owner::Channel(Ordinal(2)), vec![set("city", "\"City 2\"", 1)]).await;
        write(store, app, &Owner::Channel(Ordinal(0)), vec![remove("city", 1)]).await;
        let (own, of_users) = store
            .read(move |tx| {
                let (mut own, mut of_users) = (Vec::new(), Vec::new());
                attributes::for_each_channel(tx, app, "city", |Ordinal(n), value| {
                    own.push((n, value.to_owned()));
                    Ok(())
                })?;
                attributes::for_each_channel_of_users(tx, app, "city", |Ordinal(n), value| {
                    of_users.push((n, value.to_owned()));
                    Ok(())
                })?;
                Ok::<_, store::Error>((own, of_users))
            })
            .await
            .unwrap();
        assert_eq!(BTreeMap::from_iter(own), BTreeMap::from([(2, "\"City 2\"".to_owned()), (4, long)]));
        let mut of_users = of_users;
        of_users.sort();
        assert_eq!(of_users, [0, 2].map(|n| (n, "\"Oslo\"".to_owned())));
        // Many channels at once are found as each of them is.
        let (each, together) = store
            .read(move |tx| {
                let channels: Vec<Ordinal> = (0..6).map(Ordinal).collect();
                let mut each = BTreeMap::new();
                for channel in &channels {
                    each.insert(*channel, attributes::of_channel(tx, app, *channel)?);
                }
                Ok::<_, store::Error>((each, attributes::of_each_channel(tx, app, &channels)?))
            })
            .await
            .unwrap();
        assert_eq!(together, each);
        let of_second = [values(&[("city", "\"City 2\"")]), values(&[("city", "\"Oslo\"")])];
        assert_eq!(together[&Ordinal(2)], of_second);
    })
    .await;
}
