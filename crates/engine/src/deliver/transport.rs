//! How the recipients of one platform are reached: its provider, the sandbox, or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use model::app::Mode;
use model::channel::Profile;
use model::ids::{DeliveryId, Ordinal, PushId};
use model::platform::DeviceType;
use model::time::UtcMillis;
use providers::http::Client;
use providers::open::{self, BatchOutcome, OpenPlatformConfig};
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
                let requests = batches.into_iter().map(|batch| batch.deliver(&engine.0.http, config, now));
                let mut answers = stream::iter(requests.collect::<Vec<_>>()).buffer_unordered(OPEN_REQUESTS);
                while let Some(answers) = answers.next().await {
                    for (ordinals, outcome) in answers {
                        record(&mut sent, &ordinals, outcome);
                    }
                }
            }
        }
        Ok(sent)
    }

    pub(super) fn count(&self, engine: &Engine, platform: &DeviceType, outcomes: &Outcomes) {
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

/// Messages with the same content that fit into one request to a webhook.
struct OpenBatch<'a> {
    push_id: PushId,
    content: Arc<RenderedPush>,
    targets: Vec<Target<'a>>,
}

/// Recipients who get the same content share requests.
fn open_batches<'a>(
    renderer: &mut Renderer<'_>,
    recipients: &'a [Recipient],
    now: UtcMillis,
    sent: &mut Sent,
) -> Result<Vec<OpenBatch<'a>>> {
    let mut by_locale: BTreeMap<Locale, Vec<&Recipient>> = BTreeMap::new();
    for recipient in recipients {
        by_locale.entry(renderer.locale(recipient)).or_default().push(recipient);
    }
    let mut batches = Vec::new();
    for (locale, group) in by_locale {
        match renderer.rendered(&locale, now) {
            Ok(content) => {
                for members in group.chunks(open::MOST_VALUES) {
                    let targets = members.iter().map(|recipient| Target::new(recipient)).collect::<Result<_>>()?;
                    batches.push(OpenBatch { push_id: renderer.push_id(), content: content.clone(), targets });
                }
            }
            Err(reason) => {
                let ordinals: Vec<Ordinal> = group.iter().map(|recipient| recipient.ordinal).collect();
                record(sent, &ordinals, Outcome::Rejected { reason: reason.to_string() });
            }
        }
    }
    Ok(batches)
}

impl OpenBatch<'_> {
    /// A request that is refused is sent again in halves, so that one bad message takes no other with it.
    async fn deliver(self, http: &Client, config: &OpenPlatformConfig, now: UtcMillis) -> Vec<(Vec<Ordinal>, Outcome)> {
        let ordinals = |targets: &[Target<'_>]| targets.iter().map(|target| target.recipient.ordinal).collect();
        let RenderedPush::Open(push) = &*self.content else {
            return vec![(
                ordinals(&self.targets),
                Outcome::Rejected { reason: NotSendable::NothingToSend.to_string() },
            )];
        };
        let mut answers = Vec::new();
        let mut waiting = vec![self.targets.as_slice()];
        while let Some(targets) = waiting.pop() {
            let id = |target: &Target<'_>| DeliveryId::of(self.push_id, target.recipient.id);
            let filled: Vec<_> = targets.iter().map(|target| target.filled(id(target))).collect();
            let batch = push.batch(&filled);
            let (now_sent, too_many) = targets.split_at(batch.n_values);
            if !too_many.is_empty() {
                waiting.push(too_many);
            }
            match open::deliver(http, config, batch, now).await {
                BatchOutcome::Each(outcome) => answers.push((ordinals(now_sent), outcome)),
                BatchOutcome::Split => waiting.extend(<[_; 2]>::from(now_sent.split_at(now_sent.len() / 2))),
            }
        }
        answers
    }
}

/// Files recipients under what became of their request.
fn record(sent: &mut Sent, ordinals: &[Ordinal], outcome: Outcome) {
    let outcomes = &mut sent.outcomes;
    let (set, reason) = match outcome {
        Outcome::Delivered | Outcome::Moved { .. } => (&mut outcomes.delivered, None),
        Outcome::Gone { .. } => (&mut outcomes.gone, None),
        Outcome::Rejected { reason } | Outcome::Doubtful { reason, .. } => (&mut outcomes.failed, Some(reason)),
        Outcome::Unauthorized { reason } => {
            tracing::warn!(reason, "a platform refuses our credentials");
            (&mut sent.later, Some(reason))
        }
        Outcome::Retry { after, reason, .. } => {
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
