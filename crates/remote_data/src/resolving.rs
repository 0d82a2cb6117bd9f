//! Questions of devices about messages and flags: whether they are meant, which the audience index answers, and what to show, with
//! what is known of the device in its texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use model::ids::{ChannelId, SegmentId};
use model::json::{self, OneOrMany};
use model::remote_data::{AudienceCheck, DataPlatform, FlagId, InAppMessageId, Overrides, Resolving};
use model::selector::{Atomic, Selector};
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tenancy::App;

use crate::documents::is_personalized;
use crate::personal::PersonalMessage;
use crate::served::{DeviceLocale, Reader, shown};
use crate::snapshot::Snapshot;
use crate::{ItemKind, RemoteData};

const NEEDS_TOKEN: &str =
    "The texts of this message tell what is known of a channel; ask with the token of the channel.";

/// Whether a device is meant by a message, and the message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResolvedMessage {
    pub audience_match: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Value>,
}

/// Whether a flag is on for a device, and its values.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResolvedFlag {
    pub is_eligible: bool,
    pub reporting_metadata: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Value>,
}

/// A message that is meant for the channel that asks, before its texts are put together.
pub struct DueMessage(Due);

enum Due {
    /// The same for all devices of a kind.
    Same {
        snapshot: Arc<Snapshot>,
        id: String,
        reader: Reader,
    },
    Personal {
        message: Arc<PersonalMessage>,
        values: BTreeMap<String, Value>,
        now: UtcMillis,
    },
}

/// The channel that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// With a token of its own, or a server asks for it.
    Proven(ChannelId),
    /// Every copy of the app could say so.
    Claimed(ChannelId),
}

impl ResolvedMessage {
    pub const fn not_meant() -> Self {
        Self { audience_match: false, message: None, actions: None }
    }
}

impl DueMessage {
    /// Takes a while if the message is long, so it is not for threads that answer requests.
    pub fn resolved(self) -> ResolvedMessage {
        match self.0 {
            Due::Same { snapshot, id, reader } => {
                let stored = Snapshot::find(&snapshot.messages, &id);
                let message = stored.and_then(|stored| shown(stored, &reader));
                let actions = stored.and_then(|stored| stored.body.get("actions").cloned());
                ResolvedMessage { audience_match: true, message, actions }
            }
            // A device that is told that it is meant, and no message, would ask again and again.
            Due::Personal { message, values, now } => {
                message.filled(&values, now).unwrap_or_else(ResolvedMessage::not_meant)
            }
        }
    }
}

#[boxed]
impl RemoteData {
    /// The message for a channel, unless it is not meant. The texts of a message tell what is known of the channel, which is for
    /// nobody but it.
    pub async fn due_message(
        &self,
        app: &Arc<App>,
        id: InAppMessageId,
        asker: Asker,
        resolving: Resolving,
    ) -> Result<Option<DueMessage>> {
        let snapshot = self.snapshot(app).await?;
        let id = id.to_string();
        let stored = Snapshot::find(&snapshot.messages, &id).ok_or(ItemKind::Message.not_found())?;
        let (audience, is_personalized) = (audience(&stored.body)?, is_personalized(&stored.body));
        if audience.is_none() && !is_personalized {
            return Err(out_of_date());
        }
        let channel = match asker {
            Asker::Claimed(_) if is_personalized => return Err(Error::Forbidden(NEEDS_TOKEN.to_owned())),
            Asker::Proven(channel) | Asker::Claimed(channel) => channel,
        };
        let (overrides, properties) = (resolving.overrides(), resolving.event_properties());
        let meant = self.0.targeting.first_of(app.id, vec![audience], channel, overrides.clone()).await?;
        if meant.is_none() {
            return Ok(None);
        }
        let state = resolving.state_overrides.unwrap_or_default();
        let platform = resolving.platform.as_deref().and_then(DataPlatform::from_word).unwrap_or(DataPlatform::Ios);
        let locale = DeviceLocale { language: state.locale_language, country: state.locale_country };
        let locale = snapshot.relevant_locale(locale);
        let reader = Reader::new(platform, state.sdk_version.as_deref(), locale);
        if !is_personalized {
            return Ok(Some(DueMessage(Due::Same { snapshot, id, reader })));
        }
        let message = self.personal_message(app.id, &snapshot, &(id, reader)).await?;
        let mut values = self.0.sending.values_of_channel(app.id, channel, message.names().clone(), overrides).await?;
        values.extend(properties);
        Ok(Some(DueMessage(Due::Personal { message, values, now: self.0.clock.now() })))
    }

    pub async fn resolve_flag(
        &self,
        app: &Arc<App>,
        id: FlagId,
        channel: ChannelId,
        overrides: Overrides,
    ) -> Result<ResolvedFlag> {
        let (snapshot, id) = (self.snapshot(app).await?, id.to_string());
        let stored = Snapshot::find(&snapshot.flags, &id).ok_or(ItemKind::Flag.not_found())?;
        let own = audience(&stored.body)?.ok_or_else(out_of_date)?;
        let is_eligible = self.0.targeting.is_member(app.id, own, channel, overrides.clone()).await?;
        let off = ResolvedFlag { is_eligible, reporting_metadata: json!({"flag_id": id}), variables: None };
        if !is_eligible {
            return Ok(off);
        }
        let fixed =
            |data: Option<&Value>| Some(json!({"type": "fixed", "data": data.cloned().unwrap_or_else(|| json!({}))}));
        let Some(variables) = stored.body.get("variables") else { return Ok(off) };
        if variables["type"] == "fixed" {
            return Ok(ResolvedFlag { variables: fixed(variables.get("data")), ..off });
        }
        let variants: Vec<&Map<String, Value>> =
            variables["variants"].as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        let audiences = variants.iter().map(|variant| audience(variant)).collect::<Result<_>>()?;
        let meant = self.0.targeting.first_of(app.id, audiences, channel, overrides).await?;
        let Some(variant) = meant.and_then(|n| variants.get(n)) else { return Ok(off) };
        let reporting_metadata = json!({"flag_id": id, "variant_id": variant.get("id")});
        Ok(ResolvedFlag { is_eligible, reporting_metadata, variables: fixed(variant.get("data")) })
    }

    /// Whether a device may show a message, by the context that the message gives it.
    pub async fn check_audience(&self, app: &Arc<App>, check: AudienceCheck) -> Result<bool> {
        let context = check.context.unwrap_or_default();
        let named = |key: &str| context.get(key).and_then(Value::as_str);
        let audience = if let Some(id) = named("in_app_message_id") {
            let snapshot = self.snapshot(app).await?;
            match Snapshot::find(&snapshot.messages, id).map(|stored| audience(&stored.body)).transpose()? {
                Some(audience) => audience,
                None => return Ok(false),
            }
        } else if let Some(id) = named("segment_id") {
            let Ok(id) = id.parse::<SegmentId>() else { return Ok(false) };
            Some(Selector::Atomic(Atomic::Segment(OneOrMany::One(id))))
        } else {
            None
        };
        match audience {
            Some(audience) => {
                self.0.targeting.is_member(app.id, audience, check.channel_id, Overrides::default()).await
            }
            None => Ok(true),
        }
    }
}

/// Refuses a message or a flag that has an audience which this version cannot read.
pub(crate) fn refuse_unreadable_audiences(body: &Map<String, Value>) -> Result<()> {
    audience(body)?;
    let variants = body.get("variables").and_then(|variables| variables.get("variants")).and_then(Value::as_array);
    let mut variants = variants.into_iter().flatten().filter_map(Value::as_object);
    variants.try_for_each(|variant| audience(variant).map(drop))
}

/// The audience that the service evaluates, which was checked when it was stored.
fn audience(body: &Map<String, Value>) -> Result<Option<Selector>> {
    let text = body.get("server_audience").map(Value::to_string);
    text.map(|text| json::parse(text.as_bytes(), Selector::parse).map_err(Error::internal)).transpose()
}

/// The device has an older version; it downloads the data again.
fn out_of_date() -> Error {
    Error::Conflict(
        "Devices decide about this by themselves since it was changed; get the remote data again.".to_owned(),
    )
}
