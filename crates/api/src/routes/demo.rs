//! The demonstration: a page that is a device of an app in development, sends itself a push and shows it arriving. Served on the
//! machine that the service runs on, and elsewhere only if the operator wants it.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, FORWARDED, REFERRER_POLICY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use model::demo::DemoPush;
use model::ids::PushKind;
use model::json;
use model::payload::Push;
use serde_json::json;
use tenancy::App;

use super::push::Status;
use crate::answer::Answer;
use crate::asset::{Asset, Source};
use crate::auth::basic_credentials;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::PathId;
use crate::serve::CallerAddress;

/// Nothing from elsewhere, and no script or style inside the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self' data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types aerogram",
);
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");
/// It has as many random bits as a secret, so that guesses need not be slowed down.
const WRONG_CODE: &str =
    "The code of this demo is wrong, or the app is not in development; `aerogram app demo KEY` prints the link.";

static PAGE: Asset = Asset::new(Source::Plain(include_str!("demo/index.html")), "text/html; charset=utf-8");
static SCRIPT: Asset = Asset::new(Source::Plain(include_str!("demo/demo.js")), "text/javascript; charset=utf-8");
static STYLE: Asset = Asset::new(Source::Plain(include_str!("demo/demo.css")), "text/css; charset=utf-8");

/// Somebody to whom the demonstration is shown.
pub(super) struct Visitor;

/// The app whose code a visitor has.
pub(super) struct DemoApp(Arc<App>);

pub(super) async fn page(_: Visitor, headers: HeaderMap) -> Result<Response> {
    answer(&PAGE, &headers)
}

pub(super) async fn script(_: Visitor, headers: HeaderMap) -> Result<Response> {
    answer(&SCRIPT, &headers)
}

pub(super) async fn style(_: Visitor, headers: HeaderMap) -> Result<Response> {
    answer(&STYLE, &headers)
}

/// Sends a push to the page, as a server of the app would.
pub(super) async fn send(State(edge): State<Edge>, DemoApp(app): DemoApp, input: Input) -> Result<Answer> {
    let DemoPush { channel_id, alert } = input.parse(DemoPush::parse).await?;
    let buttons = json!([{"id": "yes", "label": "Yes"}, {"id": "later", "label": "Later"}]);
    let push = json!({
        "audience": {"channel": channel_id}, "device_types": ["web"],
        "notification": {"alert": alert, "web": {"title": app.name, "buttons": buttons}},
        "message": {"title": alert, "body": "<p>This message waits in the inbox of the page.</p>"},
    });
    let pushes = json::parse(push.to_string().as_bytes(), Push::parse_one_or_many)?;
    let accepted = edge.engine.sending().accept_pushes(&app, pushes, None).await?;
    Ok(Answer::ok(accepted)?.data_attribute("push_ids"))
}

pub(super) async fn status(
    State(edge): State<Edge>,
    DemoApp(app): DemoApp,
    PathId(id): PathId<PushKind>,
) -> Result<Answer> {
    Answer::ok(Status::from(edge.engine.sending().push_status(app.id, id).await?))
}

impl FromRequestParts<Edge> for Visitor {
    type Rejection = Error;

    /// A proxy on the same machine brings visitors from elsewhere, and says so.
    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let CallerAddress(peer) = *parts.extensions.get().ok_or_else(|| Error::internal("a caller has no address"))?;
        // What is kept of the address of an IPv6 host leaves nothing of the loopback address.
        let is_here = peer.is_loopback() || peer.is_unspecified();
        let is_proxied = parts.headers.contains_key("x-forwarded-for") || parts.headers.contains_key(FORWARDED);
        if edge.demo || (is_here && !is_proxied) {
            return Ok(Self);
        }
        let text = "The demo is shown on the machine of the service only, unless AEROGRAM_DEMO is true.";
        Err(Error::NotFound(text.to_owned()))
    }
}

impl FromRequestParts<Edge> for DemoApp {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        Visitor::from_request_parts(parts, edge).await?;
        let wrong = || Error::NotFound(WRONG_CODE.to_owned());
        let (key, code) = basic_credentials(&parts.headers).ok_or_else(wrong)?;
        Ok(Self(edge.engine.tenancy().app_by_demo_code(&key, &code).await?.ok_or_else(wrong)?))
    }
}

fn answer(asset: &Asset, asked: &HeaderMap) -> Result<Response> {
    let mut response = asset.answer(asked, ASK_AGAIN)?;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}
