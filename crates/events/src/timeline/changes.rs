//! Changes of channels that no event tells of: whose a channel is, whether it opted in, and what else events show of it. They
//! follow from what the channel looked like before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{Error, Result};
use model::channel::Profile;
use model::event::{EventDevice, EventOffset, Face, RecordKind, TimelineKind};
use model::ids::{AppId, ChannelId, NamedUserId, Offset, Ordinal};
use model::term::TermsRecord;
use model::time::UtcMillis;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use store::Tx;
use store::faces::{self, EndedFace};
use store::log::{self, Record};

use super::Entry;
use super::person::{Person, PersonChannel};

/// The index of a change, as the offset of its entry has it: after all events of the record that it follows.
const FIRST_INDEX: u32 = 1 << 16;
/// Records that are read at once.
const PORTION: usize = 64;

/// The newest changes of somebody before an offset.
pub(super) struct Changes {
    pub(super) entries: Vec<Entry>,
    /// There may be more before this record.
    pub(super) looked: Offset,
}

#[derive(Serialize)]
struct Shown<'a> {
    at: String,
    kind: &'static str,
    channel_id: ChannelId,
    offset: String,
    what: What,
    before: BTreeMap<&'a str, &'a Value>,
    after: BTreeMap<&'a str, &'a Value>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    NamedUser,
    OptIn,
    Device,
}

pub(super) fn newest(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    before: EventOffset,
    at_most: usize,
) -> Result<Changes> {
    // One may be of the record of the offset, and after the offset.
    let at_most = u32::try_from(at_most).unwrap_or(u32::MAX).saturating_add(1);
    let end = Offset(before.record().0 + 1);
    let ordinals = person.channels.iter().map(|channel| channel.ordinal);
    let ended = faces::before(tx, app, ordinals, end, at_most)?;
    let newest: Vec<&EndedFace> = ended.chunk_by(is_of_same).filter_map(|faces| faces.first()).collect();
    let shown: Vec<_> = newest.iter().map(|face| (face.ordinal, Offset(face.until.0 + 1))).collect();
    let later = faces::at(tx, app, &shown)?;
    let (mut steps, mut looked) = (Vec::new(), Offset(0));
    for faces in ended.chunk_by(is_of_same) {
        let Some(channel) = faces.first().and_then(|face| person.channel(face.ordinal)) else { continue };
        if faces.len() >= at_most as usize {
            looked = looked.max(faces.last().map_or(Offset(0), |oldest| oldest.until));
        }
        let after = later.iter().find(|face| face.ordinal == channel.ordinal && face.until > faces[0].until);
        let afters = std::iter::once(after).chain(faces.iter().map(Some));
        steps.extend(faces.iter().zip(afters).map(|(before, after)| Step { channel, before, after }));
    }
    steps.sort_unstable_by_key(|step| std::cmp::Reverse(step.offset()));
    written(tx, app, person, before, &steps, at_most as usize, looked)
}

/// From one look of a channel to the next.
struct Step<'a> {
    channel: &'a PersonChannel,
    before: &'a EndedFace,
    /// The one that it has now, if it is the last.
    after: Option<&'a EndedFace>,
}

impl Step<'_> {
    fn offset(&self) -> EventOffset {
        offset_of(self.before.until, self.channel.ordinal)
    }

    fn faces(&self) -> Result<[Face; 2]> {
        let after = match self.after {
            Some(after) => serde_json::from_slice(&after.body).map_err(Error::internal)?,
            None => self.channel.face.clone(),
        };
        Ok([serde_json::from_slice(&self.before.body).map_err(Error::internal)?, after])
    }
}

fn is_of_same(one: &EndedFace, other: &EndedFace) -> bool {
    one.ordinal == other.ordinal
}

/// The entries of steps, which come newest first, until there are enough. Steps at one place of the log stay together.
fn written(
    tx: &mut Tx<'_>,
    app: AppId,
    person: &Person,
    before: EventOffset,
    steps: &[Step<'_>],
    at_most: usize,
    mut looked: Offset,
) -> Result<Changes> {
    let mut entries = Vec::new();
    let mut last = None;
    for portion in steps.chunks(PORTION) {
        let offsets: BTreeSet<Offset> = portion.iter().map(|step| Offset(step.before.until.0 + 1)).collect();
        let records = log::at_offsets(tx, app, &offsets.into_iter().collect::<Vec<_>>())?;
        let records: HashMap<Offset, Record> = records.into_iter().map(|record| (record.offset, record)).collect();
        for step in portion {
            let (until, channel, offset) = (step.before.until, step.channel, step.offset());
            if entries.len() >= at_most && last.is_some_and(|last| until < last) {
                looked = looked.max(last.unwrap_or(looked));
                return Ok(Changes { entries, looked });
            }
            last = Some(until);
            let [face, next] = step.faces()?;
            if offset < before
                && person.is_concerned(&face, &next)
                && let Some(record) = records.get(&Offset(until.0 + 1))
                && !is_uninstalled(channel.id, &next, record)?
            {
                let json = write(channel.id, offset, record.at, [&face, &next])?;
                entries.extend(json.map(|json| Entry { offset, json }));
            }
        }
    }
    Ok(Changes { entries, looked })
}

/// Channels that change in one transaction differ in the offset as long as less than 65,536 of them lie between.
fn offset_of(until: Offset, channel: Ordinal) -> EventOffset {
    EventOffset::new(until, FIRST_INDEX + channel.0 % FIRST_INDEX)
}

/// Whether a change was that the channel was uninstalled, which is an event. Nothing is left of the channel then, and an empty
/// record ends what it looked like, because the event of the same transaction still shows it.
fn is_uninstalled(channel: ChannelId, after: &Face, next: &Record) -> Result<bool> {
    let nothing = Profile::new(after.profile.device_type.clone());
    let empty = postcard::to_stdvec(&TermsRecord::default()).map_err(Error::internal)?;
    let is_empty = next.kind == RecordKind::Terms && next.body == empty;
    Ok(is_empty && Face::is_alike(channel, (&after.profile, after.named_user.as_ref()), (&nothing, None)))
}

/// `None` if nothing changed that is shown.
fn write(
    channel_id: ChannelId,
    offset: EventOffset,
    at: UtcMillis,
    [before, after]: [&Face; 2],
) -> Result<Option<Box<RawValue>>> {
    let (before, after) = (values(channel_id, before, at)?, values(channel_id, after, at)?);
    let (gone, come) = (only_in(&before, &after), only_in(&after, &before));
    let has = |name: &str| gone.contains_key(name) || come.contains_key(name);
    let what = if has(USER) {
        What::NamedUser
    } else if has(OPT_IN) {
        What::OptIn
    } else if gone.is_empty() && come.is_empty() {
        return Ok(None);
    } else {
        What::Device
    };
    let (at, kind) = (at.to_iso(), TimelineKind::Change.word());
    let shown = Shown { at, kind, channel_id, offset: offset.to_string(), what, before: gone, after: come };
    serde_json::value::to_raw_value(&shown).map(Some).map_err(Error::internal)
}

const USER: &str = "named_user_id";
const OPT_IN: &str = "push_opt_in";

fn only_in<'a>(of: &'a BTreeMap<String, Value>, other: &BTreeMap<String, Value>) -> BTreeMap<&'a str, &'a Value> {
    let is_other = |(name, value): &(&String, &Value)| other.get(*name) != Some(*value);
    of.iter().filter(is_other).map(|(name, value)| (name.as_str(), value)).collect()
}

/// What events show of a channel, each value under its name.
fn values(channel: ChannelId, face: &Face, at: UtcMillis) -> Result<BTreeMap<String, Value>> {
    let user = face.named_user.as_ref().map(NamedUserId::as_str);
    let device = EventDevice::new(channel, &face.profile, user, at);
    let Value::Object(mut device) = serde_json::to_value(device).map_err(Error::internal)? else {
        return Ok(BTreeMap::new());
    };
    let mut values = BTreeMap::new();
    if let Some(Value::Object(attributes)) = device.remove("attributes") {
        values.extend(attributes);
    }
    values.extend(device);
    Ok(values)
}
