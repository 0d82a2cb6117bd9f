//! Real browsers at the simulator: it plays the push services that Chromium and Firefox connect to, so that they subscribe, are
//! sent messages and decrypt them as with internet.

pub(crate) mod google;
mod google_line;
mod mcs;
pub(crate) mod mozilla;
mod mozilla_line;
mod protobuf;
mod subscriptions;

pub(crate) use google_line::serve as serve_google;
pub(crate) use mcs::VERSION as MCS_VERSION;
pub(crate) use mozilla_line::{accept as accept_mozilla, serve as serve_mozilla};
pub(crate) use subscriptions::{Standing, Subscriptions};

/// How Chromium is started so that its push service is the simulator at this root. Certificates with this key (its SHA-256, in
/// base64) are not judged, because the browser does not know our authority.
pub(crate) fn chromium_flags(root: &str, key_digest: &str) -> Vec<String> {
    vec![
        format!("--gcm-checkin-url={root}{}", google::CHECKIN),
        format!("--gcm-registration-url={root}{}", google::REGISTER),
        format!("--gcm-mcs-endpoint={root}"),
        format!("--ignore-certificate-errors-spki-list={key_digest}"),
    ]
}

/// The settings of Firefox for the same, of a simulator without TLS: names and values as `user.js` has them.
pub(crate) fn firefox_preferences(plain_root: &str) -> Vec<(&'static str, String)> {
    let socket = plain_root.replacen("http", "ws", 1);
    vec![
        ("dom.push.serverURL", format!("\"{socket}{}\"", mozilla::SOCKET)),
        ("dom.push.testing.allowInsecureServerURL", "true".to_owned()),
    ]
}
