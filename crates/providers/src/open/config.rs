//! How an open platform is reached: where its endpoint is and how we prove who we are.

use model::json::At;
use model::json::body::Body;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::credential::Credential;
use crate::endpoint::URL_CHARS;
use crate::http::WebUrl;

/// The configuration of one open platform, as it is stored. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPlatformConfig {
    /// The root of the endpoint: deliveries go to `push` below it, the handshake to `validate`.
    pub url: WebUrl,
    pub auth: OpenAuth,
    /// The code that the endpoint must answer in the handshake, which proves that it expects us.
    pub validation_code: Uuid,
    pub enabled: bool,
    /// Compresses deliveries. Off unless asked for: receivers disagree on whether the signature covers compressed bytes.
    pub gzip: bool,
}

/// The endpoint of an open platform.
#[derive(Clone, Debug, Body)]
#[body(not_printed)]
pub struct OpenPlatformChange {
    /// The root of the endpoint: deliveries go to `push` below it, the handshake to `validate`.
    #[body(length = 1..=URL_CHARS)]
    pub url: String,
    #[body(default = OpenAuth::None)]
    pub auth: OpenAuth,
    /// Whether anything is delivered.
    #[body(default = true)]
    pub enabled: bool,
    /// Whether to compress deliveries.
    #[body(default = false)]
    pub gzip: bool,
    /// Whether the endpoint must pass the handshake before anything is stored.
    #[body(default = true)]
    pub validate: bool,
}

/// How the endpoint knows that requests are ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[serde(tag = "type", rename_all = "lowercase")]
#[body(not_printed, tag = "type")]
pub enum OpenAuth {
    /// It does not.
    None,
    /// By HTTP Basic authentication.
    Basic {
        /// Without a colon, which separates it from the password.
        #[body(read = user_name, length = 1..=CREDENTIAL_CHARS)]
        user: String,
        #[body(length = 1..=CREDENTIAL_CHARS)]
        password: Credential,
    },
    /// By a keyed hash of the time and the body in the headers.
    Signature {
        /// The key of the HMAC-SHA256 in `X-UA-SIGNATURE`.
        #[body(length = 1..=CREDENTIAL_CHARS)]
        secret: Credential,
    },
}

const CREDENTIAL_CHARS: usize = 1024;

impl OpenAuth {
    /// The name of the method, for showing a configuration without its secrets.
    pub const fn name(&self) -> &'static str {
        match self {
            OpenAuth::None => "none",
            OpenAuth::Basic { .. } => "basic",
            OpenAuth::Signature { .. } => "signature",
        }
    }
}

fn user_name(at: &At<'_>) -> Option<String> {
    let name = at.text(1..=CREDENTIAL_CHARS)?;
    if name.contains(':') {
        return at.invalid("A user name must not contain ':', which separates it from the password.");
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::json::parse;

    #[test]
    fn auth_is_read_strictly() {
        let basic = OpenAuth::Basic { user: "u".to_owned(), password: Credential::new("p") };
        let signature = OpenAuth::Signature { secret: Credential::new("s") };
        let read = |body: &str| parse(body.as_bytes(), OpenAuth::parse);
        assert_eq!(read(r#"{"type":"none"}"#), Ok(OpenAuth::None));
        assert_eq!(read(r#"{"type":"basic","user":"u","password":"p"}"#), Ok(basic));
        assert_eq!(read(r#"{"type":"signature","secret":"s"}"#), Ok(signature));

        let wrong = [
            (r#"{}"#, vec!["type"]),
            (r#"{"type":"bearer"}"#, vec!["type"]),
            (r#"{"type":"none","secret":"s"}"#, vec!["secret"]),
            (r#"{"type":"basic"}"#, vec!["user", "password"]),
            (r#"{"type":"basic","user":"a:b","password":""}"#, vec!["user", "password"]),
            (r#"{"type":"signature","secret":7}"#, vec!["secret"]),
        ];
        for (body, paths) in wrong {
            let problems = read(body).unwrap_err();
            assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), paths, "{body}");
        }
    }

    #[test]
    fn stored_form_comes_back_and_debug_hides_secrets() {
        let config = OpenPlatformConfig {
            url: WebUrl::try_from("https://example.com/hook".to_owned()).unwrap(),
            auth: OpenAuth::Basic { user: "u".to_owned(), password: Credential::new("hunter2") },
            validation_code: Uuid::nil(),
            enabled: true,
            gzip: false,
        };
        let stored = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<OpenPlatformConfig>(&stored).unwrap(), config);
        assert!(!format!("{config:?}").contains("hunter2"));
        assert!(!format!("{:?}", OpenAuth::Signature { secret: Credential::new("hunter2") }).contains("hunter2"));
    }
}
