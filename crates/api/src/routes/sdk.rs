//! The files of the browser SDK, as they lie in the folder `sdk`. Nothing is built: what is written there is what browsers get.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::asset::{Asset, Source};
use crate::error::{Error, Result};
use crate::path_vars::PathVars;

const SCRIPT: &str = "text/javascript; charset=utf-8";
/// A path stays the same from one release to the next, so that a mistake can be mended: no file is kept for ever.
const AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");
const SCOPE: HeaderName = HeaderName::from_static("service-worker-allowed");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const WORKER: &str = "aerogram-sw.js";

static FILES: [(&str, Asset); 4] = [
    ("aerogram.js", Asset::new(Source::Plain(include_str!("../../../../sdk/aerogram.js")), SCRIPT)),
    (WORKER, Asset::new(Source::Plain(include_str!("../../../../sdk/aerogram-sw.js")), SCRIPT)),
    ("aerogram-ui.js", Asset::new(Source::Plain(include_str!("../../../../sdk/aerogram-ui.js")), SCRIPT)),
    (
        "aerogram.d.ts",
        Asset::new(Source::Plain(include_str!("../../../../sdk/aerogram.d.ts")), "text/plain; charset=utf-8"),
    ),
];

/// The names of all files.
pub(crate) fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

pub(super) async fn file(PathVars(name): PathVars<String>, headers: HeaderMap) -> Result<Response> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    let (name, asset) = found.ok_or_else(|| Error::NotFound("The SDK has no such file.".to_owned()))?;
    let mut response = asset.answer(&headers, AN_HOUR)?;
    let headers = response.headers_mut();
    // Pages that are isolated from other origins may have them, too.
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    if *name == WORKER {
        // Where service and pages share an origin, it works for all of them.
        headers.insert(SCOPE, HeaderValue::from_static("/"));
    }
    Ok(response)
}
