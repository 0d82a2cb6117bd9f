//! The files of the browser SDK, from the folder `sdk`. Nothing is built: browsers get what is written there, without indentation
//! and lines of comments, and people who read it the files as they are. A script is one file with its parts, so pages load one.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::asset::{Asset, Source};
use crate::error::{Error, Result};
use crate::path_vars::PathVars;

const PLAIN: &str = "text/plain; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
/// A path stays the same from one release to the next, so that a mistake can be mended: no file is kept for ever.
const AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");
const SCOPE: HeaderName = HeaderName::from_static("service-worker-allowed");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const WORKER: &str = "aerogram-sw.js";

/// `scripts/sdk-package` joins the same.
const PAGE_SCRIPT: &str = concat!(
    include_str!("../../../../sdk/aerogram.js"),
    include_str!("../../../../sdk/parts/tab.js"),
    include_str!("../../../../sdk/parts/channel.js"),
    include_str!("../../../../sdk/parts/outbox.js"),
    include_str!("../../../../sdk/parts/sessions.js"),
    include_str!("../../../../sdk/parts/subscription.js"),
    include_str!("../../../../sdk/parts/live.js"),
    include_str!("../../../../sdk/parts/service.js"),
    include_str!("../../../../sdk/parts/state.js"),
);
/// In a block, outside of which its names would be those of a worker of the site as well.
const WORKER_SCRIPT: &str = concat!(
    "{\n",
    include_str!("../../../../sdk/aerogram-sw.js"),
    include_str!("../../../../sdk/parts/service.js"),
    include_str!("../../../../sdk/parts/state.js"),
    "}\n",
);
const UI_SCRIPT: &str = include_str!("../../../../sdk/aerogram-ui.js");
const PAGE_TYPES: &str = include_str!("../../../../sdk/aerogram.d.ts");
const UI_TYPES: &str = include_str!("../../../../sdk/aerogram-ui.d.ts");

static FILES: [(&str, Asset); 8] = [
    ("aerogram.js", script(PAGE_SCRIPT, "// With comments: aerogram.source.js")),
    (WORKER, script(WORKER_SCRIPT, "// With comments: aerogram-sw.source.js")),
    ("aerogram-ui.js", script(UI_SCRIPT, "// With comments: aerogram-ui.source.js")),
    ("aerogram.d.ts", Asset::new(Source::Plain(PAGE_TYPES), PLAIN)),
    ("aerogram-ui.d.ts", Asset::new(Source::Plain(UI_TYPES), PLAIN)),
    ("aerogram.source.js", Asset::new(Source::Plain(PAGE_SCRIPT), SCRIPT)),
    ("aerogram-sw.source.js", Asset::new(Source::Plain(WORKER_SCRIPT), SCRIPT)),
    ("aerogram-ui.source.js", Asset::new(Source::Plain(UI_SCRIPT), SCRIPT)),
];

const fn script(text: &'static str, head: &'static str) -> Asset {
    Asset::new(Source::Script { text, head }, SCRIPT)
}

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
