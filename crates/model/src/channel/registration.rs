//! The registration of a device: the body of creating and of updating its channel.

use std::collections::BTreeSet;

use super::device_update::{DeviceUpdate, LocaleUpdate};
use super::ios::IosUpdate;
use super::web::WebUpdate;
use super::{AndroidDetails, Change, IdentityHints, Profile, name_text};
use crate::device_type::DeviceType;
use crate::ids::NamedUserId;
use crate::json::{At, Fields};
use crate::limits;
use crate::place::Sighting;
use crate::tag::Tag;

/// One registration. Keys that are not given leave the channel as it is; `null` clears a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// One of ios, android, amazon, web and wns.
    pub device_type: DeviceType,
    pub opt_in: Option<bool>,
    pub background: Change<bool>,
    pub push_address: Change<String>,
    pub alias: Change<String>,
    pub named_user_id: Change<NamedUserId>,
    /// Whether the registration was caused by a person using the app.
    pub is_activity: Option<bool>,
    pub identity_hints: IdentityHints,
    /// Where the device is, or last was.
    pub location: Option<Sighting>,
    tags: TagsUpdate,
    locale: LocaleUpdate,
    device: DeviceUpdate,
    ios: Change<IosUpdate>,
    android: Change<AndroidDetails>,
    web: Change<WebUpdate>,
}

impl Registration {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let registration = fields.required("channel", Self::parse_channel);
        let identity_hints = fields.nullable("identity_hints", IdentityHints::parse);
        fields.finish();
        Some(Self { identity_hints: identity_hints.unwrap_or_default(), ..registration? })
    }

    fn parse_channel(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let device_type = fields.required("device_type", parse_device_type);
        let opt_in = fields.optional("opt_in", At::boolean);
        let background = Change::read(&mut fields, "background", At::boolean);
        let push_address = Change::read(&mut fields, "push_address", |at| name_text(at, limits::PUSH_ADDRESS_CHARS));
        let alias = Change::read(&mut fields, "alias", |at| name_text(at, limits::ALIAS_CHARS));
        let named_user_id = Change::read(&mut fields, "named_user_id", NamedUserId::parse);
        let is_activity = fields.nullable("is_activity", At::boolean);
        let location = fields.nullable("location", Sighting::parse);
        let tags = TagsUpdate::read(&mut fields);
        let locale = LocaleUpdate::read(&mut fields);
        let device = DeviceUpdate::read(&mut fields);
        let ios = Change::read(&mut fields, "ios", IosUpdate::parse);
        let android = Change::read(&mut fields, "android", AndroidDetails::parse);
        let web = Change::read(&mut fields, "web", WebUpdate::parse);
        if let Some(device_type) = &device_type {
            refuse_details_of_others(&fields, device_type);
        }
        fields.finish();
        Some(Self {
            device_type: device_type?,
            opt_in,
            background,
            push_address,
            alias,
            named_user_id,
            is_activity,
            identity_hints: IdentityHints::default(),
            location,
            tags,
            locale,
            device,
            ios,
            android,
            web,
        })
    }

    /// The whole state of the channel after this registration. Applying it once more changes nothing.
    pub fn apply(&self, previous: Option<&Profile>) -> Profile {
        let mut profile = Profile::before_update(previous, &self.device_type);
        profile.opt_in = self.opt_in.unwrap_or(profile.opt_in);
        self.background.update(&mut profile.background);
        self.push_address.update(&mut profile.address);
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
        let TagsUpdate { set_tags, tags, add, remove } = &self.tags;
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

fn refuse_details_of_others(fields: &Fields<'_>, device_type: &DeviceType) {
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
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TagsUpdate {
    set_tags: Option<bool>,
    tags: Option<BTreeSet<Tag>>,
    add: BTreeSet<Tag>,
    remove: BTreeSet<Tag>,
}

impl TagsUpdate {
    fn read(fields: &mut Fields<'_>) -> Self {
        let set_tags = fields.nullable("set_tags", At::boolean);
        let tags = fields.nullable("tags", tag_set);
        let changes = fields.nullable("tag_changes", |at| {
            let mut fields = at.object()?;
            let add = fields.nullable("add", tag_set).unwrap_or_default();
            let remove = fields.nullable("remove", tag_set).unwrap_or_default();
            if let Some(tag) = add.intersection(&remove).next() {
                at.invalid_key::<()>("remove", format!("The tag '{tag}' cannot be added and removed at once."));
            }
            fields.finish();
            Some((add, remove))
        });
        let (add, remove) = changes.unwrap_or_default();
        Self { set_tags, tags, add, remove }
    }
}

/// The flat tags of a channel. A bad one does not keep a device away: its list is all it wants, so that the others count. A list
/// of which nothing can be used says nothing, least of all that the tags there are should go.
pub(super) fn tag_set(at: &At<'_>) -> Option<BTreeSet<Tag>> {
    let given = at.items(0..=usize::MAX)?;
    let usable = at.most_or_passed_over(limits::TAGS_PER_CHANNEL, Tag::parse)?;
    (given.is_empty() || !usable.is_empty()).then(|| usable.into_iter().collect())
}
