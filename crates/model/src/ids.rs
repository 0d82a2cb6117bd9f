//! Ids, each of its own type so that one cannot be passed for another.

mod message_id;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::json::body::Read;
use crate::json::{At, schema};
use crate::limits;
use crate::time::UtcMillis;

pub use message_id::{MessageId, NoMessageId};

/// A UUID that names one kind of thing.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id<Kind>(Uuid, #[serde(skip)] PhantomData<fn() -> Kind>);

pub enum ChannelKind {}
pub enum PushKind {}
pub enum OperationKind {}
pub enum DeliveryKind {}
pub enum EventKind {}
pub enum SessionKind {}
pub enum SegmentKind {}
pub enum ScheduleKind {}
pub enum DraftKind {}
pub enum ExperimentKind {}
pub enum PipelineKind {}
pub enum ContactKind {}
pub enum WebhookKind {}
pub enum PrivacyKind {}
pub enum AccountKind {}
pub enum SignInKind {}
pub enum ServerTokenKind {}
pub enum BulkKind {}
pub enum JourneyKind {}
pub enum EntranceKind {}

/// One installation of an app on a device, or one address of an open platform.
pub type ChannelId = Id<ChannelKind>;
/// One accepted push.
pub type PushId = Id<PushKind>;
/// One request that changed something.
pub type OperationId = Id<OperationKind>;
/// One push on its way to one channel. The same whenever it is attempted again, so that receivers can drop repeats.
pub type DeliveryId = Id<DeliveryKind>;
/// One entry of an app's event stream.
pub type EventId = Id<EventKind>;
/// One time that an app is used, from opening to closing it.
pub type SessionId = Id<SessionKind>;
/// One stored audience.
pub type SegmentId = Id<SegmentKind>;
/// One push that is to be sent later, once or over and over.
pub type ScheduleId = Id<ScheduleKind>;
/// One message that is being written.
pub type DraftId = Id<DraftKind>;
/// One test of several variants of a push.
pub type ExperimentId = Id<ExperimentKind>;
/// One automated message.
pub type PipelineId = Id<PipelineKind>;
/// One person as devices know them: a named user, or the unknown user of a channel without a named user.
pub type ContactId = Id<ContactKind>;
/// One destination that events are forwarded to.
pub type WebhookId = Id<WebhookKind>;
/// One request to export or erase a person.
pub type PrivacyId = Id<PrivacyKind>;
/// One person who uses the console.
pub type AccountId = Id<AccountKind>;
/// One time that a person has logged in to the console, until the person logs out.
pub type SignInId = Id<SignInKind>;
/// One token or OAuth client of a server of an app.
pub type ServerTokenId = Id<ServerTokenKind>;
/// One uploaded file of recipients.
pub type BulkId = Id<BulkKind>;
/// One journey that servers let channels enter.
pub type JourneyId = Id<JourneyKind>;
/// One entrance of one journey.
pub type EntranceId = Id<EntranceKind>;

impl<Kind> Id<Kind> {
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    #[expect(clippy::disallowed_methods, reason = "random ids are made here and nowhere else")]
    pub fn random() -> Self {
        Self::from_uuid(Uuid::new_v4())
    }

    /// An id that sorts by the time it was made.
    #[expect(clippy::disallowed_methods, reason = "ids with a time are made here, of the time that the caller has")]
    pub fn at(now: UtcMillis) -> Self {
        let millis = u64::try_from(now.0).unwrap_or(0);
        let (seconds, nanos) = (millis / 1000, u32::try_from(millis % 1000).unwrap_or(0) * 1_000_000);
        Self::from_uuid(Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos)))
    }

    /// An id that no id made at this time or later comes before.
    pub fn first_at(instant: UtcMillis) -> Self {
        let millis = u128::try_from(instant.0).unwrap_or(0);
        // Such ids begin with 48 bits of time.
        Self::from_uuid(Uuid::from_u128(millis << 80))
    }

    /// When an id made by [`Id::at`] was made.
    pub fn time(&self) -> Option<UtcMillis> {
        let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
        let millis = i64::try_from(seconds).ok()?.checked_mul(1000)?;
        Some(UtcMillis(millis + i64::from(nanos / 1_000_000)))
    }

    /// The one textual form of the API: 32 hexadecimal digits with four hyphens, in either case.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        match text.parse() {
            Ok(id) if text.len() == uuid::fmt::Hyphenated::LENGTH => Some(id),
            _ => at.invalid("This must be a UUID, such as 9c36e8c7-5a73-47c0-9716-99fd3d4197d5."),
        }
    }

    pub const fn uuid(&self) -> Uuid {
        self.0
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl DeliveryId {
    pub fn of(push: PushId, channel: ChannelId) -> Self {
        Self::from_uuid(Uuid::new_v5(&push.uuid(), channel.as_bytes()))
    }
}

impl SessionId {
    /// From the text by which a device names a session, which is almost always a UUID.
    pub fn of(text: &str) -> Self {
        text.parse().unwrap_or_else(|_| Self::from_uuid(Uuid::new_v5(&Uuid::nil(), text.as_bytes())))
    }
}

impl EventId {
    /// For the effect of a push on a channel: the same however often it is reported.
    pub fn of(kind: &str, push: PushId, channel: ChannelId) -> Self {
        let name = [kind.as_bytes(), channel.as_bytes()].concat();
        Self::from_uuid(Uuid::new_v5(&push.uuid(), &name))
    }

    /// For the same event at one of the channels that it concerns.
    pub fn on(self, channel: ChannelId) -> Self {
        Self::from_uuid(Uuid::new_v5(&self.uuid(), channel.as_bytes()))
    }
}

impl ContactId {
    /// The unknown user of a channel. Such an id does not have to be stored.
    pub const fn of_channel(channel: ChannelId) -> Self {
        Self::from_uuid(channel.uuid())
    }

    /// From a digest or random bytes, which cannot be computed from the user's own id alone.
    pub fn of_named_user(bytes: &[u8; 16]) -> Self {
        // The version tells such ids from those of channels.
        Self::from_uuid(uuid::Builder::from_sha1_bytes(*bytes).into_uuid())
    }

    /// The id of a named user that one device is told.
    pub fn random_of_named_user() -> Self {
        Self::of_named_user(Self::random().uuid().as_bytes())
    }

    /// Whether the id belongs to a named user. This tells both kinds apart, since devices can choose the ids of their channels.
    pub fn is_of_named_user(&self) -> bool {
        self.0.get_version() == Some(uuid::Version::Sha1)
    }
}

impl<Kind> Read for Id<Kind> {
    fn read(at: &At<'_>) -> Option<Self> {
        Self::parse(at)
    }
}

impl<Kind> JsonSchema for Id<Kind> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "uuid"})
    }
}

impl<Kind> Clone for Id<Kind> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Kind> Copy for Id<Kind> {}
impl<Kind> PartialEq for Id<Kind> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<Kind> Eq for Id<Kind> {}
impl<Kind> PartialOrd for Id<Kind> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<Kind> Ord for Id<Kind> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<Kind> std::hash::Hash for Id<Kind> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<Kind> fmt::Debug for Id<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<Kind> fmt::Display for Id<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<Kind> FromStr for Id<Kind> {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self::from_uuid)
    }
}

/// The number of an app inside one installation of the service. It is the first column of every key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AppId(pub i64);

/// The dense number of a channel within its app. Never given to another channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ordinal(pub u32);

/// The number of a term (a tag in a group, a device property, …) within its app. Never given to another term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TermId(pub u32);

/// The number of a Message Center message within its app. Never given to another message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageNumber(pub u32);

/// A position in an app's log. The first record is at 1; 0 means "before everything".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Offset(pub i64);

/// A customer's own id for a person: 1 to 128 characters, no white space at either end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Read)]
#[body(schema = schema::text(1..=limits::NAMED_USER_ID_CHARS))]
pub struct NamedUserId(String);

impl NamedUserId {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        if !(1..=limits::NAMED_USER_ID_CHARS).contains(&text.chars().count()) {
            return Err("A named user id has 1 to 128 characters.");
        }
        if text.trim() != text {
            return Err("A named user id must not begin or end with white space.");
        }
        if text.contains(char::is_control) {
            return Err("A named user id must not contain control characters.");
        }
        Ok(Self(text.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
