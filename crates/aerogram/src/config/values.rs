//! The forms of single values, and the sentences that say what is wrong with them.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Uri;
use model::app::{AppKey, CREDENTIAL_SHAPE, Secret};
use model::ids::{ChannelId, PushId};
use model::network::{NETWORK_SHAPE, Network};
use providers::percent_encoded;
use tenancy::SealKey;
use tracing_subscriber::filter::Targets;

/// `http://HOST` or `https://HOST` with an optional port and path, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(String);

/// A bearer token. It is never printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

/// The server's name for an object or a person: one segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

/// The key that everything secret in the database is encrypted with. It is never printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretsKey([u8; SealKey::BYTES]);

/// A token must not be guessable.
const TOKEN_CHARS: usize = 16;

impl BaseUrl {
    /// Where this machine reaches a server that listens on the address. Nobody can connect to "any address".
    pub(crate) fn on_this_machine(mut address: SocketAddr, has_tls: bool) -> Self {
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self(format!("{}://{address}", if has_tls { "https" } else { "http" }))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BaseUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "It must look like https://push.example.com, with a port and a path if needed.";
        let uri: Uri = text.parse().map_err(|_| FORM)?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        if !is_http || uri.host().is_none_or(str::is_empty) || has_user || uri.query().is_some() {
            return Err(FORM);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Token {
    /// The token itself. Only for comparing it and for presenting it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() < TOKEN_CHARS || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("A token has at least {TOKEN_CHARS} printable ASCII characters and no blanks."));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// As it stands in a path.
    pub(crate) fn segment(&self) -> String {
        percent_encoded(&self.0)
    }
}

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // In a path these lead to another path, even if they are encoded.
        match text {
            "" | "." | ".." => Err("Nothing is called that."),
            name => Ok(Self(name.to_owned())),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SecretsKey {
    pub(crate) fn new(bytes: [u8; SealKey::BYTES]) -> Self {
        Self(bytes)
    }

    /// The form in which it is kept in its file and given in a setting.
    pub(crate) fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    pub(crate) fn seal_key(&self) -> SealKey {
        SealKey::new(&self.0)
    }
}

impl FromStr for SecretsKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str =
            "It must be what a file secrets.key holds: 32 bytes in URL-safe base64, which are 43 characters.";
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| FORM)?;
        bytes.try_into().map(Self).map_err(|_| FORM)
    }
}

impl fmt::Debug for SecretsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretsKey(…)")
    }
}

pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "It must be an address and a port, such as 127.0.0.1:8080; a name such as localhost is none.")
}

/// A host name has as many characters at most.
const NODE_NAME_CHARS: usize = 253;

pub(crate) fn node_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > NODE_NAME_CHARS || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        let form = "printable ASCII characters without blanks, such as push-1";
        return Err(format!("It must be 1 to {NODE_NAME_CHARS} {form}."));
    }
    Ok(text.to_owned())
}

/// A parser of whole numbers whose error names the allowed range.
pub(crate) fn number_in<T: FromStr + PartialOrd + Clone + fmt::Display>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("It must be a number from {} to {}.", range.start(), range.end()))
    }
}

pub(crate) fn network(text: &str) -> Result<Network, &'static str> {
    text.parse().map_err(|_| NETWORK_SHAPE)
}

pub(crate) fn app_key(text: &str) -> Result<AppKey, &'static str> {
    AppKey::new(text).ok_or(CREDENTIAL_SHAPE)
}

pub(crate) fn secret(text: &str) -> Result<Secret, &'static str> {
    Secret::new(text).ok_or(CREDENTIAL_SHAPE)
}

pub(crate) fn channel_id(text: &str) -> Result<ChannelId, &'static str> {
    const FORM: &str = "This is no id of a channel; `aerogram channel list --address ADDRESS` finds it by its address.";
    text.parse().map_err(|_| FORM)
}

pub(crate) fn push_id(text: &str) -> Result<PushId, &'static str> {
    text.parse()
        .map_err(|_| "This is no id of a push; `aerogram pushes` shows the ids, and finds pushes by their texts.")
}

pub(crate) fn log_level(text: &str) -> Result<Targets, &'static str> {
    const FORM: &str = "Use off, error, warn, info, debug or trace, alone or by part as in info,store=debug.";
    let levels = text.split(',').map(|part| part.rsplit('=').next().unwrap_or(part).trim());
    // A word that is not a level would be taken for the name of a part, and silently log everything of it.
    for level in levels {
        level.parse::<tracing_subscriber::filter::LevelFilter>().map_err(|_| FORM)?;
    }
    text.parse().map_err(|_| FORM)
}
