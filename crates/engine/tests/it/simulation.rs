//! A service in a hostile world, by chance: clients, devices that mean harm, nodes that are killed, a database that fails at the
//! worst moments, providers that break down and time that jumps. Afterwards nothing that was accepted is lost.
//!
//! Everything follows from a seed, one thing after the other, so that a seed that fails once fails again:
//!
//! ```sh
//! AEROGRAM_SIMULATION_SEED=17 cargo test -p engine --test it -- simulation
//! AEROGRAM_SIMULATION_MINUTES=120 cargo test -p engine --test it -- --ignored simulation
//! ```

mod acts;
mod books;
mod faults;

use std::time::{Duration, Instant};

use devices::LocationSettings;
use model::time::Clock;
use serde_json::{Value, json};
use testkit::app::{START, TestApp};
use testkit::cable::Cable;
use testkit::postgres;
use testkit::receiver::OpenReceiver;
use testkit::store::{Database, Home, databases};

use crate::chance::Chance;
use crate::provider::n_jobs;
use books::Books;

/// What the tests try every time.
const SEEDS: std::ops::Range<u64> = 1..21;
const N_STEPS: usize = 150;
/// How long a fault that does not end by itself lasts.
const FAULT: Duration = Duration::from_millis(300);
/// For what must come to an end by itself; a simulation that does not has failed.
const PATIENCE: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_on_sqlite() {
    Box::pin(run_seeds(Database::Sqlite)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_on_postgres() {
    if databases().contains(&Database::Postgres) {
        Box::pin(run_seeds(Database::Postgres)).await;
    }
}

/// As long as AEROGRAM_SIMULATION_MINUTES says, with seeds that no run had before.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for as long as it is told to"]
async fn nothing_is_lost_for_hours() {
    let time = Duration::from_secs(60 * number("AEROGRAM_SIMULATION_MINUTES").unwrap_or(10));
    let began = Instant::now();
    let mut seeds = Chance::new(start_of_run());
    while began.elapsed() < time {
        let seed = u64::try_from(seeds.below(1 << 40)).unwrap();
        for database in databases() {
            Box::pin(run_seed(database, seed)).await;
        }
    }
}

/// Another number in every run, also in containers, where every process may have the same id.
fn start_of_run() -> u64 {
    u64::try_from(Clock::System.now().0).unwrap().rotate_left(16) ^ u64::from(std::process::id())
}

async fn run_seeds(database: Database) {
    if let Some(seed) = number("AEROGRAM_SIMULATION_SEED") {
        run_seed(database, seed).await;
        return;
    }
    let mut n_damaged = 0;
    for seed in SEEDS {
        n_damaged += run_seed(database, seed).await;
    }
    assert!(n_damaged > 0 || database == Database::Sqlite, "no commit was ever damaged");
}

/// Returns how many commits were damaged on their way.
async fn run_seed(database: Database, seed: u64) -> usize {
    println!("simulation on {database:?} with AEROGRAM_SIMULATION_SEED={seed}");
    let world = async { World::new(database, seed).await.run().await };
    Box::pin(tokio::time::timeout(PATIENCE, world)).await.unwrap_or_else(|_| panic!("seed {seed} does not end"))
}

fn number(variable: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test suite, not a setting of the service")]
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

struct World {
    chance: Chance,
    /// One on SQLite, two on PostgreSQL.
    nodes: Vec<TestApp>,
    /// From each node to PostgreSQL.
    cables: Vec<Cable>,
    receiver: OpenReceiver,
    books: Books,
    /// Faults so far, and those that are over. Without one, nobody gets a message twice.
    n_faults: usize,
    n_healed: usize,
}

impl World {
    async fn new(database: Database, seed: u64) -> Self {
        let receiver = OpenReceiver::start().await;
        let (mut nodes, mut cables) = (Vec::new(), Vec::new());
        match database {
            Database::Sqlite => nodes.push(TestApp::on(database).await),
            Database::Postgres => {
                let url = postgres::cluster().fresh_database();
                cables.extend([(); 2].map(|()| Cable::to(postgres::cluster(), &url)));
                nodes.push(TestApp::at(Home::at(cables[0].url()), LocationSettings::default()).await);
                nodes.push(nodes[0].join(cables[1].url()).await);
            }
        }
        let path = format!("/operator/apps/{}/platforms/open::kiosk", nodes[0].app.key);
        let endpoint = json!({"url": receiver.url(), "auth": {"type": "none"}, "validate": false});
        nodes[0].operator().put(&path, endpoint).await.expect(200);
        Self { chance: Chance::new(seed), nodes, cables, receiver, books: Books::default(), n_faults: 0, n_healed: 0 }
    }

    async fn run(mut self) -> usize {
        for _ in 0..N_STEPS {
            self.step().await;
        }
        self.come_to_rest().await;
        self.check().await;
        for node in self.nodes {
            node.stop().await;
        }
        self.cables.iter().map(Cable::n_damaged).sum()
    }

    async fn step(&mut self) {
        let dice = self.chance.below(100);
        println!("{dice}");
        match dice {
            0..25 => self.register().await,
            25..40 => self.tag().await,
            40..44 => self.opt().await,
            44..56 => self.push().await,
            56..60 => self.schedule().await,
            60..63 => self.mean_harm().await,
            63..83 => self.work().await,
            83..87 => self.let_time_pass().await,
            _ => self.fail().await,
        }
    }

    /// A few jobs on one of the nodes.
    async fn work(&mut self) {
        let node = self.chance.below(self.nodes.len());
        for _ in 0..=self.chance.below(8) {
            let worker = self.nodes[node].engine().worker();
            let mut working = tokio::spawn(async move { worker.step().await });
            // What was delivered waits for the database, so a fault that lasts is over at some time.
            let in_time = tokio::time::timeout(FAULT, &mut working).await;
            let stepped = match in_time {
                Ok(stepped) => stepped,
                Err(_) => {
                    self.heal().await;
                    working.await
                }
            };
            // A database that fails is one of the faults; the job runs again.
            if !matches!(stepped.unwrap(), Ok(true)) {
                return;
            }
        }
    }

    async fn let_time_pass(&mut self) {
        // Some seconds, some minutes, or more than any lease.
        let most = self.chance.pick(&[5, 300, 3000]);
        let seconds = self.chance.below(most);
        self.nodes[0].advance(Duration::from_secs(u64::try_from(seconds).unwrap()));
    }

    /// Faults are over, and everything that is due is done.
    async fn come_to_rest(&mut self) {
        self.heal().await;
        // Schedules are at most two hours away, and whatever waits tries again within an hour.
        for _ in 0..60 {
            self.nodes[0].advance(Duration::from_secs(10 * 60));
            for node in &self.nodes {
                node.step_all().await;
            }
            if self.nodes[0].clock().now() > START.plus(self.books.last_schedule) && n_jobs(&self.nodes[0]).await == 0 {
                return;
            }
        }
        panic!("there is always more to do");
    }

    /// What ARCHITECTURE.md promises.
    async fn check(&self) {
        let messages = self.receiver.values();
        for sent in &self.books.sent {
            let push = self.nodes[0].master().get(&format!("/api/push/{}", sent.push_id)).await.expect(200);
            sent.check(&push["push"], &messages, self.n_faults);
        }
        for node in &self.nodes {
            self.check_audiences(node).await;
        }
        self.check_log().await;
    }

    /// Every node knows who has which tags.
    async fn check_audiences(&self, node: &TestApp) {
        for (audience, n_expected) in self.books.audiences() {
            let question = json!({"audience": audience, "device_types": ["open::kiosk"]});
            let explained = node.master().post("/api/audience/explain", question).await.expect(200);
            assert_eq!(explained["matched"], json!(n_expected), "{audience}: {explained}");
        }
    }

    /// The log has no gaps.
    async fn check_log(&self) {
        let sql = "select count(*), max(l.position), max(n.log_start), max(n.log_head)
                   from log l join app_numbers n on n.app = l.app";
        let read = self.nodes[0].engine().store().read(move |tx| {
            tx.query_one(sql, &[], |row| Ok([row.get::<i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))
        });
        let [n_records, last, start, head]: [i64; 4] =
            read.await.unwrap_or_else(|error: store::Error| panic!("{error}"));
        assert_eq!((n_records, last), (head - start + 1, head));
    }
}

/// How the API names the channel.
fn audience_of(id: &str) -> Value {
    json!({"channel": id})
}
