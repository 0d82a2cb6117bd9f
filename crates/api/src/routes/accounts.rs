//! The accounts of people who use the console, for the operator and the owners.

use accounts::{Account, SignInView};
use axum::extract::State;
use http::StatusCode;
use model::account::{AccountChange, NewAccount};
use model::ids::{AccountId, AccountKind, OperationId, SignInId};
use providers::percent_encoded;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::App;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::{PathId, PathVars, id_in_path};
use crate::query::{Params, plain_text};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub(super) struct AccountRecord {
    account_id: AccountId,
    email: String,
    name: String,
    /// Whether the person owns the installation.
    owner: bool,
    /// Whether the person is locked out.
    disabled: bool,
    /// Whether the person has not used the first link yet.
    invited: bool,
    /// Whether logging in needs a one-time code.
    one_time_codes: bool,
    created: String,
    /// The last time that the person was there, to a few minutes.
    seen: Option<String>,
    roles: Vec<RoleRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AccountRole")]
pub(super) struct RoleRecord {
    /// The key of the app.
    app: String,
    app_name: String,
    /// `viewer`, `support`, `editor`, `sender` or `admin`.
    role: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Accounts")]
pub(super) struct All {
    /// In the order of their addresses.
    accounts: Vec<AccountRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneAccount")]
pub(super) struct One {
    account: AccountRecord,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AccountInvitation")]
pub(super) struct Invited {
    account_id: AccountId,
    /// For the person, who chooses a password by it. It works once, and for three days.
    link: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsoleLink")]
pub(super) struct Link {
    /// It works once.
    link: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SignIns")]
pub(super) struct SignIns {
    sign_ins: Vec<SignInRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SignIn")]
struct SignInRecord {
    sign_in_id: SignInId,
    created: String,
    /// The last time that it was used, to a few minutes.
    used: String,
    /// When it ends unless it is used before.
    ends: String,
    /// The browser, as it calls itself.
    agent: Option<String>,
    address: Option<String>,
}

pub(super) async fn list(State(edge): State<Edge>, links: Links, mut params: Params) -> Result<Answer> {
    let start = params.parsed("start", plain_text).unwrap_or_default();
    let limit = params.limit(PageSize::ACCOUNTS);
    params.finish()?;
    // Addresses are kept in small letters.
    let (accounts, next) = edge.engine.accounts().accounts(start.to_lowercase(), limit).await?;
    let apps = edge.engine.tenancy().apps().await?;
    let next = next.map(|next| percent_encoded(next.as_str()));
    let next_page = next.map(|next| links.to(&format!("/operator/accounts?start={next}&limit={limit}")));
    let accounts = accounts.iter().map(|account| AccountRecord::of(account, &apps)).collect();
    Ok(Answer::ok(All { accounts, next_page: next_page.clone() })?.next_page(next_page.as_deref()))
}

pub(super) async fn invite(State(edge): State<Edge>, links: Links, input: Input) -> Result<Answer> {
    let invitation = edge.engine.accounts().invite(input.parse(NewAccount::parse).await?).await?;
    let (account_id, link) = (invitation.account, to_start(&links, &invitation.secret.unwrap_or_default()));
    let location = links.to(&format!("/operator/accounts/{account_id}"));
    let answer = Answer::changed(OperationId::random(), Invited { account_id, link })?;
    Ok(answer.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn look_up(State(edge): State<Edge>, PathId(id): PathId<AccountKind>) -> Result<Answer> {
    let (account, apps) = (edge.engine.accounts().account(id).await?, edge.engine.tenancy().apps().await?);
    Answer::ok(One { account: AccountRecord::of(&account, &apps) })
}

pub(super) async fn change(State(edge): State<Edge>, PathId(id): PathId<AccountKind>, input: Input) -> Result<Answer> {
    let change = input.parse(AccountChange::parse).await?;
    let account = edge.engine.accounts().change_account(id, change).await?;
    let apps = edge.engine.tenancy().apps().await?;
    Answer::changed(OperationId::random(), One { account: AccountRecord::of(&account, &apps) })
}

pub(super) async fn delete(State(edge): State<Edge>, PathId(id): PathId<AccountKind>) -> Result<Answer> {
    edge.engine.accounts().delete_account(id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn password_link(
    State(edge): State<Edge>,
    PathId(id): PathId<AccountKind>,
    links: Links,
) -> Result<Answer> {
    let secret = edge.engine.accounts().password_link(id).await?;
    Answer::changed(OperationId::random(), Link { link: to_start(&links, &secret) })
}

pub(super) async fn owner_link(State(edge): State<Edge>, links: Links) -> Result<Answer> {
    let secret = edge.engine.accounts().new_owner_link().await?;
    Answer::changed(OperationId::random(), Link { link: to_start(&links, &secret) })
}

pub(super) async fn end_codes(State(edge): State<Edge>, PathId(id): PathId<AccountKind>) -> Result<Answer> {
    edge.engine.accounts().end_codes(id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn sign_ins(State(edge): State<Edge>, PathId(id): PathId<AccountKind>) -> Result<Answer> {
    edge.engine.accounts().account(id).await?;
    let found = edge.engine.accounts().sign_ins(id).await?;
    Answer::ok(SignIns { sign_ins: found.into_iter().map(SignInRecord::from).collect() })
}

pub(super) async fn end_sign_in(
    State(edge): State<Edge>,
    PathVars((account, sign_in)): PathVars<(String, String)>,
) -> Result<Answer> {
    edge.engine.accounts().end_sign_in(id_in_path(&account)?, id_in_path(&sign_in)?).await?;
    Ok(Answer::nothing())
}

/// Where a link leads to that lets somebody in.
pub(super) fn to_start(links: &Links, secret: &str) -> String {
    links.to(&format!("/console/start?code={secret}"))
}

impl AccountRecord {
    pub(super) fn of(account: &Account, apps: &[App]) -> Self {
        let role = |app: &App| {
            let role = account.roles.get(&app.id)?.word();
            Some(RoleRecord { app: app.key.as_str().to_owned(), app_name: app.name.clone(), role })
        };
        Self {
            account_id: account.id,
            email: account.email.as_str().to_owned(),
            name: account.name.clone(),
            owner: account.is_owner,
            disabled: account.is_disabled,
            // Who logs in by a provider never has a password.
            invited: account.password.is_none() && account.seen.is_none(),
            one_time_codes: account.totp.is_some(),
            created: account.created.to_api(),
            seen: account.seen.map(|seen| seen.to_api()),
            roles: apps.iter().filter_map(role).collect(),
        }
    }
}

impl From<SignInView> for SignInRecord {
    fn from(sign_in: SignInView) -> Self {
        Self {
            sign_in_id: sign_in.id,
            created: sign_in.created.to_api(),
            used: sign_in.used.to_api(),
            ends: sign_in.ends.to_api(),
            agent: sign_in.agent,
            address: sign_in.address,
        }
    }
}
