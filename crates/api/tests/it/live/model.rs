//! Random connections in every form, silences, acknowledgements, drops, pushes, cancellations, expiries, restarts and changes of
//! nodes, against what every device must have been told.

mod listener;

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::store::{Database, databases};

use listener::{Form, Listener, Sent};

/// Each of another type, so that a push to all has a job for each of them.
const DEVICES: [&str; 3] = ["web", "android", "ios"];
const N_STEPS: usize = 60;
const N_SEEDS: u8 = 4;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// In a form, to one of the nodes.
    Connect(usize, Form, usize),
    Leave(usize),
    /// The device takes everything that it has to be told. In between it reads nothing.
    Read(usize),
    /// The device remembers how far it has read, and says so. Without that it is told the same again when it comes back.
    Acknowledge(usize),
    /// To one device, or to all; perhaps expiring after a minute, or canceled after so many jobs: before its audience is chosen,
    /// after that, when some devices have been told, or when it is too late.
    Push {
        to: Option<usize>,
        expires: bool,
        cancel: Option<usize>,
    },
    Wait,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let device = 0..DEVICES.len();
    let form = prop_oneof![Just(Form::Socket), Just(Form::Events), Just(Form::Polls)];
    let push = (prop::option::of(device.clone()), any::<bool>(), prop::option::weighted(0.25, 0..4_usize));
    prop_oneof![
        3 => (device.clone(), form, 0..2_usize).prop_map(|(device, form, node)| Step::Connect(device, form, node)),
        1 => device.clone().prop_map(Step::Leave),
        3 => device.clone().prop_map(Step::Read),
        3 => device.prop_map(Step::Acknowledge),
        7 => push.prop_map(|(to, expires, cancel)| Step::Push { to, expires, cancel }),
        1 => Just(Step::Wait),
        1 => Just(Step::Restart),
    ]
}

/// In the end, every device comes back and reads.
fn steps(seed: u8) -> Vec<Step> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut steps = prop::collection::vec(step(), N_STEPS).new_tree(&mut runner).unwrap().current();
    for (device, form) in [Form::Socket, Form::Events, Form::Polls].into_iter().enumerate() {
        steps.extend([Step::Connect(device, form, device % 2), Step::Read(device)]);
    }
    steps
}

/// Every push that has not expired is told to a connected or returning device, in order, none is missed, and none of another's.
#[tokio::test]
async fn nothing_is_missed_and_nothing_is_anothers() {
    for seed in 0..N_SEEDS {
        on_each_database(async |mut app| {
            let mut world = World::new(&app).await;
            for (n, step) in steps(seed).into_iter().enumerate() {
                if matches!(step, Step::Restart) {
                    world.leave_all();
                    app = app.restart().await;
                } else {
                    world.take(step, n, [&app, &app]).await;
                }
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
                world.leave_all();
                other.stop().await;
                other = app.join(&url).await;
            } else {
                world.take(step, n, [&app, &other]).await;
            }
        }
    }
}

struct World {
    listeners: Vec<Listener>,
}

impl World {
    async fn new(app: &TestApp) -> Self {
        let mut listeners = Vec::new();
        for device_type in DEVICES {
            listeners.push(Listener::new(app, device_type).await);
        }
        Self { listeners }
    }

    fn leave_all(&mut self) {
        self.listeners.iter_mut().for_each(Listener::leave);
    }

    async fn take(&mut self, step: Step, n: usize, nodes: [&TestApp; 2]) {
        match step {
            Step::Connect(which, form, node) => self.listeners[which].connect(nodes, node, form).await,
            Step::Leave(which) => self.listeners[which].leave(),
            Step::Read(which) => self.listeners[which].read(nodes).await,
            Step::Acknowledge(which) => self.listeners[which].acknowledge(nodes).await,
            Step::Push { to, expires, cancel } => {
                let sent = self.push(nodes[0], n, (to, expires, cancel)).await;
                let all = self.listeners.iter_mut().enumerate();
                for (_, listener) in all.filter(|(which, _)| to.is_none_or(|to| to == *which)) {
                    listener.expect(sent.clone());
                }
            }
            Step::Wait => {
                nodes[0].advance(Duration::from_secs(120));
                self.listeners.iter_mut().for_each(Listener::expire);
            }
            // The tests have the nodes.
            Step::Restart => {}
        }
    }

    async fn push(&self, app: &TestApp, n: usize, (to, expires, cancel): (Option<usize>, bool, Option<usize>)) -> Sent {
        let audience = to.map_or(json!("all"), |to| json!({"channel": self.listeners[to].device.channel}));
        let alert = n.to_string();
        let mut body = json!({"audience": audience, "device_types": "all", "notification": {"alert": alert}});
        if expires {
            body["options"] = json!({"expiry": 60});
        }
        let accepted = app.master().post("/api/push", body).await.expect(200);
        let is_canceled = match cancel {
            Some(n_jobs) => cancel_after(app, accepted["push_ids"][0].as_str().unwrap(), n_jobs).await,
            None => false,
        };
        app.step_all().await;
        Sent::new(alert, expires, is_canceled)
    }
}

/// Cancels a push after some of its jobs. Returns whether it was not too late.
async fn cancel_after(app: &TestApp, id: &str, n_jobs: usize) -> bool {
    let worker = app.engine().worker();
    for _ in 0..n_jobs {
        worker.step().await.unwrap();
    }
    let answer = app.master().post(&format!("/api/push/{id}/cancel"), "").await;
    match answer.status.as_u16() {
        200 => true,
        409 => false,
        _ => panic!("{}", answer.text()),
    }
}
