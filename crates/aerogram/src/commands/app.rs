//! `aerogram app`: the tenants of the service.

mod named_users;
mod proof_key;
mod web_origins;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use model::app::{AppKey, Secret};
use model::limits;
use serde::Deserialize;
use serde_json::{Map, json};

use self::named_users::NamedUsers;
use self::proof_key::ProofKey;
use self::web_origins::WebOrigins;
use super::Operator;
use crate::client::{Client, Reply};
use crate::config::{app_key, number_in, secret};
use crate::output::{self, ID, MOMENT, NAME, TEXT};

#[derive(Args, Debug)]
pub(crate) struct App {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Create an app and print its credentials, which are shown only now
    Create(Create),
    /// List the apps
    List,
    /// Replace a secret and print the new one, which is shown only now; the old one is refused at once, or after a chosen time
    Rotate {
        /// Key of the app
        #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
        app: AppKey,
        /// Which secret to replace
        #[arg(long, value_name = "WHICH")]
        secret: Which,
        /// For how many hours the old one stays good, at most 2160
        #[arg(long, value_name = "HOURS", default_value_t = 0, value_parser = number_in(0..=limits::OVERLAP_SECONDS / SECONDS_PER_HOUR))]
        overlap_hours: u32,
        /// Confirm that the apps that are installed are to be cut off, which have the old app secret
        #[arg(long)]
        yes: bool,
    },
    /// End a replaced secret that is good yet, before its time
    EndFormerSecret {
        /// Key of the app
        #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
        app: AppKey,
        /// Which secret was replaced
        #[arg(long, value_name = "WHICH")]
        secret: One,
    },
    /// Delete an app with its channels and everything else it has
    Delete {
        /// Key of the app
        #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
        app: AppKey,
        /// Confirm that the app's data is to be lost
        #[arg(long)]
        yes: bool,
    },
    /// Set the mode of an app
    Mode {
        /// Key of the app
        #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
        app: AppKey,
        /// The mode it is to have
        mode: Mode,
    },
    /// Show or set who may say what about named users
    NamedUsers(NamedUsers),
    /// Show, add or remove the origins whose web pages may register browsers
    WebOrigins(WebOrigins),
    /// Show, set or remove the public key of those who sign who the user of a device is
    ProofKey(ProofKey),
    /// Print the link to a page that shows a push arriving, for an app in development
    Demo {
        /// Key of the app
        #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
        app: AppKey,
    },
}

#[derive(Deserialize)]
struct Demo {
    link: String,
}

#[derive(Args, Debug)]
struct Create {
    /// Name of the app, for people
    #[arg(required_unless_present = "file")]
    name: Option<String>,
    /// Read the app as JSON from a file, or from standard input with `-`, so that no secret stands on the command line: name,
    /// and if you like mode, key, app_secret and master_secret
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with_all = ["name", "mode", "new_key", "new_app_secret", "new_master_secret"]
    )]
    file: Option<PathBuf>,
    /// `development` delivers to the sandbox what has no credentials; `production` fails it
    #[arg(long, default_value = "development")]
    mode: Mode,
    /// Use this key instead of a new one
    #[arg(long = "key", id = "new_key", value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
    key: Option<AppKey>,
    /// Use this app secret instead of a new one
    #[arg(long = "app-secret", id = "new_app_secret", value_name = "SECRET", allow_hyphen_values = true, value_parser = secret)]
    app_secret: Option<Secret>,
    /// Use this master secret instead of a new one
    #[arg(long = "master-secret", id = "new_master_secret", value_name = "SECRET", allow_hyphen_values = true, value_parser = secret)]
    master_secret: Option<Secret>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// What has no credentials is delivered to the sandbox
    Development,
    /// What has no credentials fails
    Production,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    /// What servers use
    Master,
    /// What installed apps use
    App,
    /// Both of them
    Both,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum One {
    /// What servers use
    Master,
    /// What installed apps use
    App,
}

#[derive(Deserialize)]
struct Apps {
    apps: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    key: String,
    name: String,
    mode: String,
    created: String,
}

#[derive(Deserialize)]
struct Created {
    app: Shown,
    #[serde(flatten)]
    secrets: Secrets,
}

/// Secrets the server has just made, and will not show again.
#[derive(Deserialize)]
struct Secrets {
    app_secret: Option<String>,
    master_secret: Option<String>,
    former_ends: Option<String>,
}

const SECONDS_PER_HOUR: u32 = 60 * 60;

impl App {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        self.operator.run(async |client| self.action.ask(client).await, |reply| self.action.show(reply)).await
    }
}

impl Action {
    async fn ask(&self, client: &Client) -> Result<Reply> {
        match self {
            Action::Create(create) => client.send_raw(Method::POST, "/operator/apps", create.body()?).await,
            Action::List => client.get("/operator/apps").await,
            Action::Rotate { app, secret: Which::App | Which::Both, yes: false, .. } => bail!(
                "Apps that are installed have the app secret of {app} built in, and are refused from the moment it is replaced, or \
                 after --overlap-hours, until they are updated. Repeat it with --yes to confirm, or replace only what your servers \
                 have with --secret master."
            ),
            Action::EndFormerSecret { app, secret } => {
                client.delete(&format!("/operator/apps/{app}/former-secrets/{}", secret.name())).await
            }
            Action::Rotate { app, secret, overlap_hours, yes: _ } => {
                let body = json!({ "secret": secret.name(), "overlap": overlap_hours * SECONDS_PER_HOUR });
                client.send(Method::POST, &format!("/operator/apps/{app}/rotate"), &body).await
            }
            Action::Delete { yes: false, app } => {
                bail!("This deletes {app} with all its channels and history. Repeat it with --yes to confirm.")
            }
            Action::Delete { yes: true, app } => client.delete(&format!("/operator/apps/{app}")).await,
            Action::Mode { app, mode } => {
                client.send(Method::PATCH, &format!("/operator/apps/{app}"), &json!({ "mode": mode.name() })).await
            }
            Action::NamedUsers(rules) => rules.ask(client).await,
            Action::WebOrigins(origins) => origins.ask(client).await,
            Action::ProofKey(key) => key.ask(client).await,
            Action::Demo { app } => client.get(&format!("/operator/apps/{app}/demo")).await,
        }
    }

    fn show(&self, reply: &Reply) -> Result<()> {
        match self {
            Action::Create(_) => {
                let created: Created = reply.read()?;
                output::line(format_args!("Created '{}' ({}).", created.app.name, created.app.mode))?;
                output::line(format_args!("  app key        {}", created.app.key))?;
                created.secrets.show()
            }
            Action::List => {
                let Apps { apps } = reply.read()?;
                let rows: Vec<_> = apps.into_iter().map(|app| [app.key, app.mode, app.created, app.name]).collect();
                output::table([("KEY", ID), ("MODE", NAME), ("CREATED", MOMENT.left_out(1)), ("NAME", TEXT)], &rows)
            }
            Action::Rotate { app, .. } => {
                let secrets: Secrets = reply.read()?;
                match &secrets.former_ends {
                    Some(ends) => {
                        output::line(format_args!("Replaced for {app}; what was there before is good until {ends}."))?
                    }
                    None => {
                        output::line(format_args!("Replaced for {app}; what was there before is refused from now on."))?
                    }
                }
                secrets.show()
            }
            Action::EndFormerSecret { app, secret } => output::line(format_args!(
                "The {} secret of {app} that was replaced is refused from now on.",
                secret.name()
            )),
            Action::Delete { app, .. } => output::line(format_args!("Deleted {app}.")),
            Action::Mode { app, mode } => output::line(format_args!("{app} is in {} mode.", mode.name())),
            Action::NamedUsers(_) => NamedUsers::show(reply),
            Action::WebOrigins(_) => WebOrigins::show(reply),
            Action::ProofKey(_) => ProofKey::show(reply),
            Action::Demo { .. } => output::line(format_args!("{}", reply.read::<Demo>()?.link)),
        }
    }
}

impl Create {
    fn body(&self) -> Result<Bytes> {
        if let Some(path) = &self.file {
            return super::read_input(path);
        }
        let mut body = Map::new();
        body.insert("name".to_owned(), self.name.as_deref().into());
        body.insert("mode".to_owned(), self.mode.name().into());
        let given = [
            ("key", self.key.as_ref().map(AppKey::as_str)),
            ("app_secret", self.app_secret.as_ref().map(Secret::reveal)),
            ("master_secret", self.master_secret.as_ref().map(Secret::reveal)),
        ];
        body.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        Ok(serde_json::Value::from(body).to_string().into())
    }
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Development => "development",
            Mode::Production => "production",
        }
    }
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Master => "master",
            Which::App => "app",
            Which::Both => "both",
        }
    }
}

impl One {
    fn name(self) -> &'static str {
        match self {
            One::Master => "master",
            One::App => "app",
        }
    }
}

impl Secrets {
    fn show(&self) -> Result<()> {
        if let Some(secret) = &self.app_secret {
            output::line(format_args!("  app secret     {secret}"))?;
        }
        if let Some(secret) = &self.master_secret {
            output::line(format_args!("  master secret  {secret}"))?;
        }
        Ok(())
    }
}
