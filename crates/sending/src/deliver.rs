//! Delivering one block of a push.

mod batch;
mod block;
mod failures;
mod feed;
mod live;
mod outcomes;
mod preview;
mod render;
mod send_run;
mod target;
mod transport;

use std::sync::Arc;

use base::{Error, Result};
use jobs::{ClaimedJob, Job, ParkUntil, SlotKind, Stop};
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::payload::Push;
use model::payload::personal::PersonalizedPush;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::blocks::BlockKey;
use store::{origins, pushes};

use crate::health::RefusalOf;
use crate::push::{SendPermission, last_deadline_on, stored_push};
use crate::{Hindrance, Sending, reach};
use block::{Block, Next, SendingBlock};
use feed::Feed;
use live::LivePart;
use outcomes::UNNOTED_WAIT;
use render::Renderer;
use send_run::{RunContext, RunMode, SendRun};
use transport::{Transport, UnifiedPush};

pub use preview::{Preview, PreviewFor, PreviewedMessage, Previews};

/// Sends one block of a push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deliver {
    pub(crate) push: PushId,
    pub(crate) device_type: DeviceType,
    pub(crate) block: u32,
}

impl Deliver {
    /// Deliveries to one platform of an app do not take the slots of others.
    pub(crate) fn lane_of(device_type: &DeviceType) -> String {
        format!("{}/{device_type}", Self::NAME)
    }
}

impl Job for Deliver {
    type Room = Sending;
    const NAME: &'static str = "deliver";
    const SLOTS: SlotKind = SlotKind::Delivery;

    fn lane(&self) -> String {
        Self::lane_of(&self.device_type)
    }

    fn push(&self) -> Option<PushId> {
        Some(self.push)
    }

    /// Running it twice is harmless: it continues with the pending recipients, and each checkpoint removes exactly those it
    /// records. Deliveries that were made but not recorded before a crash are repeated under the same id.
    async fn run(self, sending: &Sending, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let Self { push, device_type, block } = self;
        deliver(sending, claimed, BlockKey { push, device_type, number: block }, stop).await
    }
}

async fn deliver(sending: &Sending, claimed: &ClaimedJob, key: BlockKey, stop: &Stop) -> Result<()> {
    let (app, push_id, device_type) = (claimed.app, key.push, key.device_type.clone());
    let Some(block) = Block::load(sending, claimed, key).await? else {
        return jobs::settle_alone(&sending.0.store, claimed).await;
    };
    let found = sending.0.store.read(move |tx| {
        let Some((app_row, _)) = store::apps::by_id(tx, app)? else { return Ok(None) };
        let Some(row) = pushes::by_id(tx, app, push_id)? else { return Ok(None) };
        Ok::<_, Error>(Some((app_row, row, origins::of(tx, app, push_id)?)))
    });
    let Some((app_row, row, provenance)) = found.await? else {
        return jobs::settle_alone(&sending.0.store, claimed).await;
    };
    let permission = SendPermission::from_state(row.state, row.paused);
    if permission == SendPermission::Ended {
        return block.release(sending, Next::Settled).await;
    }
    // Without a payload the push is done: another worker has settled the block meanwhile.
    let Some(mut push) = stored_push(&row)? else { return jobs::settle_alone(&sending.0.store, claimed).await };
    let expires = last_deadline_on(&push, &device_type, row.created);
    let is_expired = expires.is_some_and(|expires| expires <= sending.0.clock.now());
    if permission == SendPermission::Paused && !is_expired {
        let until = expires.map_or(ParkUntil::PushWoken, ParkUntil::Time);
        return block.release(sending, Next::Park(until)).await;
    }
    if push.has_message() && sending.message_has_ended(app, &row, &push).await? {
        leave_out_message(&mut push);
        if reach::needed(&push, &device_type).is_none() {
            // There was nothing but the message, and waking apps for it would be useless.
            return block.expire(sending).await;
        }
    }
    let shared_push = provenance.shared_push(push_id, &push);
    let personalized = personalized(&push);
    let (sent, texts) = match &personalized {
        Some(PersonalizedPush { push, texts }) => (push, (!texts.is_empty()).then_some(texts)),
        None => (&push, None),
    };
    let renderer =
        Renderer::new(sending, &app_row.key, (&row, shared_push.clone()), (sent, texts), device_type.clone());
    let transport = Transport::choose(sending, &app_row, &device_type).await?;
    let unified_push = UnifiedPush::choose(sending, &app_row, &device_type).await?;
    let in_time = |due: UtcMillis| expires.map_or(due, |expires| expires.min(due));
    let gate = Gate::of(sending, app, &device_type, &transport).await?;
    let context = RunContext {
        sending,
        app,
        push: push_id,
        upload: push.bulk_upload(),
        device_type: &device_type,
        sent_at: row.created,
        expires,
        transport: &transport,
        unified_push: unified_push.as_ref(),
        stop,
    };
    let is_sandbox = matches!(transport, Transport::Sandbox);
    let followed = push.followed(&device_type);
    let proves_addresses = matches!(transport, Transport::Provider(_));
    let mut block = SendingBlock::new(block, shared_push, renderer.is_alerting(), proves_addresses, followed.clone());
    // An expired push is for nobody any more, which the run notes; a platform that the operator holds gets nothing in any way.
    let reach = reach::needed(&push, &device_type).filter(|_| !is_expired && !matches!(gate, Gate::Held));
    // Nobody but Apple can change a Live Activity.
    let live_reach = reach.filter(|_| !block.has_own_tokens());
    let mut live = LivePart::of(&context, live_reach, &row, &block.block.pending).await?;
    while let Some(outcomes) = live.next_outcomes(&context, &renderer).await? {
        let is_all = block.block.pending == outcomes.settled();
        let next = if is_all { Next::Settled } else { Next::GoOn };
        block.checkpoint(sending, stop, outcomes, next).await?;
        if is_all {
            return Ok(());
        }
    }
    let mode = match gate {
        // An expired push sends nothing any more, so that it need not wait for the platform.
        Gate::Until(_) | Gate::Held | Gate::Open(RunMode::Probing(_)) if is_expired => RunMode::Normal,
        Gate::Open(mode) => mode,
        Gate::Until(due) => return block.block.release(sending, Next::WaitUntil(in_time(due))).await,
        Gate::Held => {
            let until = expires.map_or(ParkUntil::LaneOrPushWoken, ParkUntil::Time);
            return block.block.release(sending, Next::Hold(until)).await;
        }
    };
    let names = texts.map(|texts| Arc::new(texts.names()));
    let pending = block.block.pending.clone();
    let mut feed = Feed::new(sending, app, (push_id, &push), (names, followed), &device_type, pending, is_sandbox);
    if matches!(mode, RunMode::Probing(_)) {
        feed.find_proven().await?;
    }
    Box::pin(SendRun::new(context, renderer, block, feed, live.beside, mode).run()).await
}

/// The push with what its tags say, and what varies from recipient to recipient. A push that was accepted before its texts meant
/// anything is sent as it is written.
fn personalized(push: &Push) -> Option<PersonalizedPush> {
    match push.personalized() {
        Ok(personalized) => personalized,
        Err(problems) => {
            tracing::warn!(problem = %problems.first().message, "a stored push cannot be personalized");
            None
        }
    }
}

fn leave_out_message(push: &mut Push) {
    push.message = None;
    for localization in push.localizations.iter_mut().flatten() {
        localization.message = None;
    }
}

/// Whether a run may send to its platform.
enum Gate {
    Open(RunMode),
    /// Not before then.
    Until(UtcMillis),
    /// Not before the operator lets it.
    Held,
}

impl Gate {
    async fn of(sending: &Sending, app: AppId, device_type: &DeviceType, transport: &Transport) -> Result<Self> {
        let Some(health) = sending.platform_health(app, device_type).await? else {
            if let Transport::Provider(provider) = transport {
                // A long wait was noted as an outage. That it is noted no longer is how all nodes hear that it is over.
                provider.route.end_quiet_beyond(sending.0.clock.now().plus(UNNOTED_WAIT));
            }
            return Ok(Gate::Open(RunMode::Normal));
        };
        let route = match (health.hindrance, transport) {
            (Hindrance::Held, _) => return Ok(Gate::Held),
            // The sandbox and a missing configuration have no provider that could refuse us.
            (_, Transport::Sandbox | Transport::Missing { .. }) => return Ok(Gate::Open(RunMode::Normal)),
            (Hindrance::Down, Transport::Provider(_) | Transport::Open(_)) => {
                return Ok(Gate::Open(RunMode::AfterOutage));
            }
            (Hindrance::Refused, Transport::Provider(provider)) => Some(&provider.route),
            (Hindrance::Refused, Transport::Open(_)) => None,
        };
        let now = sending.0.shared_clock.now();
        if !health.is_due(now) || !sending.claim_probe(app, device_type).await? {
            return Ok(Gate::Until(health.next_probe(now)));
        }
        if let Some(route) = route {
            route.start_over();
        }
        let refusal = if health.refuses_addresses { RefusalOf::Addresses } else { RefusalOf::Credentials };
        Ok(Gate::Open(RunMode::Probing(refusal)))
    }
}

#[cfg(test)]
mod tests {
    use model::ids::Id;
    use uuid::Uuid;

    use super::*;

    /// Jobs outlive the version that wrote them: a device type is stored as its name.
    #[test]
    fn deliveries_are_stored_as_ever() {
        let push: PushId = Id::from_uuid(Uuid::from_u128(0x0102));
        for name in ["ios", "open::kiosk"] {
            let device_type = DeviceType::from_name(name).unwrap();
            let job = Deliver { push, device_type, block: 300 };
            let length = u8::try_from(name.len()).unwrap();
            let stored = [&[16][..], push.as_bytes(), &[length], name.as_bytes(), &[0xac, 0x02]].concat();
            assert_eq!(postcard::to_stdvec(&job).unwrap(), stored);
            assert_eq!(postcard::from_bytes::<Deliver>(&stored).unwrap(), job);
        }
    }
}
