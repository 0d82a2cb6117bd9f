//! Platforms as the operator sees them: without their secrets.

use std::collections::BTreeMap;

use model::time::UtcMillis;
use providers::platform::KeyView;
use schemars::JsonSchema;
use sending::{Configured, Hindrance, PlatformFact, PlatformHealth, PlatformNotice, PlatformView, ShownConfig};
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct PlatformRecord {
    /// `apns`, `fcm`, `adm`, `wns`, `webpush`, or `open::` and a name.
    platform: String,
    /// Nothing where nothing is configured.
    #[serde(flatten)]
    configured: Option<ConfiguredRecord>,
    /// Why nothing is sent at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PausedRecord>,
    /// Why nothing that is sent arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct ConfiguredRecord {
    #[serde(flatten)]
    config: ConfigRecord,
    created: String,
    modified: String,
    /// When the platform took the credentials, by a test or with a first message, since they were set. Not there until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    proven: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::routes) enum ConfigRecord {
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
        /// The code that the webhook must answer to `GET <url>/validate`.
        validation_code: String,
    },
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct KeyRecord {
    /// 16 hexadecimal digits that tell the key apart.
    fingerprint: String,
    #[serde(flatten)]
    details: BTreeMap<&'static str, String>,
    /// When a certificate ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// Where messages go instead of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct PausedRecord {
    by: PausedBy,
    reason: String,
    since: String,
}

/// Who has to act to end a pause.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::routes) enum PausedBy {
    /// It refuses us.
    Provider,
    Operator,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct WaitingRecord {
    reason: String,
    since: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct AuthRecord {
    r#type: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct NoticeRecord {
    app: String,
    platform: String,
    #[serde(flatten)]
    fact: FactRecord,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(in crate::routes) enum FactRecord {
    Expires { at: String },
    Paused(PausedRecord),
    Waiting(WaitingRecord),
    Unreadable,
}

/// The trouble of a platform, in one of the two forms it is shown in.
enum HealthRecord {
    Paused(PausedRecord),
    Waiting(WaitingRecord),
}

impl From<PlatformHealth> for HealthRecord {
    fn from(health: PlatformHealth) -> Self {
        let PlatformHealth { hindrance, reason, since, probe_at: _, refuses_addresses: _ } = health;
        let since = since.to_api();
        match hindrance {
            Hindrance::Refused => HealthRecord::Paused(PausedRecord { by: PausedBy::Provider, reason, since }),
            Hindrance::Held => HealthRecord::Paused(PausedRecord { by: PausedBy::Operator, reason, since }),
            Hindrance::Down => HealthRecord::Waiting(WaitingRecord { reason, since }),
        }
    }
}

impl From<PlatformNotice> for NoticeRecord {
    fn from(notice: PlatformNotice) -> Self {
        let fact = match notice.fact {
            PlatformFact::Expires(at) => FactRecord::Expires { at: at.to_api() },
            PlatformFact::Hindered(health) => match HealthRecord::from(health) {
                HealthRecord::Paused(paused) => FactRecord::Paused(paused),
                HealthRecord::Waiting(waiting) => FactRecord::Waiting(waiting),
            },
            PlatformFact::Unreadable => FactRecord::Unreadable,
        };
        Self { app: notice.app.as_str().to_owned(), platform: notice.platform.to_string(), fact }
    }
}

impl From<PlatformView> for PlatformRecord {
    fn from(view: PlatformView) -> Self {
        let (paused, waiting) = match view.health.map(HealthRecord::from) {
            Some(HealthRecord::Paused(paused)) => (Some(paused), None),
            Some(HealthRecord::Waiting(waiting)) => (None, Some(waiting)),
            None => (None, None),
        };
        let configured = view.configured.map(ConfiguredRecord::from);
        Self { platform: view.name.to_string(), configured, paused, waiting }
    }
}

impl From<Configured> for ConfiguredRecord {
    fn from(Configured { config, created, modified, proven }: Configured) -> Self {
        Self {
            config: config.into(),
            created: created.to_api(),
            modified: modified.to_api(),
            proven: proven.map(UtcMillis::to_api),
        }
    }
}

impl From<ShownConfig> for ConfigRecord {
    fn from(config: ShownConfig) -> Self {
        match config {
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
