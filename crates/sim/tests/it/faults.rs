//! What goes wrong goes wrong as announced.

use std::time::Duration;

use sim::{DEFAULT_TOPIC, Faults, GoAway, Protocol, SimSettings, Simulator};
use uuid::Uuid;

use crate::apns::{path, token};
use crate::client::{Answer, Connection};
use crate::signing::provider_token;

/// Sends messages as Apple wants them, with an id by number.
struct Sender {
    connection: Connection,
    authorization: String,
}

impl Sender {
    async fn new(simulator: &Simulator) -> Self {
        Self { connection: Connection::tls(simulator).await, authorization: provider_token(simulator.apns_key()) }
    }

    async fn send(&self, n: u32) -> Result<Answer, h2::Error> {
        let id = Uuid::from_u128(n.into()).to_string();
        let headers =
            [("authorization", self.authorization.as_str()), ("apns-topic", DEFAULT_TOPIC), ("apns-id", id.as_str())];
        self.connection.post(&path(n), &headers, "{}").await
    }
}

#[tokio::test]
async fn everything_at_once_and_the_sums_agree() {
    let faults = Faults {
        gone: 0.05,
        throttled: 0.05,
        unavailable: 0.05,
        resets: 0.05,
        lost_answers: 0.02,
        cuts: 0.01,
        goaway_every: 50,
        retry_after: Some(0),
        ..Faults::default()
    };
    let settings = SimSettings { faults: faults.clone(), ..SimSettings::default() };
    let simulator = Simulator::start(settings).await.unwrap();
    let mut sender = Sender::new(&simulator).await;
    let (mut n_gone, mut n_taken, mut n_broken) = (0, 0, 0);
    const N: u32 = 1000;
    for n in 0..N {
        loop {
            match sender.send(n).await.map(|answer| answer.status.as_u16()) {
                Ok(200) => n_taken += 1,
                Ok(410) => n_gone += 1,
                Ok(429 | 503) => continue,
                Ok(other) => panic!("{other}"),
                Err(error) if error.is_reset() => continue,
                Err(_) => {
                    n_broken += 1;
                    sender = Sender::new(&simulator).await;
                    continue;
                }
            }
            break;
        }
    }
    let stats = simulator.stats();
    let tally = stats.of(Protocol::Apns);
    let expected_gone = (0..N).filter(|n| faults.is_gone(&token(*n))).count() as u64;
    assert_eq!((tally.gone, tally.devices_gone, n_gone), (expected_gone, expected_gone, expected_gone));
    assert_eq!((tally.delivered(), n_taken), (u64::from(N) - expected_gone, u64::from(N) - expected_gone));
    // Only a lost answer makes an honest sender repeat what was taken.
    assert_eq!(tally.duplicates, tally.lost_answers);
    assert!(tally.resets > 20 && tally.throttled > 20 && tally.unavailable > 20 && tally.cuts > 2, "{tally:?}");
    assert!(stats.goaways > 10 && n_broken > 10, "{stats:?}");
    assert_eq!((tally.rejected, tally.unauthorized), (0, 0));
}

#[tokio::test]
async fn an_abrupt_goaway_names_the_last_stream_and_ignores_the_others() {
    let faults = Faults { goaway_every: 10, goaway: GoAway::Abrupt, ..Faults::default() };
    let settings = SimSettings { faults, careful_start: false, ..SimSettings::default() };
    let simulator = Simulator::start(settings).await.unwrap();
    let sender = Sender::new(&simulator).await;
    let all = (0..25).map(|n| sender.send(n));
    let ends = futures_util::future::join_all(all).await;
    let n_taken = ends.iter().filter(|end| end.is_ok()).count();
    assert_eq!(n_taken, 10);
    for error in ends.iter().filter_map(|end| end.as_ref().err()) {
        assert!(error.is_go_away() && error.is_remote(), "{error:?}");
    }
    let stats = simulator.stats();
    assert_eq!((stats.of(Protocol::Apns).messages, stats.ignored, stats.goaways), (10, 15, 1));
}

#[tokio::test]
async fn a_graceful_goaway_serves_what_is_under_way() {
    let faults = Faults { goaway_every: 10, goaway: GoAway::Graceful, ..Faults::default() };
    let settings = SimSettings { faults, careful_start: false, ..SimSettings::default() };
    let simulator = Simulator::start(settings).await.unwrap();
    let sender = Sender::new(&simulator).await;
    let ends = futures_util::future::join_all((0..25).map(|n| sender.send(n))).await;
    assert!(ends.iter().all(Result::is_ok));
    assert_eq!(simulator.stats().goaways, 1);
    // The connection takes nothing new.
    assert!(sender.send(99).await.is_err());
}

#[tokio::test]
async fn more_streams_than_allowed_are_refused_unharmed() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let sender = Sender::new(&simulator).await;
    let ends = futures_util::future::join_all((0..20).map(|n| sender.send(n))).await;
    let n_taken = ends.iter().filter(|end| end.is_ok()).count() as u64;
    for error in ends.iter().filter_map(|end| end.as_ref().err()) {
        assert_eq!(error.reason(), Some(h2::Reason::REFUSED_STREAM));
    }
    let stats = simulator.stats();
    assert_eq!((stats.of(Protocol::Apns).accepted, stats.over_limit), (n_taken, 20 - n_taken));
}

#[tokio::test]
async fn answers_take_their_time() {
    let faults = Faults { latency: Duration::from_millis(20), jitter: Duration::from_millis(10), ..Faults::default() };
    let settings = SimSettings { faults, careful_start: false, ..SimSettings::default() };
    let simulator = Simulator::start(settings).await.unwrap();
    let sender = Sender::new(&simulator).await;
    let begin = tokio::time::Instant::now();
    let ends = futures_util::future::join_all((0..50).map(|n| sender.send(n))).await;
    assert!(ends.iter().all(Result::is_ok));
    assert!(begin.elapsed() >= Duration::from_millis(20));
}

#[tokio::test]
async fn a_simulator_that_starts_again_knows_its_clients() {
    let folder = tempfile::tempdir().unwrap();
    let mut authorities = Vec::new();
    for _ in 0..2 {
        let keys = sim::Keys::in_folder(folder.path()).unwrap();
        let simulator =
            Simulator::start(SimSettings { keys: Some(keys.clone()), ..SimSettings::default() }).await.unwrap();
        assert_eq!(Sender::new(&simulator).await.send(1).await.unwrap().status, 200);
        authorities.push(keys.ca_pem().to_owned());
    }
    assert_eq!(authorities[0], authorities[1]);
}

#[tokio::test]
async fn a_test_can_wait_for_what_it_sent() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let sender = Sender::new(&simulator).await;
    let waiting = simulator.wait_until(|stats| stats.messages() == 3);
    let sending = async {
        for n in 0..3 {
            sender.send(n).await.unwrap();
        }
    };
    let (stats, ()) = tokio::join!(waiting, sending);
    assert_eq!(stats.of(Protocol::Apns).delivered(), 3);
}
