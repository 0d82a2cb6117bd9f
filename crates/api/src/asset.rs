//! Files that are part of the program: packed once, with a tag by which browsers keep them.

mod script;

use std::io::{Read, Write};
use std::sync::OnceLock;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use ring::digest::{SHA256, digest};

use crate::error::{Error, Result};

/// A text of the program, made ready when it is first asked for.
pub(crate) struct Asset {
    source: Source,
    content_type: HeaderValue,
    ready: OnceLock<Ready>,
}

/// How the program carries a text.
pub(crate) enum Source {
    Plain(&'static str),
    /// A script that is read here and not by those who get it.
    Script {
        text: &'static str,
        /// The comment that it begins with.
        head: &'static str,
    },
    Gzip(&'static [u8]),
}

struct Ready {
    plain: Bytes,
    gzip: Bytes,
    tag: HeaderValue,
}

impl Asset {
    pub(crate) const fn new(source: Source, content_type: &'static str) -> Self {
        Self { source, content_type: HeaderValue::from_static(content_type), ready: OnceLock::new() }
    }

    /// `kept` says for how long browsers keep the file without asking.
    pub(crate) fn answer(&self, asked: &HeaderMap, kept: HeaderValue) -> Result<Response> {
        let Ready { plain, gzip, tag } = match self.ready.get() {
            Some(ready) => ready,
            None => {
                let ready = self.source.make_ready()?;
                self.ready.get_or_init(|| ready)
            }
        };
        let is_known = asked.get_all(IF_NONE_MATCH).iter().any(|known| names(known, tag));
        let takes_gzip = asked.get_all(ACCEPT_ENCODING).iter().any(takes_gzip);
        let mut response = Response::new(match (is_known, takes_gzip) {
            (true, _) => Body::empty(),
            (false, true) => Body::from(gzip.clone()),
            (false, false) => Body::from(plain.clone()),
        });
        let headers = response.headers_mut();
        headers.insert(ETAG, tag.clone());
        headers.insert(CACHE_CONTROL, kept);
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        headers.insert(CONTENT_TYPE, self.content_type.clone());
        if takes_gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(response)
    }
}

impl Source {
    fn make_ready(&self) -> Result<Ready> {
        let (plain, gzip) = match self {
            Self::Plain(text) => (Bytes::from_static(text.as_bytes()), packed(text)?),
            Self::Script { text, head } => {
                let text = format!("{head}\n{}", script::strip(text));
                let gzip = packed(&text)?;
                (text.into(), gzip)
            }
            Self::Gzip(packed) => {
                let mut plain = Vec::new();
                GzDecoder::new(*packed).read_to_end(&mut plain).map_err(Error::internal)?;
                (plain.into(), Bytes::from_static(packed))
            }
        };
        let hash = digest(&SHA256, &plain);
        let short = hash.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
        // Weak, because the packed and the plain text share it.
        let tag = HeaderValue::from_str(&format!("W/\"{short}\"")).map_err(Error::internal)?;
        Ok(Ready { plain, gzip, tag })
    }
}

fn packed(text: &str) -> Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).map_err(Error::internal)?;
    Ok(encoder.finish().map_err(Error::internal)?.into())
}

/// Whether a value of `If-None-Match` names this tag; proxies may take the mark of weakness away.
pub(crate) fn names(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(known), Ok(tag)) = (known.to_str(), tag.to_str()) else { return false };
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.split(',').any(|one| one.trim() == "*" || strong(one) == strong(tag))
}

pub(crate) fn takes_gzip(accepted: &HeaderValue) -> bool {
    let Ok(accepted) = accepted.to_str() else { return false };
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let is_refused =
            parts.any(|weight| matches!(weight.split_once('='), Some(("q", "0" | "0.0" | "0.00" | "0.000"))));
        is_gzip && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_and_tags_are_understood() {
        let value = HeaderValue::from_static;
        assert!(takes_gzip(&value("deflate, GZIP;q=0.5")));
        assert!(!takes_gzip(&value("gzip;q=0, br")));
        assert!(!takes_gzip(&value("")));
        let tag = value("W/\"0011\"");
        for known in ["W/\"0011\"", "\"0011\"", "\"1\", \"0011\"", "*"] {
            assert!(names(&value(known), &tag), "{known}");
        }
        assert!(!names(&value("\"1100\""), &tag));
    }
}
