//! The values that personalized texts are filled in with: what is known of many recipients, read in one go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use audience::block::blocks;
use base::{Error, Result};
use boxed::boxed;
use model::attribute::has_ended;
use model::channel::Profile;
use model::event::{Custom, Event};
use model::ids::{AppId, BulkId, ChannelId, NamedUserId, Offset, Ordinal, PushId};
use model::journey;
use model::remote_data::Overrides;
use model::time::UtcMillis;
use personalization::ValueMap;
use roaring::RoaringBitmap;
use serde_json::{Value, json};
use store::attributes::{self, Owner, Values};
use store::channels::{self, Channel};
use store::{Tx, bulk_rows, log, push_causes, recipients};
use targeting::apply_overrides;
use tenancy::key_for_log_in;

use crate::Sending;
use crate::causes::Causes;

/// Names of device properties begin with it; an attribute of such a name is not looked for.
const OF_DEVICES: &str = "ua_";
/// With fewer recipients than one in this many channels, looking them up beats reading the range they are in.
const SPARSE: u64 = 4;

/// Reads what is known of channels under some names: device properties, attributes of named users, and those of the channels
/// themselves, which go first.
pub(crate) fn values_of(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: &RoaringBitmap,
    names: &BTreeSet<String>,
    now: UtcMillis,
) -> Result<HashMap<u32, ValueMap>> {
    let (Some(first), Some(last)) = (channels.min(), channels.max()) else { return Ok(HashMap::new()) };
    let mut found: HashMap<u32, ValueMap> = HashMap::with_capacity(usize::try_from(channels.len()).unwrap_or(0));
    let (properties, attributes): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| is_property(name));
    if !properties.is_empty() {
        let ordinals: Vec<Ordinal> = channels.iter().map(Ordinal).collect();
        for (Ordinal(number), profile) in recipients::profiles_among(tx, app, &ordinals)? {
            let Some(profile) = readable(tx, app, number, &profile) else { continue };
            let own = profile.device_attributes();
            let values = found.entry(number).or_default();
            for name in &properties {
                values.extend(property(&own, name).map(|value| ((*name).clone(), value)));
            }
        }
    }
    // Of a few channels all attributes are read at once; of many, one after the other.
    if channels.len() < attributes.len() as u64 {
        for number in channels {
            let layers = attributes::of_channel(tx, app, Ordinal(number))?;
            let values = found.entry(number).or_default();
            values.extend(attributes.iter().filter_map(|name| nearest(&layers, name, now)));
        }
        return Ok(found);
    }
    let is_sparse = u64::from(last - first) / SPARSE > channels.len();
    for name in attributes {
        let mut take = |Ordinal(number): Ordinal, value: &str| {
            if channels.contains(number)
                && let Some(value) = current(value, now)
            {
                found.entry(number).or_default().insert(name.clone(), value);
            }
        };
        if is_sparse {
            let ordinals: Vec<Ordinal> = channels.iter().map(Ordinal).collect();
            for (channel, value) in attributes::among(tx, app, name, &ordinals)? {
                take(channel, &value);
            }
            continue;
        }
        let range = (Ordinal(first), Ordinal(last));
        attributes::for_each_of_users_between(tx, app, name, range, |channel, value| {
            take(channel, value);
            Ok(())
        })?;
        attributes::for_each_between(tx, app, name, range, |channel, value| {
            take(channel, value);
            Ok(())
        })?;
    }
    Ok(found)
}

/// Reads what the texts of a push are filled in with: what is known of channels, then what has caused the push, and what the file
/// with its recipients says goes before both.
pub(crate) fn values_for(
    tx: &mut Tx<'_>,
    app: AppId,
    (push, upload): (PushId, Option<BulkId>),
    channels: &RoaringBitmap,
    names: &BTreeSet<String>,
    now: UtcMillis,
) -> Result<HashMap<u32, ValueMap>> {
    let mut found = values_of(tx, app, channels, names, now)?;
    for ((_, number), caused) in causes_of(tx, app, &BTreeMap::from([(push, channels.clone())]))? {
        caused.join(found.entry(number).or_default());
    }
    let Some(upload) = upload else { return Ok(found) };
    for (Ordinal(number), values) in bulk_rows::among(tx, app, upload, channels.iter().map(Ordinal))? {
        let values: BTreeMap<String, String> = serde_json::from_str(&values).map_err(Error::internal)?;
        found.entry(number).or_default().extend(values.into_iter().map(|(name, value)| (name, Value::from(value))));
    }
    Ok(found)
}

#[boxed]
impl Sending {
    /// What is known of a channel under some names, with what its device has changed and not uploaded yet.
    pub async fn values_of_channel(
        &self,
        app: AppId,
        channel: ChannelId,
        names: BTreeSet<String>,
        overrides: Overrides,
    ) -> Result<ValueMap> {
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| -> Result<ValueMap> {
            let Channel { ordinal, .. } = channels::by_id(tx, app, channel)?.ok_or(Error::NotFound("channel"))?;
            let (properties, attributes): (BTreeSet<String>, BTreeSet<String>) =
                names.iter().cloned().partition(|name| is_property(name));
            let alone = RoaringBitmap::from_iter([ordinal.0]);
            let mut values = values_of(tx, app, &alone, &properties, now)?.remove(&ordinal.0).unwrap_or_default();
            let mut layers = attributes::of_channel(tx, app, ordinal)?;
            apply_overrides(&mut layers, &overrides)?;
            values.extend(attributes.iter().filter_map(|name| nearest(&layers, name, now)));
            Ok(values)
        };
        self.0.store.read(read).await
    }
}

/// What is known of a named user, whatever device it is for.
pub(crate) fn values_of_user(tx: &mut Tx<'_>, app: AppId, user: &NamedUserId, now: UtcMillis) -> Result<ValueMap> {
    let stored = attributes::of_owner(tx, app, &Owner::NamedUser(user.clone()))?;
    let value = |(name, value): (String, String)| Some((name, current(&value, now)?));
    Ok(stored.into_iter().filter_map(value).collect())
}

/// The value of an attribute of a channel, or else of its named user.
fn nearest(layers: &[Values; 2], name: &str, now: UtcMillis) -> Option<(String, Value)> {
    let value = layers.iter().find_map(|layer| current(layer.get(name)?, now))?;
    Some((name.to_owned(), value))
}

/// The profile of a channel. What cannot be read is not known, and the others are filled in.
fn readable(tx: &mut Tx<'_>, app: AppId, ordinal: u32, stored: &str) -> Option<Profile> {
    match serde_json::from_str(stored) {
        Ok(profile) => Some(profile),
        Err(error) => {
            let (app, error) = (key_for_log_in(tx, app), &error as &dyn std::error::Error);
            tracing::error!(app, ordinal, error, "the profile of a channel cannot be read");
            None
        }
    }
}

/// A stored value, unless it has ended. What cannot be read is not known.
fn current(stored: &str, now: UtcMillis) -> Option<Value> {
    serde_json::from_str(stored).ok().filter(|value| !has_ended(value, now))
}

/// The properties of the custom events that caused automated pushes, by push and channel. They are read from the log, as long as it
/// has them.
pub(crate) fn causes_of(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: &BTreeMap<PushId, RoaringBitmap>,
) -> Result<HashMap<(PushId, u32), Caused>> {
    let wanted = channels.iter().flat_map(|(push, channels)| blocks(channels).map(|(block, _)| (*push, block.0)));
    let wanted: Vec<(PushId, u16)> = wanted.collect();
    let mut caused: Vec<(PushId, u32, Offset)> = Vec::new();
    for (push, part) in push_causes::of_all(tx, app, wanted)? {
        let causes = Causes::decode(Some(&part))?;
        let offset = |number: u32| causes.offset(causes.get(number)?);
        caused.extend(channels[&push].iter().filter_map(|number| Some((push, number, offset(number)?))));
    }
    let offsets: Vec<Offset> =
        caused.iter().map(|(_, _, offset)| *offset).collect::<BTreeSet<_>>().into_iter().collect();
    let mut by_offset: HashMap<Offset, Caused> = HashMap::new();
    for record in log::at_offsets(tx, app, &offsets)? {
        // An event that was erased has nothing to tell any more.
        if let Ok(event) = serde_json::from_slice::<Event<Custom>>(&record.body) {
            by_offset.insert(record.offset, Caused::by(&event.body));
        }
    }
    let values = |(push, number, offset)| Some(((push, number), by_offset.get(&offset)?.clone()));
    Ok(caused.into_iter().filter_map(values).collect())
}

/// What the event that caused a push says.
#[derive(Clone, Debug)]
pub(crate) struct Caused {
    /// Goes before what is known of the recipient.
    above: ValueMap,
    /// The values that a server gave a journey for everybody who enters it: what is known of the recipient goes before them.
    below: ValueMap,
}

impl Caused {
    /// Each property by its name, and the whole event in the way that older texts ask for it.
    fn by(event: &Custom) -> Self {
        let whole = json!({ "events": [{ "name": event.name, "value": event.value, "properties": event.properties }] });
        let of_journey = event.name == journey::ENTERED;
        let is_below = |name: &str| of_journey && !journey::OWN_PROPERTIES.contains(&name);
        let properties = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
        let (below, mut above): (ValueMap, ValueMap) = properties.partition(|(name, _)| is_below(name));
        above.insert("$data".to_owned(), whole);
        Self { above, below }
    }

    /// Adds it to what is known of a recipient.
    pub(crate) fn join(self, known: &mut ValueMap) {
        for (name, value) in self.below {
            let instances = format!("{name}#");
            let has_instance =
                known.range(instances.clone()..).next().is_some_and(|(one, _)| one.starts_with(&instances));
            if !has_instance {
                known.entry(name).or_insert(value);
            }
        }
        known.extend(self.above);
    }
}

fn is_property(name: &str) -> bool {
    name.starts_with(OF_DEVICES)
}

fn property(own: &BTreeMap<&str, String>, name: &str) -> Option<Value> {
    let name = if name == "ua_tz" { "ua_local_tz" } else { name };
    own.get(name).map(|value| Value::from(value.as_str()))
}
