//! The registration of a device: the body of creating and of updating its channel.

use std::collections::BTreeSet;

use super::device_update::{DeviceUpdate, LocaleUpdate};
use super::ios::IosUpdate;
use super::web::WebUpdate;
use super::{AndroidDetails, Change, DeliveryType, IdentityHints, Profile, WebSubscription, name_text};
use crate::device_type::DeviceType;
use crate::ids::NamedUserId;
use crate::json::body::Body;
use crate::json::{At, Fields};
use crate::limits;
use crate::place::Sighting;
use crate::tag::Tag;

/// A registration as a device sends it.
#[derive(Body)]
#[body(not_printed, name = "Registration")]
pub struct RegistrationBody {
    /// The channel.
    channel: Registration,
    /// Older ids of the device.
    #[body(nullable, default)]
    identity_hints: IdentityHints,
}

/// One registration. Keys that are not given leave the channel as it is; `null` clears a value.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(
    not_printed,
    parse = parse_channel,
    name = "RegisteredChannel",
    keys = |fields| refuse_details_of_others(fields, device_type.as_ref(), &android)
)]
pub struct Registration {
    /// One of ios, android, amazon, web and wns.
    #[body(read = parse_device_type)]
    pub device_type: DeviceType,
    /// Whether the user allows notifications.
    pub opt_in: Option<bool>,
    /// Whether the app can be woken in the background.
    pub background: Change<bool>,
    /// Where the provider reaches the device: its token or registration id.
    #[body(length = 1..=limits::PUSH_ADDRESS_CHARS, read = |at| name_text(at, limits::PUSH_ADDRESS_CHARS))]
    pub push_address: Change<String>,
    /// Whether the device takes messages over live connections (`GET /live`) where its provider does not reach it.
    pub live: Change<bool>,
    /// A name that the app gives the channel; others may share it.
    #[body(length = 1..=limits::ALIAS_CHARS, read = |at| name_text(at, limits::ALIAS_CHARS))]
    pub alias: Change<String>,
    /// Whose device it is.
    pub named_user_id: Change<NamedUserId>,
    /// Whether the registration was caused by a person using the app.
    #[body(nullable)]
    pub is_activity: Option<bool>,
    #[body(skip)]
    pub identity_hints: IdentityHints,
    /// Where the device is, or last was.
    #[body(nullable)]
    pub location: Option<Sighting>,
    #[body(flatten)]
    tags: TagsUpdate,
    #[body(flatten)]
    locale: LocaleUpdate,
    #[body(flatten)]
    device: DeviceUpdate,
    /// What only iOS devices tell.
    ios: Change<IosUpdate>,
    /// What only Android and Amazon devices tell.
    android: Change<AndroidDetails>,
    /// What only browsers tell.
    web: Change<WebUpdate>,
}

impl Registration {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let RegistrationBody { channel, identity_hints } = RegistrationBody::parse(at)?;
        Some(Self { identity_hints, ..channel })
    }

    /// The provider behind an Android address, if it is said.
    pub fn delivery_type(&self) -> Option<DeliveryType> {
        self.android.given().map(|android| android.delivery_type)
    }

    /// The keys that messages are encrypted with, if they are said, with the name of the object that has them: those of a browser,
    /// or of an Android device that is reached by UnifiedPush.
    pub fn subscription(&self) -> Option<(&'static str, &WebSubscription)> {
        let of_browser = self.web.given().and_then(WebUpdate::subscription).map(|keys| ("web", keys));
        let of_android = || self.android.given()?.subscription.as_ref().map(|keys| ("android", keys));
        of_browser.or_else(of_android)
    }

    /// The whole state of the channel after this registration. Applying it once more changes nothing.
    pub fn apply(&self, previous: Option<&Profile>) -> Profile {
        let mut profile = Profile::before_update(previous, &self.device_type);
        profile.opt_in = self.opt_in.unwrap_or(profile.opt_in);
        self.background.update(&mut profile.background);
        self.push_address.update(&mut profile.address);
        match self.live {
            Change::Keep => {}
            Change::Clear => profile.live = false,
            Change::Set(live) => profile.live = live,
        }
        self.alias.update(&mut profile.alias);
        self.named_user_id.update(&mut profile.named_user_hint);
        self.identity_hints.update(&mut profile.identity_hints);
        self.locale.update(&mut profile);
        self.device.update(&mut profile);
        self.android.update(&mut profile.android);
        match &self.ios {
            Change::Keep => {}
            Change::Clear => profile.ios = None,
            Change::Set(ios) => ios.update(&mut profile.ios),
        }
        match &self.web {
            Change::Keep => {}
            Change::Clear => profile.web = None,
            Change::Set(web) => web.update(&mut profile.web),
        }
        profile
    }

    /// The device tags of the channel after this registration: `tags` replace the present ones unless `set_tags` is
    /// false; `tag_changes` are applied on top in either case.
    pub fn device_tags(&self, current: &BTreeSet<Tag>) -> BTreeSet<Tag> {
        let TagsUpdate { set_tags, tags, tag_changes: TagChanges { add, remove } } = &self.tags;
        let base = match (set_tags, tags) {
            (Some(true) | None, Some(tags)) => tags,
            (Some(false), _) | (_, None) => current,
        };
        base.difference(remove).chain(add).cloned().collect()
    }
}

fn parse_device_type(at: &At<'_>) -> Option<DeviceType> {
    let device_type = DeviceType::parse(at)?;
    match device_type {
        DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Web | DeviceType::Wns => {
            Some(device_type)
        }
        DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => at.invalid(format!(
            "Channels of type {device_type} are not registered here; devices are ios, android, amazon, web or wns."
        )),
    }
}

fn refuse_details_of_others(fields: &Fields<'_>, device_type: Option<&DeviceType>, android: &Change<AndroidDetails>) {
    let Some(device_type) = device_type else { return };
    let details: [(&str, &[DeviceType]); 3] = [
        ("ios", &[DeviceType::Ios]),
        ("android", &[DeviceType::Android, DeviceType::Amazon]),
        ("web", &[DeviceType::Web]),
    ];
    for (key, types) in details {
        if fields.has(key) && !types.contains(device_type) {
            fields.at().invalid_key::<()>(key, format!("'{key}' is not allowed for a channel of type {device_type}."));
        }
    }
    if android.given().is_some_and(|android| !android.delivery_type.is_for(device_type)) {
        let message = format!("UnifiedPush reaches channels of type android, and this one is of type {device_type}.");
        fields.at().invalid_key::<()>("android.delivery_type", message);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
struct TagsUpdate {
    /// Whether `tags` replace the present ones, as they do when this is not given.
    #[body(nullable)]
    set_tags: Option<bool>,
    #[body(length = 0..=limits::TAGS_PER_CHANNEL, read = tag_set, nullable)]
    tags: Option<BTreeSet<Tag>>,
    /// Applied after `tags`.
    #[body(nullable, default)]
    tag_changes: TagChanges,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(not_printed, keys = |fields| refuse_contradiction(fields, &add, &remove))]
struct TagChanges {
    #[body(read = tag_set, nullable, default)]
    add: BTreeSet<Tag>,
    #[body(read = tag_set, nullable, default)]
    remove: BTreeSet<Tag>,
}

fn refuse_contradiction(fields: &Fields<'_>, add: &BTreeSet<Tag>, remove: &BTreeSet<Tag>) {
    if let Some(tag) = add.intersection(remove).next() {
        let message = format!("The tag '{tag}' cannot be added and removed at once.");
        fields.at().invalid_key::<()>("remove", message);
    }
}

/// The flat tags of a channel. A bad one does not keep a device away: its list is all it wants, so that the others count. A list
/// of which nothing can be used says nothing, least of all that the tags there are should go.
pub(super) fn tag_set(at: &At<'_>) -> Option<BTreeSet<Tag>> {
    let given = at.items(0..=usize::MAX)?;
    let usable = at.most_or_passed_over(limits::TAGS_PER_CHANNEL, Tag::parse)?;
    (given.is_empty() || !usable.is_empty()).then(|| usable.into_iter().collect())
}
