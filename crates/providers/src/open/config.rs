//! How an open platform is reached: where its endpoint is and how we prove who we are.

use model::json::At;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::credential::Credential;
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

/// How requests to the endpoint are authenticated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum OpenAuth {
    None,
    Basic {
        user: String,
        password: Credential,
    },
    /// A keyed hash of the time and the body in the headers.
    Signature {
        secret: Credential,
    },
}

#[derive(Clone, Copy)]
enum AuthType {
    None,
    Basic,
    Signature,
}

impl OpenAuth {
    /// `{"type": "none"}`, `{"type": "basic", "user", "password"}` or `{"type": "signature", "secret"}`.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let types = [("none", AuthType::None), ("basic", AuthType::Basic), ("signature", AuthType::Signature)];
        let auth = match fields.required("type", |at| at.choice(&types))? {
            AuthType::None => Some(OpenAuth::None),
            AuthType::Basic => {
                let user = fields.required("user", user_name);
                let password = fields.required("password", credential);
                user.zip(password).map(|(user, password)| OpenAuth::Basic { user, password })
            }
            AuthType::Signature => fields.required("secret", credential).map(|secret| OpenAuth::Signature { secret }),
        };
        fields.finish();
        auth
    }

    /// The name of the method, for showing a configuration without its secrets.
    pub const fn name(&self) -> &'static str {
        match self {
            OpenAuth::None => "none",
            OpenAuth::Basic { .. } => "basic",
            OpenAuth::Signature { .. } => "signature",
        }
    }
}

const MOST_CREDENTIAL_CHARS: usize = 1024;

fn credential(at: &At<'_>) -> Option<Credential> {
    at.text(1..=MOST_CREDENTIAL_CHARS).map(Credential::new)
}

fn user_name(at: &At<'_>) -> Option<String> {
    let name = at.text(1..=MOST_CREDENTIAL_CHARS)?;
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
