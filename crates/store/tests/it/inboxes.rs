//! Messages with their holders, and the users of inboxes.

use model::event::SharedPush;
use model::ids::{AppId, MessageNumber, Ordinal};
use model::inbox::{InboxUserId, MessageDetails, TextChoice};
use model::json;
use model::payload::Push;
use model::time::UtcMillis;
use store::messages::{self, Message, TextHead};
use store::{Error, Store, Tx, apps, channels, inbox_messages, inbox_users};

use crate::on_both;
use crate::sample::{NOW, channel, id, make_app};

fn user(n: u8) -> InboxUserId {
    InboxUserId::new(&format!("user-{n:017}")).unwrap()
}

fn message(number: MessageNumber, n: u32, ends: i64) -> Message {
    let push = r#"{"audience":"all","device_types":["ios"],"message":{"title":"t","body":"b"}}"#;
    let push = json::parse(push.as_bytes(), Push::parse).unwrap();
    let texts = TextChoice::of(&push);
    let shared_push = SharedPush::of(id(n));
    Message {
        number,
        push: id(n),
        sent: NOW,
        expires: None,
        ends: UtcMillis(ends),
        shared_push,
        texts,
        slices: vec![1],
    }
}

async fn send(store: &Store, app: AppId, n: u32, ends: i64) -> Message {
    let write = move |tx: &mut Tx<'_>| {
        let message = message(messages::take_number(tx, app)?, n, ends);
        messages::insert(tx, app, &message)?;
        let (title, content_type) = (format!("title {n}"), "text/html".to_owned());
        let head = TextHead { title, content_type, details: MessageDetails::default(), size: 4 };
        messages::insert_text(tx, app, message.number, 0, &head, b"body")?;
        messages::insert_holders(tx, app, message.number, [(0, vec![7]), (3, vec![8, 9])])?;
        Ok::<_, Error>(message)
    };
    store.write(app, write).await.unwrap()
}

#[tokio::test]
async fn messages_are_numbered_ended_and_forgotten() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let first = send(store, app, 1, 5_000).await;
        let second = send(store, app, 2, 9_000).await;
        assert_eq!(send(store, other, 1, 1_000).await.number, first.number, "each app counts for itself");
        let (a, b) = (first.clone(), second.clone());
        let write = move |tx: &mut Tx<'_>| {
            assert_eq!(messages::by_push(tx, app, id(2))?, Some(b.clone()));
            assert_eq!(messages::held_within(tx, app, 3)?, [(a.number, vec![8, 9]), (b.number, vec![8, 9])]);
            assert_eq!(messages::holders(tx, app, b.number, [0, 1, 3])?, [vec![7], vec![8, 9]]);
            let heads = messages::heads(tx, app, [(b.number, 0), (b.number, 1)])?;
            assert_eq!(heads.iter().map(|(text, _)| *text).collect::<Vec<_>>(), [(b.number, 0)]);
            assert_eq!(messages::body(tx, app, b.number, 0)?, Some(b"body".to_vec()));
            let bodies = messages::bodies(tx, app, [(b.number, 1), (b.number, 0)])?;
            assert_eq!(bodies, [((b.number, 0), b"body".to_vec())]);
            messages::end(tx, app, b.number, UtcMillis(6_000))?;
            messages::end(tx, app, b.number, UtcMillis(7_000))?;
            assert_eq!(messages::body(tx, app, b.number, 0)?, None);
            let ended = messages::ended_before(tx, app, UtcMillis(6_001), 10)?;
            assert_eq!(ended, [a.clone(), Message { ends: UtcMillis(6_000), ..b.clone() }]);
            assert_eq!(messages::oldest(tx, app)?, Some(a.number));
            messages::forget(tx, app, &ended[1], [0, 3])?;
            messages::forget(tx, app, &ended[0], [0, 3])?;
            assert_eq!(messages::forgotten(tx, app)?, UtcMillis(6_000), "the latest end counts");
            assert_eq!((messages::oldest(tx, app)?, messages::held_within(tx, app, 0)?), (None, vec![]));
            assert_eq!(messages::held_within(tx, other, 0)?.len(), 1);
            Ok::<_, Error>(())
        };
        store.write(app, write).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn messages_to_few_are_found_by_channel_and_by_message() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let sent =
            [send(store, app, 1, 5_000).await, send(store, app, 2, 9_000).await, send(store, app, 3, 9_000).await];
        let foreign = send(store, other, 1, 5_000).await;
        let write = move |tx: &mut Tx<'_>| {
            let [one, two, three] = [sent[0].number, sent[1].number, sent[2].number];
            let [here, there] = [Ordinal(5), Ordinal(70_000)];
            inbox_messages::insert(tx, app, one, [here, there], 2)?;
            inbox_messages::insert(tx, app, two, [here], 2)?;
            assert_eq!(inbox_messages::held_by(tx, app, [here])?, [(one, here), (two, here)]);
            assert_eq!(inbox_messages::holders(tx, app, one)?, [here, there]);
            assert_eq!(inbox_messages::holders_among(tx, app, two, [there, here, Ordinal(6)])?, [here]);
            inbox_messages::insert(tx, app, three, [here], 2)?;
            assert_eq!(inbox_messages::held_by(tx, app, [here, there])?, [(two, here), (three, here), (one, there)]);
            assert_eq!(messages::forget(tx, app, &sent[1], [0])?, 2, "a set and a row");
            assert_eq!(inbox_messages::held_by(tx, app, [here])?, [(three, here)]);
            assert_eq!(inbox_messages::held_by(tx, other, [here])?, []);
            Ok::<_, Error>(())
        };
        store.write(app, write).await.unwrap();
        let write = move |tx: &mut Tx<'_>| {
            inbox_messages::insert(tx, other, foreign.number, [Ordinal(5)], 1)?;
            assert_eq!(inbox_messages::holders(tx, other, foreign.number)?, [Ordinal(5)]);
            assert_eq!(inbox_messages::holders(tx, app, foreign.number)?, [Ordinal(70_000)]);
            Ok::<_, Error>(())
        };
        store.write(other, write).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn users_are_found_without_their_app_and_have_channels() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let write = move |tx: &mut Tx<'_>| {
            inbox_users::insert(tx, app, &user(1), &[1; 32], NOW, vec![0])?;
            inbox_users::insert(tx, other, &user(2), &[2; 32], NOW, vec![0])?;
            assert_eq!(
                inbox_users::credentials(tx, &user(2))?.map(|kept| (kept.app, kept.password_hash)),
                Some((other, [2; 32]))
            );
            assert_eq!(inbox_users::credentials(tx, &user(3))?, None);
            assert_eq!(inbox_users::get(tx, app, &user(2))?, None);
            for n in [5, 6] {
                channels::insert(tx, app, &channel(n))?;
                inbox_users::link(tx, app, Ordinal(n), &user(1))?;
            }
            let ordinals = |tx: &mut Tx<'_>| {
                let channels = inbox_users::channels(tx, app, &user(1))?;
                Ok::<_, Error>(channels.iter().map(|channel| channel.ordinal.0).collect::<Vec<_>>())
            };
            assert_eq!(ordinals(tx)?, [5, 6]);
            inbox_users::link(tx, app, Ordinal(5), &user(4))?;
            assert_eq!(inbox_users::owner(tx, app, Ordinal(5))?, Some(user(4)));
            assert_eq!(inbox_users::owners(tx, app, &[Ordinal(5), Ordinal(6), Ordinal(7)])?, [user(4), user(1)]);
            assert_eq!(inbox_users::owners(tx, other, &[Ordinal(5), Ordinal(6)])?, []);
            let both = inbox_users::channels_of_all(tx, app, [&user(1), &user(4)])?;
            let both: Vec<_> = both.into_iter().map(|(id, channel)| (id, channel.ordinal.0)).collect();
            assert_eq!(both, [(user(4), 5), (user(1), 6)]);
            let there = inbox_users::all(tx, app, [&user(1), &user(2), &user(4)])?;
            assert_eq!(there.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), [user(1)]);
            inbox_users::unlink(tx, app, Ordinal(6))?;
            assert_eq!(ordinals(tx)?, Vec::<u32>::new());
            inbox_users::touch(tx, app, &user(1), UtcMillis(NOW.0 + 1))?;
            inbox_users::touch(tx, app, &user(1), NOW)?;
            assert_eq!(inbox_users::get(tx, app, &user(1))?.unwrap().changed, UtcMillis(NOW.0 + 1));
            apps::delete(tx, other)?;
            assert_eq!(inbox_users::credentials(tx, &user(2))?, None, "its app is gone");
            Ok::<_, Error>(())
        };
        store.write(app, write).await.unwrap();
        let taken = store.write(app, |tx| inbox_users::insert(tx, AppId(1), &user(2), &[3; 32], NOW, vec![0])).await;
        assert!(matches!(taken, Err(Error::Conflict(constraint)) if constraint.to_string() == "inbox_login_pkey"));
    })
    .await;
}
