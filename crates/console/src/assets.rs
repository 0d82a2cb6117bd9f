//! Styles, scripts and pictures: part of the program, packed once, and named by the content of all of them so that browsers keep
//! them for a year, and scripts find each other.

use std::io::Write;
use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue};
use maud::{Markup, html};
use ring::digest::{Context, SHA256};

use crate::error::{Error, Result};

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const ASSETS: [Asset; 4] = [
    Asset { name: "app.css", kind: "text/css; charset=utf-8", text: include_str!("assets/app.css") },
    Asset { name: "app.js", kind: "text/javascript; charset=utf-8", text: include_str!("assets/app.js") },
    Asset { name: "build.js", kind: "text/javascript; charset=utf-8", text: include_str!("assets/build.js") },
    Asset { name: "icon.svg", kind: "image/svg+xml", text: include_str!("assets/icon.svg") },
];

struct Ready {
    asset: &'static Asset,
    path: String,
    packed: Bytes,
}

static READY: LazyLock<Vec<Ready>> = LazyLock::new(|| {
    let mut content = Context::new(&SHA256);
    ASSETS.iter().for_each(|asset| content.update(asset.text.as_bytes()));
    let tag: String = content.finish().as_ref()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    ASSETS.iter().map(|asset| ready(asset, &tag)).collect()
});

fn ready(asset: &'static Asset, tag: &str) -> Ready {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let packed = packer.write_all(asset.text.as_bytes()).and_then(|()| packer.finish()).unwrap_or_default();
    Ready { asset, path: format!("/console/-/assets/{tag}/{}", asset.name), packed: packed.into() }
}

/// Where an asset is found.
pub(crate) fn path(name: &str) -> &'static str {
    READY.iter().find(|ready| ready.asset.name == name).map_or("", |ready| &ready.path)
}

/// Belongs to a form with the attribute `data-build`: what depends on other fields follows what is typed.
pub(crate) fn build_script() -> Markup {
    html! { script type="module" src=(path("build.js")) {} }
}

/// The asset at a path. Another version of the program has other paths.
pub(crate) fn answer(path: &str, headers: &HeaderMap) -> Result<Response> {
    let found = READY.iter().find(|ready| ready.path == path);
    let found = found.ok_or_else(|| Error::NotFound("There is no such file.".to_owned()))?;
    let takes_gzip = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_packed = takes_gzip.split(',').any(|part| part.trim().starts_with("gzip"));
    let body = if is_packed { found.packed.clone() } else { Bytes::from_static(found.asset.text.as_bytes()) };
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(found.asset.kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
