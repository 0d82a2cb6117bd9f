//! How the recipients of one platform are reached: its provider, the sandbox, or not at all.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use model::app::Mode;
use model::channel::Profile;
use model::ids::{DeliveryId, Ordinal};
use model::platform::DeviceType;
use model::time::UtcMillis;
use providers::open::{self, OpenPlatformConfig};
use providers::outcome::Outcome;
use providers::{NotSendable, RenderedPush};
use store::apps::App;
use store::channels::Recipient;
use store::sandbox::SandboxDelivery;

use super::Sent;
use super::block::Outcomes;
use super::render::{Locale, Renderer};
use crate::{Engine, Error, Result};

/// Requests to one open platform that may be under way at once, per block.
const OPEN_REQUESTS: usize = 4;

pub(super) enum Transport {
    /// The webhook of an open platform.
    Open(OpenPlatformConfig),
    /// The exact request is kept for its author to look at.
    Sandbox,
    /// Production apps do not pretend: without a way to send, deliveries fail and say why.
    Missing { reason: String },
}

/// What differs from one recipient to the next, with the part of the channel's profile that delivery needs.
struct Target<'a> {
    recipient: &'a Recipient,
    badge: i64,
    identifiers: Option<BTreeMap<String, String>>,
}

impl Transport {
    pub(super) async fn choose(engine: &Engine, app: &App, device_type: &DeviceType) -> Result<Self> {
        if let DeviceType::Open(platform) = device_type
            && let Some(config) = engine.open_platform(app.id, platform).await?
        {
            return Ok(match config.enabled {
                true => Transport::Open(config),
                false => Transport::Missing { reason: format!("The platform {device_type} is disabled.") },
            });
        }
        Ok(match app.mode {
            Mode::Development => Transport::Sandbox,
            Mode::Production => {
                Transport::Missing { reason: format!("The app has no credentials for the platform {device_type}.") }
            }
        })
    }

    /// Sends to all of the recipients. Every one of them is in exactly one of the sets of the answer.
    pub(super) async fn send(
        &self,
        engine: &Engine,
        renderer: &mut Renderer<'_>,
        recipients: &[Recipient],
        now: UtcMillis,
    ) -> Result<Sent> {
        let mut sent = Sent::default();
        sent.outcomes.alerting = renderer.is_alerting();
        sent.outcomes.with_message = renderer.has_message();
        match self {
            Transport::Missing { reason } => {
                sent.outcomes.failed = recipients.iter().map(|recipient| recipient.ordinal.0).collect();
                sent.outcomes.reason = Some(reason.clone());
            }
            Transport::Sandbox => keep(renderer, recipients, now, &mut sent)?,
            Transport::Open(config) => {
                let batches = open_batches(renderer, recipients, now, &mut sent)?;
                let answers = stream::iter(batches).map(|(ordinals, body)| async move {
                    (ordinals, open::deliver(&engine.0.http, config, body, now).await)
                });
                let mut answers = answers.buffer_unordered(OPEN_REQUESTS);
                while let Some((ordinals, outcome)) = answers.next().await {
                    record(&mut sent, &ordinals, outcome);
                }
            }
        }
        Ok(sent)
    }

    pub(super) fn count(&self, engine: &Engine, platform: &str, outcomes: &Outcomes) {
        let transport = match self {
            Transport::Open(_) => "open",
            Transport::Sandbox => "sandbox",
            Transport::Missing { .. } => "none",
        };
        let metrics = engine.metrics();
        metrics.delivered(platform, transport, "delivered", outcomes.delivered.len());
        metrics.delivered(platform, transport, "gone", outcomes.gone.len());
        metrics.delivered(platform, transport, "failed", outcomes.failed.len());
    }
}

fn keep(renderer: &mut Renderer<'_>, recipients: &[Recipient], now: UtcMillis, sent: &mut Sent) -> Result<()> {
    for recipient in recipients {
        let target = Target::new(recipient)?;
        let rendered = match renderer.rendered(&renderer.locale(recipient), now) {
            Ok(rendered) => rendered,
            Err(reason) => {
                let outcome = Outcome::Rejected { reason: reason.to_string() };
                record(sent, &[recipient.ordinal], outcome);
                continue;
            }
        };
        let delivery = DeliveryId::of(renderer.push_id(), recipient.id);
        let request = rendered.request(&target.filled(delivery));
        sent.outcomes.delivered.insert(recipient.ordinal.0);
        sent.outcomes.sandbox.push(SandboxDelivery {
            delivery,
            push: renderer.push_id(),
            channel: recipient.id,
            device_type: renderer.device_type().to_string(),
            transport: rendered.transport().to_owned(),
            at: now,
            request: request.to_json().to_string(),
        });
    }
    Ok(())
}

/// The bodies of the requests to a webhook, with the recipients of each. Recipients who get the same content share
/// requests.
fn open_batches(
    renderer: &mut Renderer<'_>,
    recipients: &[Recipient],
    now: UtcMillis,
    sent: &mut Sent,
) -> Result<Vec<(Vec<Ordinal>, Bytes)>> {
    let mut by_locale: BTreeMap<Locale, Vec<&Recipient>> = BTreeMap::new();
    for recipient in recipients {
        by_locale.entry(renderer.locale(recipient)).or_default().push(recipient);
    }
    let mut batches = Vec::new();
    for (locale, group) in by_locale {
        let rendered = renderer.rendered(&locale, now);
        let Ok(RenderedPush::Open(push)) = rendered.as_deref() else {
            let ordinals: Vec<Ordinal> = group.iter().map(|recipient| recipient.ordinal).collect();
            record(sent, &ordinals, Outcome::Rejected { reason: NotSendable::NothingToSend.to_string() });
            continue;
        };
        let targets: Vec<Target<'_>> = group.into_iter().map(Target::new).collect::<Result<_>>()?;
        let filled: Vec<providers::Recipient<'_>> = targets
            .iter()
            .map(|target| target.filled(DeliveryId::of(renderer.push_id(), target.recipient.id)))
            .collect();
        let mut done = 0;
        while done < filled.len() {
            let batch = push.batch(&filled[done..]);
            let members = &targets[done..done + batch.n_values];
            batches.push((members.iter().map(|target| target.recipient.ordinal).collect(), batch.body));
            done += batch.n_values;
        }
    }
    Ok(batches)
}

/// Files recipients under what became of their request.
fn record(sent: &mut Sent, ordinals: &[Ordinal], outcome: Outcome) {
    let outcomes = &mut sent.outcomes;
    let (set, reason) = match outcome {
        Outcome::Delivered => (&mut outcomes.delivered, None),
        Outcome::Gone => (&mut outcomes.gone, None),
        Outcome::Rejected { reason } => (&mut outcomes.failed, Some(reason)),
        Outcome::Unauthorized { reason } => {
            tracing::warn!(reason, "a platform refuses our credentials");
            (&mut sent.later, Some(reason))
        }
        Outcome::Retry { after, reason } => {
            sent.retry_after = sent.retry_after.max(after);
            (&mut sent.later, Some(reason))
        }
    };
    set.extend(ordinals.iter().map(|ordinal| ordinal.0));
    outcomes.reason = reason.or(outcomes.reason.take());
}

impl<'a> Target<'a> {
    fn new(recipient: &'a Recipient) -> Result<Self> {
        let profile: Profile = serde_json::from_str(&recipient.profile).map_err(Error::internal)?;
        let badge = profile.ios.and_then(|ios| ios.badge).map_or(0, i64::from);
        Ok(Self { recipient, badge, identifiers: profile.open.map(|open| open.identifiers) })
    }

    fn filled(&self, delivery_id: DeliveryId) -> providers::Recipient<'_> {
        providers::Recipient {
            badge: self.badge,
            identifiers: self.identifiers.as_ref(),
            ..providers::Recipient::new(delivery_id, self.recipient.id, &self.recipient.address)
        }
    }
}
