//! One side of a comparison: a database, the nodes that use it, and the apps that are called.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use model::ids::ChannelId;
use serde_json::json;

use super::{KINDS, Statements};
use crate::Size;
use crate::clients::{self, CLIENTS, Until, Work};
use crate::http::{Connection, request};
use crate::server::{App, Server};
use crate::usage::Process;
use crate::{events, writes};

/// Channels of each app that exist before the measurement.
const DEVICES: u32 = 5_000;
const TIME: Duration = Duration::from_secs(3);

pub(crate) struct Side {
    pub(crate) name: String,
    nodes: Arc<[Server]>,
    /// How many of the nodes are called.
    n_nodes: usize,
    /// The server of the database, if it has one.
    pub(crate) database: Option<Process>,
    apps: Arc<[Target]>,
    /// By kind.
    pub(crate) rounds: [Vec<Work>; KINDS.len()],
    /// What the database was asked in the last round.
    pub(crate) statements: [Statements; KINDS.len()],
}

/// One round of one kind of request.
pub(super) struct Round {
    pub(super) work: Work,
    /// The part of the CPU time that the database took.
    pub(super) of_database: Duration,
}

/// An app, and channels of it.
struct Target {
    app: App,
    channels: Arc<[ChannelId]>,
}

impl Side {
    /// Prepares the first app and as many others as are wanted.
    pub(crate) async fn new(
        name: &str,
        nodes: Vec<Server>,
        database: Option<Process>,
        n_apps: usize,
        size: Size,
    ) -> Result<Self> {
        let mut connection = Connection::open(nodes[0].address).await?;
        let mut apps = Vec::new();
        for n in 0..n_apps {
            let app = if n == 0 { App::first() } else { App::create(&mut connection).await? };
            let channels = events::register(&nodes[0], &app, size.requests(DEVICES)).await?.into();
            apps.push(Target { app, channels });
        }
        let n_nodes = nodes.len();
        Ok(Self {
            name: name.to_owned(),
            nodes: nodes.into(),
            n_nodes,
            database,
            apps: apps.into(),
            rounds: [const { Vec::new() }; KINDS.len()],
            statements: Default::default(),
        })
    }

    /// The same apps on the first nodes.
    pub(crate) fn on_nodes(&self, n_nodes: usize) -> Self {
        Self {
            name: if n_nodes == 1 { "one node".to_owned() } else { format!("{n_nodes} nodes") },
            nodes: Arc::clone(&self.nodes),
            n_nodes,
            database: self.database,
            apps: Arc::clone(&self.apps),
            rounds: [const { Vec::new() }; KINDS.len()],
            statements: Default::default(),
        }
    }

    pub(super) fn has_nodes_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.nodes, &other.nodes)
    }

    pub(super) fn signal(&self, name: &str) -> Result<()> {
        self.nodes.iter().try_for_each(|node| node.signal(name))
    }

    /// One round of one kind; its number is different for all of them.
    pub(super) async fn call(&self, kind: usize, round: usize, size: Size) -> Result<Round> {
        let (name, time) = (format!("round-{round}"), size.time(TIME));
        match kind {
            0 => self.call_with(time, |target| writes::registration(&target.app, &name)).await,
            1 => self.call_with(time, |target| writes::tag_update(&target.app, &target.channels, &name)).await,
            2 => {
                let make = |target: &Target| {
                    let (key, channels) = (target.app.key.clone(), Arc::clone(&target.channels));
                    move |n| events::upload(&key, &channels, round as u64, n)
                };
                self.call_with(time, make).await
            }
            _ => {
                let body =
                    json!({"audience": {"tag": "nobody"}, "device_types": "all", "notification": {"alert": "Hello"}});
                let make = |target: &Target| {
                    let push = request("POST", "/api/push", &target.app.master(), &body.to_string());
                    move |_| push.clone()
                };
                self.call_with(time, make).await
            }
        }
    }

    /// Calls the apps in turns, with as many clients for every node.
    async fn call_with<M: Fn(u64) -> Vec<u8> + Clone + 'static>(
        &self,
        time: Duration,
        make: impl Fn(&Target) -> M,
    ) -> Result<Round> {
        let mut connections = Vec::new();
        for node in self.called().iter().cycle().take(CLIENTS * self.n_nodes) {
            connections.push(Connection::open(node.address).await?);
        }
        let makers: Vec<M> = self.apps.iter().map(make).collect();
        let (before, database_before) = (self.cpu()?, self.database_cpu()?);
        let call = async move |connection: &mut Connection, n: u64| {
            let n_apps = makers.len() as u64;
            let maker = usize::try_from(n % n_apps).map_or(&makers[0], |index| &makers[index]);
            let answer = connection.call(&maker(n / n_apps)).await?;
            if answer.status >= 300 {
                bail!("The server answered {}: {}", answer.status, String::from_utf8_lossy(answer.body));
            }
            Ok(())
        };
        let mut work = clients::crowd(Process::own(), Until::Time(time), connections, call).await?;
        work.cpu = self.cpu()?.saturating_sub(before);
        let of_database = self.database_cpu()?.saturating_sub(database_before);
        Ok(Round { work, of_database })
    }

    /// CPU time of the nodes and the database together.
    fn cpu(&self) -> Result<Duration> {
        let mut all = self.database_cpu()?;
        for node in self.called() {
            all += node.process().cpu()?;
        }
        Ok(all)
    }

    fn database_cpu(&self) -> Result<Duration> {
        self.database.map_or(Ok(Duration::ZERO), Process::family_cpu)
    }

    fn called(&self) -> &[Server] {
        &self.nodes[..self.n_nodes]
    }
}
