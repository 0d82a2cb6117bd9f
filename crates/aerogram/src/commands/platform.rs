//! `aerogram platform`: how an app reaches the devices of each platform.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use model::app::AppKey;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Operator;
use crate::client::{Client, Reply, segment};
use crate::config::app_key;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Platform {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Configure a platform
    Set(Set),
    /// List the configured platforms of an app
    List {
        #[arg(value_name = "KEY", value_parser = app_key)]
        app: AppKey,
    },
    /// Ask a platform whether it accepts the app's configuration
    Test(Which),
    /// Remove the configuration of a platform
    Delete(Which),
}

#[derive(Args, Debug)]
struct Which {
    /// Key of the app
    #[arg(value_name = "KEY", value_parser = app_key)]
    app: AppKey,
    /// `open::NAME` for a platform of your own, or apns, fcm, adm, wns, webpush
    platform: String,
}

#[derive(Args, Debug)]
struct Set {
    #[command(flatten)]
    which: Which,
    /// URL of an open platform; messages are posted to ENDPOINT/push
    #[arg(required_unless_present = "file")]
    endpoint: Option<String>,
    /// How an open platform recognizes the service
    #[arg(long, default_value = "none")]
    auth: Auth,
    /// User name for --auth basic
    #[arg(long, required_if_eq("auth", "basic"))]
    user: Option<String>,
    /// Password for --auth basic, or shared secret for --auth signature
    #[arg(long, required_if_eq_any([("auth", "basic"), ("auth", "signature")]))]
    secret: Option<String>,
    /// Save without asking the endpoint for its confirmation code
    #[arg(long)]
    no_validate: bool,
    /// Save without sending to the platform
    #[arg(long)]
    disabled: bool,
    /// Read the whole configuration as JSON from a file, or from standard input with `-`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["endpoint", "auth", "user", "secret", "no_validate", "disabled"])]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Auth {
    None,
    Basic,
    Signature,
}

#[derive(Deserialize)]
struct Platforms {
    platforms: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    platform: String,
    #[serde(default)]
    url: Option<String>,
    enabled: bool,
}

#[derive(Deserialize)]
struct Saved {
    #[serde(default)]
    validation_code: Option<String>,
}

impl Platform {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = self.operator.connect()?;
        let reply = self.action.ask(&client).await?;
        if self.operator.remote.json {
            reply.print()?;
        } else {
            self.action.show(&reply)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Action {
    async fn ask(&self, client: &Client) -> Result<Reply> {
        match self {
            Action::Set(set) => client.send_raw(Method::PUT, &set.which.path(), set.body()?).await,
            Action::List { app } => client.get(&format!("/operator/apps/{app}/platforms")).await,
            Action::Test(which) => client.send_raw(Method::POST, &format!("{}/test", which.path()), Bytes::new()).await,
            Action::Delete(which) => client.delete(&which.path()).await,
        }
    }

    fn show(&self, reply: &Reply) -> Result<()> {
        match self {
            Action::Set(set) => set.show(reply),
            Action::List { .. } => {
                let Platforms { platforms } = reply.read()?;
                let state = |enabled| if enabled { "enabled" } else { "disabled" };
                let row = |p: Shown| [p.platform, state(p.enabled).to_owned(), p.url.unwrap_or_default()];
                output::table(["PLATFORM", "STATE", "URL"], &platforms.into_iter().map(row).collect::<Vec<_>>())
            }
            Action::Test(which) => output::line(format_args!("{} answers as it should.", which.platform)),
            Action::Delete(which) => output::line(format_args!("{} is no longer configured.", which.platform)),
        }
    }
}

impl Which {
    fn path(&self) -> String {
        format!("/operator/apps/{}/platforms/{}", self.app, segment(&self.platform))
    }
}

impl Set {
    fn show(&self, reply: &Reply) -> Result<()> {
        output::line(format_args!("{} is configured.", self.which.platform))?;
        if let Some(code) = reply.read::<Saved>()?.validation_code {
            let answer = json!({ "confirmation_code": code });
            output::line(format_args!("Its endpoint must answer GET ENDPOINT/validate with {answer}."))?;
        }
        Ok(())
    }

    fn body(&self) -> Result<Bytes> {
        if let Some(path) = &self.file {
            return super::read_input(path);
        }
        let url = self.endpoint.as_deref().context("An endpoint is needed.")?;
        let body = json!({
            "url": url,
            "auth": self.auth()?,
            "validate": !self.no_validate,
            "enabled": !self.disabled,
        });
        Ok(body.to_string().into())
    }

    fn auth(&self) -> Result<Value> {
        match (self.auth, &self.user, &self.secret) {
            (Auth::None, None, None) => Ok(json!({ "type": "none" })),
            (Auth::Basic, Some(user), Some(password)) => {
                Ok(json!({ "type": "basic", "user": user, "password": password }))
            }
            (Auth::Signature, None, Some(secret)) => Ok(json!({ "type": "signature", "secret": secret })),
            (Auth::None | Auth::Basic | Auth::Signature, _, _) => bail!(
                "--auth none goes with neither --user nor --secret, --auth basic with both, --auth signature with --secret."
            ),
        }
    }
}
