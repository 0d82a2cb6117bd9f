//! The recipients of a block that are reached over live connections: durable in the log is delivered, so that all of them are in
//! one checkpoint, before anything is sent to a provider.

use std::collections::BTreeMap;

use audience::plan::Plan;
use base::Result;
use index::term_plan;
use model::event::RejectionStatus;
use model::ids::{DeliveryId, Ordinal};
use model::term::{LiveTerm, Reach, Term};
use model::time::UtcMillis;
use providers::kept_message;
use roaring::RoaringBitmap;
use store::pushes::PushRow;
use store::recipients::{self, LiveRecipient};
use store::sandbox::SandboxDelivery;

use super::feed::still_reachable;
use super::outcomes::{LiveSet, Outcomes};
use super::render::{Localized, Renderer};
use super::send_run::RunContext;
use super::transport::Transport;

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
            Transport::Missing { .. } => Self { alone: any, beside: RoaringBitmap::new(), is_redacted },
        })
    }

    /// What becomes of those that nothing else reaches; `None` if there are none.
    pub(super) async fn outcomes(&self, context: &RunContext<'_>, renderer: &Renderer<'_>) -> Result<Option<Outcomes>> {
        if self.alone.is_empty() {
            return Ok(None);
        }
        let RunContext { sending, device_type, transport, .. } = context;
        let mut outcomes = Outcomes::default();
        if self.is_redacted {
            let all = self.alone.iter().map(Ordinal);
            outcomes.failed.add(RejectionStatus::InvalidParameters, NOT_KEPT, all);
            outcomes.reason = Some(NOT_KEPT.to_owned());
            return Ok(Some(outcomes));
        }
        let is_sandbox = matches!(transport, Transport::Sandbox);
        let known = if is_sandbox || renderer.is_localized() { self.read(context).await? } else { Vec::new() };
        let now = sending.0.clock.now();
        for (localized, channels) in self.by_content(renderer, &known) {
            if renderer.is_expired(localized, now) {
                outcomes.expired |= channels;
                continue;
            }
            match renderer.live(localized, now) {
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
        if is_sandbox {
            outcomes.sandbox = kept(context, &outcomes.live, &known, now);
        }
        sending.0.metrics.delivered(device_type, "live", "delivered", outcomes.delivered.len());
        Ok(Some(outcomes))
    }

    async fn read(&self, context: &RunContext<'_>) -> Result<Vec<LiveRecipient>> {
        let (app, wanted): (_, Vec<_>) = (context.app, self.alone.iter().map(Ordinal).collect());
        Ok(context.sending.0.store.read(move |tx| recipients::live_among(tx, app, &wanted)).await?)
    }

    fn by_content(&self, renderer: &Renderer<'_>, known: &[LiveRecipient]) -> BTreeMap<Localized, RoaringBitmap> {
        if !renderer.is_localized() {
            return BTreeMap::from([(None, self.alone.clone())]);
        }
        let mut sets: BTreeMap<Localized, RoaringBitmap> = BTreeMap::new();
        for LiveRecipient { ordinal, language, country, .. } in known {
            let localized = renderer.localized(&Some(Box::new((language.clone(), country.clone()))));
            sets.entry(localized).or_default().insert(ordinal.0);
        }
        sets
    }
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
