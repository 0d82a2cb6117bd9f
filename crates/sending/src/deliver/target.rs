//! One recipient on its way, with no more than its platform needs of it.

use std::collections::BTreeMap;

use base::{Error, Result};
use model::channel::{AndroidDetails, DeliveryType, WebSubscription};
use model::device_type::DeviceType;
use model::ids::{ChannelId, DeliveryId, Ordinal, PushId};
use model::payload::Push;
use model::payload::ios::Badge;
use model::payload::notification::Notification;
use personalization::ValueMap;
use serde::Deserialize;
use store::recipients::Recipient;

/// The locale that decides which localization a device gets; `None` when there is nothing to decide.
pub(super) type Locale = Option<Box<(Option<String>, Option<String>)>>;

#[derive(Debug)]
pub(super) struct Target {
    pub(super) ordinal: Ordinal,
    pub(super) channel: ChannelId,
    pub(super) address: Box<str>,
    pub(super) locale: Locale,
    /// For a push whose texts vary: what they are filled in with, and then the texts by the numbers of their marks.
    pub(super) values: ValueMap,
    pub(super) texts: Vec<String>,
    /// Whether its address has taken a message before.
    pub(super) is_proven: bool,
    /// Its lane at the provider.
    pub(super) lane: usize,
    details: Details,
}

/// The part of a channel's profile that goes into its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    Badge,
    BrowserKeys,
    Identifiers,
    Android,
}

#[derive(Debug)]
enum Details {
    Nothing,
    Badge(i64),
    BrowserKeys(WebSubscription),
    Identifiers(BTreeMap<String, String>),
    Android(AndroidDetails),
}

impl Need {
    pub(super) fn of(push: &Push, device_type: &DeviceType) -> Self {
        match device_type {
            DeviceType::Ios if counts_badges(push) => Need::Badge,
            DeviceType::Web => Need::BrowserKeys,
            DeviceType::Android => Need::Android,
            DeviceType::Open(_) => Need::Identifiers,
            DeviceType::Ios
            | DeviceType::Amazon
            | DeviceType::Wns
            | DeviceType::Sms
            | DeviceType::Mms
            | DeviceType::Email => Need::Nothing,
        }
    }

    /// Reads only the needed fields: there are many profiles, and most of each is of no use here.
    fn read(self, profile: Option<&str>) -> Result<Details> {
        #[derive(Deserialize)]
        struct OfIos {
            ios: Option<Ios>,
        }
        #[derive(Deserialize)]
        struct Ios {
            badge: Option<u32>,
        }
        #[derive(Deserialize)]
        struct OfWeb {
            web: Option<Web>,
        }
        #[derive(Deserialize)]
        struct Web {
            subscription: Option<WebSubscription>,
        }
        #[derive(Deserialize)]
        struct OfOpen {
            open: Option<Open>,
        }
        #[derive(Deserialize)]
        struct Open {
            #[serde(default)]
            identifiers: BTreeMap<String, String>,
        }
        let Some(profile) = profile else { return Ok(Details::Nothing) };
        let details = match self {
            Need::Nothing => None,
            Need::Badge => {
                let ios = parse::<OfIos>(profile)?.ios;
                ios.and_then(|ios| ios.badge).map(|badge| Details::Badge(badge.into()))
            }
            Need::BrowserKeys => {
                parse::<OfWeb>(profile)?.web.and_then(|web| web.subscription).map(Details::BrowserKeys)
            }
            Need::Identifiers => parse::<OfOpen>(profile)?.open.map(|open| Details::Identifiers(open.identifiers)),
            Need::Android => parse::<OfAndroid>(profile)?.android.map(Details::Android),
        };
        Ok(details.unwrap_or(Details::Nothing))
    }
}

fn parse<'p, T: Deserialize<'p>>(profile: &'p str) -> Result<T> {
    serde_json::from_str(profile).map_err(Error::internal)
}

#[derive(Deserialize)]
struct OfAndroid {
    android: Option<AndroidDetails>,
}

/// Whether the profile of an Android channel says that UnifiedPush reaches it. One that cannot be read does not.
pub(super) fn is_by_unified_push(profile: &str) -> bool {
    let android = parse::<OfAndroid>(profile).ok().and_then(|profile| profile.android);
    android.is_some_and(|android| android.delivery_type == DeliveryType::UnifiedPush)
}

/// Whether the badge of a device follows from the one it had.
fn counts_badges(push: &Push) -> bool {
    let localized = push.localizations.iter().flatten();
    let localized = localized.map(|one| push.content_for(one.language.as_deref(), one.country.as_deref()));
    let mut contents = std::iter::once(push.content_for(None, None)).chain(localized);
    contents.any(|content| {
        let badge = content.notification.and_then(Notification::for_ios).and_then(|ios| ios.badge);
        matches!(badge, Some(Badge::Auto | Badge::Change(_)))
    })
}

impl Target {
    pub(super) fn new(row: &Recipient<'_>, need: Need, is_localized: bool) -> Result<Self> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(Self {
            ordinal: row.ordinal,
            channel: row.id,
            address: row.address.into(),
            locale: is_localized.then(|| Box::new((owned(row.language), owned(row.country)))),
            values: ValueMap::new(),
            texts: Vec::new(),
            is_proven: false,
            lane: 0,
            details: need.read(row.profile)?,
        })
    }

    /// The provider behind an Android address.
    pub(super) fn delivery_type(&self) -> DeliveryType {
        match &self.details {
            Details::Android(android) => android.delivery_type,
            Details::Nothing | Details::Badge(_) | Details::BrowserKeys(_) | Details::Identifiers(_) => {
                DeliveryType::Fcm
            }
        }
    }

    pub(super) fn delivery_id(&self, push: PushId) -> DeliveryId {
        DeliveryId::of(push, self.channel)
    }

    pub(super) fn filled(&self, push: PushId) -> providers::Recipient<'_> {
        let mut filled = providers::Recipient::new(self.delivery_id(push), self.channel, &self.address);
        match &self.details {
            Details::Nothing => {}
            Details::Android(android) => filled.web_keys = android.subscription.as_ref(),
            Details::Badge(badge) => filled.badge = *badge,
            Details::BrowserKeys(keys) => filled.web_keys = Some(keys),
            Details::Identifiers(identifiers) => filled.identifiers = Some(identifiers),
        }
        filled.texts = &self.texts;
        filled.is_proven = self.is_proven;
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::channel::{Profile, Registration};
    use model::json;

    fn stored(registration: &str) -> String {
        let body = format!(r#"{{"channel": {registration}}}"#);
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        let profile: Profile = registration.apply(None);
        serde_json::to_string(&profile).unwrap()
    }

    fn target(need: Need, profile: &str) -> Target {
        let row = Recipient {
            ordinal: Ordinal(1),
            id: ChannelId::random(),
            address: "A1",
            language: Some("de"),
            country: None,
            profile: Some(profile),
        };
        Target::new(&row, need, true).unwrap()
    }

    #[test]
    fn what_is_needed_comes_out_of_whole_profiles() {
        let push = PushId::random();
        let iphone = stored(r#"{"device_type": "ios", "opt_in": true, "push_address": "A1", "ios": {"badge": 7}}"#);
        assert_eq!(target(Need::Badge, &iphone).filled(push).badge, 7);
        assert_eq!(target(Need::Nothing, &iphone).filled(push).badge, 0);
        let android = |details: &str| {
            stored(&format!(r#"{{"device_type": "android", "opt_in": true, "push_address": "A1"{details}}}"#))
        };
        let adm = android(r#", "android": {"delivery_type": "adm"}"#);
        assert_eq!(target(Need::Android, &adm).delivery_type(), DeliveryType::Adm);
        assert_eq!(target(Need::Android, &android("")).delivery_type(), DeliveryType::Fcm);
        let keys = format!(r#"{{"p256dh": "BA{}", "auth": "{}"}}"#, "A".repeat(85), "A".repeat(22));
        let phone = android(&format!(r#", "android": {{"delivery_type": "unifiedpush", "subscription": {keys}}}"#));
        let read = target(Need::Android, &phone);
        assert_eq!(read.delivery_type(), DeliveryType::UnifiedPush);
        assert!(read.filled(push).web_keys.is_some() && is_by_unified_push(&phone) && !is_by_unified_push(&adm));
        assert_eq!(target(Need::Badge, &android("")).locale, Some(Box::new((Some("de".to_owned()), None))));
    }

    #[test]
    fn only_pushes_that_count_badges_need_to_know_them() {
        let need = |badge: &str| {
            let body = format!(
                r#"{{"audience": "all", "device_types": ["ios"], "notification": {{"ios": {{"badge": {badge}}}}}}}"#
            );
            let push = json::parse(body.as_bytes(), Push::parse).unwrap();
            (Need::of(&push, &DeviceType::Ios), Need::of(&push, &DeviceType::Wns))
        };
        assert_eq!(need("3"), (Need::Nothing, Need::Nothing));
        assert_eq!(need("\"auto\""), (Need::Badge, Need::Nothing));
        assert_eq!(need("\"+1\""), (Need::Badge, Need::Nothing));
    }
}
