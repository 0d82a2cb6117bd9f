//! What a server imports, line by line: a channel with what else another service knew of it, or what a named user holds itself.

mod user;

use std::collections::{BTreeMap, BTreeSet};

use super::open::OpenChannel;
use super::tag_operation::held_tags;
use super::{Change, OpenRegistration, Profile, Registration, TagSets};
use crate::attribute::{AttributeKey, AttributeValue};
use crate::device_type::DeviceType;
use crate::ids::{ChannelId, NamedUserId};
use crate::json::{At, Fields};
use crate::limits;
use crate::place::Sighting;
use crate::subscription::SubscriptionListId;
use crate::tag::Tag;

pub use user::ImportedUser;

/// One line of an import.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportedLine {
    Channel(Box<ImportedChannel>),
    /// Under the key `named_user`.
    NamedUser(Box<ImportedUser>),
}

/// A channel to import. Keys that are not given leave it as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedChannel {
    /// The id that the channel has, or is to have.
    pub id: Option<ChannelId>,
    registration: Kind,
    named_user_id: Change<NamedUserId>,
    /// They replace the tags of their groups.
    pub tag_groups: TagSets,
    /// They replace those of the same names.
    pub attributes: BTreeMap<AttributeKey, AttributeValue>,
    /// They come to those that there are.
    pub subscription_lists: BTreeSet<SubscriptionListId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Device(Box<Registration>),
    Open(Box<OpenRegistration>),
}

impl ImportedLine {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        if !fields.has("named_user") {
            return ImportedChannel::read(at, fields).map(|channel| Self::Channel(Box::new(channel)));
        }
        let user = fields.required("named_user", ImportedUser::parse);
        fields.finish();
        user.map(|user| Self::NamedUser(Box::new(user)))
    }
}

impl ImportedChannel {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::read(at, at.object()?)
    }

    fn read(at: &At<'_>, mut fields: Fields<'_>) -> Option<Self> {
        let tag_groups = fields.nullable("tag_groups", held_tags);
        let attributes = fields.nullable("attributes", attributes);
        let subscription_lists = fields.nullable("subscription_lists", |at| {
            at.array(0..=limits::SUBSCRIPTIONS_PER_OWNER, SubscriptionListId::parse)
        });
        let read = if fields.has("open") { read_open(&mut fields) } else { read_device(&mut fields) };
        fields.finish();
        let (id, registration, named_user_id) = read?;
        let channel = Self {
            id,
            registration,
            named_user_id,
            tag_groups: tag_groups.unwrap_or_default(),
            attributes: attributes.unwrap_or_default(),
            subscription_lists: subscription_lists.unwrap_or_default().into_iter().collect(),
        };
        channel.checked(at)
    }

    /// A channel that can be found again. Without that, repeating an import would make another one.
    fn checked(self, at: &At<'_>) -> Option<Self> {
        if self.id.is_some() || self.address().is_some() {
            return Some(self);
        }
        at.invalid("One of 'channel_id' and 'push_address' must be given, by which the channel is found when this is repeated.")
    }

    pub fn device_type(&self) -> DeviceType {
        match &self.registration {
            Kind::Device(device) => device.device_type.clone(),
            Kind::Open(open) => DeviceType::Open(open.platform.clone()),
        }
    }

    /// Where the channel is reached, if that is said.
    pub fn address(&self) -> Option<&str> {
        match &self.registration {
            Kind::Device(device) => device.push_address.given().map(String::as_str),
            Kind::Open(open) => open.address.as_deref(),
        }
    }

    /// The registration of a device; `None` for a channel of an open platform.
    pub fn device(&self) -> Option<&Registration> {
        match &self.registration {
            Kind::Device(device) => Some(device),
            Kind::Open(_) => None,
        }
    }

    pub fn named_user(&self) -> &Change<NamedUserId> {
        &self.named_user_id
    }

    pub fn location(&self) -> Option<Sighting> {
        self.device().and_then(|device| device.location)
    }

    /// The whole state of the channel afterwards. Applying it once more changes nothing.
    pub fn apply(&self, previous: Option<&Profile>) -> Profile {
        match &self.registration {
            Kind::Device(device) => device.apply(previous),
            Kind::Open(open) => open.apply(previous),
        }
    }

    /// The flat tags of the channel afterwards.
    pub fn device_tags(&self, current: &BTreeSet<Tag>) -> BTreeSet<Tag> {
        match &self.registration {
            Kind::Device(device) => device.device_tags(current),
            Kind::Open(open) => open.device_tags(current),
        }
    }
}

type Parts = (Option<ChannelId>, Kind, Change<NamedUserId>);

fn read_device(fields: &mut Fields<'_>) -> Option<Parts> {
    let id = fields.nullable("channel_id", ChannelId::parse);
    let device = Registration::read_fields(fields)?;
    let named_user_id = device.named_user_id.clone();
    Some((id, Kind::Device(Box::new(device)), named_user_id))
}

/// Lookups call the device type `open`, and may be sent back.
fn read_open(fields: &mut Fields<'_>) -> Option<Parts> {
    fields.nullable("device_type", |at| at.choice(&[("open", ())]));
    let named_user_id = Change::read(fields, "named_user_id", NamedUserId::parse);
    let open = OpenRegistration::from(OpenChannel::read_fields(fields)?);
    Some((open.channel_id, Kind::Open(Box::new(open)), named_user_id))
}

fn attributes(at: &At<'_>) -> Option<BTreeMap<AttributeKey, AttributeValue>> {
    let mut fields = at.object()?;
    let read = fields.rest().into_iter().map(|(name, at)| {
        let key = AttributeKey::new(name).or_else(|message| at.invalid(message).ok_or(())).ok();
        let value = AttributeValue::parse_of(&at, key.as_ref());
        Some((key?, value?))
    });
    let read: Option<BTreeMap<_, _>> = read.collect::<Vec<_>>().into_iter().collect();
    let most = limits::ATTRIBUTES_PER_OWNER;
    match read {
        Some(read) if read.len() > most => {
            at.invalid(format!("A channel or named user has at most {most} attributes."))
        }
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn parsed(line: &str) -> Result<ImportedChannel, Vec<(String, String)>> {
        json::parse(line.as_bytes(), ImportedChannel::parse)
            .map_err(|problems| problems.iter().map(|one| (one.path.clone(), one.message.clone())).collect())
    }

    #[test]
    fn a_line_is_a_registration_with_more() {
        let channel = parsed(
            r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios","opt_in":true,"push_address":"AB",
                "named_user_id":"kim","tags":["a"],"tag_groups":{"loyalty":["gold"]},"attributes":{"age":7,"cart#1":{"n":1}},
                "subscription_lists":["weekly"],"timezone":"Europe/Berlin"}"#,
        )
        .unwrap();
        assert_eq!((channel.address(), channel.device_type()), (Some("AB"), DeviceType::Ios));
        assert_eq!(channel.named_user().given().map(NamedUserId::as_str), Some("kim"));
        assert_eq!((channel.tag_groups.len(), channel.attributes.len(), channel.subscription_lists.len()), (1, 2, 1));
        assert_eq!(channel.apply(None).timezone.as_deref(), Some("Europe/Berlin"));
        let open = parsed(
            r#"{"device_type":"open","type":"open","opt_in":true,"address":"7","named_user_id":"kim",
                "open":{"open_platform_name":"kiosk","identifiers":{"a":"b"}}}"#,
        )
        .unwrap();
        assert_eq!((open.address(), open.device_type().to_string()), (Some("7"), "open::kiosk".to_owned()));
        assert!(open.device().is_none());
    }

    #[test]
    fn a_line_may_be_about_what_a_user_holds() {
        let parsed = |line: &str| {
            json::parse(line.as_bytes(), ImportedLine::parse)
                .map_err(|problems| problems.iter().map(|one| one.path.clone()).collect::<Vec<_>>())
        };
        assert!(matches!(parsed(r#"{"device_type":"ios","push_address":"AB"}"#), Ok(ImportedLine::Channel(_))));
        let line = r#"{"named_user":{"named_user_id":"kim","tags":{"crm":["vip"]},"attributes":{"age":7},
            "subscription_lists":[{"scope":"app","list_ids":["weekly","daily"]},{"scope":"app","list_ids":["new"]}]}}"#;
        let Ok(ImportedLine::NamedUser(user)) = parsed(line) else { panic!("{line}") };
        assert_eq!((user.id.as_str(), user.tags.len(), user.attributes.len()), ("kim", 1, 1));
        assert_eq!(user.subscriptions.values().map(BTreeSet::len).collect::<Vec<_>>(), [3]);
        for (line, path) in [
            (r#"{"named_user":{}}"#, "named_user.named_user_id"),
            (r#"{"named_user":{"named_user_id":"kim"},"device_type":"ios"}"#, "device_type"),
            (r#"{"named_user":{"named_user_id":"kim","channels":[]}}"#, "named_user.channels"),
            (r#"{"named_user":{"named_user_id":"kim","tags":{"timezone":["UTC"]}}}"#, "named_user.tags.timezone"),
            (r#"{"named_user":{"named_user_id":"kim","attributes":{"a":null}}}"#, "named_user.attributes.a"),
            (
                r#"{"named_user":{"named_user_id":"kim","subscription_lists":[{"scope":"tv","list_ids":[]}]}}"#,
                "named_user.subscription_lists[0].scope",
            ),
        ] {
            let problems = parsed(line).expect_err(line);
            assert!(problems[0].starts_with(path), "{line}: {problems:?}");
        }
    }

    #[test]
    fn what_cannot_be_imported_is_said_with_its_path() {
        for (line, path) in [
            (r#"{"device_type":"ios","opt_in":true}"#, ""),
            (r#"{"device_type":"ios","push_address":"AB","opt_in":"yes"}"#, "opt_in"),
            (r#"{"device_type":"ios","push_address":"AB","channel_id":"x"}"#, "channel_id"),
            (r#"{"device_type":"ios","push_address":"AB","colour":"red"}"#, "colour"),
            (r#"{"device_type":"ios","push_address":"AB","tag_groups":{"timezone":["UTC"]}}"#, "tag_groups.timezone"),
            (r#"{"device_type":"ios","push_address":"AB","tag_groups":{"a":[7]}}"#, "tag_groups.a"),
            (r#"{"device_type":"ios","push_address":"AB","attributes":{"a":null}}"#, "attributes.a"),
            (r#"{"device_type":"ios","push_address":"AB","attributes":{"a#b":7}}"#, "attributes.a#b"),
            (r#"{"device_type":"ios","push_address":"AB","subscription_lists":[""]}"#, "subscription_lists[0]"),
            (r#"{"device_type":"email","push_address":"AB"}"#, "device_type"),
            (r#"{"type":"open","opt_in":true,"open":{"open_platform_name":"kiosk"}}"#, "address"),
        ] {
            let problems = parsed(line).expect_err(line);
            assert!(problems[0].0.starts_with(path), "{line}: {problems:?}");
        }
    }
}
