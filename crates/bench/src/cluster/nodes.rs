//! The nodes and their database: processes that are killed, paused, stopped and started again, each at its own address.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use testkit::postgres::Cluster;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::server::Server;

/// How long a node may need to start; the database may be recovering.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);
/// The first half of the locks that nodes hold while they live.
const LIVING: &str = "select string_agg(cast(objid as text), ' ') from pg_locks \
                      where locktype = 'advisory' and cast(classid as bigint) = 470327801 and granted";

pub(super) struct Nodes {
    primary: Arc<Cluster>,
    /// Until it becomes the primary.
    standby: Option<Cluster>,
    url: String,
    nodes: Vec<Node>,
}

struct Node {
    folder: Arc<Path>,
    address: SocketAddr,
    server: Option<Server>,
    /// By which the database knows the process.
    number: i64,
}

impl Nodes {
    /// On a database that the standby follows; the URL names both.
    pub(super) async fn start(servers: (Cluster, Cluster), url: &str, folders: &[&Path]) -> Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let node = |folder: &&Path| Node { folder: Arc::from(*folder), address: any, server: None, number: 0 };
        let nodes = folders.iter().map(node).collect();
        let mut nodes = Self { primary: Arc::new(servers.0), standby: Some(servers.1), url: url.to_owned(), nodes };
        for index in 0..nodes.len() {
            nodes.start_again(index).await?;
        }
        Ok(nodes)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn addresses(&self) -> Arc<[SocketAddr]> {
        self.nodes.iter().map(|node| node.address).collect()
    }

    /// The number by which the database knows a node.
    pub(super) fn number(&self, index: usize) -> i64 {
        self.nodes[index].number
    }

    /// Starts a node at its address, as often as it takes, as a service manager would.
    pub(super) async fn start_again(&mut self, index: usize) -> Result<()> {
        let began = Instant::now();
        // Some of the others may be without their locks for the moment, if the database was away.
        let mut known = self.living().await.unwrap_or_default();
        known.extend(self.nodes.iter().map(|node| node.number));
        let server = loop {
            let Node { folder, address, .. } = &self.nodes[index];
            let (folder, address, url) = (folder.clone(), *address, self.url.clone());
            match spawn_blocking(move || Server::start_node(&folder, &url, address)).await? {
                Ok(server) => break server,
                Err(error) if began.elapsed() > PATIENCE => return Err(error.context("a node does not start")),
                Err(_) => sleep(PAUSE).await,
            }
        };
        let number = loop {
            let living = self.living().await.unwrap_or_default();
            if let Some(number) = living.into_iter().find(|number| !known.contains(number)) {
                break number;
            }
            ensure!(began.elapsed() < PATIENCE, "A node holds no lock in the database.");
            sleep(PAUSE).await;
        };
        let node = &mut self.nodes[index];
        (node.address, node.number, node.server) = (server.address, number, Some(server));
        Ok(())
    }

    /// Ends a node without warning.
    pub(super) fn kill(&mut self, index: usize) -> Result<()> {
        self.signal(index, "KILL")?;
        self.nodes[index].server = None;
        Ok(())
    }

    pub(super) fn signal(&self, index: usize, name: &str) -> Result<()> {
        self.nodes[index].server.as_ref().context("the node does not run")?.signal(name)
    }

    /// Stops a node as a service manager would, and waits for its end.
    pub(super) async fn stop(&mut self, index: usize) -> Result<()> {
        let server = self.nodes[index].server.take().context("the node does not run")?;
        spawn_blocking(move || server.stop()).await?
    }

    /// How many jobs the node with this number has claimed; `None` while the database is away.
    pub(super) async fn jobs_of(&self, number: i64) -> Option<u64> {
        self.ask(format!("select count(*) from aerogram.job where leased = {number}")).await?.parse().ok()
    }

    /// Ends the database without warning and starts it again. Returns when it answers.
    pub(super) async fn restart_database(&self) -> Result<()> {
        let primary = self.primary.clone();
        spawn_blocking(move || primary.restart()).await?.map_err(|why| anyhow!(why))
    }

    pub(super) const fn has_standby(&self) -> bool {
        self.standby.is_some()
    }

    /// Ends the database for good and makes the standby the primary.
    pub(super) async fn fail_over(&mut self) -> Result<()> {
        let standby = self.standby.take().context("there is no standby")?;
        let primary = self.primary.clone();
        let promoted = spawn_blocking(move || {
            primary.kill();
            standby.promote();
            standby
        });
        self.primary = Arc::new(promoted.await?);
        Ok(())
    }

    async fn living(&self) -> Option<Vec<i64>> {
        let living = self.ask(LIVING.to_owned()).await?;
        Some(living.split_whitespace().filter_map(|number| number.parse().ok()).collect())
    }

    async fn ask(&self, sql: String) -> Option<String> {
        let (database, url) = (self.primary.clone(), self.url.clone());
        spawn_blocking(move || database.try_ask(&url, &sql).ok()).await.ok()?
    }
}
