//! The devices of a broadcast: how they are registered, how they are reached, and their pushes.

use anyhow::{Result, bail};
use model::device_type::DeviceType;
use model::ids::{ChannelId, Ordinal};
use model::term::{Reach, Term};
use model::time::UtcMillis;
use serde_json::{Value, json};
use sim::{Protocol, device_address, keys};
use store::attributes::Write;
use store::channels::{Channel, Key};
use uuid::Uuid;

use super::provider::Provider;
use crate::loading::{self, Place};
use crate::server::APP_KEY;

/// 2026-01-01.
const CREATED: UtcMillis = UtcMillis(1_767_225_600_000);

pub(crate) struct Devices {
    pub(crate) protocol: Protocol,
    device_type: DeviceType,
    platform: &'static str,
    /// The root URL of the provider.
    root: String,
    profile: String,
}

impl Devices {
    pub(crate) fn of(protocol: Protocol, provider: &Provider) -> Result<Self> {
        let (device_type, platform) = match protocol {
            Protocol::Apns => (DeviceType::Ios, "apns"),
            Protocol::Fcm => (DeviceType::Android, "fcm"),
            Protocol::WebPush => (DeviceType::Web, "webpush"),
            Protocol::Adm | Protocol::Wns | Protocol::UnifiedPush | Protocol::Open => {
                bail!("there is no broadcast for {protocol}")
            }
        };
        let mut profile = json!({
            "device_type": device_type.to_string(), "opt_in": true, "background": true, "timezone": "Europe/Berlin",
            "locale_language": "de", "locale_country": "DE", "app_version": "12.4.1", "sdk_version": "17.8.1",
        });
        if protocol == Protocol::WebPush {
            let (_, keys) = provider.sim.web_subscription(0);
            profile["web"] = json!({"subscription": keys});
        }
        Ok(Self { protocol, device_type, platform, root: provider.sim.url(protocol), profile: profile.to_string() })
    }

    pub(crate) async fn load(&self, place: &Place<'_>, n_devices: u32) -> Result<()> {
        self.load_channels(place, n_devices).await?;
        let attribute =
            |name: &str, value: String| Write { name: name.to_owned(), value: Some(value), at: CREATED, expires: None };
        loading::load_attributes(place, n_devices, |Ordinal(n)| {
            vec![attribute("first_name", format!("\"Kim {n}\"")), attribute("city", "\"Reykjav\u{ed}k\"".to_owned())]
        })
        .await
    }

    /// Without the attributes that personalized pushes need.
    pub(crate) async fn load_channels(&self, place: &Place<'_>, n_devices: u32) -> Result<()> {
        let terms =
            [Term::DeviceType(self.device_type.clone()), Term::Reach(Reach::Addressed), Term::Reach(Reach::Alert)];
        loading::load_channels(place, &terms, n_devices, |ordinal, numbers| {
            let address = device_address(self.protocol, u64::from(ordinal.0), &self.root);
            let channel = Channel {
                ordinal,
                id: id(ordinal),
                device_type: self.device_type.clone(),
                installed: true,
                address: Some(address.clone()),
                language: Some("de".to_owned()),
                country: Some("DE".to_owned()),
                named_user: None,
                created: CREATED,
                last_registration: Some(CREATED),
                terms: numbers.to_vec(),
                profile: self.profile.clone(),
            };
            (channel, vec![Key { kind: format!("address:{}", self.device_type), value: address }])
        })
        .await
    }

    pub(crate) fn device_type_name(&self) -> String {
        self.device_type.to_string()
    }

    pub(crate) fn platform_path(&self) -> String {
        format!("/operator/apps/{APP_KEY}/platforms/{}", self.platform)
    }

    /// The operator's configuration that makes messages reach the simulator.
    pub(crate) fn platform(&self, provider: &Provider) -> Value {
        let sim = &provider.sim;
        let endpoint = json!({"url": self.root, "ca": sim.ca_pem()});
        match self.protocol {
            Protocol::Apns => json!({
                "topic": sim.topic(), "environment": "production", "team_id": keys::APNS_TEAM_ID,
                "key_id": keys::APNS_KEY_ID, "key": sim.apns_key(), "endpoint": endpoint,
            }),
            Protocol::Fcm => {
                let account: Value = serde_json::from_str(&sim.service_account(true)).unwrap_or_default();
                json!({"service_account": account, "endpoint": endpoint})
            }
            Protocol::WebPush | Protocol::UnifiedPush | Protocol::Adm | Protocol::Wns | Protocol::Open => {
                json!({"subject": "mailto:push@example.com", "endpoint": endpoint})
            }
        }
    }

    pub(crate) fn push(&self, audience: &Value) -> Value {
        json!({
            "audience": audience,
            "device_types": [self.device_type.to_string()],
            "notification": {"alert": "The doors open at eight. See you there!"},
        })
    }

    /// A push with two variables, about as long as the other.
    pub(crate) fn personalized_push(&self) -> Value {
        json!({
            "audience": "all",
            "device_types": [self.device_type.to_string()],
            "notification": {"alert": "{{$def first_name \"Hello\"}}, the doors open at eight in {{city}}."},
            "options": {"personalization": true},
        })
    }

    /// An audience of one device.
    pub(crate) fn first(&self) -> Value {
        json!({"channel": id(Ordinal(0))})
    }
}

fn id(ordinal: Ordinal) -> ChannelId {
    ChannelId::from_uuid(Uuid::from_u128(u128::from(ordinal.0) << 96 | 0x4000_8000_0000_0000_0001))
}
