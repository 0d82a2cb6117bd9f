//! A device with a live connection misses nothing when its node is killed without warning: what was recorded as delivered is told
//! when the device is back, in the order of the log.

use std::path::Path;

use serde_json::{Value, json};
use store::DatabaseUrl;
use testkit::client::Caller;
use testkit::live::{Device, Socket};
use testkit::store::{Home, databases};

use crate::crash_story::{APP_SECRET, KEY, MASTER_SECRET, PATIENCE, start};

const N_PUSHES: usize = 20;

/// What a device remembers.
struct Memory {
    device: Device,
    /// The position of the last message.
    at: Option<String>,
    /// The pushes in the order in which they were heard of first.
    pushes: Vec<String>,
}

impl Memory {
    /// Of a device that is nothing but live.
    async fn new(nobody: &Caller) -> Self {
        let caller = nobody.basic(KEY, APP_SECRET);
        let channel = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
        let answer = caller.post("/api/channels", channel).await.expect(201);
        let device = Device::at(&caller, answer["channel_id"].as_str().unwrap()).await;
        Self { device, at: None, pushes: Vec::new() }
    }

    /// Connects to a node and goes on where it was cut off.
    async fn connect(&mut self, service: &str) -> Socket {
        let query = self.at.as_ref().map(|at| format!("?after={at}")).unwrap_or_default();
        let mut socket = Socket::at(service, &query, &self.device.token).await.unwrap();
        let hello = socket.next().await;
        assert_eq!((&hello["type"], &hello["complete"]), (&json!("hello"), &json!(true)), "{hello}");
        self.at.get_or_insert_with(|| hello["at"].as_str().unwrap().to_owned());
        socket
    }

    fn hear(&mut self, message: &Value) {
        if message["type"] != "push" {
            return;
        }
        let (at, push) = (message["at"].as_str().unwrap(), message["push"]["push_id"].as_str().unwrap());
        let number = |at: &str| at.parse::<u64>().unwrap();
        if self.pushes.iter().any(|known| known == push) {
            return;
        }
        assert!(self.at.as_deref().is_none_or(|last| number(last) <= number(at)), "{message} after {:?}", self.at);
        self.at = Some(at.to_owned());
        self.pushes.push(push.to_owned());
    }

    async fn hear_all(&mut self, socket: &mut Socket, n_pushes: usize) {
        while self.pushes.len() < n_pushes {
            let message = socket.next().await;
            self.hear(&message);
        }
    }
}

async fn push(nobody: &Caller, alert: &str) -> String {
    let body = json!({"audience": "all", "device_types": ["web"], "notification": {"alert": alert}});
    let answer = nobody.basic(KEY, MASTER_SECRET).post("/api/push", body).await.expect(200);
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

/// Asks until the checkpoint that records the delivery is there.
async fn wait_until_delivered(nobody: &Caller, push: &str) {
    let (master, path) = (nobody.basic(KEY, MASTER_SECRET), format!("/api/push/{push}"));
    let delivered = async { while master.get(&path).await.expect(200)["push"]["total"]["delivered"] != json!(1) {} };
    tokio::time::timeout(PATIENCE, delivered).await.expect("the push is delivered");
}

fn sorted(mut pushes: Vec<String>) -> Vec<String> {
    pushes.sort_unstable();
    pushes
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_device_is_told() {
    for database in databases() {
        let (folder, home) = (tempfile::tempdir().unwrap(), Home::new(database));
        let (server, caller) = start(folder.path(), &home, "api,worker");
        let mut memory = Memory::new(&caller).await;
        let mut socket = memory.connect(&server.url).await;
        let mut sent = Vec::new();
        for n in 0..N_PUSHES {
            sent.push(push(&caller, &n.to_string()).await);
        }
        // The others are anywhere between accepted and told.
        memory.hear_all(&mut socket, 1).await;
        server.signal("KILL");
        server.wait();
        for message in socket.rest().await {
            memory.hear(&message);
        }

        let (server, _) = start(folder.path(), &home, "api,worker");
        let mut socket = memory.connect(&server.url).await;
        memory.hear_all(&mut socket, N_PUSHES).await;
        assert_eq!(sorted(memory.pushes), sorted(sent));
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
    }
}

/// The node with the connection stands still while another one records the delivery, and is killed before it can read of it.
#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_checkpoint_and_the_fan_out() {
    for database in databases() {
        let home = Home::new(database);
        if matches!(home.url, DatabaseUrl::Sqlite(_)) {
            continue;
        }
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [with_socket, with_worker]: [&Path; 2] = [folders[0].path(), folders[1].path()];
        let (server, caller) = start(with_socket, &home, "api");
        let mut memory = Memory::new(&caller).await;
        let socket = memory.connect(&server.url).await;
        let (worker, at_worker) = start(with_worker, &home, "api,worker");
        server.pause();
        let id = push(&at_worker, "Nobody tells it").await;
        wait_until_delivered(&at_worker, &id).await;
        server.signal("KILL");
        server.wait();
        assert_eq!(socket.rest().await, [Value::Null; 0]);

        let (server, _) = start(with_socket, &home, "api");
        let mut socket = memory.connect(&server.url).await;
        memory.hear_all(&mut socket, 1).await;
        assert_eq!(memory.pushes, [id]);
        for server in [server, worker] {
            server.signal("TERM");
            assert_eq!(server.wait().0, Some(0));
        }
    }
}
