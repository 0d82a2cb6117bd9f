//! What events show of a channel, kept when it changes: an event goes on showing the channel as it was when the event was recorded.

use serde::{Deserialize, Serialize};

use crate::channel::{OpenDetails, Profile, WebDetails};
use crate::ids::{ChannelId, NamedUserId};
use crate::time::UtcMillis;

use super::device::EventDevice;

/// A channel and whose it was, as stored (JSON) beside the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Face {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_user: Option<NamedUserId>,
    /// Only what events show of it.
    pub profile: Profile,
}

impl Face {
    pub fn of(profile: &Profile, named_user: Option<&NamedUserId>) -> Self {
        let shown = profile.clone();
        let profile = Profile {
            opt_in: shown.opt_in,
            background: shown.background,
            timezone: shown.timezone,
            locale_language: shown.locale_language,
            locale_country: shown.locale_country,
            app_version: shown.app_version,
            sdk_version: shown.sdk_version,
            device_model: shown.device_model,
            device_os: shown.device_os,
            location_settings: shown.location_settings,
            unknown_contact: shown.unknown_contact,
            usage: shown.usage,
            identifiers: shown.identifiers,
            web: shown.web.map(|web| WebDetails { subscription: None, ..web }),
            open: shown.open.map(|open| OpenDetails { identifiers: open.identifiers, ..OpenDetails::default() }),
            ..Profile::new(shown.device_type)
        };
        Self { named_user: named_user.cloned(), profile }
    }

    /// Whether events show the same of a channel with either profile and user.
    pub fn is_alike(
        channel: ChannelId,
        (profile, user): (&Profile, Option<&NamedUserId>),
        (other_profile, other_user): (&Profile, Option<&NamedUserId>),
    ) -> bool {
        if user != other_user {
            return false;
        }
        if profile == other_profile {
            return true;
        }
        let profiles = [profile, other_profile];
        let [contact, other_contact] = profiles.map(|profile| profile.unknown_contact_of(channel));
        // What follows from the time zone depends on the moment, but is the same for both if the time zone is.
        let [shown, other_shown] = profiles.map(|profile| EventDevice::new(channel, profile, None, UtcMillis(0)));
        contact == other_contact && shown == other_shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_face_shows_what_the_channel_did_and_keeps_nothing_else() {
        let profile = json!({
            "device_type": "web", "opt_in": true, "background": true, "address": "https://push.example.com/1",
            "alias": "a", "timezone": "Europe/Berlin", "locale_language": "de", "locale_country": "DE",
            "app_version": "1", "sdk_version": "2", "device_model": "m", "device_os": "14", "carrier": "c",
            "location_settings": true, "contact_id": "secret", "identity_hints": {"user_id": "secret"},
            "unknown_contact": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5",
            "named_contact": "00000000-0000-5000-8000-000000000001",
            "usage": {"package_name": "p", "connection_type": "wifi", "locale_variant": "v", "location_permission": "always"},
            "identifiers": {"crm": "7"},
            "open": {"identifiers": {"model": "F1"}, "old_address": "secret"},
            "web": {"user_agent_string": "Mozilla/5.0 Chrome/73.0", "subscription": {"p256dh": "k", "auth": "secret"}},
        });
        let profile: Profile = serde_json::from_str(&profile.to_string()).unwrap();
        let (channel, user) = (ChannelId::from_uuid(uuid::Uuid::from_u128(7)), NamedUserId::new("ann").unwrap());
        let face = Face::of(&profile, Some(&user));
        assert!(Face::is_alike(channel, (&profile, Some(&user)), (&face.profile, face.named_user.as_ref())));
        let stored = serde_json::to_string(&face).unwrap();
        for hidden in ["secret", "push.example.com", "00000000-0000-5000", "carrier", "alias"] {
            assert!(!stored.contains(hidden), "{hidden} in {stored}");
        }
    }
}
