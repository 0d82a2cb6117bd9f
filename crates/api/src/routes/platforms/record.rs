//! Platforms as the operator sees them: without their secrets.

use std::collections::BTreeMap;

use engine::{PlatformFact, PlatformNotice, PlatformView, ShownConfig};
use providers::platform::KeyView;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PlatformRecord {
    platform: String,
    #[serde(flatten)]
    config: ConfigRecord,
    /// Why nothing is sent at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PausedRecord>,
    created: String,
    modified: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ConfigRecord {
    Provider {
        /// In the order in which they are tried.
        keys: Vec<KeyRecord>,
    },
    Unreadable {
        unreadable: bool,
    },
    Open {
        url: String,
        auth: AuthRecord,
        enabled: bool,
        gzip: bool,
        /// What the webhook must answer to `GET <url>/validate`.
        validation_code: String,
    },
}

#[derive(Serialize)]
struct KeyRecord {
    fingerprint: String,
    #[serde(flatten)]
    details: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
}

#[derive(Serialize)]
struct PausedRecord {
    reason: String,
    since: String,
}

#[derive(Serialize)]
struct AuthRecord {
    r#type: &'static str,
}

#[derive(Serialize)]
pub(super) struct NoticeRecord {
    app: String,
    platform: String,
    #[serde(flatten)]
    fact: FactRecord,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum FactRecord {
    Expires { at: String },
    Paused { reason: String, since: String },
    Unreadable,
}

impl From<PlatformNotice> for NoticeRecord {
    fn from(notice: PlatformNotice) -> Self {
        let fact = match notice.fact {
            PlatformFact::Expires(at) => FactRecord::Expires { at: at.to_api() },
            PlatformFact::Paused { reason, since } => FactRecord::Paused { reason, since: since.to_api() },
            PlatformFact::Unreadable => FactRecord::Unreadable,
        };
        Self { app: notice.app.as_str().to_owned(), platform: notice.platform.to_string(), fact }
    }
}

impl From<PlatformView> for PlatformRecord {
    fn from(view: PlatformView) -> Self {
        let config = match view.config {
            ShownConfig::Provider { keys } => {
                ConfigRecord::Provider { keys: keys.into_iter().map(KeyRecord::from).collect() }
            }
            ShownConfig::Unreadable => ConfigRecord::Unreadable { unreadable: true },
            ShownConfig::Open { url, auth, enabled, gzip, validation_code } => ConfigRecord::Open {
                url,
                auth: AuthRecord { r#type: auth },
                enabled,
                gzip,
                validation_code: validation_code.to_string(),
            },
        };
        Self {
            platform: view.name.to_string(),
            config,
            paused: view.paused.map(|paused| PausedRecord { reason: paused.reason, since: paused.since.to_api() }),
            created: view.created.to_api(),
            modified: view.modified.to_api(),
        }
    }
}

impl From<KeyView> for KeyRecord {
    fn from(key: KeyView) -> Self {
        let mut details: BTreeMap<_, _> = key.details.into_iter().collect();
        details.extend(key.token_uri.map(|url| ("token_uri", url.to_string())));
        Self {
            fingerprint: key.fingerprint,
            details,
            expires: key.expires.map(|expires| expires.to_api()),
            endpoint: key.endpoint.map(|url| url.to_string()),
        }
    }
}
