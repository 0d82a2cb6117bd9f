//! Tokens for the servers of an app, which can do less than the master secret.

use axum::extract::State;
use http::StatusCode;
use model::ids::{ServerTokenId, ServerTokenKind};
use model::network::Network;
use model::server_token::{NewServerToken, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{CreatedToken, ServerToken, TokenKind};

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::{PathVars, id_in_path};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServerTokens")]
pub(super) struct All {
    tokens: Vec<TokenRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServerToken")]
struct TokenRecord {
    token_id: ServerTokenId,
    name: String,
    /// How the token begins.
    prefix: String,
    /// `viewer`, `support`, `editor`, `sender` or `admin`.
    role: &'static str,
    #[serde(flatten)]
    limits: LimitsRecord,
}

/// The rest of what is shown of tokens and of OAuth clients.
#[derive(Serialize, JsonSchema)]
pub(super) struct LimitsRecord {
    /// Not there if the token is not limited to scopes.
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<&'static str>>,
    /// Not there if the token can be used from everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    addresses: Option<Vec<String>>,
    created: String,
    /// Who has made it, as the audit log calls them.
    created_by: String,
    /// Not there if it does not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// The minute in which it was last used; not there if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<String>,
}

/// The only time the token is shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedServerToken")]
pub(super) struct Created {
    token_id: ServerTokenId,
    token: String,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    PathVars(key): PathVars<String>,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let new = input.parse(NewServerToken::parse).await?;
    let created = edge.engine.tenancy().create_token(&key, new, input.idempotency_key).await?;
    let CreatedToken { operation_id, id, token } = created;
    let location = links.to(&format!("/operator/apps/{key}/tokens/{id}"));
    let answer = Answer::changed(operation_id, Created { token_id: id, token })?;
    Ok(answer.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn list(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let tokens = edge.engine.tenancy().tokens(&key, TokenKind::Bearer).await?;
    Answer::ok(All { tokens: tokens.into_iter().map(TokenRecord::from).collect() })
}

pub(super) async fn revoke(
    State(edge): State<Edge>,
    PathVars((key, token)): PathVars<(String, String)>,
) -> Result<Answer> {
    let id = id_in_path::<ServerTokenKind>(&token)?;
    edge.engine.tenancy().revoke_token(&key, id, TokenKind::Bearer).await?;
    Ok(Answer::nothing())
}

impl From<ServerToken> for TokenRecord {
    fn from(row: ServerToken) -> Self {
        Self {
            token_id: row.id,
            name: row.name.clone(),
            prefix: row.prefix.clone(),
            role: row.role.word(),
            limits: LimitsRecord::of(&row),
        }
    }
}

impl LimitsRecord {
    pub(super) fn of(row: &ServerToken) -> Self {
        let words = |scopes: &Vec<Scope>| scopes.iter().map(|scope| scope.word()).collect();
        Self {
            scopes: row.scopes.as_ref().map(words),
            addresses: row.addresses.as_ref().map(|networks| networks.iter().map(Network::to_string).collect()),
            created: row.created.to_api(),
            created_by: row.created_by.clone(),
            expires: row.expires.map(|ends| ends.to_api()),
            last_used: row.used.map(|used| used.to_api()),
        }
    }
}
