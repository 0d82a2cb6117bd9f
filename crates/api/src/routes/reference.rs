//! The OpenAPI document, and the page that shows it. Their texts are part of the program, so that they fit its version and are
//! there without a network.

use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use http::{HeaderMap, HeaderValue};

use crate::asset::{Asset, Source};
use crate::error::Result;

/// Nothing from elsewhere, and no script or style inside the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);
/// The copy of a browser is asked for again each time, and is mostly still good: another version may run by then.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

static DOCUMENT: Asset =
    Asset::new(Source::Gzip(include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz"))), "application/json");
static PAGE: Asset = Asset::new(Source::Plain(include_str!("reference/index.html")), "text/html; charset=utf-8");
static SCRIPT: Asset = Asset::new(Source::Plain(include_str!("reference/docs.js")), "text/javascript; charset=utf-8");
static STYLE: Asset = Asset::new(Source::Plain(include_str!("reference/docs.css")), "text/css; charset=utf-8");

pub(super) async fn document(headers: HeaderMap) -> Result<Response> {
    answer(&DOCUMENT, &headers)
}

pub(super) async fn page(headers: HeaderMap) -> Result<Response> {
    answer(&PAGE, &headers)
}

pub(super) async fn script(headers: HeaderMap) -> Result<Response> {
    answer(&SCRIPT, &headers)
}

pub(super) async fn style(headers: HeaderMap) -> Result<Response> {
    answer(&STYLE, &headers)
}

fn answer(asset: &Asset, asked: &HeaderMap) -> Result<Response> {
    let mut response = asset.answer(asked, ASK_AGAIN)?;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}
