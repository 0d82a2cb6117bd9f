//! Who is calling. The guard runs before a handler and before any of the body is read; what it enforces for a route is
//! what the route table says.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use engine::Rights;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use store::apps::App;

use crate::edge::Edge;
use crate::error::{Error, Result};

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody, on every node and under any load: an orchestrator must not restart a service for being busy.
    Probe,
    /// Everybody.
    Public,
    /// Devices with the app secret, and servers with the master secret. Browsers too: these routes have CORS.
    Device,
    /// Servers, with the master secret.
    Master,
    /// The operator, with the bearer token.
    Operator,
}

const BASIC: &str = "Basic realm=\"aerogram\"";
const BEARER: &str = "Bearer realm=\"aerogram operator\"";

const NO_APP: Error = Error::Unauthorized {
    why: "Credentials are missing; send the app key and a secret by HTTP Basic authentication.",
    challenge: BASIC,
};
const WRONG_APP: Error = Error::Unauthorized { why: "The app key or the secret is wrong.", challenge: BASIC };
const NOT_MASTER: Error =
    Error::Unauthorized { why: "The app secret is not enough for this; use the master secret.", challenge: BASIC };
const NOT_OPERATOR: Error = Error::Unauthorized {
    why: "This needs the operator token, as 'Authorization: Bearer <token>'.",
    challenge: BEARER,
};

/// The app that an authenticated caller belongs to. Only routes that require credentials have one.
#[derive(Clone)]
pub(crate) struct CallingApp(pub(crate) Arc<App>);

/// With which of its secrets the app is calling: routes that take either may let servers do more.
#[derive(Clone, Copy)]
pub(crate) struct CallingRights(pub(crate) Rights);

impl CallingRights {
    /// For the part of a route that only servers may use.
    pub(crate) fn need_master(self) -> Result<()> {
        match self.0 {
            Rights::Master => Ok(()),
            Rights::Device => Err(NOT_MASTER),
        }
    }
}

/// Lets a request pass to its handler if its credentials are good enough and the service is not overloaded.
pub(crate) async fn guard(
    State((edge, access)): State<(Edge, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    let _place = match access {
        Access::Probe => None,
        Access::Public | Access::Device | Access::Master | Access::Operator => Some(edge.admit()?),
    };
    match access {
        Access::Probe | Access::Public => {}
        Access::Device => {
            let caller = caller(&edge, request.headers()).await?;
            request.extensions_mut().insert(CallingRights(caller.rights));
            request.extensions_mut().insert(CallingApp(caller.app));
        }
        Access::Master => {
            let caller = caller(&edge, request.headers()).await?;
            let rights = CallingRights(caller.rights);
            rights.need_master()?;
            request.extensions_mut().insert(rights);
            request.extensions_mut().insert(CallingApp(caller.app));
        }
        Access::Operator => {
            let token = credentials(request.headers(), "bearer").ok_or(NOT_OPERATOR)?;
            edge.is_operator(token).then_some(()).ok_or(NOT_OPERATOR)?;
        }
    }
    Ok(next.run(request).await)
}

async fn caller(edge: &Edge, headers: &HeaderMap) -> Result<engine::Caller> {
    let (key, secret) = credentials(headers, "basic").and_then(key_and_secret).ok_or(NO_APP)?;
    edge.engine.authenticate(&key, &secret).await?.ok_or(WRONG_APP)
}

/// What follows the name of the scheme in the one `Authorization` header.
fn credentials<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, credentials) = value.trim().split_once(' ')?;
    (values.next().is_none() && scheme.eq_ignore_ascii_case(wanted)).then(|| credentials.trim())
}

fn key_and_secret(encoded: &str) -> Option<(String, String)> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let decoded = String::from_utf8(LENIENT.decode(encoded).ok()?).ok()?;
    let (key, secret) = decoded.split_once(':')?;
    Some((key.to_owned(), secret.to_owned()))
}

impl FromRequestParts<Edge> for CallingApp {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        let app = parts.extensions.get::<CallingApp>().cloned();
        app.ok_or_else(|| Error::internal("a handler asks for an app on a route without credentials"))
    }
}

impl FromRequestParts<Edge> for CallingRights {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        let rights = parts.extensions.get::<CallingRights>().copied();
        rights.ok_or_else(|| Error::internal("a handler asks for rights on a route without credentials"))
    }
}
