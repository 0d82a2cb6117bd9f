//! `aerogram oauth-client`: servers that get access tokens for an hour, by a secret or by a key.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use http::Method;
use model::app::AppKey;
use serde::Deserialize;
use serde_json::Value;

use super::token::{Limits, about, is_agreed_to_revoke};
use super::{OfApp, Operator};
use crate::client::{Client, Reply};
use crate::config::Name;
use crate::output::{self, ID, MOMENT, NAME, TEXT};

#[derive(Args, Debug)]
pub(crate) struct OauthClient {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    operator: Operator,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make a client and print its secret and its private key, which are shown only now
    Create(Create),
    /// List the clients of an app, without their secrets
    List(OfApp),
    /// End a client and its access tokens at once
    Revoke(Revoke),
}

#[derive(Args, Debug)]
struct Revoke {
    #[command(flatten)]
    of: OfApp,
    /// Id of the client, as `oauth-client list` has it
    #[arg(value_name = "CLIENT")]
    client: Name,
    /// Revoke it without asking
    #[arg(long)]
    yes: bool,
}

#[derive(Args, Debug)]
struct Create {
    #[command(flatten)]
    limits: Limits,
    /// Make no secret: the client proves itself by assertions that it signs with the key
    #[arg(long)]
    no_secret: bool,
}

#[derive(Deserialize)]
struct Created {
    client_id: String,
    client_secret: Option<String>,
    private_key: Option<String>,
}

#[derive(Deserialize)]
struct Clients {
    clients: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    client_id: String,
    name: String,
    role: String,
    basic: bool,
    expires: Option<String>,
    last_used: Option<String>,
    created_by: String,
}

impl OauthClient {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        if let Action::Revoke(revoke) = &self.action
            && !revoke.yes
            && !revoke.is_wanted(&self.operator.connect()?).await?
        {
            output::note(format_args!("Nothing was revoked."));
            return Ok(ExitCode::FAILURE);
        }
        self.operator.run(async |client| self.action.ask(client).await, |reply| self.action.show(reply)).await
    }
}

impl Action {
    async fn ask(&self, client: &Client) -> Result<Reply> {
        match self {
            Action::Create(create) => client.send(Method::POST, &clients(&create.limits.of.app), &create.body()).await,
            Action::List(OfApp { app }) => client.get(&clients(app)).await,
            Action::Revoke(Revoke { of: OfApp { app }, client: id, .. }) => {
                client.delete(&format!("{}/{}", clients(app), id.segment())).await
            }
        }
    }

    fn show(&self, reply: &Reply) -> Result<()> {
        match self {
            Action::Create(Create { limits: Limits { of: OfApp { app }, name, .. }, .. }) => {
                let Created { client_id, client_secret, private_key } = reply.read()?;
                output::line(format_args!("Made an OAuth client for '{name}' of {app}."))?;
                output::line(format_args!("  client id      {client_id}"))?;
                if let Some(secret) = client_secret {
                    output::line(format_args!("  client secret  {secret}"))?;
                }
                match private_key {
                    Some(key) => output::line(format_args!("{}", key.trim_end())),
                    None => Ok(()),
                }
            }
            Action::List(_) => {
                let Clients { clients } = reply.read()?;
                let rows: Vec<_> = clients.into_iter().map(Shown::row).collect();
                let columns = [
                    ("CLIENT", ID),
                    ("NAME", TEXT),
                    ("ROLE", NAME),
                    ("SECRET", NAME.left_out(2)),
                    ("ENDS", MOMENT),
                    ("LAST USED", MOMENT.left_out(3)),
                    ("MADE BY", TEXT.left_out(1)),
                ];
                output::table(columns, &rows)
            }
            Action::Revoke(Revoke { client, .. }) => output::line(format_args!("Revoked {}.", client.as_str())),
        }
    }
}

impl Revoke {
    /// Shows which client it is, and asks the person at the terminal.
    async fn is_wanted(&self, client: &Client) -> Result<bool> {
        let Self { of: OfApp { app }, client: id, .. } = self;
        let Clients { clients } = client.get(&clients(app)).await?.read()?;
        // One that cannot be shown is not revoked: the server may read an id in another form than the list has it.
        let Some(found) = clients.into_iter().find(|shown| shown.client_id == id.as_str()) else {
            bail!("{app} has no OAuth client {id}; `aerogram oauth-client list {app}` shows the ids.");
        };
        let about = about(&found.name, &found.role, found.last_used.as_deref());
        is_agreed_to_revoke(&about)
    }
}

impl Create {
    fn body(&self) -> Value {
        let mut body = self.limits.body();
        body.insert("basic".to_owned(), (!self.no_secret).into());
        body.into()
    }
}

impl Shown {
    fn row(self) -> [String; 7] {
        let or_never = |time: Option<String>| time.unwrap_or_else(|| "never".to_owned());
        let secret = if self.basic { "yes" } else { "no" }.to_owned();
        [
            self.client_id,
            self.name,
            self.role,
            secret,
            or_never(self.expires),
            or_never(self.last_used),
            self.created_by,
        ]
    }
}

fn clients(app: &AppKey) -> String {
    format!("/operator/apps/{app}/oauth-clients")
}
