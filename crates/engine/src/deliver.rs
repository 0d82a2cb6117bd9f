//! Delivering one block of a push: window by window, with a checkpoint after each.

mod block;
mod render;
mod transport;

use std::time::Duration;

use audience::plan::Plan;
use model::ids::{AppId, Ordinal};
use model::payload::Push;
use model::platform::DeviceType;
use model::term::Term;
use roaring::RoaringBitmap;
use store::blocks::BlockKey;
use store::channels::{self, Recipient};
use store::jobs::ClaimedJob;
use store::pushes;

use block::{Block, Next, Outcomes};
use render::Renderer;
use transport::Transport;

use crate::push::stored_push;
use crate::worker::Stop;
use crate::{Engine, Error, Result, reach};

/// Deliveries between two checkpoints: after a crash at most so many of a block are repeated.
const WINDOW: usize = 4096;
/// With fewer recipients than one in so many channels, looking them up beats reading the range they are in.
const SPARSE: u32 = 4;
/// With the back-off below, a recipient is given up after about an hour.
const MOST_TRIES: u32 = 18;
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Running it twice is harmless: it goes on with those who are pending, and each checkpoint removes from them exactly
/// those it records. Deliveries that were made but not recorded before a crash are made again under the same id.
pub(crate) async fn run(engine: &Engine, claimed: &ClaimedJob, key: BlockKey, stop: &Stop) -> Result<()> {
    let app = claimed.app;
    let push_id = key.push;
    let platform = key.platform.clone();
    let Some(mut block) = Block::load(engine, claimed, key).await? else { return engine.settle(claimed).await };
    let found = engine.0.store.read(move |tx| {
        let app_row = store::apps::by_id(tx, app)?.map(|(app, _)| app);
        Ok::<_, Error>(app_row.zip(pushes::by_id(tx, app, push_id)?))
    });
    let Some((app_row, row)) = found.await? else { return engine.settle(claimed).await };
    // Without a payload the push is done: somebody else has settled the block meanwhile.
    let Some(push) = stored_push(&row)? else { return engine.settle(claimed).await };
    let mut renderer = Renderer::new(engine, &app_row.key, &row, &push, &platform)?;
    let transport = Transport::choose(engine, &app_row, renderer.device_type()).await?;

    // Recipients who have to wait for the next run.
    let mut later = RoaringBitmap::new();
    let mut retry_after = None;
    loop {
        let window = next_window(&block.pending, &later);
        if window.is_empty() || stop.is_requested() {
            let next = if window.is_empty() { Next::Settled } else { Next::HandOver };
            return block.checkpoint(engine, Outcomes::default(), next).await;
        }
        let now = engine.clock().now();
        if row.expires.is_some_and(|expires| expires <= now) {
            let expired = Outcomes { expired: block.pending.clone(), ..Outcomes::default() };
            return block.checkpoint(engine, expired, Next::Settled).await;
        }
        let reachable = still_reachable(engine, app, &push, renderer.device_type(), &window).await?;
        let recipients = read_recipients(engine, claimed, &reachable).await?;
        let mut sent = transport.send(engine, &mut renderer, &recipients, now).await?;
        sent.outcomes.missing =
            &window - recipients.iter().map(|recipient| recipient.ordinal.0).collect::<RoaringBitmap>();
        later |= &sent.later;
        if sent.says_wait() {
            later |= &block.pending - &window;
        }
        retry_after = retry_after.max(sent.retry_after);

        let is_last = (&block.pending - &window).is_subset(&later);
        let next = match (is_last, later.is_empty()) {
            (false, _) => Next::GoOn,
            (true, true) => Next::Settled,
            (true, false) if block.tries + 1 >= MOST_TRIES => {
                sent.outcomes.failed |= &later;
                Next::Settled
            }
            (true, false) => Next::TryAgainAt(now.plus(wait_before(block.tries + 1, retry_after))),
        };
        transport.count(engine, renderer.device_type(), &sent.outcomes);
        block.checkpoint(engine, sent.outcomes, next).await?;
        if next != Next::GoOn {
            return Ok(());
        }
    }
}

/// Those of a window who could still be chosen: much can happen between choosing and a late attempt, and whoever opted out
/// meanwhile gets nothing.
async fn still_reachable(
    engine: &Engine,
    app: AppId,
    push: &Push,
    device_type: &DeviceType,
    window: &RoaringBitmap,
) -> Result<RoaringBitmap> {
    let Some(reach) = reach::needed(push, device_type) else { return Ok(RoaringBitmap::new()) };
    let index = engine.current_index(app).await?;
    let term = |term: Term| {
        let (group, tag) = term.key();
        index.term(group, &tag).map_or(Plan::Nobody, Plan::Term)
    };
    let parts = vec![Plan::Set(window.clone()), term(Term::DeviceType(device_type.clone())), term(Term::Reach(reach))];
    Ok(index.resolve(&Plan::And(parts).normalize()))
}

/// The first of those who are neither served nor waiting for the next run.
fn next_window(pending: &RoaringBitmap, later: &RoaringBitmap) -> RoaringBitmap {
    (pending - later).iter().take(WINDOW).collect()
}

/// Doubles from a second on; a provider that asks for more gets it.
fn wait_before(attempt: u32, asked_for: Option<Duration>) -> Duration {
    let own = Duration::from_secs(1 << attempt.min(16)).min(LONGEST_WAIT);
    asked_for.unwrap_or_default().max(own)
}

async fn read_recipients(engine: &Engine, claimed: &ClaimedJob, window: &RoaringBitmap) -> Result<Vec<Recipient>> {
    let (Some(first), Some(last)) = (window.min(), window.max()) else { return Ok(Vec::new()) };
    let (app, window) = (claimed.app, window.clone());
    let read = move |tx: &mut store::Tx<'_>| {
        let is_sparse = u64::from(last - first) / u64::from(SPARSE) > window.len();
        if is_sparse {
            let ordinals: Vec<Ordinal> = window.iter().map(Ordinal).collect();
            return channels::recipients_among(tx, app, &ordinals);
        }
        let mut recipients = channels::recipients_between(tx, app, Ordinal(first), Ordinal(last))?;
        recipients.retain(|recipient| window.contains(recipient.ordinal.0));
        Ok(recipients)
    };
    Ok(engine.0.store.read(read).await?)
}

/// What became of one window.
#[derive(Default)]
struct Sent {
    outcomes: Outcomes,
    /// Recipients to try again later.
    later: RoaringBitmap,
    /// The longest wait that the platform asked for.
    retry_after: Option<Duration>,
}

impl Sent {
    /// Whether going on now would only make things worse: the platform asked for time, or takes nothing at all.
    fn says_wait(&self) -> bool {
        self.retry_after.is_some() || (self.outcomes.delivered.is_empty() && !self.later.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_everybody_once_and_leave_out_those_who_wait() {
        let mut pending: RoaringBitmap = (0..10_000).collect();
        let later: RoaringBitmap = (0..10_000).step_by(3).collect();
        let mut served = RoaringBitmap::new();
        loop {
            let window = next_window(&pending, &later);
            if window.is_empty() {
                break;
            }
            assert!(window.len() <= WINDOW as u64 && window.is_disjoint(&served) && window.is_disjoint(&later));
            served |= &window;
            pending -= &window;
        }
        assert_eq!(&served | &later, (0..10_000).collect());
        assert_eq!(pending, later);
    }

    #[test]
    fn waits_double_up_to_five_minutes_unless_asked_for_more() {
        let seconds = |attempt, asked: Option<u64>| wait_before(attempt, asked.map(Duration::from_secs)).as_secs();
        assert_eq!([1, 2, 3, 8, 9, 40].map(|attempt| seconds(attempt, None)), [2, 4, 8, 256, 300, 300]);
        assert_eq!(seconds(1, Some(1)), 2);
        assert_eq!(seconds(1, Some(3600)), 3600);
    }
}
