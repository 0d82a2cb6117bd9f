//! The body that sets a platform up, made of what was typed.

use serde_json::{Map, Value, json};

use super::ask::names;
use crate::error::{Error, Result};
use crate::form::Fields;

/// What the call to set the platform gets.
pub(super) fn body(platform: &str, typed: &Fields) -> Result<Value> {
    let mut body = Map::new();
    if platform.starts_with("open::") {
        body.insert("url".to_owned(), json!(typed.text("url").unwrap_or_default()));
        body.insert("auth".to_owned(), auth(typed)?);
        body.insert("enabled".to_owned(), json!(typed.is_checked("enabled")));
        body.insert("validate".to_owned(), json!(typed.is_checked("validate")));
        return Ok(body.into());
    }
    for name in names(platform).unwrap_or_default() {
        let Some(text) = typed.text(name) else { continue };
        let value = match name {
            "service_account" => serde_json::from_str(text).map_err(|_| {
                Error::invalid(
                    "service_account",
                    "This is not JSON. Paste the whole file, from { to }, as Firebase gave it.",
                )
            })?,
            _ => json!(text),
        };
        body.insert(name.to_owned(), value);
    }
    if let Some(url) = typed.text("endpoint") {
        let mut endpoint = json!({ "url": url });
        if let Some(ca) = typed.text("ca") {
            endpoint["ca"] = json!(ca);
        }
        body.insert("endpoint".to_owned(), endpoint);
    }
    Ok(body.into())
}

fn auth(typed: &Fields) -> Result<Value> {
    let secret = typed.text("secret");
    match (typed.text("auth").unwrap_or("none"), typed.text("user"), secret) {
        ("basic", Some(user), Some(password)) => Ok(json!({ "type": "basic", "user": user, "password": password })),
        ("basic", None, _) => Err(Error::invalid("user", "Say which user name goes with the password.")),
        ("basic", ..) => {
            Err(Error::invalid("secret", "Type the password; a stored one is not shown, and replaced by this."))
        }
        ("signature", _, Some(secret)) => Ok(json!({ "type": "signature", "secret": secret })),
        ("signature", _, None) => {
            Err(Error::invalid("secret", "Type the shared secret; a stored one is not shown, and replaced by this."))
        }
        _ => Ok(json!({ "type": "none" })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_make_the_body() {
        let typed = Fields::parse(
            "topic=com.example.app&environment=sandbox&key=-----BEGIN&key_id=&ca=X&endpoint=https%3A%2F%2Fsim",
        );
        assert_eq!(
            body("apns", &typed).unwrap(),
            json!({"topic": "com.example.app", "environment": "sandbox", "key": "-----BEGIN",
                "endpoint": {"url": "https://sim", "ca": "X"}})
        );
        let typed = Fields::parse("service_account=%7B%22type%22%3A1%7D");
        assert_eq!(body("fcm", &typed).unwrap(), json!({"service_account": {"type": 1}}));
        assert!(body("fcm", &Fields::parse("service_account=no")).unwrap_err().about("service_account").is_some());
        let typed = Fields::parse("url=https%3A%2F%2Fa&auth=basic&user=u&secret=p&enabled=on");
        assert_eq!(
            body("open::kiosk", &typed).unwrap(),
            json!({"url": "https://a", "auth": {"type": "basic", "user": "u", "password": "p"}, "enabled": true, "validate": false})
        );
        assert!(body("open::kiosk", &Fields::parse("url=a&auth=signature")).unwrap_err().about("secret").is_some());
        assert!(names("open::").is_none() && names("ios").is_none() && names("wns").is_some());
    }
}
