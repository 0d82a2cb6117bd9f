//! Events as entries of a timeline: the event as the stream shows it, after what a reader wants to know first.

use std::collections::{BTreeSet, HashMap, HashSet};

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
    title: Option<String>,
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

/// Writes entries, with what was read for all of them at once.
pub(super) struct Entries<'p> {
    person: &'p Person,
    pushes: HashMap<PushId, Option<Push>>,
    /// The pushes that channels have responded to.
    opened: HashSet<(PushId, Ordinal)>,
}

impl<'p> Entries<'p> {
    /// To write these events.
    pub(super) fn of(tx: &mut Tx<'_>, app: AppId, person: &'p Person, events: &[PublicEvent]) -> Result<Self> {
        let (mut ids, mut sent) = (BTreeSet::new(), Vec::new());
        for event in events.iter().filter(|event| Told::by(event.kind).is_some_and(is_about_push)) {
            let seen: Seen<'_> = serde_json::from_slice(&event.json).map_err(Error::internal)?;
            ids.extend(seen.body.push_id);
            sent.extend(seen.body.push_id.zip(event.ordinal));
        }
        let mut pushes = HashMap::new();
        for row in pushes::by_ids(tx, app, ids)? {
            pushes.insert(row.id, stored_push(&row)?);
        }
        Ok(Self { person, pushes, opened: opened(tx, app, &sent)? })
    }

    pub(super) fn write(&self, event: &PublicEvent) -> Result<Entry> {
        let told = Told::by(event.kind).ok_or_else(|| Error::internal("a record that no timeline shows"))?;
        let (sent, what) = match told {
            Told::Delivered | Told::HeldBack | Told::Rejected => (Some(self.sent(event, told)?), None),
            Told::Did => (None, None),
            Told::Registered => (None, Some("registered")),
            Told::Uninstalled => (None, Some("uninstalled")),
            Told::Tagged => (None, Some("tags")),
            Told::Attributes => (None, Some("attributes")),
            Told::Subscriptions => (None, Some("subscriptions")),
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

    fn sent(&self, event: &PublicEvent, told: Told) -> Result<Sent> {
        let Seen { body: SeenBody { push_id, status, reason }, .. } =
            serde_json::from_slice(&event.json).map_err(Error::internal)?;
        let (outcome, reason) = match (told, status) {
            (Told::HeldBack, _) => (PushOutcome::HeldBack, Some(CONTROL_GROUP.to_owned())),
            (Told::Rejected, Some(RejectionStatus::Uninstalled)) => (PushOutcome::Gone, None),
            (Told::Rejected, _) => (PushOutcome::Failed, reason),
            _ => (PushOutcome::Delivered, None),
        };
        let push_id = push_id.ok_or_else(|| Error::internal("a delivery without a push"))?;
        let opened = event.ordinal.is_some_and(|ordinal| self.opened.contains(&(push_id, ordinal)));
        let device_type = event.ordinal.and_then(|ordinal| self.device_type(ordinal));
        let push = self.pushes.get(&push_id).and_then(Option::as_ref);
        let alert = push.zip(device_type).and_then(|(push, device_type)| push.text_on(device_type));
        let title = push.and_then(|push| push.name.clone().or_else(|| push.shown_texts().title));
        Ok(Sent { push_id, title, alert, outcome: outcome.name(), reason, opened })
    }

    fn device_type(&self, ordinal: Ordinal) -> Option<&'p DeviceType> {
        self.person.channel(ordinal).map(|channel| &channel.device_type)
    }
}

fn is_about_push(told: Told) -> bool {
    match told {
        Told::Delivered | Told::HeldBack | Told::Rejected => true,
        Told::Did | Told::Registered | Told::Uninstalled | Told::Tagged | Told::Attributes | Told::Subscriptions => {
            false
        }
    }
}

/// The channels that have responded to pushes, each of which is a row at first and a member of a set later.
fn opened(tx: &mut Tx<'_>, app: AppId, sent: &[(PushId, Ordinal)]) -> Result<HashSet<(PushId, Ordinal)>> {
    let mut opened: HashSet<_> = push_responses::counted(tx, app, sent)?.into_iter().collect();
    let block = |ordinal: Ordinal| u32::from(Block::of(ordinal).0);
    let blocks: BTreeSet<(PushId, u32)> = sent.iter().map(|(push, ordinal)| (*push, block(*ordinal))).collect();
    for (push, number, set) in push_marks::sets_of_blocks(tx, app, ResponseKind::Opened, blocks)? {
        let set = codec::decode(&set).map_err(Error::internal)?;
        let of_set = sent.iter().filter(|(of, ordinal)| (*of, block(*ordinal)) == (push, number));
        opened.extend(of_set.filter(|(_, ordinal)| set.contains(ordinal.0)));
    }
    Ok(opened)
}
