//! How connections to a provider are used: as many requests as it permits, none lost, none doubled, always an end.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use providers::apns::{ApnsAuth, ApnsCredentials, Environment};
use providers::credential::Credential;
use providers::http::{AddressPolicy, Timeouts, WebUrl};
use providers::outcome::{Contact, Outcome};
use providers::{Endpoint, Network, RenderedPush, Sender};
use rcgen::KeyPair;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::fixture::{NOW, Push, recipient};
use crate::frames::{ENHANCE_YOUR_CALM, FrameServer, INTERNAL_ERROR, NO_ERROR, Peer, REFUSED_STREAM};

const DEVICE: &str = "ab12";

fn push() -> RenderedPush {
    Push::of(json!({"alert": "Hi"})).render("ios").unwrap()
}

fn credentials(url: &str) -> ApnsCredentials {
    ApnsCredentials {
        topic: "com.example.app".to_owned(),
        environment: Environment::Production,
        auth: ApnsAuth::Token {
            team_id: "TEAM567890".to_owned(),
            key_id: "KEY4567890".to_owned(),
            key: Credential::new(KeyPair::generate().unwrap().serialize_pem()),
        },
        endpoint: Some(Endpoint { url: WebUrl::try_from(url.to_owned()).unwrap(), ca: None }),
    }
}

fn sender_with(url: &str, timeouts: Timeouts) -> Sender {
    Sender::apns(&credentials(url), &Network::with_timeouts(AddressPolicy::ANY, timeouts))
}

pub(crate) fn sender(server: &FrameServer) -> Sender {
    sender_with(&server.url(), Timeouts::default())
}

/// Sends so many messages at once.
pub(crate) fn send(sender: &Sender, n: usize) -> JoinHandle<Vec<Outcome>> {
    let sender = sender.clone();
    tokio::spawn(async move {
        let push = push();
        join_all((0..n).map(async |_| sender.send(&push, &recipient(DEVICE), NOW).await)).await
    })
}

/// A connection whose first request is answered, so that it is past its probation.
pub(crate) async fn proven(server: &FrameServer, sender: &Sender, n_streams: u32) -> Peer {
    let first = send(sender, 1);
    let mut peer = server.accept(n_streams).await;
    let stream = peer.request().await;
    peer.answer(stream, 200).await;
    assert_eq!(first.await.unwrap(), [Outcome::Delivered]);
    peer
}

#[tokio::test]
async fn one_request_first_then_as_many_as_permitted_and_permits_may_change() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let sending = send(&sender, 6);
    let mut peer = server.accept(100).await;
    let first = peer.request().await;
    assert!(peer.requests_so_far().await.is_empty(), "only one until the first answer");

    peer.permit(2).await;
    peer.answer(first, 200).await;
    let (second, third) = (peer.request().await, peer.request().await);
    // The rest seeks another connection, where only one may go before its answer.
    let mut other = server.accept(100).await;
    let elsewhere = other.request().await;
    assert!(peer.requests_so_far().await.is_empty(), "two were permitted");
    peer.permit(3).await;
    let fourth = peer.request().await;
    assert!(peer.requests_so_far().await.is_empty());
    peer.permit(1).await;
    // Both answers are read before the ping that follows them.
    for stream in [second, third] {
        peer.answer(stream, 200).await;
    }
    assert!(peer.requests_so_far().await.is_empty(), "one is under way, and no more are permitted");
    peer.answer(fourth, 200).await;
    let last = peer.request().await;
    peer.answer(last, 200).await;
    other.answer(elsewhere, 200).await;
    assert_eq!(sending.await.unwrap(), vec![Outcome::Delivered; 6]);
}

#[tokio::test]
async fn what_a_leaving_server_has_not_looked_at_goes_elsewhere() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut peer = proven(&server, &sender, 100).await;
    let sending = send(&sender, 3);
    let streams = [peer.request().await, peer.request().await, peer.request().await];
    // It has looked at the first of the three and will still answer it.
    peer.go_away(streams[0], NO_ERROR).await;
    let mut other = server.accept(100).await;
    let resent = other.request().await;
    other.answer(resent, 200).await;
    let resent = other.request().await;
    other.answer(resent, 200).await;
    peer.answer_with(streams[0], 410, r#"{"reason":"Unregistered","timestamp":1714564800000}"#).await;
    let gone = Outcome::Gone { since: Some(model::time::UtcMillis(1_714_564_800_000)) };
    let outcomes = sending.await.unwrap();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == gone).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Delivered).count(), 2, "{outcomes:?}");
    peer.closed().await;
}

#[tokio::test]
async fn what_a_server_may_have_seen_is_for_the_caller_to_repeat() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut peer = proven(&server, &sender, 100).await;
    let sending = send(&sender, 2);
    let (reset, lost) = (peer.request().await, peer.request().await);
    peer.reset(reset, INTERNAL_ERROR).await;
    // It has looked at the other, and then the connection breaks.
    peer.go_away(lost, NO_ERROR).await;
    drop(peer);
    for outcome in sending.await.unwrap() {
        let may_have_arrived =
            matches!(outcome, Outcome::Retry { after: None, everybody: false, contact: Contact::Made, .. });
        assert!(may_have_arrived, "{outcome:?}");
    }
}

#[tokio::test]
async fn refused_streams_are_sent_again_but_not_for_ever() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut peer = proven(&server, &sender, 100).await;
    let sending = send(&sender, 1);
    for _ in 0..2 {
        let stream = peer.request().await;
        peer.reset(stream, REFUSED_STREAM).await;
    }
    let stream = peer.request().await;
    peer.answer(stream, 200).await;
    assert_eq!(sending.await.unwrap(), [Outcome::Delivered]);

    let sending = send(&sender, 1);
    for _ in 0..5 {
        let stream = peer.request().await;
        peer.reset(stream, REFUSED_STREAM).await;
    }
    assert!(matches!(&sending.await.unwrap()[..], [Outcome::Retry { everybody: false, .. }]));
}

#[tokio::test]
async fn slow_answers_end_alone_and_a_silent_connection_is_replaced() {
    let server = FrameServer::start().await;
    // Long enough for everything here that is meant to be answered, on however busy a machine.
    let brief = Timeouts { connect: Duration::from_secs(5), total: Duration::from_secs(5) };
    let sender = sender_with(&server.url(), brief);
    let mut peer = proven(&server, &sender, 100).await;

    let slow = send(&sender, 1);
    let unanswered = peer.request().await;
    // Meanwhile others are answered, so the connection is fine.
    for _ in 0..20 {
        let quick = send(&sender, 1);
        let stream = peer.request().await;
        peer.answer(stream, 200).await;
        assert_eq!(quick.await.unwrap(), [Outcome::Delivered]);
    }
    assert!(matches!(&slow.await.unwrap()[..], [Outcome::Retry { after: None, everybody: false, .. }]));
    peer.answer(unanswered, 200).await;
    let quick = send(&sender, 1);
    let stream = peer.request().await;
    peer.answer(stream, 200).await;
    assert_eq!(quick.await.unwrap(), [Outcome::Delivered], "the late answer disturbs nobody");

    let silent = send(&sender, 2);
    peer.request().await;
    peer.request().await;
    for outcome in silent.await.unwrap() {
        assert!(matches!(outcome, Outcome::Retry { everybody: false, .. }), "{outcome:?}");
    }
    peer.closed().await;
    proven(&server, &sender, 100).await;
}

#[tokio::test]
async fn what_was_answered_while_the_process_stood_still_counts() {
    let server = FrameServer::start().await;
    // On a busy machine everything here may stand still for as long, which then is the same once more.
    let brief = Timeouts { connect: Duration::from_secs(60), total: Duration::from_secs(1) };
    let sender = sender_with(&server.url(), brief);
    let mut peer = proven(&server, &sender, 100).await;
    let sending = send(&sender, 3);
    for _ in 0..3 {
        let stream = peer.request().await;
        peer.answer(stream, 200).await;
    }
    // As if the machine had been asleep: everything here runs on this thread.
    std::thread::park_timeout(brief.total * 5 / 4);
    assert_eq!(sending.await.unwrap(), vec![Outcome::Delivered; 3]);
}

#[tokio::test]
async fn an_unreachable_provider_is_left_alone_for_a_while() {
    let server = FrameServer::start().await;
    let url = server.url();
    drop(server);
    let sender = sender_with(&url, Timeouts::default());
    let pause = async || match sender.send(&push(), &recipient(DEVICE), NOW).await {
        Outcome::Retry { after: Some(pause), reason, everybody: true, contact: Contact::NotMade } => {
            assert!(reason.starts_with("There is no connection to 127.0.0.1:"), "{reason}");
            pause
        }
        other => panic!("{other:?}"),
    };
    loop {
        let first = pause().await;
        assert_eq!(sender.room(0), 1);
        let began = Instant::now();
        let second = pause().await;
        // On a busy machine a pause may be over before it can be looked at, but the next one is longer.
        if began.elapsed() < first {
            assert!(second <= first, "{first:?} {second:?}: the same pause");
            break;
        }
    }
}

#[tokio::test]
async fn a_provider_that_does_not_return_the_greeting_was_not_asked() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let brief = Timeouts { connect: Duration::from_secs(5), total: Duration::from_millis(200) };
    let sender = sender_with(&format!("https://{}", silent.local_addr().unwrap()), brief);
    let outcome = sender.send(&push(), &recipient(DEVICE), NOW).await;
    let Outcome::Retry { reason, everybody: true, contact: Contact::NotMade, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert!(reason.ends_with(": there was no connection in time."), "{reason}");
}

#[tokio::test]
async fn a_connection_that_never_answers_counts_as_none() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let sending = send(&sender, 2);
    let mut peer = server.accept(100).await;
    peer.request().await;
    peer.go_away(1, INTERNAL_ERROR).await;
    drop(peer);
    let outcomes = sending.await.unwrap();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Retry { .. })), "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Retry { everybody: true, .. })), "{outcomes:?}");
}

#[tokio::test]
async fn addresses_that_are_not_permitted_are_not_connected_to() {
    let server = FrameServer::start().await;
    let sender = Sender::apns(&credentials(&server.url()), &Network::new(AddressPolicy::PUBLIC_ONLY));
    let Outcome::Unauthorized { reason } = sender.send(&push(), &recipient(DEVICE), NOW).await else { panic!() };
    assert!(reason.contains("loopback"), "{reason}");
}

#[tokio::test]
async fn room_grows_with_answers_and_stays_within_what_connections_carry() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    assert_eq!(sender.room(0), 100);
    let mut peer = proven(&server, &sender, 10).await;
    assert_eq!(sender.room(0), 80, "eight connections of ten streams");
    peer.permit(1000).await;
    peer.requests_so_far().await;
    let before = sender.room(0);
    let sending = send(&sender, 50);
    for _ in 0..50 {
        let stream = peer.request().await;
        peer.answer(stream, 200).await;
    }
    sending.await.unwrap();
    assert_eq!((before, sender.room(0)), (101, 151));

    let sending = send(&sender, 100);
    for _ in 0..100 {
        let stream = peer.request().await;
        peer.answer_with(stream, 503, r#"{"reason":"ServiceUnavailable"}"#).await;
    }
    sending.await.unwrap();
    assert!(sender.room(0) <= 151 / 2, "{}", sender.room(0));
}

/// What becomes of a hundred messages, and of the room for more, when the server goes away before it has looked at any.
async fn hundred_turned_away(code: u32) -> (Vec<Outcome>, usize) {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut peer = proven(&server, &sender, 1000).await;
    let sending = send(&sender, 100);
    for _ in 0..100 {
        peer.request().await;
    }
    peer.go_away(1, code).await;
    if code == NO_ERROR {
        let mut other = server.accept(1000).await;
        for _ in 0..100 {
            let stream = other.request().await;
            other.answer(stream, 200).await;
        }
    }
    (sending.await.unwrap(), sender.room(0))
}

#[tokio::test]
async fn a_server_that_goes_away_leaves_the_room_as_it_is_unless_it_is_sent_too_much() {
    let (outcomes, room) = hundred_turned_away(NO_ERROR).await;
    assert_eq!((outcomes, room), (vec![Outcome::Delivered; 100], 201));
    let (outcomes, room) = hundred_turned_away(ENHANCE_YOUR_CALM).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Retry { everybody: true, .. })), "{outcomes:?}");
    assert!(room <= 50, "{room}");
}

#[tokio::test]
async fn another_connection_when_the_first_is_full() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut peer = proven(&server, &sender, 2).await;
    let sending = send(&sender, 5);
    let full = [peer.request().await, peer.request().await];
    let mut other = server.accept(2).await;
    let first = other.request().await;
    assert!(other.requests_so_far().await.is_empty(), "it has to prove itself as well");
    other.answer(first, 200).await;
    for _ in 0..2 {
        let stream = other.request().await;
        other.answer(stream, 200).await;
    }
    for stream in full {
        peer.answer(stream, 200).await;
    }
    assert_eq!(sending.await.unwrap(), vec![Outcome::Delivered; 5]);
}
