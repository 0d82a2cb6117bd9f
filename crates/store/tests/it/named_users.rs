//! Named users, and associations that wait.

use model::channel::{ChannelRef, ClaimedType};
use model::device_type::DeviceType;
use model::ids::{ChannelId, NamedUserId};
use model::named_user::Association;
use model::time::UtcMillis;
use store::named_users;
use uuid::Uuid;

use crate::on_both;
use crate::sample::make_app;

fn user(id: &str) -> NamedUserId {
    NamedUserId::new(id).unwrap()
}

fn channel(n: u128) -> ChannelRef {
    let claimed = [None, Some(ClaimedType::AnyOpen), Some(ClaimedType::Exactly(DeviceType::Ios))];
    let claimed = claimed.into_iter().cycle().nth(n as usize).unwrap();
    ChannelRef { id: ChannelId::from_uuid(Uuid::from_u128(n)), claimed }
}

#[tokio::test]
async fn users_remember_when_they_changed() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        store.write(app, move |tx| named_users::ensure(tx, app, &user("kim"), UtcMillis(5))).await.unwrap();
        let same = store.write(app, move |tx| named_users::ensure(tx, app, &user("kim"), UtcMillis(6))).await.unwrap();
        assert_eq!((same.created, same.modified), (UtcMillis(5), UtcMillis(5)));
        store.write(app, move |tx| named_users::touch(tx, app, &user("kim"), UtcMillis(7))).await.unwrap();
        let kim = store.read(move |tx| named_users::get(tx, app, &user("kim"))).await.unwrap().unwrap();
        assert_eq!((kim.created, kim.modified), (UtcMillis(5), UtcMillis(7)));
        assert_eq!(store.read(move |tx| named_users::count_channels(tx, app, &user("kim"))).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn the_last_wish_for_a_channel_counts_until_it_is_taken_or_its_user_forgotten() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        for (n, id) in [(1, "lee"), (1, "kim"), (2, "kim"), (3, "lee")] {
            let put = store.write(app, move |tx| {
                named_users::put_pending(tx, app, &channel(n), &user(id), UtcMillis(1))?;
                named_users::put_pending(tx, other, &channel(n), &user(id), UtcMillis(1))
            });
            put.await.unwrap();
        }
        let waiting = async |app, n| {
            let found = store.read(move |tx| named_users::pending(tx, app, channel(n).id)).await.unwrap();
            found.map(|Association { channel: found, named_user_id }| {
                assert_eq!(found, channel(n), "with the type that it is taken for");
                named_user_id
            })
        };
        assert_eq!(waiting(app, 1).await, Some(user("kim")));
        store.write(app, move |tx| named_users::delete_pending(tx, app, channel(1).id)).await.unwrap();
        assert_eq!(waiting(app, 1).await, None);
        store.write(app, move |tx| named_users::forget_pending(tx, app, &user("kim"))).await.unwrap();
        assert_eq!((waiting(app, 2).await, waiting(app, 3).await), (None, Some(user("lee"))));
        for n in [1, 2] {
            assert_eq!(waiting(other, n).await, Some(user("kim")));
        }
    })
    .await;
}
