//! Everything that takes part: the database, the nodes, simulated providers, a webhook, and a crowd of devices.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use model::ids::ChannelId;
use serde_json::{Value, json};
use sim::{Protocol, SimSettings, Simulator, keys};
use store::{DatabaseUrl, Store};
use tempfile::TempDir;
use testkit::bulk::copy_channel_to;
use testkit::event_receiver::EventReceiver;
use testkit::postgres::Cluster;

use super::arrivals::KEPT;
use super::clients::CROWD;
use super::nodes::Nodes;
use crate::http::{Connection, request};
use crate::server::{APP_KEY, device_authorization, operator_authorization};

const NODES: [&str; 3] = ["node-0", "node-1", "node-2"];

pub(super) struct Stage {
    pub(super) nodes: Nodes,
    /// Apple's service, for pushes to single devices.
    pub(super) singles: Arc<Simulator>,
    /// Google's, for pushes to the crowd.
    pub(super) crowd: Simulator,
    pub(super) n_crowd: u64,
    pub(super) receiver: EventReceiver,
    folder: Option<TempDir>,
}

impl Stage {
    pub(super) async fn build(n_crowd: u64) -> Result<Self> {
        let servers = Cluster::with_standby();
        let url = servers.0.fresh_database().replacen('@', &format!("@{},", servers.1.host()), 1);
        let url = url + "&target_session_attrs=read-write";
        let folder = TempDir::new()?;
        let folders = NODES.map(|name| folder.path().join(name));
        for folder in &folders {
            std::fs::create_dir(folder)?;
        }
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let nodes = Nodes::start(servers, &url, &folders).await?;
        let singles = Arc::new(Simulator::start(SimSettings { keep: KEPT, ..SimSettings::default() }).await?);
        let crowd = Simulator::start(SimSettings { keep: 0, ..SimSettings::default() }).await?;
        let receiver = EventReceiver::start().await;
        let stage = Self { nodes, singles, crowd, n_crowd, receiver, folder: Some(folder) };
        stage.prepare(&url).await?;
        Ok(stage)
    }

    /// Deliveries that the simulators have seen before.
    pub(super) fn n_repeats(&self) -> u64 {
        self.singles.stats().of(Protocol::Apns).duplicates + self.crowd.stats().of(Protocol::Fcm).duplicates
    }

    /// Leaves the folder of the nodes behind.
    pub(super) fn keep_folder(&mut self) -> PathBuf {
        self.folder.take().map(TempDir::keep).unwrap_or_default()
    }

    async fn prepare(&self, url: &str) -> Result<()> {
        let mut connection = Connection::open(self.nodes.addresses()[0]).await?;
        let (apple, google) = (&self.singles, &self.crowd);
        let credentials = json!({
            "topic": apple.topic(), "team_id": keys::APNS_TEAM_ID, "key_id": keys::APNS_KEY_ID, "key": apple.apns_key(),
            "endpoint": {"url": apple.url(Protocol::Apns), "ca": apple.ca_pem()},
        });
        operate(&mut connection, "PUT", "platforms/apns", &credentials).await?;
        let account: Value = serde_json::from_str(&google.service_account(true))?;
        let endpoint = json!({"url": google.url(Protocol::Fcm), "ca": google.ca_pem()});
        let credentials = json!({"service_account": account, "endpoint": endpoint});
        operate(&mut connection, "PUT", "platforms/fcm", &credentials).await?;
        let webhook = json!({"url": self.receiver.url(), "types": ["TAG_CHANGE", "CUSTOM"]});
        // The crowd comes without events, and before the webhook.
        self.load_crowd(&mut connection, url).await?;
        operate(&mut connection, "POST", "webhooks", &webhook).await
    }

    /// Registers one device of the crowd over the API and the others as copies of it.
    async fn load_crowd(&self, connection: &mut Connection, url: &str) -> Result<()> {
        let addresses: Vec<String> = (0..self.n_crowd).map(|n| self.crowd.device(Protocol::Fcm, n)).collect();
        let channel = json!({
            "device_type": "android", "opt_in": true, "push_address": addresses.first(), "set_tags": true, "tags": [CROWD],
        });
        let body = json!({"channel": channel}).to_string();
        let made = connection.expect(&request("POST", "/api/channels", &device_authorization(), &body)).await?;
        let original: ChannelId = made["channel_id"].as_str().context("a channel has no id")?.parse()?;
        let store = Store::open(&DatabaseUrl::Postgres(url.to_owned())).await?;
        let found = store.read(|tx| store::apps::by_key(tx, APP_KEY)).await?;
        let (app, _) = found.context("the app was made at the first start")?;
        copy_channel_to(&store, app.id, original, addresses.get(1..).unwrap_or_default()).await;
        store.close().await;
        Ok(())
    }
}

async fn operate(connection: &mut Connection, method: &str, path: &str, body: &Value) -> Result<()> {
    let path = format!("/operator/apps/{APP_KEY}/{path}");
    connection.expect(&request(method, &path, &operator_authorization(), &body.to_string())).await?;
    Ok(())
}
