//! Every setting: its name, its default and what it means.
//!
//! A setting is an argument under the heading "Settings". It has one name: `--public-url` on the command line is
//! `AEROGRAM_PUBLIC_URL` in the environment and `public_url` in `aerogram.toml` (see `layers`).

mod callers;
mod campaigns;
mod database;
mod file;
mod layers;
mod oidc;
mod remote;
mod tls;
mod values;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use devices::MOST_KEPT_DAYS;
use engine::Retention;
use model::app::{AppKey, Secret};
use providers::webpush::HostPattern;
use store::DatabaseUrl;
use tracing_subscriber::filter::Targets;

pub(crate) use callers::{Callers, GrowthSettings};
pub(crate) use campaigns::PipelineSettings;
pub(crate) use database::DatabaseUse;
pub(crate) use layers::{Parsed, Refusal, Sources, parse};
pub(crate) use oidc::Oidc;
pub(crate) use remote::{Answering, Remote};
pub(crate) use tls::{Authorities, OwnTls};
pub(crate) use values::{
    BaseUrl, Name, SecretsKey, Token, app_key, channel_id, listen_address, network, node_name, number_in, push_id,
    secret,
};

pub(crate) const HEADING: &str = "Settings";
const LISTEN: &str = "127.0.0.1:8080";
/// The setting that names the settings file, and so cannot stand in it.
const CONFIG: &str = "config";
/// Settings whose value is never shown. A database URL may hold a password.
const SECRET: [&str; 9] = [
    "airship_secret",
    "app_secret",
    "copy_from",
    "copy_to",
    "database",
    "master_secret",
    "operator_token",
    "secrets_key",
    "oidc_client_secret",
];

/// What a node of the service needs.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Node {
    /// Address and port to listen on
    #[arg(long, global = true, value_name = "ADDRESS", default_value = LISTEN, value_parser = listen_address)]
    pub(crate) listen: SocketAddr,

    /// What the operator calls this node; the host name when absent
    #[arg(id = "node", long = "node", value_name = "NAME", value_parser = node_name)]
    pub(crate) name: Option<String>,

    /// The base URL clients see, for absolute links; taken from each request's Host header when absent
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) public_url: Option<BaseUrl>,

    /// What this node does: `api` answers requests, `worker` sends
    #[arg(long, global = true, value_name = "ROLES", value_delimiter = ',', default_value = "api,worker")]
    pub(crate) roles: Vec<Role>,

    /// Whether this node serves the console, the pages for people, below /console
    #[arg(
        long,
        value_name = "BOOLEAN",
        default_value = "true",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub(crate) console: bool,

    /// Whether open platforms, webhooks and provider endpoints may be loopback and private addresses
    #[arg(
        long,
        value_name = "BOOLEAN",
        default_value = "false",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub(crate) allow_private_addresses: bool,

    /// Hosts of push services that browsers may be at besides the known ones: `push.example.com`, `*.example.com`, or `*` for any
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) push_hosts: Vec<HostPattern>,

    #[command(flatten)]
    pub(crate) tls: OwnTls,
    #[command(flatten)]
    pub(crate) authorities: Authorities,
    #[command(flatten)]
    pub(crate) database: DatabaseUse,
    #[command(flatten)]
    pub(crate) callers: Callers,
    #[command(flatten)]
    pub(crate) oidc: Oidc,
    #[command(flatten)]
    pub(crate) growth: GrowthSettings,
    #[command(flatten)]
    pub(crate) pipelines: PipelineSettings,
    #[command(flatten)]
    pub(crate) history: History,
    #[command(flatten)]
    pub(crate) locations: Locations,
    #[command(flatten)]
    pub(crate) app: FirstApp,
    #[command(flatten)]
    pub(crate) data: Data,
    #[command(flatten)]
    pub(crate) sealing: Sealing,
    #[command(flatten)]
    pub(crate) logging: Logging,
}

/// How much of what happened is kept.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct History {
    /// For how many days events are kept
    #[arg(long, value_name = "DAYS", default_value = "7", value_parser = number_in(1_u64..=3650))]
    pub(crate) event_days: u64,

    /// How many gigabytes the events of one app may take; the oldest are deleted before their time
    #[arg(long, value_name = "GIGABYTES", default_value = "100", value_parser = number_in(1_u64..=1_000_000))]
    pub(crate) event_gigabytes: u64,

    /// For how many days after their end pushes are kept, with what is counted of each
    #[arg(long, value_name = "DAYS", default_value_t = Retention::PUSH_DAYS, value_parser = number_in(Retention::FEWEST_PUSH_DAYS..=3650))]
    pub(crate) push_days: u32,

    /// For how many days it is kept who asked for which change
    #[arg(long, value_name = "DAYS", default_value_t = Retention::AUDIT_DAYS, value_parser = number_in(1_u32..=3650))]
    pub(crate) audit_days: u32,
}

impl History {
    pub(crate) fn retention(&self) -> Retention {
        Retention {
            age: Duration::from_secs(self.event_days * 24 * 60 * 60),
            bytes: self.event_gigabytes * 1_000_000_000,
            pushes: Duration::from_secs(u64::from(self.push_days) * 24 * 60 * 60),
            audit: Duration::from_secs(u64::from(self.audit_days) * 24 * 60 * 60),
        }
    }
}

/// What is kept of where devices are, which is personal data.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Locations {
    /// Whether LOCATION events say where exactly a device was
    #[arg(
        long,
        value_name = "BOOLEAN",
        default_value = "false",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub(crate) keep_coordinates: bool,

    /// For how many days it is known in which places a device was
    #[arg(long, value_name = "DAYS", default_value_t = MOST_KEPT_DAYS, value_parser = number_in(1..=MOST_KEPT_DAYS))]
    pub(crate) keep_places_days: i32,
}

/// Where a node keeps things; commands on the same machine find its operator token there.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Data {
    /// `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`, also with several hosts
    #[arg(long, global = true, value_name = "URL", default_value = "sqlite:./aerogram-data/aerogram.db")]
    pub(crate) database: DatabaseUrl,

    /// Whether apps are spread over several servers, by `citus`; the database is that of the coordinator
    #[arg(long, global = true, value_name = "ENGINE")]
    pub(crate) distributed: Option<Distributed>,

    /// Folder of the operator token and the secrets key; that of the SQLite database or ./aerogram-data when absent
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,

    /// Bearer token of the operator API; made on the first start and kept in the data folder when absent
    #[arg(long, global = true, value_name = "TOKEN", allow_hyphen_values = true)]
    pub(crate) operator_token: Option<Token>,
}

/// From where and to where an installation is copied. Settings, so that a password need not be on the command line, which other
/// users of the machine can see.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Ends {
    /// The database to copy, as for AEROGRAM_DATABASE; no node may be running on it
    #[arg(long = "from", value_name = "URL")]
    copy_from: Option<DatabaseUrl>,

    /// The empty database to copy it to
    #[arg(long = "to", value_name = "URL")]
    copy_to: Option<DatabaseUrl>,
}

/// What the secrets in the database are encrypted with.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Sealing {
    /// The content of secrets.key, instead of that file; the same on all nodes
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) secrets_key: Option<SecretsKey>,
}

/// The app a command acts for. `serve` creates it when it does not exist.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct AppLogin {
    /// Key of the app: 22 characters of A-Z, a-z, 0-9, '_' and '-'
    #[arg(long, global = true, value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
    pub(crate) app_key: Option<AppKey>,

    /// Secret of the app's servers, with all rights, in the form of a key
    #[arg(long, global = true, value_name = "SECRET", allow_hyphen_values = true, value_parser = secret)]
    pub(crate) master_secret: Option<Secret>,
}

/// An app to create when the service starts without it: all three or none. A shell in which commands are used has two of them in
/// its environment.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct FirstApp {
    #[command(flatten)]
    pub(crate) login: AppLogin,

    /// Secret of the app's devices, in the form of a key
    #[arg(long, global = true, value_name = "SECRET", allow_hyphen_values = true, value_parser = secret)]
    pub(crate) app_secret: Option<Secret>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Logging {
    /// Form of the log on standard error
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) log: LogFormat,

    /// Least severity to log, also by part, as in `info,api=warn`, which leaves out the line of every request
    #[arg(long, global = true, value_name = "LEVEL", default_value = "info", value_parser = values::log_level)]
    pub(crate) log_level: Targets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Api,
    Worker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Distributed {
    Citus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// The three credentials of an app that is to exist.
pub(crate) struct AppCredentials {
    pub(crate) key: AppKey,
    pub(crate) app_secret: Secret,
    pub(crate) master_secret: Secret,
}

/// Settings that cannot be used together, or that a command cannot do without.
#[derive(Debug)]
pub(crate) struct Unusable(String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

impl Unusable {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For a command that an app can use as well as the operator.
    pub(crate) fn no_login() -> Self {
        let ways = "Set an app with AEROGRAM_APP_KEY and AEROGRAM_MASTER_SECRET, or AEROGRAM_OPERATOR_TOKEN.";
        Self(format!("Whose push? {ways}"))
    }
}

impl FirstApp {
    /// Whether the environment has a part of them, which is what commands need in the same shell, and nothing else names an app.
    /// No command needs the app secret.
    pub(crate) fn is_for_commands(&self, sources: &Sources) -> bool {
        let given = self.given();
        let is_exported = |name: &str| sources.from_environment.iter().any(|exported| exported == name);
        self.app_secret.is_none()
            && given.iter().any(|(_, is_set)| *is_set)
            && given.iter().all(|(name, is_set)| !is_set || is_exported(name))
    }

    fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("app_key", self.login.app_key.is_some()),
            ("app_secret", self.app_secret.is_some()),
            ("master_secret", self.login.master_secret.is_some()),
        ]
    }

    pub(crate) fn credentials(&self, sources: &Sources) -> Result<Option<AppCredentials>, Unusable> {
        let Self { login: AppLogin { app_key, master_secret }, app_secret } = self;
        match (app_key, app_secret, master_secret) {
            (None, None, None) => Ok(None),
            (Some(key), Some(app_secret), Some(master_secret)) => Ok(Some(AppCredentials {
                key: key.clone(),
                app_secret: app_secret.clone(),
                master_secret: master_secret.clone(),
            })),
            _ if self.is_for_commands(sources) => Ok(None),
            _ => {
                let given = self.given();
                let missing: Vec<&str> = given.iter().filter(|(_, is_set)| !is_set).map(|(name, _)| *name).collect();
                Err(Unusable(format!(
                    "The settings app_key, app_secret and master_secret go together; {} is not set.",
                    missing.join(" and ")
                )))
            }
        }
    }
}

impl Node {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Whether people find pages here.
    pub(crate) fn serves_console(&self) -> bool {
        self.console && self.has(Role::Api)
    }

    /// Where clients reach the node, which listens on the address.
    pub(crate) fn url(&self, address: SocketAddr) -> BaseUrl {
        self.public_url.clone().unwrap_or_else(|| BaseUrl::on_this_machine(address, self.tls.is_on()))
    }
}

impl Ends {
    pub(crate) fn both(&self) -> Result<(&DatabaseUrl, &DatabaseUrl), Unusable> {
        let missing = match (&self.copy_from, &self.copy_to) {
            (Some(from), Some(to)) => return Ok((from, to)),
            (None, _) => "Which database is to be copied? Say so with --from or AEROGRAM_COPY_FROM.",
            (Some(_), None) => "Where is the copy to go? Say so with --to or AEROGRAM_COPY_TO.",
        };
        Err(Unusable(missing.to_owned()))
    }
}

impl AppLogin {
    /// The credentials of a command that cannot do without them.
    pub(crate) fn required(&self) -> Result<(&AppKey, &Secret), Unusable> {
        let missing = match (&self.app_key, &self.master_secret) {
            (Some(key), Some(secret)) => return Ok((key, secret)),
            (None, _) => "Which app? Set app_key with --app-key or AEROGRAM_APP_KEY.",
            (Some(_), None) => {
                "The app's master secret is needed; set it with --master-secret or AEROGRAM_MASTER_SECRET."
            }
        };
        Err(Unusable(missing.to_owned()))
    }
}

#[cfg(test)]
mod tests;
