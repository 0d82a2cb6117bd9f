//! Events as entries of a timeline: the event as the stream shows it, after what a reader wants to know first.

use std::collections::HashMap;

use audience::block::Block;
use audience::codec;
use base::{Error, Result};
use model::device_type::DeviceType;
use model::event::{RejectionStatus, Told};
use model::ids::{AppId, ChannelId, Ordinal, PushId};
use model::payload::Push;
use model::push_outcome::PushOutcome;
use sending::stored_push;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::push_marks::{self, ResponseKind};
use store::{Tx, push_responses, pushes};

use super::Entry;
use super::person::Person;
use crate::PublicEvent;

const CONTROL_GROUP: &str = "The device is in the control group of the experiment.";

/// The first fields of an entry.
#[derive(Serialize)]
struct Head<'a> {
    at: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_id: Option<ChannelId>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    sent: Option<Sent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'static str>,
}

#[derive(Serialize)]
struct Sent {
    push_id: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    alert: Option<String>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    opened: bool,
}

/// The parts of an event that its head repeats.
#[derive(Deserialize)]
struct Seen<'a> {
    occurred: &'a str,
    #[serde(default)]
    body: SeenBody,
}

#[derive(Default, Deserialize)]
struct SeenBody {
    push_id: Option<PushId>,
    /// Of a message that was rejected.
    status: Option<RejectionStatus>,
    reason: Option<String>,
}

/// Writes entries. Each push is read once.
pub(super) struct Entries<'p> {
    app: AppId,
    person: &'p Person,
    pushes: HashMap<PushId, Option<Push>>,
}

impl<'p> Entries<'p> {
    pub(super) fn new(app: AppId, person: &'p Person) -> Self {
        Self { app, person, pushes: HashMap::new() }
    }

    pub(super) fn write(&mut self, tx: &mut Tx<'_>, event: &PublicEvent) -> Result<Entry> {
        let told = Told::by(event.kind).ok_or_else(|| Error::internal("a record that no timeline shows"))?;
        let (sent, what) = match told {
            Told::Delivered | Told::HeldBack | Told::Rejected => (Some(self.sent(tx, event, told)?), None),
            Told::Did => (None, None),
            Told::Registered => (None, Some("registered")),
            Told::Uninstalled => (None, Some("uninstalled")),
            Told::Tagged => (None, Some("tags")),
        };
        let seen: Seen<'_> = serde_json::from_slice(&event.json).map_err(Error::internal)?;
        let head = Head { at: seen.occurred, kind: told.kind().word(), channel_id: event.channel, sent, what };
        let mut json = serde_json::to_string(&head).map_err(Error::internal)?;
        // Two objects become one: the stream's bytes stay as they are.
        json.pop();
        json.push(',');
        json.push_str(std::str::from_utf8(&event.json).map_err(Error::internal)?.trim_start_matches('{'));
        Ok(Entry { offset: event.offset, json: RawValue::from_string(json).map_err(Error::internal)? })
    }

    fn sent(&mut self, tx: &mut Tx<'_>, event: &PublicEvent, told: Told) -> Result<Sent> {
        let Seen { body: SeenBody { push_id, status, reason }, .. } =
            serde_json::from_slice(&event.json).map_err(Error::internal)?;
        let (outcome, reason) = match (told, status) {
            (Told::HeldBack, _) => (PushOutcome::HeldBack, Some(CONTROL_GROUP.to_owned())),
            (Told::Rejected, Some(RejectionStatus::Uninstalled)) => (PushOutcome::Gone, None),
            (Told::Rejected, _) => (PushOutcome::Failed, reason),
            _ => (PushOutcome::Delivered, None),
        };
        let push_id = push_id.ok_or_else(|| Error::internal("a delivery without a push"))?;
        let opened = match event.ordinal {
            Some(ordinal) => has_opened(tx, self.app, push_id, ordinal)?,
            None => false,
        };
        if !self.pushes.contains_key(&push_id) {
            let row = pushes::by_id(tx, self.app, push_id)?;
            let push = row.as_ref().map(stored_push).transpose()?.flatten();
            self.pushes.insert(push_id, push);
        }
        let device_type = event.ordinal.and_then(|ordinal| self.device_type(ordinal));
        let push = self.pushes.get(&push_id).and_then(Option::as_ref);
        let alert = push.zip(device_type).and_then(|(push, device_type)| push.text_on(device_type));
        Ok(Sent { push_id, alert, outcome: outcome.name(), reason, opened })
    }

    fn device_type(&self, ordinal: Ordinal) -> Option<&'p DeviceType> {
        self.person.channel(ordinal).map(|channel| &channel.device_type)
    }
}

/// Whether a channel has responded to a push, which is a row at first and a member of a set later.
fn has_opened(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<bool> {
    if push_responses::is_counted(tx, app, push, channel)? {
        return Ok(true);
    }
    let block = u32::from(Block::of(channel).0);
    let Some(set) = push_marks::set(tx, app, push, ResponseKind::Opened, block)? else { return Ok(false) };
    Ok(codec::decode(&set).map_err(Error::internal)?.contains(channel.0))
}
