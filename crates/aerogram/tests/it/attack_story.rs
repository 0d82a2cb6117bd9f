//! Attacks at full size against the program itself, on demand. What they show is in docs/security.md; small versions run with the
//! other tests (`engine/tests/it/refused_addresses.rs`, `engine/tests/it/browsers.rs`, `api/tests/it/webhook_bursts.rs`).
//!
//! ```sh
//! cargo test -p aerogram --test it -- --ignored --nocapture attack_story
//! ```

mod neighbours;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};
use sim::{Faults, Protocol, SimSettings, Simulator, keys};
use tempfile::TempDir;
use testkit::client::Caller;
use testkit::event_receiver::{EventReceiver, Reaction};

use crate::server::Server;

const KEY: &str = "attacked-app-0123456ab";
const APP_SECRET: &str = "attacked-app-secret-12";
const MASTER_SECRET: &str = "attacked-app-master-12";
const TOKEN: &str = "operator-of-the-attacked-app";

/// How long what has to happen is waited for.
const PATIENCE: Duration = Duration::from_secs(150);
const CALLERS: usize = 32;

struct Target {
    server: Server,
    nobody: Caller,
    sim: Simulator,
    folder: TempDir,
}

impl Target {
    async fn start(unknown_prefix: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let credentials = [("--app-key", KEY), ("--app-secret", APP_SECRET), ("--master-secret", MASTER_SECRET)];
        let mut arguments: Vec<&str> = credentials.iter().flat_map(|(flag, value)| [*flag, *value]).collect();
        arguments.extend(["--operator-token", TOKEN, "--allow-private-addresses"]);
        // By default made-up devices would be kept out before they could do any harm.
        arguments.extend(["--device-channels-per-minute", "1000000"]);
        let server = Server::start(folder.path(), &arguments);
        let nobody = Caller::new(server.url.clone());
        let faults = Faults { unknown_prefix: unknown_prefix.to_owned(), ..Faults::default() };
        let sim = Simulator::start(SimSettings { faults, ..SimSettings::default() }).await.unwrap();
        Self { server, nobody, sim, folder }
    }

    fn master(&self) -> Caller {
        self.nobody.basic(KEY, MASTER_SECRET)
    }

    async fn configure(&self, platform: &str, config: Value) {
        let path = format!("/operator/apps/{KEY}/platforms/{platform}");
        self.nobody.bearer(TOKEN).put(&path, config).await.expect(200);
    }

    /// Registers devices, some at a time, and says how many seconds that took.
    async fn register(&self, channels: Vec<Value>) -> f64 {
        let (device, started) = (self.nobody.basic(KEY, APP_SECRET), Instant::now());
        let registering = stream::iter(channels).for_each_concurrent(CALLERS, |channel| {
            let device = device.clone();
            async move {
                device.post("/api/channels", json!({ "channel": channel })).await.expect(201);
            }
        });
        registering.await;
        started.elapsed().as_secs_f64()
    }

    /// Sends a push to all devices of a type. Returns how many messages arrived, and after how many seconds all or no more did.
    async fn push(&self, device_type: &str, protocol: Protocol, n_wanted: u64, patience: Duration) -> (u64, f64) {
        let before = self.sim.stats().of(protocol).delivered();
        let body = json!({"audience": "all", "device_types": [device_type], "notification": {"alert": "Hello"}});
        let started = Instant::now();
        self.master().post("/api/push", body).await.expect(200);
        let arrived = self.sim.wait_until(|stats| stats.of(protocol).delivered() >= before + n_wanted);
        let _is_late = tokio::time::timeout(patience, arrived).await;
        (self.sim.stats().of(protocol).delivered() - before, started.elapsed().as_secs_f64())
    }

    async fn notices(&self) -> Value {
        self.nobody.bearer(TOKEN).get("/operator/platforms/notices").await.expect(200)["notices"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; docs/security.md has its figures"]
async fn made_up_devices_beside_honest_ones() {
    const HONEST: u64 = 40_000;
    const MADE_UP: u32 = 25_000;
    let target = Target::start("fade").await;
    let endpoint = json!({"url": target.sim.url(Protocol::Apns), "ca": target.sim.ca_pem()});
    let config = json!({
        "topic": target.sim.topic(), "team_id": keys::APNS_TEAM_ID, "key_id": keys::APNS_KEY_ID,
        "key": target.sim.apns_key(), "endpoint": endpoint,
    });
    target.configure("apns", config).await;
    let ios = |address: String| json!({"device_type": "ios", "opt_in": true, "push_address": address});
    let made_up = target.register((0..MADE_UP).map(|n| ios(format!("fade{n:060x}"))).collect()).await;
    target.register((0..HONEST).map(|n| ios(target.sim.device(Protocol::Apns, n))).collect()).await;
    println!("{MADE_UP} made-up devices registered in {made_up:.0} s, then {HONEST} honest ones");
    let mut n_arrived = Vec::new();
    for n in 1..=6 {
        let patience = if n_arrived.last().is_none_or(|n| *n == HONEST) { PATIENCE } else { PATIENCE / 5 };
        let (arrived, seconds) = target.push("ios", Protocol::Apns, HONEST, patience).await;
        println!("push {n}: {arrived} of {HONEST} honest devices in {seconds:.1} s");
        n_arrived.push(arrived);
    }
    println!(
        "refused: {}; platforms that wait: {}",
        target.sim.stats().of(Protocol::Apns).rejected,
        target.notices().await
    );
    assert_eq!((n_arrived, target.notices().await), (vec![HONEST; 6], json!([])));
    target.server.signal("TERM");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute; docs/security.md has its figures"]
async fn tarpits_beside_honest_browsers() {
    const HONEST: u64 = 1_000;
    let target = Target::start("").await;
    // The simulator takes the place of their services, too.
    target.sim.set_faults(Faults { silent_prefix: "evil".to_owned(), ..Faults::default() });
    let endpoint = json!({"url": target.sim.url(Protocol::WebPush), "ca": target.sim.ca_pem()});
    target.configure("webpush", json!({"subject": "mailto:push@example.com", "endpoint": endpoint})).await;
    let keys = target.sim.web_subscription(0).1;
    let browser = |address: String| {
        let web = json!({"subscription": {"p256dh": keys.p256dh, "auth": keys.auth}});
        json!({"device_type": "web", "opt_in": true, "push_address": address, "web": web})
    };
    let hostile = (0..300).map(|n| browser(format!("https://tarpit-{}.example/webpush/evil-{n}", n % 3)));
    target.register(hostile.collect()).await;
    target.register((0..HONEST).map(|n| browser(target.sim.web_subscription(n).0)).collect()).await;
    let mut slowest = 0.0_f64;
    for n in 1..=6 {
        let (arrived, seconds) = target.push("web", Protocol::WebPush, HONEST, PATIENCE).await;
        println!("push {n}: {arrived} of {HONEST} honest browsers in {seconds:.1} s");
        assert_eq!(arrived, HONEST);
        slowest = slowest.max(seconds);
    }
    println!("slowest: {slowest:.1} s; platforms that wait: {}", target.notices().await);
    assert_eq!(target.notices().await, json!([]));
    target.server.signal("TERM");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute; docs/security.md has its figures"]
async fn refused_events_beside_honest_ones() {
    const POISON: usize = 30_000;
    let target = Target::start("").await;
    let receiver = EventReceiver::start().await;
    let name = |event: &Value| event["body"]["name"].as_str().unwrap_or_default().to_owned();
    receiver.react(move |event| if name(event) == "poison" { Reaction::Status(400) } else { Reaction::Status(200) });
    let (operator, path) = (target.nobody.bearer(TOKEN), format!("/operator/apps/{KEY}/webhooks"));
    let created = operator.post(&path, json!({"url": receiver.url(), "types": ["CUSTOM"]})).await.expect(201);
    let webhook = format!("{path}/{}", created["webhook"]["webhook_id"].as_str().unwrap());
    let mut channels = Vec::new();
    for n in 0..2 {
        let device = json!({"device_type": "ios", "opt_in": true, "push_address": format!("{n:064x}")});
        let registered = target.nobody.basic(KEY, APP_SECRET).post("/api/channels", json!({ "channel": device })).await;
        channels.push(registered.expect(201)["channel_id"].clone());
    }
    let event = |channel: &Value, name: &str| json!({"user": {"channel": channel}, "body": {"name": name}});
    let started = Instant::now();
    for _ in 0..POISON / 100 {
        let poison = vec![event(&channels[0], "poison"); 100];
        target.master().post("/api/custom-events", json!(poison)).await.expect(200);
    }
    let caused = started.elapsed().as_secs_f64();
    target.master().post("/api/custom-events", json!([event(&channels[1], "honest")])).await.expect(200);
    let honest = Instant::now();
    let is_taken = tokio::time::timeout(PATIENCE, receiver.wait_until(|received| name(&received.event) == "honest"));
    let is_taken = is_taken.await.is_ok();
    let shown = operator.get(&webhook).await.expect(200)["webhook"].clone();
    println!(
        "{POISON} refused events caused in {caused:.1} s; the honest one after them taken: {is_taken}, after {:.1} s; webhook: {shown}",
        honest.elapsed().as_secs_f64()
    );
    assert!(is_taken && shown["enabled"] == true, "{shown}");
    target.server.signal("TERM");
}
