//! The recipients of a block that are reached over live connections: durable in the log is delivered, so that all of them are in
//! one checkpoint, before anything is sent to a provider.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use audience::plan::Plan;
use base::Result;
use index::term_plan;
use model::event::{LiveContent, RejectionStatus};
use model::ids::{DeliveryId, Ordinal};
use model::term::{LiveTerm, Reach, Term};
use model::time::UtcMillis;
use personalization::ValueMap;
use providers::kept_message;
use roaring::RoaringBitmap;
use store::Tx;
use store::pushes::PushRow;
use store::recipients::{self, LiveRecipient};
use store::sandbox::SandboxDelivery;

use super::feed::still_reachable;
use super::outcomes::{LiveSet, Outcomes};
use super::render::{FILLING_AT_ONCE, Localized, NotLive, Renderer};
use super::send_run::RunContext;
use super::target::is_by_unified_push;
use super::transport::Transport;
use crate::personal;

/// Channels with messages of their own that one checkpoint records: each is a record of the log.
const PERSONAL_AT_ONCE: usize = 1_000;

const NOT_KEPT: &str = "A push whose payload is not kept cannot wait for live connections.";

#[derive(Default)]
pub(super) struct LivePart {
    /// Reached by nothing else.
    alone: RoaringBitmap,
    /// In the sandbox as well, which sends to nobody.
    pub(super) beside: RoaringBitmap,
    /// Whether the payload must not be kept for longer than sending takes.
    is_redacted: bool,
}

impl LivePart {
    /// The provider goes first for channels that have an address. Where there is none, or none could be configured, connections of
    /// the channels themselves reach those that are live.
    pub(super) async fn of(
        context: &RunContext<'_>,
        reach: Option<Reach>,
        row: &PushRow,
        pending: &RoaringBitmap,
    ) -> Result<Self> {
        let RunContext { sending, app, device_type, transport, .. } = context;
        let index = sending.0.index.at(*app, row.accepted_at).await?;
        let any = term_plan(&index, &Term::Live(LiveTerm::Any));
        if any == Plan::Nobody || reach.is_none() {
            return Ok(Self::default());
        }
        let among = |plan: Plan| index.resolve(&Plan::And(vec![Plan::Set(pending.clone()), plan]).normalize());
        let any = still_reachable(&index, reach, device_type, &among(any));
        if any.is_empty() {
            return Ok(Self::default());
        }
        let only = &any & among(term_plan(&index, &Term::Live(LiveTerm::Only)));
        let is_redacted = row.redact;
        Ok(match transport {
            Transport::Provider(_) | Transport::Open(_) => {
                Self { alone: only, beside: RoaringBitmap::new(), is_redacted }
            }
            Transport::Sandbox if is_redacted => Self { alone: only, beside: RoaringBitmap::new(), is_redacted },
            Transport::Sandbox => Self { beside: any - &only, alone: only, is_redacted },
            Transport::Missing { .. } => {
                let phones = phones(context, &any - &only).await?;
                Self { alone: any - phones, beside: RoaringBitmap::new(), is_redacted }
            }
        })
    }

    /// What becomes of those that nothing else reaches, or of some of them if each has a message of their own; `None` if there are
    /// none left.
    pub(super) async fn next_outcomes(
        &mut self,
        context: &RunContext<'_>,
        renderer: &Renderer<'_>,
    ) -> Result<Option<Outcomes>> {
        if self.alone.is_empty() {
            return Ok(None);
        }
        let part: RoaringBitmap = match renderer.is_personal() {
            true => self.alone.iter().take(PERSONAL_AT_ONCE).collect(),
            false => self.alone.clone(),
        };
        self.alone -= &part;
        let RunContext { sending, device_type, transport, .. } = context;
        let mut outcomes = Outcomes::default();
        if self.is_redacted {
            let all = part.iter().map(Ordinal);
            outcomes.failed.add(RejectionStatus::InvalidParameters, NOT_KEPT, all);
            outcomes.reason = Some(NOT_KEPT.to_owned());
            return Ok(Some(outcomes));
        }
        let is_sandbox = matches!(transport, Transport::Sandbox);
        let known = if is_sandbox || renderer.is_localized() { read(context, &part).await? } else { Vec::new() };
        let values =
            if renderer.is_personal() { read_values(context, &part, renderer.names()).await? } else { HashMap::new() };
        let now = sending.0.clock.now();
        for (localized, channels) in by_content(renderer, &part, &known) {
            if renderer.is_expired(localized, now) {
                outcomes.expired |= channels;
                continue;
            }
            let contents = match renderer.is_personal() {
                true => own_contents(renderer, localized, &channels, &values, now).await,
                false => vec![(channels, renderer.live(localized, now))],
            };
            for (channels, content) in contents {
                match content {
                    Ok(content) => {
                        outcomes.delivered |= &channels;
                        outcomes.live.push(LiveSet { channels, content });
                    }
                    Err(reason) => {
                        let reason = reason.to_string();
                        outcomes.failed.add(RejectionStatus::InvalidParameters, &reason, channels.iter().map(Ordinal));
                        outcomes.reason = Some(reason);
                    }
                }
            }
        }
        if is_sandbox {
            outcomes.sandbox = kept(context, &outcomes.live, &known, now);
        }
        sending.0.metrics.delivered(device_type, "live", "delivered", outcomes.delivered.len());
        Ok(Some(outcomes))
    }
}

/// Those of some channels that are reached by UnifiedPush.
async fn phones(context: &RunContext<'_>, channels: RoaringBitmap) -> Result<RoaringBitmap> {
    if context.unified_push.is_none() || channels.is_empty() {
        return Ok(RoaringBitmap::new());
    }
    let (app, ordinals): (_, Vec<_>) = (context.app, channels.iter().map(Ordinal).collect());
    let profiles = context.sending.0.store.read(move |tx| recipients::profiles_among(tx, app, &ordinals)).await?;
    let phones = profiles.into_iter().filter(|(_, profile)| is_by_unified_push(profile));
    Ok(phones.map(|(ordinal, _)| ordinal.0).collect())
}

async fn read(context: &RunContext<'_>, part: &RoaringBitmap) -> Result<Vec<LiveRecipient>> {
    let (app, wanted): (_, Vec<_>) = (context.app, part.iter().map(Ordinal).collect());
    Ok(context.sending.0.store.read(move |tx| recipients::live_among(tx, app, &wanted)).await?)
}

async fn read_values(
    context: &RunContext<'_>,
    part: &RoaringBitmap,
    names: BTreeSet<String>,
) -> Result<HashMap<u32, ValueMap>> {
    let (app, push, part) = (context.app, (context.push, context.upload), part.clone());
    let now = context.sending.0.clock.now();
    let read = move |tx: &mut Tx<'_>| personal::values_for(tx, app, push, &part, &names, now);
    context.sending.0.store.read(read).await
}

fn by_content(
    renderer: &Renderer<'_>,
    part: &RoaringBitmap,
    known: &[LiveRecipient],
) -> BTreeMap<Localized, RoaringBitmap> {
    if !renderer.is_localized() {
        return BTreeMap::from([(None, part.clone())]);
    }
    let mut sets: BTreeMap<Localized, RoaringBitmap> = BTreeMap::new();
    for LiveRecipient { ordinal, language, country, .. } in known {
        let localized = renderer.localized(&Some(Box::new((language.clone(), country.clone()))));
        sets.entry(localized).or_default().insert(ordinal.0);
    }
    sets
}

/// The messages of channels with texts of their own. Those that happen to get the same text share a message.
async fn own_contents(
    renderer: &Renderer<'_>,
    localized: Localized,
    channels: &RoaringBitmap,
    values: &HashMap<u32, ValueMap>,
    now: UtcMillis,
) -> Vec<(RoaringBitmap, Result<LiveContent, NotLive>)> {
    let marked = match renderer.live_marked(localized, now) {
        Ok(marked) => marked,
        Err(reason) => return vec![(channels.clone(), Err(reason))],
    };
    let nothing = ValueMap::new();
    let mut contents = Vec::new();
    let mut by_message: HashMap<String, usize> = HashMap::new();
    let mut turn = Instant::now();
    for number in channels {
        if turn.elapsed() >= FILLING_AT_ONCE {
            tokio::task::yield_now().await;
            turn = Instant::now();
        }
        match renderer.live_for(&marked, values.get(&number).unwrap_or(&nothing), now) {
            Ok(content) => {
                let place = *by_message.entry(content.message.clone()).or_insert(contents.len());
                if place == contents.len() {
                    contents.push((RoaringBitmap::new(), Ok(content)));
                }
                contents[place].0.insert(number);
            }
            Err(reason) => contents.push((RoaringBitmap::from_iter([number]), Err(reason))),
        }
    }
    contents
}

/// What the sandbox shows of channels that it has no address of.
fn kept(context: &RunContext<'_>, live: &[LiveSet], known: &[LiveRecipient], now: UtcMillis) -> Vec<SandboxDelivery> {
    let message_to = |ordinal: Ordinal| {
        live.iter().find(|set| set.channels.contains(ordinal.0)).map(|set| set.content.message.as_str())
    };
    let told = known.iter().filter_map(|recipient| Some((recipient, message_to(recipient.ordinal)?)));
    let delivery = |(recipient, message): (&LiveRecipient, &str)| SandboxDelivery {
        delivery: DeliveryId::of(context.push, recipient.id),
        push: context.push,
        channel: recipient.id,
        device_type: context.device_type.to_string(),
        transport: "live".to_owned(),
        at: now,
        request: kept_message(message).to_json().to_string(),
    };
    told.map(delivery).collect()
}
