//! The cookie of somebody who is logged in. Over a secure connection its name binds it to this very host; over plain HTTP,
//! which only this machine may use, it has a name of its own.

use std::net::IpAddr;

use api::CallerAddress;
use http::header::{COOKIE, HOST};
use http::{HeaderMap, HeaderValue};

use crate::error::{Error, Result};

const SECURE: &str = "__Host-aerogram";
const LOCAL: &str = "aerogram-local";

/// The time zone of the reader, which the script of the pages tells.
const ZONE: &str = "aerogram-zone";

/// The name of the time zone that a browser has told, if it is one.
pub(crate) fn zone(headers: &HeaderMap) -> Option<&str> {
    pairs(headers).find(|(name, _)| *name == ZONE).map(|(_, zone)| zone)
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

/// How the browser is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Secure,
    /// Plain HTTP from this machine.
    Local,
    /// Plain HTTP from elsewhere, over which nobody should type a password.
    Open,
}

impl Connection {
    pub(crate) fn of(headers: &HeaderMap, caller: Option<CallerAddress>, is_public_https: bool) -> Self {
        let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_forwarded = says("x-forwarded-for").is_some() || says("forwarded").is_some();
        match says("x-forwarded-proto") {
            Some("https") => return Self::Secure,
            None if is_public_https && is_forwarded => return Self::Secure,
            Some(_) => return Self::Open,
            None => {}
        }
        let is_here = caller.is_some_and(|CallerAddress(address)| address.is_loopback() || address.is_unspecified());
        if is_here && !is_forwarded && is_local_host(says(HOST.as_str())) { Self::Local } else { Self::Open }
    }

    /// Passwords and cookies do not travel in the open.
    pub(crate) fn must_be_closed(self) -> Result<()> {
        match self {
            Self::Secure | Self::Local => Ok(()),
            Self::Open => Err(Error::NotAllowed(
                "This connection is not encrypted, so nobody can log in over it. Use https, with AEROGRAM_TLS_CERT \
                 or by a proxy that sets X-Forwarded-Proto, or open the console on the machine itself: ssh -L 8080:127.0.0.1:8080 forwards it."
                    .to_owned(),
            )),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Secure => SECURE,
            Self::Local | Self::Open => LOCAL,
        }
    }

    /// The secret of the cookie that a request has.
    pub(crate) fn secret(self, headers: &HeaderMap) -> Option<&str> {
        self.cookie(headers, self.name())
    }

    fn cookie<'h>(self, headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
        pairs(headers).find(|(name, _)| *name == wanted).map(|(_, secret)| secret).filter(|_| self != Self::Open)
    }

    pub(crate) fn set(self, secret: &str) -> Result<HeaderValue> {
        let secure = if self == Self::Secure { "; Secure" } else { "" };
        let text = format!("{}={secret}; Path=/; HttpOnly; SameSite=Lax{secure}", self.name());
        HeaderValue::from_str(&text).map_err(Error::internal)
    }

    /// What a browser has to bring back from the provider of logins, for a few minutes.
    pub(crate) fn set_login(self, sealed: &str) -> Result<HeaderValue> {
        let secure = if self == Self::Secure { "; Secure" } else { "" };
        let (name, seconds) = (self.name(), accounts::LOGIN_LASTS.as_secs());
        let text = format!("{name}-login={sealed}; Path=/; HttpOnly; SameSite=Lax{secure}; Max-Age={seconds}");
        HeaderValue::from_str(&text).map_err(Error::internal)
    }

    pub(crate) fn login(self, headers: &HeaderMap) -> Option<&str> {
        self.cookie(headers, &format!("{}-login", self.name()))
    }

    pub(crate) fn clear(self) -> Result<HeaderValue> {
        let cookie = self.set("")?;
        let text = format!("{}; Max-Age=0", cookie.to_str().map_err(Error::internal)?);
        HeaderValue::from_str(&text).map_err(Error::internal)
    }
}

/// Whether a browser on this machine asked for this machine, and not for a name that somebody has pointed at it.
fn is_local_host(host: Option<&str>) -> bool {
    let host = host.unwrap_or_default();
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
    name == "localhost" || name.ends_with(".localhost") || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(headers: &[(&'static str, &str)], from: &str, is_public_https: bool) -> Connection {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        Connection::of(&map, Some(CallerAddress(from.parse().unwrap())), is_public_https)
    }

    #[test]
    fn only_secure_or_local_connections_may_log_in() {
        let local = ("host", "127.0.0.1:8080");
        assert_eq!(connection(&[local], "127.0.0.1", false), Connection::Local);
        assert_eq!(connection(&[("host", "localhost:1")], "::", false), Connection::Local);
        assert_eq!(connection(&[local], "10.0.0.7", false), Connection::Open);
        for elsewhere in ["rebound.example", "127.0.0.1.evil.example", "127.evil.example"] {
            assert_eq!(connection(&[("host", elsewhere)], "127.0.0.1", false), Connection::Open, "{elsewhere}");
        }
        assert_eq!(connection(&[("host", "[::1]:8080")], "::", false), Connection::Local);
        let plain = [("host", "push.example"), ("x-forwarded-for", "10.0.0.7"), ("x-forwarded-proto", "http")];
        assert_eq!(connection(&plain, "127.0.0.1", true), Connection::Open);
        let proxied = [("host", "push.example"), ("x-forwarded-for", "10.0.0.7")];
        assert_eq!(connection(&proxied, "127.0.0.1", false), Connection::Open);
        assert_eq!(connection(&proxied, "127.0.0.1", true), Connection::Secure);
        let told = [("host", "push.example"), ("x-forwarded-for", "10.0.0.7"), ("x-forwarded-proto", "https")];
        assert_eq!(connection(&told, "127.0.0.1", false), Connection::Secure);
    }

    #[test]
    fn cookies_have_the_strictest_flags() {
        let cookie = Connection::Secure.set("abc").unwrap();
        assert_eq!(cookie.to_str().unwrap(), "__Host-aerogram=abc; Path=/; HttpOnly; SameSite=Lax; Secure");
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_static("x=1; aerogram-local=abc"));
        assert_eq!(Connection::Local.secret(&headers), Some("abc"));
        assert_eq!(Connection::Secure.secret(&headers), None);
        assert_eq!(Connection::Open.secret(&headers), None);
    }
}
