//! Nothing is lost: the process is killed without warning at the worst moments, and every device still gets its push.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use model::ids::ChannelId;
use serde_json::{Value, json};
use store::DatabaseUrl;
use tempfile::TempDir;
use testkit::bulk::copy_channel;
use testkit::client::Caller;
use testkit::event_receiver::EventReceiver;
use testkit::receiver::{OpenReceiver, Received};
use testkit::rows::row_counts;
use testkit::store::{Home, databases};

use crate::server::Server;

pub(crate) const KEY: &str = "crashing-app-0123456ab";
pub(crate) const APP_SECRET: &str = "crashing-app-secret-12";
pub(crate) const MASTER_SECRET: &str = "crashing-app-master-12";
const TOKEN: &str = "operator-of-the-crashing-app";

const N_DEVICES: usize = 100_000;
/// What the documentation promises: this many per block of 65,536 may be repeated after a crash.
const WINDOW: usize = 4096;
const BLOCK: usize = 65_536;
/// For what must happen by itself; when it does not, the test fails instead of hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// One installation whose process comes and goes.
struct Installation {
    folder: TempDir,
    home: Home,
    receiver: OpenReceiver,
}

impl Installation {
    fn start(&self, roles: &str) -> (Server, Caller) {
        start(self.folder.path(), &self.home, roles)
    }

    /// An open platform whose endpoint is our receiver, and one channel on it.
    async fn prepare(&self, nobody: &Caller) -> ChannelId {
        let path = format!("/operator/apps/{KEY}/platforms/open::crash");
        let operator = nobody.bearer(TOKEN);
        let config = json!({"url": self.receiver.url(), "auth": {"type": "none"}, "validate": false});
        let reply = operator.put(&path, config).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        register(nobody, "original").await
    }

    /// How often each address got a message, after checking that repeats carry the same id.
    fn deliveries(&self) -> HashMap<String, usize> {
        let mut ids: HashMap<String, Value> = HashMap::new();
        let mut counts = HashMap::new();
        for message in self.receiver.values() {
            let id = ids.entry(address(&message).to_owned()).or_insert_with(|| message["send_id"].clone());
            assert_eq!(*id, message["send_id"], "a repeat to {} has another id", address(&message));
            *counts.entry(address(&message).to_owned()).or_insert(0) += 1;
        }
        counts
    }

    async fn wait_for_everybody(&self, n_devices: usize) {
        let (mut served, mut n_seen) = (HashSet::new(), 0);
        self.receiver
            .wait_until(|received| {
                let new = received[n_seen..].iter().flat_map(Received::values);
                served.extend(new.map(|message| address(message).to_owned()));
                n_seen = received.len();
                served.len() == n_devices
            })
            .await;
    }
}

/// Starts a node with some roles on a database.
pub(crate) fn start(folder: &Path, home: &Home, roles: &str) -> (Server, Caller) {
    let database = match &home.url {
        DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseUrl::Postgres(url) => url.clone(),
    };
    let secrets_key = "A".repeat(43);
    let arguments = [
        ("--database", database.as_str()),
        ("--secrets-key", &secrets_key),
        ("--roles", roles),
        ("--app-key", KEY),
        ("--app-secret", APP_SECRET),
        ("--master-secret", MASTER_SECRET),
        ("--operator-token", TOKEN),
    ];
    let mut arguments: Vec<&str> = arguments.iter().flat_map(|(flag, value)| [*flag, *value]).collect();
    arguments.push("--allow-private-addresses");
    let server = Server::start(folder, &arguments);
    let caller = Caller::new(server.url.clone());
    (server, caller)
}

fn address(message: &Value) -> &str {
    message["target"]["address"].as_str().unwrap()
}

async fn register(nobody: &Caller, address: &str) -> ChannelId {
    let body = json!({"channel": {
        "type": "open", "opt_in": true, "address": address, "open": {"open_platform_name": "crash"},
    }});
    let reply = nobody.basic(KEY, MASTER_SECRET).post("/api/channels/open", body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["channel_id"].as_str().unwrap().parse().unwrap()
}

/// Sends a push to everybody and returns its id.
async fn push(nobody: &Caller) -> String {
    let body = json!({"audience": "all", "device_types": ["open::crash"], "notification": {"alert": "still here"}});
    let reply = nobody.basic(KEY, MASTER_SECRET).post("/api/push", body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["push_ids"][0].as_str().unwrap().to_owned()
}

/// Asks until the push is over and no work is due of which more messages could come.
async fn wait_until_done(nobody: &Caller, push_id: &str, n_devices: usize) {
    let master = nobody.basic(KEY, MASTER_SECRET);
    let path = format!("/api/push/{push_id}");
    let done = async {
        loop {
            let push = master.get(&path).await.expect(200)["push"].clone();
            if push["state"] == "done" {
                return push;
            }
        }
    };
    let push = tokio::time::timeout(PATIENCE, done).await.expect("the push comes to an end");
    let counts = &push["platforms"]["open::crash"];
    assert_eq!((&counts["targeted"], &counts["delivered"]), (&json!(n_devices), &json!(n_devices)));
    let operator = nobody.bearer(TOKEN);
    let idle = async {
        loop {
            let metrics = operator.get("/metrics").await;
            let nothing_to_do = ["aerogram_jobs_overdue 0\n", "aerogram_jobs_running 0\n"];
            if nothing_to_do.iter().all(|line| metrics.text().contains(line)) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, idle).await.expect("no job is due");
}

/// After the server was stopped: nothing waits for later, either.
async fn assert_only_the_sweep_is_left(installation: &Installation) {
    let store = installation.home.open().await;
    assert_eq!(row_counts(&store).await["job"], 1);
    store.close().await;
}

async fn on_each_database(story: impl AsyncFn(Installation)) {
    for database in databases() {
        let receiver = OpenReceiver::start().await;
        let folder = tempfile::tempdir().unwrap();
        Box::pin(story(Installation { folder, home: Home::new(database), receiver })).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_accepting_and_delivering() {
    on_each_database(async |installation| {
        // A node that only serves requests accepts the push and cannot deliver it.
        let (server, caller) = installation.start("api");
        installation.prepare(&caller).await;
        let push_id = push(&caller).await;
        server.signal("KILL");
        server.wait();
        assert_eq!(installation.deliveries(), HashMap::new());

        let (server, caller) = installation.start("api,worker");
        installation.receiver.wait_for(1).await;
        wait_until_done(&caller, &push_id, 1).await;
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
        assert_only_the_sweep_is_left(&installation).await;
        assert_eq!(installation.deliveries(), HashMap::from([("original".to_owned(), 1)]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_a_hundred_thousand() {
    on_each_database(async |installation| {
        let (server, caller) = installation.start("api");
        let original = installation.prepare(&caller).await;
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
        let mut addresses = add_devices(&installation, original).await;
        addresses.push("original".to_owned());

        let (server, caller) = installation.start("api,worker");
        // In the middle of it, however long it takes to get there and to be noticed.
        installation.receiver.hold_after(12);
        let push_id = push(&caller).await;
        installation.receiver.wait_for(13).await;
        server.signal("KILL");
        server.wait();
        let before = installation.deliveries();
        assert!(before.len() < addresses.len(), "the push was over before the process was killed");
        installation.receiver.release();

        let (server, caller) = installation.start("api,worker");
        installation.wait_for_everybody(addresses.len()).await;
        wait_until_done(&caller, &push_id, addresses.len()).await;
        server.signal("TERM");
        let (code, _, log) = server.wait();
        assert_eq!(code, Some(0));
        let is_told = log.contains(r#""event":"node.restarted""#);
        // On PostgreSQL it is another node, whose lock is gone or whose lease has run out.
        assert!(is_told || matches!(installation.home.url, DatabaseUrl::Postgres(_)), "its work was taken up: {log}");
        assert_only_the_sweep_is_left(&installation).await;
        let counts = installation.deliveries();
        let missed: Vec<_> = addresses.iter().filter(|address| !counts.contains_key(*address)).take(5).collect();
        assert_eq!(missed, Vec::<&String>::new(), "devices that got nothing");
        assert_eq!(counts.values().max(), Some(&2), "one crash repeats a delivery once");
        let n_repeated = counts.values().filter(|count| **count > 1).count();
        assert!(n_repeated <= WINDOW * addresses.len().div_ceil(BLOCK), "{n_repeated} deliveries were repeated");
    })
    .await;
}

async fn add_devices(installation: &Installation, original: ChannelId) -> Vec<String> {
    let store = installation.home.open().await;
    let found = store.read(|tx| store::apps::by_key(tx, KEY)).await.unwrap();
    let (app, _) = found.expect("the app was made at the first start");
    let addresses = copy_channel(&store, app.id, original, N_DEVICES).await;
    store.close().await;
    addresses
}

const TAGGED: usize = 20;
const TAGS: usize = 40;

/// What each channel was told, every event where it came first.
fn told(receiver: &EventReceiver) -> HashMap<String, Vec<String>> {
    let (mut seen, mut channels) = (HashSet::new(), HashMap::<String, Vec<String>>::new());
    for event in receiver.taken() {
        if seen.insert(event["id"].to_string()) {
            let channel = event["device"]["channel"].to_string();
            channels.entry(channel).or_default().push(event["body"]["add"]["g"][0].as_str().unwrap().to_owned());
        }
    }
    channels
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_events_are_forwarded() {
    on_each_database(async |installation| {
        let events = EventReceiver::start().await;
        let (server, caller) = installation.start("api");
        let webhook = json!({"url": events.url(), "types": ["TAG_CHANGE"]});
        let path = format!("/operator/apps/{KEY}/webhooks");
        caller.bearer(TOKEN).post(&path, webhook).await.expect(201);
        let mut channels = Vec::new();
        for n in 0..TAGGED {
            channels.push(register(&caller, &format!("device {n}")).await.to_string());
        }
        for n in 0..TAGS {
            let body = json!({"audience": {"channel": channels}, "add": {"g": [n.to_string()]}});
            caller.basic(KEY, MASTER_SECRET).post("/api/channels/tags", body).await.expect(200);
        }
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));

        let (server, _) = installation.start("api,worker");
        events.wait_for(TAGGED * TAGS / 8).await;
        server.signal("KILL");
        server.wait();
        let (server, _) = installation.start("api,worker");
        let mut n_requests = TAGGED * TAGS;
        while told(&events).values().map(Vec::len).sum::<usize>() < TAGGED * TAGS {
            events.wait_for(n_requests).await;
            n_requests += 1;
        }
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
        let in_order: Vec<String> = (0..TAGS).map(|n| n.to_string()).collect();
        let told = told(&events);
        assert_eq!(told.len(), TAGGED);
        assert!(told.values().all(|tags| *tags == in_order), "{told:?}");
    })
    .await;
}
