//! Answers as the device libraries of version 20 read them, Android's 20.10 and Apple's 20.6 at once: a key that one of them
//! demands has to be there, and of the type that it demands. What neither of them reads is passed over.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// A date that both read: seconds, without a fraction and without a zone.
#[derive(Debug, PartialEq)]
pub(in crate::sdk) struct Date(pub(in crate::sdk) String);

/// A date of a holdout group, of which Apple's library demands milliseconds.
#[derive(Debug)]
pub(in crate::sdk) struct MillisDate;

/// An address to which paths are appended, so there is no slash at its end.
#[derive(Debug, PartialEq)]
pub(in crate::sdk) struct BaseUrl(pub(in crate::sdk) String);

fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = has_shape(&text, "0000-00-00T00:00:00");
        if fits { Ok(Self(text)) } else { Err(D::Error::custom(format!("the date {text}"))) }
    }
}

impl<'de> Deserialize<'de> for MillisDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = has_shape(&text, "0000-00-00T00:00:00.000");
        if fits { Ok(Self) } else { Err(D::Error::custom(format!("the date {text}"))) }
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = text.starts_with("http") && !text.ends_with('/');
        if fits { Ok(Self(text)) } else { Err(D::Error::custom(format!("the address {text}"))) }
    }
}

/// One payload that cannot be read fails all of them.
#[derive(Deserialize)]
pub(in crate::sdk) struct RemoteData {
    pub(in crate::sdk) payloads: Vec<Payload>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Payload {
    #[serde(rename = "type")]
    pub(in crate::sdk) kind: String,
    #[serde(rename = "timestamp")]
    _timestamp: Date,
    pub(in crate::sdk) data: Map<String, Value>,
}

impl RemoteData {
    /// What is in the payload of a type.
    pub(in crate::sdk) fn read<T: for<'de> Deserialize<'de>>(&self, kind: &str) -> T {
        let found = self.payloads.iter().find(|payload| payload.kind == kind);
        let data = Value::Object(found.unwrap_or_else(|| panic!("there is no {kind}")).data.clone());
        T::deserialize(&data).unwrap_or_else(|error| panic!("{kind}: {error} in {data:#}"))
    }
}

/// Without the first three a library does nothing at all.
#[derive(Deserialize)]
pub(in crate::sdk) struct AppConfig {
    pub(in crate::sdk) airship_config: Addresses,
    pub(in crate::sdk) fetch_contact_remote_data: Option<bool>,
    #[serde(rename = "remote_data_refresh_interval")]
    _refresh_millis: Option<u64>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Addresses {
    pub(in crate::sdk) device_api_url: BaseUrl,
    pub(in crate::sdk) analytics_url: BaseUrl,
    pub(in crate::sdk) remote_data_url: BaseUrl,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct ChannelMade {
    pub(in crate::sdk) channel_id: String,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct ChannelToken {
    pub(in crate::sdk) token: String,
    /// Milliseconds.
    pub(in crate::sdk) expires_in: u64,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Identity {
    pub(in crate::sdk) contact: Contact,
    pub(in crate::sdk) token: String,
    /// Milliseconds.
    pub(in crate::sdk) token_expires_in: u64,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Contact {
    pub(in crate::sdk) contact_id: String,
    pub(in crate::sdk) is_anonymous: bool,
    #[serde(rename = "channel_association_timestamp")]
    _since: Date,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct InboxUser {
    pub(in crate::sdk) user_id: String,
    pub(in crate::sdk) password: String,
}

/// One message that cannot be read fails the whole list.
#[derive(Deserialize)]
pub(in crate::sdk) struct Inbox {
    pub(in crate::sdk) messages: Vec<InboxMessage>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct InboxMessage {
    pub(in crate::sdk) message_id: String,
    pub(in crate::sdk) message_url: String,
    pub(in crate::sdk) message_body_url: String,
    #[serde(rename = "message_read_url")]
    _read_url: String,
    #[serde(rename = "message_sent")]
    _sent: Date,
    #[serde(rename = "message_expiry")]
    pub(in crate::sdk) expiry: Option<Date>,
    pub(in crate::sdk) title: String,
    pub(in crate::sdk) unread: bool,
    pub(in crate::sdk) extra: BTreeMap<String, String>,
    /// Sent back as it is.
    pub(in crate::sdk) message_reporting: Map<String, Value>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct ChannelLists {
    pub(in crate::sdk) list_ids: Vec<String>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct ContactLists {
    pub(in crate::sdk) subscription_lists: Vec<ScopedLists>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(in crate::sdk) struct ScopedLists {
    pub(in crate::sdk) scope: Scope,
    pub(in crate::sdk) list_ids: Vec<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::sdk) enum Scope {
    App,
    Web,
    Email,
    Sms,
}

/// Email addresses and telephone numbers of a contact.
#[derive(Deserialize)]
pub(in crate::sdk) struct AssociatedChannels {
    pub(in crate::sdk) channels: Vec<Value>,
}

/// One item that cannot be read fails its form.
#[derive(Deserialize)]
pub(in crate::sdk) struct PreferenceForms {
    pub(in crate::sdk) preference_forms: Vec<SavedForm>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct SavedForm {
    pub(in crate::sdk) form: Form,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Form {
    pub(in crate::sdk) id: String,
    pub(in crate::sdk) sections: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::sdk) enum Section {
    Section {
        #[serde(rename = "id")]
        _id: String,
        items: Vec<Item>,
        #[serde(default, rename = "conditions")]
        _conditions: Vec<Condition>,
    },
    LabeledSectionBreak {
        #[serde(rename = "id")]
        _id: String,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::sdk) enum Item {
    ChannelSubscription { id: String, subscription_id: String },
    ContactSubscription { id: String, subscription_id: String, scopes: Vec<Scope> },
    ContactSubscriptionGroup { id: String, subscription_id: String, components: Vec<Component> },
    Alert { id: String, button: Option<AlertButton> },
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Component {
    pub(in crate::sdk) scopes: Vec<Scope>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct AlertButton {
    #[serde(rename = "text")]
    _text: String,
    #[serde(rename = "actions")]
    _actions: Map<String, Value>,
}

/// Apple's library knows no other.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::sdk) enum Condition {
    NotificationOptIn {
        #[serde(rename = "when_status")]
        _status: OptInStatus,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::sdk) enum OptInStatus {
    OptIn,
    OptOut,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Flags {
    pub(in crate::sdk) feature_flags: Vec<Flag>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Flag {
    pub(in crate::sdk) flag_id: String,
    #[serde(rename = "created")]
    _created: Date,
    #[serde(rename = "last_updated")]
    _updated: Date,
    pub(in crate::sdk) flag: FlagContent,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct FlagContent {
    pub(in crate::sdk) name: String,
    #[serde(rename = "type")]
    _kind: FlagKind,
    pub(in crate::sdk) reporting_metadata: Map<String, Value>,
    pub(in crate::sdk) variables: Option<FlagVariables>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FlagKind {
    Static,
    Deferred,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::sdk) enum FlagVariables {
    Fixed {
        #[serde(rename = "data")]
        _data: Option<Map<String, Value>>,
    },
    Variant {
        variants: Vec<Variant>,
    },
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Variant {
    pub(in crate::sdk) id: String,
    #[serde(rename = "reporting_metadata")]
    _metadata: Map<String, Value>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Holdouts {
    pub(in crate::sdk) experiments: Vec<Holdout>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Holdout {
    pub(in crate::sdk) experiment_id: String,
    #[serde(rename = "created")]
    _created: MillisDate,
    #[serde(rename = "last_updated")]
    _updated: MillisDate,
    #[serde(rename = "experiment_definition")]
    _definition: HoldoutDefinition,
}

#[derive(Deserialize)]
struct HoldoutDefinition {
    #[serde(rename = "experiment_type")]
    _kind: HoldoutKind,
    #[serde(rename = "type")]
    _resolution: FlagKind,
    #[serde(rename = "reporting_metadata")]
    _metadata: Map<String, Value>,
    #[serde(rename = "audience_selector")]
    _audience: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum HoldoutKind {
    Holdout,
}
