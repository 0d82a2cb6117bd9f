//! Remote data, which device libraries ask for before anything else: where the service is, and what the app has for its devices.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use hyper::body::{Frame, SizeHint};
use model::remote_data::{AudienceCheck, DataPlatform};
use remote_data::{DataAnswer, DataRequest, DataSource, DataText, ServiceUrl};
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::Rights;

use crate::answer::Answer;
use crate::asset::{names, takes_gzip};
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::{PathVars, contact_in_path};
use crate::query::Params;

/// For how long a device may keep the answer whether it may show a message, in seconds.
const CACHE_SECONDS: u32 = 60;

#[derive(Serialize, JsonSchema)]
pub(super) struct Allowed {
    allowed: bool,
    /// For how many seconds the device need not ask again.
    cache_seconds: u32,
}

/// Needs no credentials: older libraries send none here, and there is nothing secret in it.
pub(super) async fn of_app(
    State(edge): State<Edge>,
    PathVars((key, platform)): PathVars<(String, String)>,
    links: Links,
    params: Params,
    headers: HeaderMap,
) -> Result<Response> {
    let app = edge.engine.tenancy().app(&key).await?;
    let request = request(&edge, DataSource::App, &platform, &links, &params)?;
    let answer = edge.engine.remote_data().answer(&app, request).await?;
    respond(&edge, answer, &headers).await
}

/// What is for devices with a contact only.
pub(super) async fn of_contact(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathVars((platform, contact)): PathVars<(String, String)>,
    links: Links,
    params: Params,
    headers: HeaderMap,
) -> Result<Response> {
    let request = request(&edge, DataSource::Contact, &platform, &links, &params)?;
    rights.devices(&edge).check_contact(app.id, contact_in_path(&contact)?).await?;
    let answer = edge.engine.remote_data().answer(&app, request).await?;
    respond(&edge, answer, &headers).await
}

/// Whether a device may show a message, which the service decides by its audience index.
pub(super) async fn check_audience(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathVars(key): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let check = input.parse(AudienceCheck::parse).await?;
    // A token speaks for the channels of its contact alone.
    if let CallingRights(Rights::Contact(contact)) = rights {
        rights.devices(&edge).check_channel_of_contact(app.id, contact, check.channel_id).await?;
    }
    let allowed = edge.engine.remote_data().check_audience(&app, check).await?;
    Answer::ok(Allowed { allowed, cache_seconds: CACHE_SECONDS })
}

/// The paths of Airship name the app, though its credentials do already.
pub(super) fn own_key(app: &tenancy::App, key: &str) -> Result<()> {
    if app.key.as_str() == key {
        return Ok(());
    }
    Err(Error::NotFound("The path names another app than the credentials.".to_owned()))
}

fn request(edge: &Edge, source: DataSource, platform: &str, links: &Links, params: &Params) -> Result<DataRequest> {
    let words = DataPlatform::WORDS.iter().map(|(word, _)| *word);
    let unknown = || Error::NotFound(format!("Remote data is for {}.", words.collect::<Vec<_>>().join(", ")));
    let platform = DataPlatform::from_word(platform).ok_or_else(unknown)?;
    let url = match links.to("") {
        relative if relative.is_empty() => ServiceUrl::Configured(edge.engine.sending().public_url().to_owned()),
        url if edge.public_url.is_some() => ServiceUrl::Configured(url),
        url => ServiceUrl::Asked(url),
    };
    let sdk_version = params.text("sdk_version");
    let (language, country) = (params.text("language"), params.text("country"));
    Ok(DataRequest { source, platform, sdk_version, language, country, url })
}

/// Devices send the date back, which means nothing but the content that they have; other clients may use the tag.
async fn respond(edge: &Edge, answer: DataAnswer, asked: &HeaderMap) -> Result<Response> {
    let value = |text: &str| HeaderValue::from_str(text).ok();
    let (tag, modified) = (value(&answer.tag), value(&answer.modified));
    let has_tag = |tag: &HeaderValue| asked.get_all(IF_NONE_MATCH).iter().any(|known| names(known, tag));
    let is_known = match asked.contains_key(IF_NONE_MATCH) {
        true => tag.as_ref().is_some_and(has_tag),
        false => modified.is_some() && asked.get(IF_MODIFIED_SINCE) == modified.as_ref(),
    };
    let is_packed = asked.get_all(ACCEPT_ENCODING).iter().any(takes_gzip);
    let mut response = Response::new(match (is_known, is_packed) {
        (true, _) => Body::empty(),
        (false, true) => Body::new(Pieces(answer.gzip())),
        (false, false) => Body::new(Pieces(plain(edge, answer).await?)),
    });
    let mut set = |name: HeaderName, value: Option<HeaderValue>| {
        response.headers_mut().extend(value.map(|value| (name, value)));
    };
    set(ETAG, tag);
    set(LAST_MODIFIED, modified);
    set(VARY, Some(HeaderValue::from_static("Accept-Encoding")));
    set(CONTENT_ENCODING, (is_packed && !is_known).then(|| HeaderValue::from_static("gzip")));
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    Ok(response)
}

async fn plain(edge: &Edge, answer: DataAnswer) -> Result<DataText> {
    if let Some(text) = answer.plain() {
        return Ok(text);
    }
    let room = edge.engine.remote_data().clone();
    Ok(edge.apart(move || room.unpack(&answer)).await??)
}

/// The body of an answer whose pieces are shared by all who get it.
struct Pieces(DataText);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.get_mut().0.next().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.n_left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.n_left())
    }
}
