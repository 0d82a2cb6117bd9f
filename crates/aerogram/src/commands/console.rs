//! `aerogram console`: who may use the console.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use http::{Method, StatusCode};
use providers::percent_encoded;
use serde::Deserialize;
use serde_json::json;

use super::Operator;
use crate::client::{Client, Refused, Reply};
use crate::output::{self, ID, MOMENT, NAME, TEXT};

#[derive(Args, Debug)]
pub(crate) struct Console {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Print a link that lets a person in once: to make an account that owns the installation, or to choose a new password
    Link {
        /// The e-mail address of an account whose person needs a new password
        #[arg(long, value_name = "EMAIL")]
        account: Option<String>,
    },
    /// List the accounts
    Accounts {
        /// From this e-mail address on
        #[arg(long, value_name = "EMAIL", default_value = "")]
        start: String,
    },
}

#[derive(Deserialize)]
struct Link {
    link: String,
}

#[derive(Deserialize)]
struct Accounts {
    accounts: Vec<Account>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Account {
    account_id: String,
    email: String,
    name: String,
    owner: bool,
    disabled: bool,
    invited: bool,
    seen: Option<String>,
    roles: Vec<Role>,
}

#[derive(Deserialize)]
struct Role {
    app_name: String,
    role: String,
}

impl Console {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        match &self.action {
            Action::Link { account } => {
                self.operator.run(async |client| link(client, account.as_deref()).await, show_link).await
            }
            Action::Accounts { start } => {
                let path = format!("/operator/accounts?limit=1000&start={}", percent_encoded(start));
                self.operator.run(async |client| client.get(&path).await, list).await
            }
        }
    }
}

async fn link(client: &Client, account: Option<&str>) -> Result<Reply> {
    if client.get("/console/login").await.is_err_and(|refused| is_missing(&refused)) {
        output::note(format_args!(
            "aerogram: This server does not serve the console (AEROGRAM_CONSOLE=false), so that the link leads nowhere here; open it at \
             a node that does."
        ));
    }
    let Some(email) = account else {
        return client.send(Method::POST, "/operator/accounts/owner-link", &json!({})).await;
    };
    let wanted = email.trim().to_lowercase();
    let path = format!("/operator/accounts?limit=1&start={}", percent_encoded(&wanted));
    let Accounts { accounts, .. } = client.get(&path).await?.read()?;
    let Some(account) = accounts.iter().find(|account| account.email == wanted) else {
        bail!("There is no account of {email}; `aerogram console accounts` lists them.");
    };
    client.send(Method::POST, &format!("/operator/accounts/{}/link", account.account_id), &json!({})).await
}

fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == StatusCode::NOT_FOUND)
}

fn show_link(reply: &Reply) -> Result<()> {
    let Link { link } = reply.read()?;
    output::line(format_args!("{link}"))
}

fn list(reply: &Reply) -> Result<()> {
    let Accounts { accounts, next_page } = reply.read()?;
    let rows: Vec<_> = accounts.iter().map(Account::row).collect();
    let columns = [
        ("EMAIL", ID),
        ("NAME", TEXT.left_out(2)),
        ("STATE", NAME),
        ("LAST SEEN", MOMENT.left_out(1)),
        ("ROLES", TEXT),
    ];
    output::table(columns, &rows)?;
    match accounts.last().filter(|_| next_page.is_some()) {
        Some(last) => output::line(format_args!("There are more; go on with --start {}", last.email)),
        None => Ok(()),
    }
}

impl Account {
    fn row(&self) -> [String; 5] {
        let Self { email, name, owner, disabled, invited, seen, roles, .. } = self;
        let state = match (disabled, invited) {
            (true, _) => "locked",
            (false, true) => "invited",
            (false, false) => "active",
        };
        let owns = owner.then(|| "owner".to_owned());
        let roles = roles.iter().map(|Role { app_name, role }| format!("{role} of {app_name}"));
        let roles: Vec<String> = owns.into_iter().chain(roles).collect();
        let seen = seen.clone().unwrap_or_else(|| "never".to_owned());
        [email.clone(), name.clone(), state.to_owned(), seen, roles.join(", ")]
    }
}
