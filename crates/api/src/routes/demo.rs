//! The demonstration: a page that is a device of an app in development, or plays a phone, sends itself a push and shows it
//! arriving. Served on the machine that the service runs on, and elsewhere only if the operator wants it.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use model::channel::Registration;
use model::demo::DemoPush;
use model::ids::{ChannelId, PushKind};
use model::json;
use model::payload::Push;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tenancy::{App, Rights};

use super::push::Status;
use crate::answer::Answer;
use crate::asset::{Asset, Source};
use crate::auth::{CallingRights, basic_credentials};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::{PathId, PathVars};
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

/// The types of phones that the page plays.
pub(super) const PHONES: [&str; 2] = ["ios", "android"];

static PAGE: Asset = Asset::new(Source::Plain(include_str!("demo/index.html")), "text/html; charset=utf-8");
static SCRIPT: Asset = Asset::new(Source::Plain(include_str!("demo/demo.js")), "text/javascript; charset=utf-8");
static STYLE: Asset = Asset::new(Source::Plain(include_str!("demo/demo.css")), "text/css; charset=utf-8");

/// The phone that the page plays, and the token by which it is this phone for a day.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlayedPhone")]
pub(super) struct Phone {
    channel_id: ChannelId,
    token: String,
}

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

/// A channel of a phone, which the page plays over a live connection: without an address, so that no provider is asked.
pub(super) async fn phone(
    State(edge): State<Edge>,
    DemoApp(app): DemoApp,
    PathVars(device_type): PathVars<String>,
) -> Result<Answer> {
    if !PHONES.contains(&&*device_type) {
        return Err(Error::NotFound("The demo plays no such phone.".to_owned()));
    }
    let channel = json!({"channel": {"device_type": device_type, "opt_in": true, "live": true}});
    let registration = json::parse(channel.to_string().as_bytes(), Registration::parse)?;
    let devices = CallingRights(Rights::Device).devices(&edge);
    let registered = devices.register_channel(app.id, registration, None).await?;
    let token = edge.engine.tenancy().channel_token(&app, registered.id).await?.text;
    let phone = Phone { channel_id: registered.id, token };
    Ok(Answer::changed(registered.operation_id, phone)?.status(StatusCode::CREATED))
}

/// Sends a push to the page, as a server of the app would.
pub(super) async fn send(State(edge): State<Edge>, DemoApp(app): DemoApp, input: Input) -> Result<Answer> {
    let DemoPush { channel_id, alert } = input.parse(DemoPush::parse).await?;
    let title = json!({"title": app.name});
    let push = json!({
        "audience": {"channel": channel_id}, "device_types": ["web", "ios", "android"],
        "notification": {
            "alert": alert, "interactive": {"type": "ua_yes_no_foreground"}, "web": title, "ios": title, "android": title,
        },
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

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let caller: &CallerAddress =
            parts.extensions.get().ok_or_else(|| Error::internal("a caller has no address"))?;
        if edge.demo || caller.is_here(&parts.headers) {
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
