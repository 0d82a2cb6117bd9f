//! Random connects, drops, pushes, cancellations, expiries, restarts and changes of nodes, against what every device must have been
//! told.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};
use testkit::store::{Database, databases};

use super::send;

const N_DEVICES: usize = 3;
const N_STEPS: usize = 40;
const N_SEEDS: u8 = 4;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// On one of the nodes.
    Connect(usize, usize),
    Drop(usize),
    /// To one device, or to all; perhaps expiring after a minute, or canceled before its turn has come.
    Push {
        to: Option<usize>,
        expires: bool,
        cancel: bool,
    },
    Wait,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let device = 0..N_DEVICES;
    let push = (prop::option::of(device.clone()), any::<bool>(), prop::bool::weighted(0.2));
    prop_oneof![
        3 => (device.clone(), 0..2_usize).prop_map(|(device, node)| Step::Connect(device, node)),
        2 => device.prop_map(Step::Drop),
        6 => push.prop_map(|(to, expires, cancel)| Step::Push { to, expires, cancel }),
        1 => Just(Step::Wait),
        1 => Just(Step::Restart),
    ]
}

fn steps(seed: u8) -> Vec<Step> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut steps = prop::collection::vec(step(), N_STEPS).new_tree(&mut runner).unwrap().current();
    steps.extend((0..N_DEVICES).map(|device| Step::Connect(device, device % 2)));
    steps
}

/// What a device has to be told from where it stands.
#[derive(Default)]
struct Expected {
    /// Alerts in order, with whether each may be left out because it has expired.
    alerts: Vec<(String, bool)>,
    at: Option<String>,
}

struct World {
    devices: Vec<Device>,
    sockets: BTreeMap<usize, Socket>,
    expected: Vec<Expected>,
}

/// Every push that has not expired is told to a connected or returning device, in order, none is missed, and none of another's.
#[tokio::test]
async fn nothing_is_missed_and_nothing_is_anothers() {
    for seed in 0..N_SEEDS {
        on_each_database(async |mut app| {
            let mut world = World::new(&app).await;
            for (n, step) in steps(seed).into_iter().enumerate() {
                app = match step {
                    Step::Restart => {
                        world.sockets.clear();
                        app.restart().await
                    }
                    _ => {
                        world.take(step, n, &app, &app).await;
                        app
                    }
                };
            }
        })
        .await;
    }
}

/// The same with two nodes, of which a device may choose another each time. Pushes are taken by the first, and the second starts
/// anew now and then.
#[tokio::test]
async fn nothing_is_missed_by_changing_nodes() {
    if databases().len() < 2 {
        return;
    }
    for seed in N_SEEDS..2 * N_SEEDS {
        let app = TestApp::on(Database::Postgres).await;
        let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
        let mut other = app.join(&url).await;
        let mut world = World::new(&app).await;
        for (n, step) in steps(seed).into_iter().enumerate() {
            if matches!(step, Step::Restart) {
                world.sockets.clear();
                other.stop().await;
                other = app.join(&url).await;
            } else {
                world.take(step, n, &app, &other).await;
            }
        }
    }
}

impl World {
    async fn new(app: &TestApp) -> Self {
        let mut world = Self { devices: Vec::new(), sockets: BTreeMap::new(), expected: Vec::new() };
        for _ in 0..N_DEVICES {
            let device = Device::register(app, json!({"device_type": "web", "live": true})).await;
            let hello = Socket::open(app, &device, None).await.next().await;
            let at = hello["at"].as_str().map(str::to_owned);
            world.expected.push(Expected { at, ..Expected::default() });
            world.devices.push(device);
        }
        world
    }

    async fn take(&mut self, step: Step, n: usize, app: &TestApp, other: &TestApp) {
        match step {
            Step::Connect(which, node) => {
                let (node, expected) = (if node == 0 { app } else { other }, &mut self.expected[which]);
                let mut socket = Socket::open(node, &self.devices[which], expected.at.as_deref()).await;
                assert_eq!(socket.next().await["complete"], true);
                drain(&mut socket, expected).await;
                self.sockets.insert(which, socket);
            }
            Step::Drop(which) => drop(self.sockets.remove(&which)),
            Step::Push { to, expires, cancel } => {
                let audience = to.map_or(json!("all"), |to| json!({"channel": self.devices[to].channel}));
                let mut body =
                    json!({"audience": audience, "device_types": ["web"], "notification": {"alert": n.to_string()}});
                if expires {
                    body["options"] = json!({"expiry": 60});
                }
                if cancel {
                    let accepted = app.master().post("/api/push", body).await.expect(200);
                    let id = accepted["push_ids"][0].as_str().unwrap();
                    app.master().post(&format!("/api/push/{id}/cancel"), json!({})).await.expect(200);
                    app.step_all().await;
                    return;
                }
                send(app, body).await;
                for which in (0..N_DEVICES).filter(|which| to.is_none_or(|to| to == *which)) {
                    self.expected[which].alerts.push((n.to_string(), expires));
                    if let Some(socket) = self.sockets.get_mut(&which) {
                        drain(socket, &mut self.expected[which]).await;
                    }
                }
            }
            Step::Wait => {
                app.advance(Duration::from_secs(120));
                for expected in &mut self.expected {
                    expected.alerts.retain(|(_, expires)| !expires);
                }
            }
            Step::Restart => {}
        }
    }
}

/// Reads everything that a device has to be told, and nothing else.
async fn drain(socket: &mut Socket, expected: &mut Expected) {
    for (alert, _) in std::mem::take(&mut expected.alerts) {
        let message = socket.next().await;
        assert_eq!(message["push"]["alert"], json!(alert));
        expected.at = message["at"].as_str().map(str::to_owned);
    }
}
