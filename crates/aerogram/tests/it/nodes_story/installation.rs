//! An installation of several nodes whose devices are behind the endpoint of an open platform.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::ids::ChannelId;
use serde_json::{Value, json};
use store::DatabaseUrl;
use tempfile::TempDir;
use testkit::balanced::Call;
use testkit::bulk::copy_channel;
use testkit::client::Caller;
use testkit::receiver::OpenReceiver;
use testkit::store::{Database, Home, databases};

use crate::server::{Server, aerogram};

const KEY: &str = "nodes-of-one-app-00001";
const APP_SECRET: &str = "nodes-app-secret-00001";
const MASTER_SECRET: &str = "nodes-app-master-00001";
const TOKEN: &str = "operator-of-several-nodes";
const N_NODES: usize = 2;
/// Longer than a client of a busy machine may take for its next request. A node waits only until all have sent one.
const DRAIN_SECONDS: &str = "120";
pub(super) const N_REGISTERED: usize = 6;
/// For what must happen by itself; when it does not, the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) struct Installation {
    folders: [TempDir; N_NODES],
    home: Home,
    pub(super) receiver: OpenReceiver,
    channels: Vec<ChannelId>,
}

pub(super) struct Node {
    pub(super) server: Server,
    pub(super) caller: Caller,
    pub(super) address: SocketAddr,
}

impl Node {
    pub(super) fn stop(self) {
        self.stop_and_tell();
    }

    /// Stops as a service manager would. Returns the log.
    pub(super) fn stop_and_tell(self) -> String {
        let Self { server, caller, .. } = self;
        // The node waits for the next request of a caller that keeps its connection.
        drop(caller);
        server.signal("TERM");
        let (code, _, log) = server.wait();
        assert_eq!(code, Some(0), "{log}");
        log
    }
}

impl Installation {
    /// `None` without PostgreSQL.
    pub(super) async fn new(n_devices: usize) -> Option<Self> {
        if !databases().contains(&Database::Postgres) {
            return None;
        }
        let folders = [(); N_NODES].map(|()| tempfile::tempdir().unwrap());
        let (home, receiver) = (Home::new(Database::Postgres), OpenReceiver::start().await);
        let mut installation = Self { folders, home, receiver, channels: Vec::new() };
        let first = installation.start(0, installation.url());
        installation.prepare(&first.caller, n_devices).await;
        first.stop();
        Some(installation)
    }

    pub(super) fn url(&self) -> &str {
        match &self.home.url {
            DatabaseUrl::Postgres(url) => url,
            DatabaseUrl::Sqlite(_) => panic!("nodes share a server"),
        }
    }

    pub(super) fn start(&self, number: usize, database: &str) -> Node {
        self.start_at(number, database, "127.0.0.1:0")
    }

    pub(super) fn start_at(&self, number: usize, database: &str, listen: &str) -> Node {
        let (secrets_key, name) = ("A".repeat(43), name_of(number));
        let arguments = [
            ("--database", database),
            ("--node", &name),
            ("--secrets-key", &secrets_key),
            ("--app-key", KEY),
            ("--app-secret", APP_SECRET),
            ("--master-secret", MASTER_SECRET),
            ("--operator-token", TOKEN),
            ("--drain-seconds", DRAIN_SECONDS),
        ];
        let mut arguments: Vec<&str> = arguments.iter().flat_map(|(flag, value)| [*flag, *value]).collect();
        arguments.push("--allow-private-addresses");
        let server = Server::start_at(self.folders[number].path(), listen, &arguments);
        let caller = Caller::new(server.url.clone());
        let address = server.url.strip_prefix("http://").unwrap().parse().unwrap();
        Node { server, caller, address }
    }

    /// Devices of one platform: some are registered, the others are copies.
    async fn prepare(&mut self, nobody: &Caller, n_devices: usize) {
        let config = json!({"url": self.receiver.url(), "auth": {"type": "none"}, "validate": false});
        let path = format!("/operator/apps/{KEY}/platforms/open::nodes");
        nobody.bearer(TOKEN).put(&path, config).await.expect(200);
        let master = nobody.basic(KEY, MASTER_SECRET);
        for number in 0..N_REGISTERED {
            let channel = json!({
                "type": "open", "opt_in": true, "address": format!("device {number}"),
                "open": {"open_platform_name": "nodes"},
            });
            let made = master.post("/api/channels/open", json!({"channel": channel})).await.expect(200);
            self.channels.push(made["channel_id"].as_str().unwrap().parse().unwrap());
        }
        let store = self.home.open().await;
        let found = store.read(|tx| store::apps::by_key(tx, KEY)).await.unwrap();
        let (app, _) = found.expect("the app was made at the first start");
        copy_channel(&store, app.id, self.channels[0], n_devices - N_REGISTERED).await;
        store.close().await;
    }

    pub(super) async fn push_to_all(&self, nobody: &Caller) -> String {
        let body = json!({"audience": "all", "device_types": ["open::nodes"], "notification": {"alert": "Hello"}});
        let accepted = nobody.basic(KEY, MASTER_SECRET).post("/api/push", body).await.expect(200);
        accepted["push_ids"][0].as_str().unwrap().to_owned()
    }

    /// A push, a change and a question about one of the devices.
    pub(super) fn calls_of(&self, number: usize) -> [Call; 3] {
        let channel = self.channels[number];
        let master = format!("Basic {}", STANDARD.encode(format!("{KEY}:{MASTER_SECRET}")));
        let push = json!({
            "audience": {"channel": channel}, "device_types": ["open::nodes"], "notification": {"alert": "Hello"},
        });
        let tags = json!({"audience": {"channel": channel}, "add": {"nodes": ["tag"]}});
        [
            Call::post("/api/push", &master, &push),
            Call::post("/api/channels/tags", &master, &tags),
            Call::get(format!("/api/channels/{channel}"), &master),
        ]
    }

    pub(super) async fn wait_until_done(&self, nobody: &Caller, push: &str, n_devices: usize) {
        let (master, path) = (nobody.basic(KEY, MASTER_SECRET), format!("/api/push/{push}"));
        let done = within(async {
            loop {
                let push = master.get(&path).await.expect(200)["push"].clone();
                if push["state"] == "done" {
                    return push;
                }
            }
        });
        let push = done.await;
        assert_eq!(push["total"]["delivered"], n_devices, "{push}");
    }

    /// Waits until one node is known to be dead and the others to be alive, and returns all of them. On a busy machine a node that
    /// is alive may be late to say so.
    pub(super) async fn wait_for_one_dead_node(&self, nobody: &Caller) -> Vec<Value> {
        let operator = nobody.bearer(TOKEN);
        within(async {
            loop {
                let listed = operator.get("/operator/nodes").await.expect(200)["nodes"].as_array().unwrap().clone();
                if listed.iter().filter(|node| node["alive"] == false).count() == 1 {
                    return listed;
                }
            }
        })
        .await
    }

    /// The same of the table that `aerogram nodes` prints.
    pub(super) fn wait_for_one_dead_line(&self, node: &Node) -> String {
        let began = Instant::now();
        loop {
            let shown = self.command(1, node, "nodes");
            if shown.lines().filter(|line| line.contains("dead")).count() == 1 || began.elapsed() > PATIENCE {
                return shown;
            }
        }
    }

    /// What a node finds of the installation, as JSON.
    pub(super) async fn doctor(&self, nobody: &Caller) -> String {
        nobody.bearer(TOKEN).get("/operator/doctor").await.expect(200).to_string()
    }

    /// What a command says that the operator runs on the machine of a node.
    pub(super) fn command(&self, number: usize, node: &Node, command: &str) -> String {
        let mut aerogram = aerogram(self.folders[number].path());
        let output = aerogram.args([command, "--url", &node.server.url, "--operator-token", TOKEN]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until the node runs no job and none is due.
    pub(super) async fn wait_until_idle(&self, nobody: &Caller) {
        let operator = nobody.bearer(TOKEN);
        within(async {
            loop {
                let metrics = operator.get("/metrics").await;
                let nothing_to_do = ["aerogram_jobs_overdue 0\n", "aerogram_jobs_running 0\n"];
                if nothing_to_do.iter().all(|line| metrics.text().contains(line)) {
                    return;
                }
            }
        })
        .await;
    }
}

/// What the operator calls a node.
pub(super) fn name_of(number: usize) -> String {
    format!("push-{number}")
}

pub(super) fn address_of(message: &Value) -> String {
    message["target"]["address"].as_str().unwrap().to_owned()
}

pub(super) async fn within<T>(condition: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, condition).await.expect("it happens by itself")
}
