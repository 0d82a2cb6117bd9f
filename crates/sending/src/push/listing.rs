//! The pushes of an app, the newest first, with what a person wants to see of each.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::json;
use model::origin::Origin;
use model::payload::{Push, ShownTexts};
use model::selector::Purpose;
use model::time::UtcMillis;
use store::Tx;
use store::counters::{self, Metric};
use store::pushes::{self, PushEntry, PushState, PushTexts, Tally};
use uuid::Uuid;

use super::{PlatformProgress, PushStatus};
use crate::Sending;
use crate::tests_of_pushes::TEST_NAME;

/// Pushes that are read at once, and how often: those that are looked for may be rare among many.
const PORTION: u32 = 500;
const PORTIONS: u32 = 20;

/// How long after it was written a message is sent that people send now.
const AT_ONCE: Duration = Duration::from_secs(15);

/// Which pushes are looked for.
#[derive(Clone, Debug)]
pub struct PushFilter {
    pub accepted: Range<UtcMillis>,
    pub state: Option<StateFilter>,
    pub origin: Option<OriginFilter>,
    /// Only pushes that are for devices of this type.
    pub device_type: Option<DeviceType>,
    /// A part of the name, the title or the text, in letters of either case.
    pub text: Option<String>,
}

/// A state that a push is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateFilter {
    /// Not paused.
    In(PushState),
    Paused,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginFilter {
    /// What has sent it, in one word.
    Kind(String),
    /// A schedule, template, experiment or pipeline.
    Id(Uuid),
}

/// A push as a listing shows it.
#[derive(Clone, Debug)]
pub struct ListedPush {
    pub entry: PushEntry,
    pub total: PlatformProgress,
    /// Openings of the app by way of the push, and within twelve hours of it.
    pub direct: u64,
    pub influenced: u64,
    /// How many inboxes its message was put into.
    pub inboxes: u64,
}

/// What has sent a push, in one word. Of what people send in the console, the ten seconds in which it can be taken back are a
/// schedule, and it is told from those that were made for later.
fn cause(entry: &PushEntry) -> &'static str {
    let is_of_person = entry.author.as_deref().is_some_and(|author| author.starts_with("account "));
    let is_at_once = |made: Option<UtcMillis>| made.is_some_and(|made| entry.created < made.plus(AT_ONCE));
    match entry.origin.unwrap_or(Origin::Api) {
        Origin::Api if entry.texts.name.as_deref().is_some_and(|name| name.starts_with(TEST_NAME)) => "test",
        Origin::Api if is_of_person => "compose",
        Origin::Schedule(id) if is_of_person && is_at_once(id.time()) => "compose",
        origin => origin.name(),
    }
}

impl PushFilter {
    fn takes(&self, entry: &PushEntry) -> bool {
        let is_in = |wanted: &StateFilter| match wanted {
            StateFilter::Paused => entry.paused,
            StateFilter::In(state) => entry.state == *state && !entry.paused,
        };
        let origin = entry.origin.unwrap_or(Origin::Api);
        let is_from = |wanted: &OriginFilter| match wanted {
            OriginFilter::Kind(kind) => cause(entry) == kind,
            OriginFilter::Id(id) => origin.id() == Some(*id),
        };
        let is_for = self.device_type.is_none() || entry.is_for_type;
        is_for && self.state.as_ref().is_none_or(is_in) && self.origin.as_ref().is_none_or(is_from)
    }

    fn finds(&self, texts: &PushTexts) -> bool {
        let Some(wanted) = self.text.as_ref().map(|text| text.to_lowercase()) else { return true };
        let PushTexts { name, title, alert } = texts;
        [name, title, alert].into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
    }
}

#[boxed]
impl Sending {
    /// Up to `at_most` pushes, the newest first, beginning with `start`, and where the listing continues. A page may be short
    /// although another follows.
    pub async fn list_pushes(
        &self,
        app: AppId,
        filter: PushFilter,
        start: Option<PushId>,
        at_most: u32,
    ) -> Result<(Vec<ListedPush>, Option<PushId>)> {
        self.0.store.read(move |tx| list(tx, app, &filter, start, at_most as usize)).await
    }
}

fn list(
    tx: &mut Tx<'_>,
    app: AppId,
    filter: &PushFilter,
    mut start: Option<PushId>,
    at_most: usize,
) -> Result<(Vec<ListedPush>, Option<PushId>)> {
    let mut found = Vec::new();
    for _ in 0..PORTIONS {
        let mut entries = pushes::entries(tx, app, &filter.accepted, filter.device_type.as_ref(), start, PORTION + 1)?;
        start = if entries.len() > PORTION as usize { entries.pop().map(|entry| entry.id) } else { None };
        entries.retain(|entry| filter.takes(entry));
        complete(tx, app, &mut entries)?;
        for entry in entries.into_iter().filter(|entry| filter.finds(&entry.texts)) {
            if found.len() == at_most {
                let next = Some(entry.id);
                return Ok((with_results(tx, app, found)?, next));
            }
            found.push(entry);
        }
        if start.is_none() {
            break;
        }
    }
    Ok((with_results(tx, app, found)?, start))
}

/// The pushes that were accepted within a time, the newest first, and whether they are all: a limited number is read.
pub fn pushes_between(tx: &mut Tx<'_>, app: AppId, accepted: &Range<UtcMillis>) -> Result<(Vec<PushEntry>, bool)> {
    let at_most = PORTION * PORTIONS;
    let mut entries = pushes::entries(tx, app, accepted, None, None, at_most + 1)?;
    let are_all = entries.len() <= at_most as usize;
    entries.truncate(at_most as usize);
    complete(tx, app, &mut entries)?;
    Ok((entries, are_all))
}

/// Takes the texts of pushes of a version that did not keep them from their payloads.
pub(super) fn complete(tx: &mut Tx<'_>, app: AppId, entries: &mut [PushEntry]) -> Result<()> {
    let without = entries.iter().filter(|entry| entry.texts == PushTexts::default()).map(|entry| entry.id);
    let without: Vec<PushId> = without.collect();
    if without.is_empty() {
        return Ok(());
    }
    let payloads: BTreeMap<PushId, String> = pushes::payloads(tx, app, &without)?.into_iter().collect();
    for entry in entries {
        let Some(payload) = payloads.get(&entry.id) else { continue };
        // What cannot be read does not hide the others.
        let Ok(push) = json::parse(payload.as_bytes(), |at| Push::parse_with(at, Purpose::Stored)) else { continue };
        let ShownTexts { title, alert } = push.shown_texts();
        entry.texts = PushTexts { name: push.name, title, alert };
    }
    Ok(())
}

/// The pushes with the sums of their results.
fn with_results(tx: &mut Tx<'_>, app: AppId, entries: Vec<PushEntry>) -> Result<Vec<ListedPush>> {
    let ids: Vec<PushId> = entries.iter().map(|entry| entry.id).collect();
    let mut tallies: HashMap<PushId, Vec<(DeviceType, Tally)>> = HashMap::new();
    for (push, device_type, tally) in pushes::tallies_of(tx, app, &ids)? {
        tallies.entry(push).or_default().push((device_type, tally));
    }
    let unsent: Vec<PushId> = ids.into_iter().filter(|id| !tallies.contains_key(id)).collect();
    let mut reasons: HashMap<PushId, String> = pushes::reasons(tx, app, &unsent)?.into_iter().collect();
    let listed = entries.into_iter().map(|entry| {
        let tallies = tallies.remove(&entry.id).unwrap_or_default().into_iter();
        let platforms: Vec<_> =
            tallies.map(|(device_type, tally)| (device_type, PlatformProgress::of(tally, entry.state))).collect();
        let total = PushStatus::sum(&platforms, reasons.remove(&entry.id));
        ListedPush { entry, total, direct: 0, influenced: 0, inboxes: 0 }
    });
    let mut listed: Vec<ListedPush> = listed.collect();
    count_responses(tx, app, &mut listed)?;
    Ok(listed)
}

fn count_responses(tx: &mut Tx<'_>, app: AppId, found: &mut [ListedPush]) -> Result<()> {
    let ids: Vec<PushId> = found.iter().map(|push| push.entry.id).collect();
    let metrics = [Metric::DirectResponses, Metric::InfluencedResponses, Metric::RichSends];
    for counted in counters::totals_of_each(tx, app, &ids, &metrics)? {
        let Some(push) = found.iter_mut().find(|push| push.entry.id == counted.push) else { continue };
        let n = u64::try_from(counted.total.n).unwrap_or(0);
        if counted.total.metric == Metric::DirectResponses {
            push.direct += n;
        } else if counted.total.metric == Metric::InfluencedResponses {
            push.influenced += n;
        } else {
            push.inboxes += n;
        }
    }
    Ok(())
}
