//! `aerogram token`: credentials of servers that can do less than the master secret.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use model::app::AppKey;
use model::limits;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::asking::is_agreed;
use super::{OfApp, Operator};
use crate::client::{Client, Reply};
use crate::config::{Name, network, number_in};
use crate::output::{self, ID, MOMENT, NAME, TEXT, shortened};

#[derive(Args, Debug)]
pub(crate) struct Token {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    operator: Operator,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make a token for a server and print it, which is shown only now
    Create(Limits),
    /// List the tokens of an app, without the tokens themselves
    List(OfApp),
    /// End a token at once
    Revoke(Revoke),
}

#[derive(Args, Debug)]
struct Revoke {
    #[command(flatten)]
    of: OfApp,
    /// Id of the token, as `token list` has it
    #[arg(value_name = "TOKEN")]
    token: Name,
    /// Revoke it without asking
    #[arg(long)]
    yes: bool,
}

/// What a server may do that gets a token, or an OAuth client.
#[derive(Args, Debug)]
pub(super) struct Limits {
    #[command(flatten)]
    pub(super) of: OfApp,
    /// Name of the server that gets it, for people
    pub(super) name: String,
    /// What it may do, as for people
    #[arg(long, value_name = "ROLE")]
    role: Role,
    /// Limit it to parts of the API, such as psh, nu and rpt
    #[arg(long, value_name = "SCOPES", value_delimiter = ',')]
    scopes: Vec<String>,
    /// Limit it to callers from these networks, such as 10.0.0.0/8
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',', value_parser = network)]
    addresses: Vec<model::network::Network>,
    /// In how many days it ends; without this it does not end by itself
    #[arg(long, value_name = "DAYS", value_parser = number_in(1_u32..=limits::TOKEN_SECONDS / SECONDS_PER_DAY))]
    days: Option<u32>,
}

const SECONDS_PER_DAY: u32 = 24 * 60 * 60;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    /// Reports, messages and counts
    Viewer,
    /// People, their timelines, the sandbox and events, too
    Support,
    /// Segments, templates and lists, too
    Editor,
    /// Sending, scheduling and changing people, too
    Sender,
    /// Everything that the master secret can
    Admin,
}

#[derive(Deserialize)]
struct Created {
    token_id: String,
    token: String,
}

#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    token_id: String,
    name: String,
    prefix: String,
    role: String,
    expires: Option<String>,
    last_used: Option<String>,
    created_by: String,
}

impl Token {
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
            Action::Create(limits) => client.send(Method::POST, &tokens(&limits.of.app), &limits.body().into()).await,
            Action::List(OfApp { app }) => client.get(&tokens(app)).await,
            Action::Revoke(Revoke { of: OfApp { app }, token, .. }) => {
                client.delete(&format!("{}/{}", tokens(app), token.segment())).await
            }
        }
    }

    fn show(&self, reply: &Reply) -> Result<()> {
        match self {
            Action::Create(Limits { of: OfApp { app }, name, .. }) => {
                let Created { token_id, token } = reply.read()?;
                output::line(format_args!("Made a token for '{name}' of {app}, with the id {token_id}."))?;
                output::line(format_args!("  token  {token}"))
            }
            Action::List(_) => {
                let Tokens { tokens } = reply.read()?;
                let rows: Vec<_> = tokens.into_iter().map(Shown::row).collect();
                let columns = [
                    ("TOKEN", ID),
                    ("NAME", TEXT),
                    ("BEGINS", NAME.left_out(2)),
                    ("ROLE", NAME),
                    ("ENDS", MOMENT),
                    ("LAST USED", MOMENT.left_out(3)),
                    ("MADE BY", TEXT.left_out(1)),
                ];
                output::table(columns, &rows)
            }
            Action::Revoke(Revoke { token, .. }) => output::line(format_args!("Revoked {}.", token.as_str())),
        }
    }
}

impl Revoke {
    /// Shows which token it is, and asks the person at the terminal.
    async fn is_wanted(&self, client: &Client) -> Result<bool> {
        let Self { of: OfApp { app }, token, .. } = self;
        let Tokens { tokens } = client.get(&tokens(app)).await?.read()?;
        // One that cannot be shown is not revoked: the server may read an id in another form than the list has it.
        let Some(found) = tokens.into_iter().find(|shown| shown.token_id == token.as_str()) else {
            bail!("{app} has no token {token}; `aerogram token list {app}` shows the ids.");
        };
        is_agreed_to_revoke(&about(&found.name, &found.role, found.last_used.as_deref()))
    }
}

/// What somebody should know who is about to revoke credentials of a server.
pub(super) fn about(name: &str, role: &str, last_used: Option<&str>) -> String {
    let used = last_used.map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    format!("'{}' ({role}, {used}) is refused at once: a server that uses it stops working.", shortened(name))
}

pub(super) fn is_agreed_to_revoke(about: &str) -> Result<bool> {
    let show = || {
        output::note(format_args!("{about}"));
        Ok(())
    };
    let unasked = format!("Nothing was revoked: nobody is here to be asked. {about} Say --yes to revoke it.");
    is_agreed(show, "Revoke it?", &unasked)
}

impl Limits {
    pub(super) fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("name".to_owned(), self.name.as_str().into());
        body.insert("role".to_owned(), self.role.name().into());
        if !self.scopes.is_empty() {
            body.insert("scopes".to_owned(), self.scopes.clone().into());
        }
        if !self.addresses.is_empty() {
            let networks: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
            body.insert("addresses".to_owned(), networks.into());
        }
        if let Some(days) = self.days {
            body.insert("expires_in".to_owned(), (days * SECONDS_PER_DAY).into());
        }
        body
    }
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Support => "support",
            Role::Editor => "editor",
            Role::Sender => "sender",
            Role::Admin => "admin",
        }
    }
}

impl Shown {
    fn row(self) -> [String; 7] {
        let ends = self.expires.unwrap_or_else(|| "never".to_owned());
        let used = self.last_used.unwrap_or_else(|| "never".to_owned());
        [self.token_id, self.name, self.prefix, self.role, ends, used, self.created_by]
    }
}

fn tokens(app: &AppKey) -> String {
    format!("/operator/apps/{app}/tokens")
}
