//! OAuth for servers: clients, the access tokens that they get, and the public key with which anybody can check these.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, PRAGMA};
use http::{HeaderMap, HeaderValue, StatusCode};
use model::ids::{ServerTokenId, ServerTokenKind};
use model::server_token::NewOauthClient;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{AccessToken, Asked, CreatedClient, GrantError, GrantRefusal, ServerToken, TokenKind};

use super::server_tokens::LimitsRecord;
use crate::answer::Answer;
use crate::auth::basic_credentials;
use crate::body::Whole;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::form::{form_decoded, form_pairs};
use crate::holder::Holder;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::{PathVars, id_in_path};
use crate::serve::CallerAddress;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OauthClients")]
pub(super) struct All {
    clients: Vec<ClientRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OauthClient")]
struct ClientRecord {
    client_id: ServerTokenId,
    name: String,
    /// `viewer`, `support`, `editor`, `sender` or `admin`.
    role: &'static str,
    /// Whether the client has a secret, besides its key.
    basic: bool,
    #[serde(flatten)]
    limits: LimitsRecord,
}

/// The only time the secret and the private key are shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedOauthClient")]
pub(super) struct Created {
    client_id: ServerTokenId,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// On the curve P-384, in PKCS#8 form, as PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    private_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OauthAccessToken")]
pub(super) struct Granted {
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// In seconds.
    expires_in: u32,
    /// With spaces between them.
    scope: String,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    PathVars(key): PathVars<String>,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let new = input.parse(NewOauthClient::parse).await?;
    let created = edge.engine.tenancy().create_client(&key, new, input.idempotency_key).await?;
    let CreatedClient { operation_id, id, secret, private_key } = created;
    let location = links.to(&format!("/operator/apps/{key}/oauth-clients/{id}"));
    let answer = Answer::changed(operation_id, Created { client_id: id, client_secret: secret, private_key })?;
    Ok(answer.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn list(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let clients = edge.engine.tenancy().tokens(&key, TokenKind::Client).await?;
    Answer::ok(All { clients: clients.into_iter().map(ClientRecord::from).collect() })
}

pub(super) async fn revoke(
    State(edge): State<Edge>,
    PathVars((key, client)): PathVars<(String, String)>,
) -> Result<Answer> {
    let id = id_in_path::<ServerTokenKind>(&client)?;
    edge.engine.tenancy().revoke_token(&key, id, TokenKind::Client).await?;
    Ok(Answer::nothing())
}

/// Gives an access token to a client that proves itself by its secret, or by an assertion.
pub(super) async fn grant(State(edge): State<Edge>, links: Links, request: Request) -> Result<Answer> {
    let (parts, body) = request.into_parts();
    if !takes_answer(&parts.headers) {
        let why = "The answer is application/json, which the Accept header does not take.";
        return Err(Error::Grant {
            refusal: GrantError::InvalidRequest.because(why),
            status: StatusCode::NOT_ACCEPTABLE,
        });
    }
    // Anybody can ask, so that the room for bodies is that of callers who have proven nothing.
    let reservation = edge.unproven_bodies.reserve(Holder::Public);
    let body = Whole::read(body, false, reservation, edge.body_patience).await?;
    let form = Form::read(&body).map_err(refused)?;
    let (tenancy, issuer) = (edge.engine.tenancy(), links.to(""));
    let granted = match form.assertion {
        Some(assertion) if !parts.headers.contains_key(AUTHORIZATION) => {
            tenancy.grant_by_assertion(&assertion, links.known_as("/token"), &issuer).await?
        }
        Some(_) => Err(GrantError::InvalidRequest.because("Give an assertion, or Basic credentials, and not both.")),
        None => match basic_credentials(&parts.headers) {
            Some((client, secret)) => {
                let asked = form.asked;
                // Some libraries escape both parts before they are encoded, as the standard says, and some do not.
                let (client, secret) = (form_decoded(&client), form_decoded(&secret));
                tenancy.grant_by_secret(&client, &secret, asked, &issuer).await?
            }
            None => {
                Err(GrantError::InvalidClient.because("Give the client and its secret by HTTP Basic authentication."))
            }
        },
    };
    let AccessToken { text, expires_in, scopes } = match granted {
        Ok(granted) => granted,
        Err(refusal) => {
            if [GrantError::InvalidClient, GrantError::InvalidGrant].contains(&refusal.error) {
                edge.wrong_credentials.slow_down(parts.extensions.get::<CallerAddress>().copied()).await?;
            }
            return Err(refused(refusal));
        }
    };
    let answer = Granted {
        access_token: text,
        token_type: "Bearer",
        expires_in: u32::try_from(expires_in.as_secs()).unwrap_or(u32::MAX),
        scope: scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(" "),
    };
    Ok(Answer::bare(answer)?.header(CACHE_CONTROL, "no-store").header(PRAGMA, "no-cache"))
}

/// The public key that access tokens are signed with, for everybody.
pub(super) async fn public_key(State(edge): State<Edge>, PathVars(kid): PathVars<String>) -> Result<Response> {
    let found = edge.engine.tenancy().oauth_public_key(&kid).await?;
    let pem = found.ok_or_else(|| Error::NotFound("There is no such key.".to_owned()))?;
    let mut response = Response::new(Body::from(pem));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=600, must-revalidate"));
    Ok(response)
}

/// What a client sends.
struct Form {
    assertion: Option<String>,
    asked: Asked,
}

impl Form {
    /// A parameter that is repeated is as good as one with several words.
    fn read(body: &[u8]) -> std::result::Result<Self, GrantRefusal> {
        let text =
            std::str::from_utf8(body).map_err(|_| GrantError::InvalidRequest.because("The body is not UTF-8."))?;
        let (mut grant_type, mut form) = (None, Self { assertion: None, asked: Asked::default() });
        for (name, value) in form_pairs(text.trim()) {
            match name.as_str() {
                "grant_type" => grant_type = Some(value),
                "assertion" => form.assertion = Some(value),
                "sub" => form.asked.subjects.push_str(&format!("{value} ")),
                "scope" => form.asked.scopes.extend(value.split_whitespace().map(str::to_owned)),
                "ipaddr" => form.asked.networks.extend(value.split_whitespace().map(str::to_owned)),
                _ => {}
            }
        }
        match grant_type.as_deref() {
            Some("client_credentials") => Ok(form),
            Some(_) => Err(GrantError::UnsupportedGrantType.because("The grant_type must be client_credentials.")),
            None => Err(GrantError::InvalidRequest.because("The form must have grant_type=client_credentials.")),
        }
    }
}

fn refused(refusal: GrantRefusal) -> Error {
    let status = match refusal.error {
        GrantError::InvalidClient => StatusCode::UNAUTHORIZED,
        GrantError::InvalidRequest
        | GrantError::InvalidGrant
        | GrantError::InvalidScope
        | GrantError::UnauthorizedClient
        | GrantError::UnsupportedGrantType => StatusCode::BAD_REQUEST,
    };
    Error::Grant { refusal, status }
}

/// Whether a caller takes JSON, or anything that libraries name for it.
fn takes_answer(headers: &HeaderMap) -> bool {
    const TAKEN: [&str; 7] = [
        "*/*",
        "application/*",
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain",
        "text/*",
        "application/vnd.urbanairship+json",
    ];
    let mut parts =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let takes = |part: &str| {
        let media_type = part.split(';').next().unwrap_or_default().trim();
        TAKEN.iter().any(|known| media_type.eq_ignore_ascii_case(known))
    };
    !headers.contains_key(ACCEPT) || parts.any(takes)
}

impl From<ServerToken> for ClientRecord {
    fn from(row: ServerToken) -> Self {
        let limits = LimitsRecord::of(&row);
        Self { client_id: row.id, role: row.role.word(), basic: row.hash.is_some(), name: row.name, limits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_parameters_are_as_good_as_several_words() {
        let form = Form::read(b"grant_type=client_credentials&sub=app%3Ak&scope=chn+nu&scope=psh&ipaddr=10.0.0.0%2F8")
            .unwrap();
        assert_eq!(form.asked.scopes, ["chn", "nu", "psh"]);
        assert_eq!((form.asked.subjects.trim(), form.asked.networks[0].as_str()), ("app:k", "10.0.0.0/8"));
        let error = |body: &[u8]| Form::read(body).map(drop).unwrap_err().error;
        assert_eq!(error(b""), GrantError::InvalidRequest);
        assert_eq!(error(b"grant_type=password"), GrantError::UnsupportedGrantType);
        assert_eq!(error(b"\xff"), GrantError::InvalidRequest);
    }
}
