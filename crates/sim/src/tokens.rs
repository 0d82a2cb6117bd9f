//! The access tokens of the providers that use OAuth: issued, and checked.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use model::ids::DeliveryId;
use model::time::UtcMillis;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;

use crate::answer;
use crate::call::{Call, form};
use crate::jwt::Jwt;
use crate::keys::{ADM_CLIENT_ID, CLIENT_SECRET, FCM_CLIENT_EMAIL, WNS_CLIENT_ID, WNS_PACKAGE_SID};
use crate::protocol::Protocol;

#[derive(Debug, Default)]
pub(crate) struct Tokens(Mutex<HashMap<String, (Protocol, UtcMillis)>>);

/// The provider that a token is requested from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Issuer {
    Google,
    Amazon,
    /// The classic endpoint for apps from the store.
    Live,
    /// The endpoint of a directory, for apps of the Windows App SDK.
    Directory,
}

/// The state of a bearer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Good,
    Expired,
    Unknown,
}

/// Why no token is issued, as an OAuth error and as a sentence.
struct Denied(StatusCode, &'static str, &'static str);

#[derive(Deserialize)]
struct Assertion {
    iss: String,
    scope: String,
    aud: String,
    iat: i64,
    exp: i64,
}

/// Google's own libraries name this audience regardless of where they send the assertion.
const GOOGLE: &str = "https://oauth2.googleapis.com/token";
const FCM_SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
/// The longest lifetime of an assertion, and how wrong clocks may be.
const ASSERTION_SECONDS: i64 = 3600;
const SKEW_SECONDS: i64 = 300;

impl Issuer {
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/token" => Some(Issuer::Google),
            "/auth/O2/token" => Some(Issuer::Amazon),
            "/accesstoken.srf" => Some(Issuer::Live),
            _ if path.ends_with("/oauth2/v2.0/token") => Some(Issuer::Directory),
            _ => None,
        }
    }

    pub(crate) const fn protocol(self) -> Protocol {
        match self {
            Issuer::Google => Protocol::Fcm,
            Issuer::Amazon => Protocol::Adm,
            Issuer::Live | Issuer::Directory => Protocol::Wns,
        }
    }
}

impl Tokens {
    pub(crate) fn standing(&self, token: &str, protocol: Protocol, now: UtcMillis) -> Standing {
        match self.0.lock().get(token) {
            Some((owner, expiry)) if *owner == protocol && *expiry > now => Standing::Good,
            Some((owner, _)) if *owner == protocol => Standing::Expired,
            _ => Standing::Unknown,
        }
    }

    /// Makes every token issued so far unknown.
    pub(crate) fn revoke(&self) {
        self.0.lock().clear();
    }

    fn issue(&self, protocol: Protocol, now: UtcMillis, lifetime: Duration) -> String {
        let token = format!("sim-{protocol}-{}", DeliveryId::random());
        let mut tokens = self.0.lock();
        // Expired tokens are distinguished from unknown ones for a day.
        tokens.retain(|_, (_, expiry)| expiry.plus(Duration::from_secs(86_400)) > now);
        tokens.insert(token.clone(), (protocol, now.plus(lifetime)));
        token
    }
}

/// The answer to a request for a token, and whether one was issued.
pub(crate) fn answer(
    tokens: &Tokens,
    issuer: Issuer,
    call: &Call<'_>,
    fcm_public_key: &[u8],
    now: UtcMillis,
    lifetime: Duration,
) -> (Response<Bytes>, bool) {
    if call.method != Method::POST || call.content_type() != "application/x-www-form-urlencoded" {
        let denied = Denied(StatusCode::BAD_REQUEST, "invalid_request", "A form must be posted.");
        return (denied.response(), false);
    }
    let fields = form(call.body);
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
    let checked = match issuer {
        Issuer::Google => {
            let audience = format!("{}://{}{}", call.scheme, call.authority, call.path);
            google(field("grant_type"), field("assertion"), &audience, fcm_public_key, now)
        }
        Issuer::Amazon => client(&field, "messaging:push", ADM_CLIENT_ID),
        Issuer::Live => client(&field, "notify.windows.com", WNS_PACKAGE_SID),
        Issuer::Directory => client(&field, "https://wns.windows.com/.default", WNS_CLIENT_ID),
    };
    if let Err(denied) = checked {
        return (denied.response(), false);
    }
    let token = tokens.issue(issuer.protocol(), now, lifetime);
    let mut body = json!({ "access_token": token, "token_type": "Bearer", "expires_in": lifetime.as_secs() });
    if issuer == Issuer::Amazon {
        body["scope"] = json!("messaging:push");
    }
    (answer::json(StatusCode::OK, &body), true)
}

fn google(grant_type: &str, assertion: &str, audience: &str, public_key: &[u8], now: UtcMillis) -> Result<(), Denied> {
    if grant_type != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
        return Err(Denied(StatusCode::BAD_REQUEST, "unsupported_grant_type", "Invalid grant_type."));
    }
    let invalid = |what| Err(Denied(StatusCode::BAD_REQUEST, "invalid_grant", what));
    let Some(jwt) = Jwt::parse(assertion) else { return invalid("Bad Request") };
    let Some(claims) = jwt.claims::<Assertion>() else { return invalid("Invalid JWT: a claim is missing.") };
    if !jwt.is_rs256_by(public_key) {
        return invalid("Invalid JWT Signature.");
    }
    if claims.iss != FCM_CLIENT_EMAIL {
        return invalid("Invalid grant: account not found");
    }
    if claims.aud != audience && claims.aud != GOOGLE {
        return invalid("Invalid JWT: the audience is another.");
    }
    let age = now.seconds() - claims.iat;
    if !(-SKEW_SECONDS..=ASSERTION_SECONDS).contains(&age) || claims.exp < now.seconds() - SKEW_SECONDS {
        return invalid(
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.",
        );
    }
    if claims.exp - claims.iat > ASSERTION_SECONDS {
        return invalid("Invalid JWT: it lives longer than 60 minutes.");
    }
    if !claims.scope.split(' ').any(|scope| scope == FCM_SCOPE) {
        return Err(Denied(StatusCode::BAD_REQUEST, "invalid_scope", "The scope for messages is missing."));
    }
    Ok(())
}

fn client<'a>(field: &impl Fn(&str) -> &'a str, scope: &str, client_id: &str) -> Result<(), Denied> {
    if field("grant_type") != "client_credentials" {
        return Err(Denied(StatusCode::BAD_REQUEST, "unsupported_grant_type", "The grant type is not supported."));
    }
    if field("scope") != scope {
        return Err(Denied(StatusCode::BAD_REQUEST, "invalid_scope", "The scope is not valid."));
    }
    if field("client_id") != client_id || field("client_secret") != CLIENT_SECRET {
        return Err(Denied(StatusCode::UNAUTHORIZED, "invalid_client", "Client authentication failed."));
    }
    Ok(())
}

impl Denied {
    fn response(&self) -> Response<Bytes> {
        let Self(status, error, description) = *self;
        answer::json(status, &json!({ "error": error, "error_description": description }))
    }
}
