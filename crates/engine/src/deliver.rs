//! Delivering one block of a push.

mod batch;
mod block;
mod courier;
mod feed;
mod flight;
mod outcomes;
mod render;
mod target;

use model::ids::AppId;
use model::payload::Push;
use model::platform::DeviceType;
use model::time::UtcMillis;
use store::blocks::BlockKey;
use store::jobs::{self, ClaimedJob};
use store::{origins, pushes};

use block::{Block, Next};
use courier::Courier;
use feed::Feed;
use flight::{Course, Flight, Manner};
use outcomes::Outcomes;
use render::Renderer;

use crate::push::{Standing, stored_push};
use crate::worker::Stop;
use crate::{Engine, Error, Hindrance, Result, reach};

/// Running it twice is harmless: it goes on with those who are pending, and each checkpoint removes from them exactly
/// those it records. Deliveries that were made but not recorded before a crash are made again under the same id.
pub(crate) async fn run(engine: &Engine, claimed: &ClaimedJob, key: BlockKey, stop: &Stop) -> Result<()> {
    let (app, push_id) = (claimed.app, key.push);
    let device_type = DeviceType::from_name(&key.platform);
    let device_type = device_type.ok_or_else(|| Error::internal(format!("platform {:?}", key.platform)))?;
    let Some(mut block) = Block::load(engine, claimed, key).await? else { return engine.settle(claimed).await };
    let found = engine.0.store.read(move |tx| {
        let Some((app_row, _)) = store::apps::by_id(tx, app)? else { return Ok(None) };
        let Some(row) = pushes::by_id(tx, app, push_id)? else { return Ok(None) };
        let (standing, provenance) = (Standing::of(tx, app, push_id)?, origins::of(tx, app, push_id)?);
        Ok::<_, Error>(Some((app_row, row, standing, provenance)))
    });
    let Some((app_row, row, standing, provenance)) = found.await? else { return engine.settle(claimed).await };
    let is_expired = row.expires.is_some_and(|expires| expires <= engine.clock().now());
    let ending = match standing {
        Standing::Over => Some(Next::Settled),
        Standing::Paused if !is_expired => Some(Next::Park(row.expires.unwrap_or(jobs::NEVER))),
        Standing::Paused | Standing::GoOn => None,
    };
    if let Some(next) = ending {
        block.checkpoint(engine, Outcomes::default(), next).await?;
        return Ok(());
    }
    // Without a payload the push is done: somebody else has settled the block meanwhile.
    let Some(mut push) = stored_push(&row)? else { return engine.settle(claimed).await };
    if push.has_message() && engine.message_has_ended(app, &row, &push).await? {
        leave_out_message(&mut push);
        if reach::needed(&push, &device_type).is_none() {
            // There was nothing but the message, and waking apps for it would be in vain.
            let outcomes = Outcomes { expired: block.pending.clone(), ..Outcomes::default() };
            block.checkpoint(engine, outcomes, Next::Settled).await?;
            return Ok(());
        }
    }
    block.told = provenance.shared_push(push_id, &push);
    let renderer = Renderer::new(engine, &app_row.key, (&row, block.told.clone()), &push, device_type.clone());
    block.is_alerting = renderer.is_alerting();
    let courier = Courier::choose(engine, &app_row, &device_type).await?;
    let in_time = |due: UtcMillis| row.expires.map_or(due, |expires| expires.min(due));
    let manner = match Gate::of(engine, app, &device_type, &courier).await? {
        // An expired push sends nothing any more, so that it need not wait for the platform.
        Gate::Until(_) | Gate::Held | Gate::Open(Manner::Probing) if is_expired => Manner::Plain,
        Gate::Open(manner) => manner,
        Gate::Until(due) => {
            block.checkpoint(engine, Outcomes::default(), Next::WaitUntil(in_time(due))).await?;
            return Ok(());
        }
        Gate::Held => {
            block.checkpoint(engine, Outcomes::default(), Next::Hold(in_time(jobs::WITH_LANE))).await?;
            return Ok(());
        }
    };
    let course =
        Course { engine, app, push: push_id, device_type: &device_type, expires: row.expires, courier: &courier, stop };
    let feed = Feed::new(engine, app, &push, &device_type, block.pending.clone());
    Box::pin(Flight::new(course, renderer, block, feed, manner).run()).await
}

fn leave_out_message(push: &mut Push) {
    push.message = None;
    for localization in push.localizations.iter_mut().flatten() {
        localization.message = None;
    }
}

/// Whether a run may send to its platform.
enum Gate {
    Open(Manner),
    /// Not before then.
    Until(UtcMillis),
    /// Not before the operator lets it.
    Held,
}

impl Gate {
    async fn of(engine: &Engine, app: AppId, device_type: &DeviceType, courier: &Courier) -> Result<Self> {
        let Some(health) = engine.platform_health(app, device_type).await? else {
            return Ok(Gate::Open(Manner::Plain));
        };
        let route = match (health.hindrance, courier) {
            (Hindrance::Held, _) => return Ok(Gate::Held),
            // They are nobody's provider.
            (_, Courier::Sandbox | Courier::Missing { .. }) => return Ok(Gate::Open(Manner::Plain)),
            (Hindrance::Down, Courier::Provider(_) | Courier::Open(_)) => return Ok(Gate::Open(Manner::AfterOutage)),
            (Hindrance::Refused, Courier::Provider(provider)) => Some(&provider.route),
            (Hindrance::Refused, Courier::Open(_)) => None,
        };
        if health.probe_at > engine.clock().now() || !engine.claim_probe(app, device_type).await? {
            return Ok(Gate::Until(health.probe_at));
        }
        if let Some(route) = route {
            route.start_over();
        }
        Ok(Gate::Open(Manner::Probing))
    }
}
