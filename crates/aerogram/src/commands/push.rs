//! `aerogram push`: sends a push from the command line, and steers it afterwards.

mod list;
mod recipients;
mod steer;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use bytes::Bytes;
use clap::Args;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

/// A text that is also the name of a subcommand goes behind `--`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Push {
    #[command(subcommand)]
    steer: Option<steer::Steer>,
    /// The text to show
    #[arg(required_unless_present = "file")]
    alert: Option<String>,
    /// `all`, or a selector in JSON such as {"tag": "news"}
    #[arg(long, value_name = "SELECTOR", default_value = "all", value_parser = audience)]
    audience: Value,
    /// `all`, or some of ios, android, amazon, web, wns and open::NAME
    #[arg(long, value_name = "TYPES", value_delimiter = ',', default_value = "all")]
    device_types: Vec<String>,
    /// Read the whole push as JSON from a file, or from standard input with `-`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["alert", "audience", "device_types"])]
    file: Option<PathBuf>,
    /// Check the push without sending it
    #[arg(long)]
    validate: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Accepted {
    push_ids: Vec<String>,
}

impl Push {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        if let Some(steer) = &self.steer {
            return steer.run().await;
        }
        let client = Client::app(&self.remote, &self.login)?;
        let path = if self.validate { "/api/push/validate" } else { "/api/push" };
        let reply = client.send_raw(Method::POST, path, self.body()?).await?;
        if self.remote.json {
            reply.print()?;
        } else if self.validate {
            output::line(format_args!("The push is valid."))?;
        } else {
            for id in reply.read::<Accepted>()?.push_ids {
                output::line(format_args!("{id}"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn body(&self) -> Result<Bytes> {
        if let Some(path) = &self.file {
            return super::read_input(path);
        }
        let alert = self.alert.as_deref().context("A text is needed.")?;
        let device_types = device_types(&self.device_types);
        let body = json!({
            "audience": self.audience,
            "device_types": device_types,
            "notification": { "alert": alert },
        });
        Ok(body.to_string().into())
    }
}

/// The names given on the command line, as the API wants them.
pub(super) fn device_types(names: &[String]) -> Value {
    match names {
        [all] if all == "all" => json!("all"),
        some => json!(some),
    }
}

pub(super) fn audience(text: &str) -> Result<Value, &'static str> {
    if text == "all" {
        return Ok(json!("all"));
    }
    serde_json::from_str(text).map_err(|_| "It must be `all` or a selector in JSON such as {\"tag\": \"news\"}.")
}
