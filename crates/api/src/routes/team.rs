//! The team of an app: who may do what in it by the console.

use accounts::Member;
use axum::extract::State;
use http::StatusCode;
use model::account::{Membership, NewMember};
use model::ids::{AccountId, AccountKind, OperationId};
use schemars::JsonSchema;
use serde::Serialize;

use super::accounts::to_start;
use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::{PathVars, id_in_path};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Team")]
pub(super) struct All {
    team: Vec<MemberRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TeamMember")]
struct MemberRecord {
    account_id: AccountId,
    email: String,
    name: String,
    /// `viewer`, `support`, `editor`, `sender` or `admin`.
    role: &'static str,
    /// Whether the person is locked out.
    disabled: bool,
    /// Whether the person has not used the first link yet.
    invited: bool,
    /// The last time that the person was there, to a few minutes.
    seen: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TeamInvitation")]
pub(super) struct Added {
    account_id: AccountId,
    /// For a person without a password, who chooses one by it. It works once, and for three days.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

pub(super) async fn list(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let team = edge.engine.accounts().team(app.id).await?;
    Answer::ok(All { team: team.into_iter().map(MemberRecord::from).collect() })
}

pub(super) async fn add(
    State(edge): State<Edge>,
    PathVars(key): PathVars<String>,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let added = edge.engine.accounts().add_member(app.id, input.parse(NewMember::parse).await?).await?;
    let link = added.secret.map(|secret| to_start(&links, &secret));
    let answer = Answer::changed(OperationId::random(), Added { account_id: added.account, link })?;
    Ok(answer.status(StatusCode::CREATED))
}

pub(super) async fn change(
    State(edge): State<Edge>,
    PathVars((key, account)): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let Membership { role } = input.parse(Membership::parse).await?;
    edge.engine.accounts().change_member(app.id, id_in_path::<AccountKind>(&account)?, role).await?;
    Ok(Answer::nothing())
}

pub(super) async fn remove(
    State(edge): State<Edge>,
    PathVars((key, account)): PathVars<(String, String)>,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    edge.engine.accounts().remove_member(app.id, id_in_path::<AccountKind>(&account)?).await?;
    Ok(Answer::nothing())
}

impl From<Member> for MemberRecord {
    fn from(Member { account, role }: Member) -> Self {
        Self {
            account_id: account.id,
            email: account.email.as_str().to_owned(),
            name: account.name,
            role: role.word(),
            disabled: account.is_disabled,
            // Who logs in by a provider never has a password.
            invited: account.password.is_none() && account.seen.is_none(),
            seen: account.seen.map(|seen| seen.to_api()),
        }
    }
}
