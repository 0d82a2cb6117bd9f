//! Origins of web pages: those whose pages may register browsers with nothing but the key of the app.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

use schemars::{Schema, json_schema};
use serde::{Serialize, Serializer};

use super::Mode;
use crate::json::At;
use crate::json::body::Read;
use crate::limits;

/// Why a text is no origin.
pub const ORIGIN_SHAPE: &str = "This must be an origin as browsers write it, such as https://shop.example or \
                                http://localhost:3000: a scheme, a host and perhaps a port, without a path. Only pages of this \
                                machine may come over http.";

/// An origin as browsers write it in the header `Origin`: in lower case, without the usual port of its scheme.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Read)]
#[body(schema = origin_schema())]
pub struct WebOrigin(String);

fn origin_schema() -> Schema {
    let example = "https://shop.example";
    json_schema!({"type": "string", "minLength": 8, "maxLength": limits::WEB_ORIGIN_CHARS, "examples": [example]})
}

/// A text that is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoOrigin;

impl WebOrigin {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        at.string()?.parse().ok().or_else(|| at.invalid(ORIGIN_SHAPE))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether its pages come from the machine that the browser runs on.
    pub fn is_loopback(&self) -> bool {
        self.0.split_once("://").is_some_and(|(_, rest)| split_port(rest).is_some_and(|(host, _)| is_loopback(host)))
    }

    /// Whether pages of this origin may register browsers in an app that allows some origins. An app in development allows
    /// pages of the developer's own machine as well.
    pub fn is_allowed(&self, allowed: &[Self], mode: Mode) -> bool {
        allowed.contains(self) || (mode == Mode::Development && self.is_loopback())
    }
}

impl FromStr for WebOrigin {
    type Err = NoOrigin;

    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        if text.len() > limits::WEB_ORIGIN_CHARS {
            return Err(NoOrigin);
        }
        let text = text.to_ascii_lowercase();
        let (scheme, rest) = text.split_once("://").ok_or(NoOrigin)?;
        let (host, port) = split_port(rest).ok_or(NoOrigin)?;
        let usual = match scheme {
            "https" => 443,
            "http" if is_loopback(host) => 80,
            _ => return Err(NoOrigin),
        };
        Ok(Self(match port {
            Some(port) if port != usual => format!("{scheme}://{host}:{port}"),
            Some(_) | None => format!("{scheme}://{host}"),
        }))
    }
}

/// The host and the port of the rest of an origin; `None` if it has more, or no host.
fn split_port(rest: &str) -> Option<(&str, Option<u16>)> {
    let end_of_host = if rest.starts_with('[') { rest.find(']')? + 1 } else { rest.find(':').unwrap_or(rest.len()) };
    let (host, port) = rest.split_at(end_of_host);
    let port = match port.strip_prefix(':') {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
        Some(_) => return None,
        None if port.is_empty() => None,
        None => return None,
    };
    is_host(host).then_some((host, port))
}

fn is_host(host: &str) -> bool {
    if let Some(address) = bracketed(host) {
        return address.is_some();
    }
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    host.split('.').all(is_label)
}

/// The IPv6 address of a host in brackets, if it is one.
fn bracketed(host: &str) -> Option<Option<Ipv6Addr>> {
    let inside = host.strip_prefix('[')?.strip_suffix(']')?;
    Some(inside.parse().ok())
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        || bracketed(host).flatten().is_some_and(|address| address.is_loopback())
}

impl fmt::Display for WebOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for WebOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_as_browsers_write_them() {
        for (text, written) in [
            ("https://shop.example", Some("https://shop.example")),
            ("HTTPS://Shop.Example:443", Some("https://shop.example")),
            ("https://shop.example:8443", Some("https://shop.example:8443")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://127.0.0.1:80", Some("http://127.0.0.1")),
            ("http://[::1]:8080", Some("http://[::1]:8080")),
            ("https://[2001:db8::1]", Some("https://[2001:db8::1]")),
            ("http://shop.example", None),
            ("https://shop.example/", None),
            ("https://shop.example/page", None),
            ("https://shop.example:", None),
            ("https://shop.example:+1", None),
            ("https://shop.example:70000", None),
            ("https://user@shop.example", None),
            ("https://*.example", None),
            ("https://", None),
            ("https://[::1", None),
            ("https://[nonsense]", None),
            ("ftp://shop.example", None),
            ("null", None),
            ("*", None),
        ] {
            let origin: Option<WebOrigin> = text.parse().ok();
            assert_eq!(origin.as_ref().map(WebOrigin::as_str), written, "{text}");
        }
    }

    #[test]
    fn pages_of_this_machine_are_welcome_in_development() {
        let origin = |text: &str| -> WebOrigin { text.parse().unwrap() };
        let allowed = [origin("https://shop.example")];
        for (text, in_development, in_production) in [
            ("https://shop.example", true, true),
            ("https://shop.example:444", false, false),
            ("https://evil.example", false, false),
            ("https://localhost.evil.example", false, false),
            ("http://localhost:3000", true, false),
            ("https://app.localhost", true, false),
            ("http://127.1.2.3", true, false),
            ("https://[::1]", true, false),
        ] {
            assert_eq!(origin(text).is_allowed(&allowed, Mode::Development), in_development, "{text}");
            assert_eq!(origin(text).is_allowed(&allowed, Mode::Production), in_production, "{text}");
        }
    }
}
