//! What a service sends without being called for each message: a push to everybody by way of a simulated APNs, events to a webhook,
//! and pushes of a pipeline whose delay is over. Devices and events come over HTTP, because the builds that are compared may store
//! them differently.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use model::ids::ChannelId;
use serde_json::json;
use sim::{Protocol, device_address};

use crate::broadcast::devices::Devices;
use crate::broadcast::provider::Provider;
use crate::clients::{self, Until};
use crate::http::{Connection, request};
use crate::server::{APP_KEY, App, Server, master_authorization, operator_authorization};
use crate::usage::Process;
use crate::webhooks::receiver::Receiver;
use crate::{Size, broadcast, events};

pub(super) const KINDS: [&str; 3] =
    ["deliveries of a push to everybody", "events to a webhook", "deliveries of a pipeline after its delay"];
const DEVICES: u32 = 50_000;
const UPLOADS: u32 = 10_000;
/// Of each upload: custom events, and screens that were viewed.
const FORWARDED: u64 = 8;
/// Devices that a pipeline waits for.
const WAITING: usize = 10_000;
/// Of one request that changes tags.
const TAGGED: usize = 1_000;
/// Registrations at once, which share commits.
const REGISTERING: usize = 32;

/// A build on a database, with devices and events.
pub(super) struct Sender {
    pub(super) name: &'static str,
    server: Server,
    /// The server of the database, if it has one.
    database: Option<Process>,
    provider: Provider,
    devices: Devices,
    channels: Vec<ChannelId>,
    n_events: u64,
    /// Messages per CPU-second, by kind.
    pub(super) rounds: [Vec<f64>; KINDS.len()],
}

impl Sender {
    pub(super) async fn new(name: &'static str, server: Server, database: Option<Process>, size: Size) -> Result<Self> {
        let provider = Provider::start()?;
        let devices = Devices::of(Protocol::Apns, &provider)?;
        let mut connection = Connection::open(server.address).await?;
        broadcast::set_up(&mut connection, &provider, &devices).await?;
        let channels = register(&server, &provider, size.requests(DEVICES) as usize).await?;
        let n_uploads = u64::from(size.requests(UPLOADS));
        let uploading: Arc<[ChannelId]> = channels.clone().into();
        let upload = move |n| events::upload(APP_KEY, &uploading, 0, n);
        clients::call(server.address, server.process(), Until::Calls(n_uploads), upload).await?;
        let (n_events, rounds) = (n_uploads * FORWARDED, Default::default());
        Ok(Self { name, server, database, provider, devices, channels, n_events, rounds })
    }

    pub(super) fn signal(&self, name: &str) -> Result<()> {
        self.server.signal(name)
    }

    /// One round of one kind.
    pub(super) async fn send(&mut self, kind: usize, round: usize) -> Result<()> {
        let before = self.cpu()?;
        let n_messages = match kind {
            0 => self.broadcast().await?,
            1 => self.forward().await?,
            _ => self.fire(round).await?,
        };
        let spent = self.cpu()?.saturating_sub(before).as_secs_f64().max(0.01);
        self.rounds[kind].push(n_messages as f64 / spent);
        Ok(())
    }

    async fn broadcast(&self) -> Result<u64> {
        let mut connection = Connection::open(self.server.address).await?;
        let push = self.devices.push(&json!("all")).to_string();
        let sent = connection.expect(&request("POST", "/api/push", &master_authorization(), &push)).await?;
        broadcast::until_done(&mut connection, &broadcast::id_of(&sent)?).await?;
        Ok(self.channels.len() as u64)
    }

    /// A new webhook gets all events of the log.
    async fn forward(&self) -> Result<u64> {
        let (mut connection, receiver) = (Connection::open(self.server.address).await?, Receiver::start()?);
        let (path, operator) = (format!("/operator/apps/{APP_KEY}/webhooks"), operator_authorization());
        let webhook = json!({"url": receiver.url(), "types": ["CUSTOM", "SCREEN_VIEWED"], "start": "earliest"});
        let made = connection.expect(&request("POST", &path, &operator, &webhook.to_string())).await?;
        receiver.wait_for(self.n_events).await?;
        let id = made["webhook"]["webhook_id"].as_str().context("a webhook has no id")?;
        connection.expect(&request("DELETE", &format!("{path}/{id}"), &operator, "")).await?;
        Ok(self.n_events)
    }

    /// A new pipeline waits for devices that get a tag.
    async fn fire(&self, round: usize) -> Result<u64> {
        let (mut connection, master) = (Connection::open(self.server.address).await?, master_authorization());
        let tag = format!("timer-{round}");
        let push = json!({"audience": "triggered", "device_types": ["ios"], "notification": {"alert": "Still there?"}});
        let outcome = json!({"push": push, "delay": 1});
        let pipeline = json!({"enabled": true, "immediate_trigger": {"tag_added": tag}, "outcome": outcome});
        connection.expect(&request("POST", "/api/pipelines", &master, &pipeline.to_string())).await?;
        let waiting = &self.channels[..WAITING.min(self.channels.len())];
        let before = self.provider.messages(Protocol::Apns);
        for some in waiting.chunks(TAGGED) {
            let body = json!({"audience": {"ios_channel": some}, "add": {"device": [tag]}});
            connection.expect(&request("POST", "/api/channels/tags", &master, &body.to_string())).await?;
        }
        self.provider.wait_for(Protocol::Apns, before + waiting.len() as u64).await;
        Ok(waiting.len() as u64)
    }

    fn cpu(&self) -> Result<Duration> {
        Ok(self.server.process().cpu()? + self.database.map_or(Ok(Duration::ZERO), Process::family_cpu)?)
    }
}

async fn register(server: &Server, provider: &Provider, n_devices: usize) -> Result<Vec<ChannelId>> {
    let (device, root) = (App::first().device(), provider.sim.url(Protocol::Apns));
    let shares = (0..REGISTERING).map(async |first| {
        let (mut connection, mut channels) = (Connection::open(server.address).await?, Vec::new());
        for n in (first..n_devices).step_by(REGISTERING) {
            let address = device_address(Protocol::Apns, n as u64, &root);
            let body = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": address}});
            let made = connection.expect(&request("POST", "/api/channels", &device, &body.to_string())).await?;
            channels.push(made["channel_id"].as_str().unwrap_or_default().parse()?);
        }
        anyhow::Ok(channels)
    });
    Ok(try_join_all(shares).await?.concat())
}
