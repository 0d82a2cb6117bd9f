//! `aerogram sim devices`: registers an audience for a load test.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use http::Method;
use serde_json::{Value, json};
use sim::{Keys, Protocol, device_address};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::commands::progress::Progress;
use crate::config::{AppLogin, BaseUrl, Remote, number_in};
use crate::output;

#[derive(Args, Debug)]
pub(super) struct Devices {
    /// How many devices, in turn of each of the platforms
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number_in(0..=u64::MAX))]
    n: u64,
    /// Number of the first device; other numbers, other devices
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = number_in(0..=u64::MAX))]
    first: u64,
    /// What they are
    #[arg(long, value_delimiter = ',', default_value = "ios,android")]
    platforms: Vec<Kind>,
    /// Tags that all of them have
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    /// The simulator's TLS root, which is part of the addresses of browsers and Windows devices
    #[arg(long, value_name = "URL", default_value = "https://127.0.0.1:8443")]
    simulator: BaseUrl,
    /// The simulator's folder, whose key browsers subscribe with
    #[arg(long, value_name = "FOLDER", default_value = "aerogram-sim")]
    folder: PathBuf,
    /// Registrations under way
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = number_in(1_usize..=10_000))]
    concurrency: usize,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Ios,
    Android,
    Amazon,
    Wns,
    Web,
    /// A channel of the open platform "sim"
    Open,
}

impl Devices {
    pub(super) async fn run(&self) -> Result<()> {
        let client = Arc::new(Client::app(&self.remote, &self.login)?);
        let subscription = match self.platforms.contains(&Kind::Web) {
            true => {
                let folder = self.folder.display();
                let keys =
                    Keys::in_folder(&self.folder).with_context(|| format!("The keys in {folder} cannot be used"));
                let keys =
                    keys?.web_subscription().with_context(|| format!("The browser key in {folder} is damaged"))?;
                json!({ "keys": keys })
            }
            false => Value::Null,
        };
        let (progress, mut n_done) = (Progress::of(self.n)?, 0);
        let mut one_more = || {
            n_done += 1;
            progress.show(n_done, "registered");
        };
        let mut under_way = JoinSet::new();
        for n in self.first..self.first.saturating_add(self.n) {
            if under_way.len() >= self.concurrency {
                finish(under_way.join_next().await)?;
                one_more();
            }
            let (path, body) = self.registration(n, &subscription);
            let client = client.clone();
            under_way.spawn(async move { client.send(Method::POST, path, &body).await.map(drop) });
        }
        while !under_way.is_empty() {
            finish(under_way.join_next().await)?;
            one_more();
        }
        drop(progress);
        if self.remote.json {
            return output::line(format_args!("{}", json!({ "ok": true, "registered": self.n })));
        }
        output::line(format_args!("{} devices are registered.", self.n))
    }

    fn registration(&self, n: u64, subscription: &Value) -> (&'static str, Value) {
        let turn = usize::try_from(n).unwrap_or(usize::MAX) % self.platforms.len().max(1);
        let kind = self.platforms.get(turn).copied().unwrap_or(Kind::Ios);
        let (device_type, protocol) = match kind {
            Kind::Ios => ("ios", Protocol::Apns),
            Kind::Android => ("android", Protocol::Fcm),
            Kind::Amazon => ("amazon", Protocol::Adm),
            Kind::Wns => ("wns", Protocol::Wns),
            Kind::Web => ("web", Protocol::WebPush),
            Kind::Open => ("open", Protocol::Open),
        };
        let address = device_address(protocol, n, self.simulator.as_str());
        let mut channel = json!({ "opt_in": true, "tags": self.tags });
        if kind == Kind::Open {
            channel["type"] = json!("open");
            channel["address"] = json!(address);
            channel["open"] = json!({ "open_platform_name": "sim" });
            return ("/api/channels/open", json!({ "channel": channel }));
        }
        channel["device_type"] = json!(device_type);
        channel["push_address"] = json!(address);
        if kind == Kind::Web {
            channel["web"] = json!({ "subscription": subscription });
        }
        ("/api/channels", json!({ "channel": channel }))
    }
}

/// Stops at the first registration that fails.
fn finish(ended: Option<Result<Result<()>, tokio::task::JoinError>>) -> Result<()> {
    match ended {
        None => Ok(()),
        Some(Ok(result)) => result,
        Some(Err(error)) => bail!("A registration broke off: {error}"),
    }
}
