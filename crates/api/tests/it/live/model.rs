//! Random connects, drops, pushes, cancellations, expiries and restarts, against what every device must have been told.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use testkit::app::on_each_database;

use super::client::{Device, Socket};
use super::send;

const N_DEVICES: usize = 3;
const N_STEPS: usize = 40;

#[derive(Clone, Copy, Debug)]
enum Step {
    Connect(usize),
    Drop(usize),
    /// To one device, or to all; perhaps expiring after a minute.
    Push {
        to: Option<usize>,
        expires: bool,
    },
    Wait,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let device = 0..N_DEVICES;
    prop_oneof![
        3 => device.clone().prop_map(Step::Connect),
        2 => device.clone().prop_map(Step::Drop),
        6 => (prop::option::of(device), any::<bool>()).prop_map(|(to, expires)| Step::Push { to, expires }),
        1 => Just(Step::Wait),
        1 => Just(Step::Restart),
    ]
}

/// What a device has to be told from where it stands.
#[derive(Default)]
struct Expected {
    /// Alerts in order, with whether each may be left out because it has expired.
    alerts: Vec<(String, bool)>,
    at: Option<String>,
}

/// Every push that has not expired is told to a connected or returning device, in order, none is missed, and none of another's.
#[tokio::test]
async fn nothing_is_missed_and_nothing_is_anothers() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let steps: Vec<Step> = prop::collection::vec(step(), N_STEPS).new_tree(&mut runner).unwrap().current();
    on_each_database(async |mut app| {
        let mut devices = Vec::new();
        for _ in 0..N_DEVICES {
            devices.push(Device::register(&app, json!({"device_type": "web", "live": true})).await);
        }
        let mut sockets: BTreeMap<usize, Socket> = BTreeMap::new();
        let mut expected: Vec<Expected> = (0..N_DEVICES).map(|_| Expected::default()).collect();
        for (n, device) in devices.iter().enumerate() {
            let hello = Socket::open(&app, device, None).await.next().await;
            expected[n].at = hello["at"].as_str().map(str::to_owned);
        }
        for (n, step) in steps.iter().chain(&[Step::Connect(0), Step::Connect(1), Step::Connect(2)]).enumerate() {
            match *step {
                Step::Connect(which) => {
                    let after = expected[which].at.clone();
                    let mut socket = Socket::open(&app, &devices[which], after.as_deref()).await;
                    assert_eq!(socket.next().await["complete"], true);
                    drain(&mut socket, &mut expected[which]).await;
                    sockets.insert(which, socket);
                }
                Step::Drop(which) => drop(sockets.remove(&which)),
                Step::Push { to, expires } => {
                    let audience = to.map_or(json!("all"), |to| json!({"channel": devices[to].channel}));
                    let mut body = json!({
                        "audience": audience, "device_types": ["web"], "notification": {"alert": n.to_string()},
                    });
                    if expires {
                        body["options"] = json!({"expiry": 60});
                    }
                    send(&app, body).await;
                    for which in (0..N_DEVICES).filter(|which| to.is_none_or(|to| to == *which)) {
                        expected[which].alerts.push((n.to_string(), expires));
                        if let Some(socket) = sockets.get_mut(&which) {
                            drain(socket, &mut expected[which]).await;
                        }
                    }
                }
                Step::Wait => {
                    app.advance(Duration::from_secs(120));
                    for expected in &mut expected {
                        expected.alerts.retain(|(_, expires)| !expires);
                    }
                }
                Step::Restart => {
                    sockets.clear();
                    app = app.restart().await;
                }
            }
        }
    })
    .await;
}

/// Reads everything that a device has to be told, and nothing else.
async fn drain(socket: &mut Socket, expected: &mut Expected) {
    for (alert, _) in std::mem::take(&mut expected.alerts) {
        let message = socket.next().await;
        assert_eq!(message["push"]["alert"], json!(alert));
        expected.at = message["at"].as_str().map(str::to_owned);
    }
}
