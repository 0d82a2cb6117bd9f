//! The recipients of a block as they come: some at a time, read ahead while others are being sent to.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use audience::index::Index;
use audience::plan::Plan;
use base::{Error, Result};
use devices::served_among;
use index::term_plan;
use model::channel::LiveKey;
use model::create_and_send::Recipients;
use model::device_type::DeviceType;
use model::ids::{AppId, BulkId, Ordinal, PushId};
use model::payload::Push;
use model::push_outcome::GoneBy;
use model::sandbox::SandboxAnswer;
use model::term::{Reach, Term};
use model::time::UtcMillis;
use personalization::ValueMap;
use roaring::RoaringBitmap;
use store::recipients::{self, Wanted};
use store::{Tx, live_tokens};
use tenancy::key_for_log_in;

use super::outcomes::Missing;
use super::target::{Need, Target};
use crate::sandbox::take_faults;
use crate::{Sending, personal, reach};

/// Recipients read at once: enough for two full requests to an endpoint.
pub(super) const CHUNK: usize = 2_000;
/// With fewer recipients than one in this many channels, looking them up beats reading the range they are in.
const SPARSE: u32 = 4;

pub(super) struct Feed {
    sending: Sending,
    app: AppId,
    device_type: DeviceType,
    reach: Option<Reach>,
    need: Need,
    is_localized: bool,
    /// The push, and the file with its recipients.
    push: (PushId, Option<BulkId>),
    /// The names of values that the texts of the push are filled in with; `None` if they are the same for everybody.
    names: Option<Arc<BTreeSet<String>>>,
    /// The push's own data about the recipients it named, by their addresses.
    values: Option<Arc<ValuesByAddress>>,
    /// What recipients must have told of. The token of a Live Activity takes the place of their address.
    followed: Option<LiveKey>,
    /// Whether the messages go to the sandbox.
    is_sandbox: bool,
    /// Recipients that have not been handed out.
    left: RoaringBitmap,
    /// Recipients whose address has taken a message before; only known to a run that tries a paused platform.
    proven: RoaringBitmap,
}

type ValuesByAddress = HashMap<String, ValueMap>;

/// Some recipients as they were at one moment.
pub(super) struct Chunk {
    pub(super) targets: Vec<Target>,
    /// No longer to be sent to: uninstalled, opted out or without an address since they were chosen.
    pub(super) missing: Missing,
    /// Cannot be sent to, because their stored data is invalid.
    pub(super) unreadable: Vec<Ordinal>,
    pub(super) read_at: UtcMillis,
    /// What the sandbox answers to the first of the targets; it takes the messages to the others.
    pub(super) faults: Vec<SandboxAnswer>,
}

impl Feed {
    pub(super) fn new(
        sending: &Sending,
        app: AppId,
        (push_id, push): (PushId, &Push),
        (names, followed): (Option<Arc<BTreeSet<String>>>, Option<LiveKey>),
        device_type: &DeviceType,
        left: RoaringBitmap,
        is_sandbox: bool,
    ) -> Self {
        Self {
            sending: sending.clone(),
            app,
            push: (push_id, push.bulk_upload()),
            names,
            reach: reach::needed(push, device_type),
            need: Need::of(push, device_type),
            is_localized: push.localizations.is_some(),
            values: push.recipients().map(|(_, recipients)| Arc::new(by_address(recipients))),
            followed,
            device_type: device_type.clone(),
            is_sandbox,
            left,
            proven: RoaringBitmap::new(),
        }
    }

    /// Looks up the recipients that can show best whether a provider is back.
    pub(super) async fn find_proven(&mut self) -> Result<()> {
        let (app, left) = (self.app, self.left.clone());
        self.proven = self.sending.0.store.read(move |tx| served_among(tx, app, &left)).await?;
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The next recipients, in order.
    pub(super) fn read_some(&mut self) -> impl Future<Output = Result<Chunk>> + Send + 'static {
        let window: RoaringBitmap = self.left.iter().take(CHUNK).collect();
        self.read(window)
    }

    /// Any one recipient, chosen by `seed`; one whose address has taken a message before, if there are any.
    pub(super) fn read_one(&mut self, seed: u64) -> impl Future<Output = Result<Chunk>> + Send + 'static {
        self.proven &= &self.left;
        let candidates = if self.proven.is_empty() { &self.left } else { &self.proven };
        let index = u32::try_from(seed % candidates.len().max(1)).unwrap_or(0);
        let window = candidates.select(index).into_iter().collect();
        self.read(window)
    }

    fn read(&mut self, window: RoaringBitmap) -> impl Future<Output = Result<Chunk>> + Send + 'static {
        self.left -= &window;
        let (sending, app, need, is_localized) = (self.sending.clone(), self.app, self.need, self.is_localized);
        let (device_type, reach, values) = (self.device_type.clone(), self.reach, self.values.clone());
        let (is_sandbox, names, push) = (self.is_sandbox, self.names.clone(), self.push);
        let (followed, is_followed) = (self.followed.clone(), self.followed.is_some());
        async move {
            let read_at = sending.0.clock.now();
            let index = sending.0.index.current(app).await?;
            let reachable = still_reachable(&index, reach, &device_type, &window);
            let mut missing = why_unreachable(&index, &device_type, &window - &reachable);
            let wanted = reachable.clone();
            let read = move |tx: &mut Tx<'_>| {
                let (mut targets, unreadable) = read_targets(tx, app, &reachable, need, is_localized)?;
                if let Some(followed) = &followed {
                    keep_followers(tx, app, followed, &mut targets)?;
                }
                if let Some(names) = &names {
                    let mut found = personal::values_for(tx, app, push, &reachable, names, read_at)?;
                    for target in &mut targets {
                        target.values = found.remove(&target.ordinal.0).unwrap_or_default();
                    }
                }
                Ok::<_, Error>((targets, unreadable))
            };
            let (mut targets, unreadable) = sending.0.store.read(read).await?;
            if let Some(values) = &values {
                give_values(&mut targets, values);
            }
            let found = targets.iter().map(|target| &target.ordinal).chain(&unreadable);
            let vanished = wanted - found.map(|ordinal| ordinal.0).collect::<RoaringBitmap>();
            if !vanished.is_empty() {
                let why = match (is_followed, &values) {
                    (true, _) => GoneBy::NotFollowing,
                    (false, Some(_)) => GoneBy::OtherAddress,
                    (false, None) => GoneBy::WithoutAddress,
                };
                *missing.entry(why).or_default() |= vanished;
            }
            let faults = match is_sandbox {
                true => take_faults(&sending.0.store, app, device_type, targets.len(), read_at).await?,
                false => Vec::new(),
            };
            Ok(Chunk { targets, missing, unreadable, read_at, faults })
        }
    }
}

fn by_address(recipients: &Recipients) -> ValuesByAddress {
    recipients.as_slice().iter().map(|recipient| (recipient.address.clone(), recipient.values.clone())).collect()
}

/// A channel that has another address by now is no longer one of the recipients, and is left out.
fn give_values(targets: &mut Vec<Target>, values: &ValuesByAddress) {
    targets.retain_mut(|target| {
        let own = values.get(&*target.address);
        target.values.extend(own.cloned().unwrap_or_default());
        own.is_some()
    });
}

/// Leaves out channels that do not follow it any more. The token of a Live Activity takes the place of their address.
fn keep_followers(tx: &mut Tx<'_>, app: AppId, followed: &LiveKey, targets: &mut Vec<Target>) -> Result<()> {
    let found = live_tokens::among(tx, app, followed, targets.iter().map(|target| target.ordinal))?;
    let mut tokens: HashMap<Ordinal, Option<String>> = found.into_iter().collect();
    targets.retain_mut(|target| match tokens.remove(&target.ordinal) {
        Some(Some(token)) => {
            (target.address, target.is_proven) = (token.into(), false);
            true
        }
        Some(None) => true,
        None => false,
    });
    Ok(())
}

/// The channels that can still be reached: much can happen between resolving a push and a late attempt, and a channel that opted
/// out meanwhile gets nothing.
pub(super) fn still_reachable(
    index: &Index,
    reach: Option<Reach>,
    device_type: &DeviceType,
    window: &RoaringBitmap,
) -> RoaringBitmap {
    let Some(reach) = reach else { return RoaringBitmap::new() };
    let of_type = term_plan(index, &Term::DeviceType(device_type.clone()));
    let reachable = term_plan(index, &Term::Reach(reach));
    index.resolve(&Plan::And(vec![Plan::Set(window.clone()), of_type, reachable]).normalize())
}

/// Why recipients cannot be reached any more.
fn why_unreachable(index: &Index, device_type: &DeviceType, channels: RoaringBitmap) -> Missing {
    if channels.is_empty() {
        return Missing::new();
    }
    let with = |channels: &RoaringBitmap, term: Term| {
        index.resolve(&Plan::And(vec![Plan::Set(channels.clone()), term_plan(index, &term)]).normalize())
    };
    let installed = with(&channels, Term::DeviceType(device_type.clone()));
    let addressed = with(&installed, Term::Reach(Reach::Addressed));
    let sets = [
        (GoneBy::Uninstalled, channels - &installed),
        (GoneBy::WithoutAddress, installed - &addressed),
        (GoneBy::OptedOut, addressed),
    ];
    sets.into_iter().filter(|(_, set)| !set.is_empty()).collect()
}

/// The channels that can be sent to, and the channels whose stored profile cannot be read.
fn read_targets(
    tx: &mut Tx<'_>,
    app: AppId,
    wanted: &RoaringBitmap,
    need: Need,
    is_localized: bool,
) -> Result<(Vec<Target>, Vec<Ordinal>)> {
    let (Some(first), Some(last)) = (wanted.min(), wanted.max()) else { return Ok(Default::default()) };
    let columns = Wanted { locale: is_localized, profile: need != Need::Nothing };
    let mut targets = Vec::with_capacity(usize::try_from(wanted.len()).unwrap_or(0));
    let mut unreadable = Vec::new();
    let mut complaints = Vec::new();
    let take = |row: recipients::Recipient<'_>| {
        if wanted.contains(row.ordinal.0) {
            match Target::new(&row, need, is_localized) {
                Ok(target) => targets.push(target),
                Err(error) => {
                    complaints.push((row.id, error));
                    unreadable.push(row.ordinal);
                }
            }
        }
    };
    let is_sparse = u64::from(last - first) / u64::from(SPARSE) > wanted.len();
    if is_sparse {
        let ordinals: Vec<Ordinal> = wanted.iter().map(Ordinal).collect();
        recipients::visit_among(tx, app, &ordinals, columns, take)?;
    } else {
        recipients::visit_between(tx, app, Ordinal(first), Ordinal(last), columns, take)?;
    }
    let proven = served_among(tx, app, wanted)?;
    for target in &mut targets {
        target.is_proven = proven.contains(target.ordinal.0);
    }
    for (channel, error) in complaints {
        let (app, error) = (key_for_log_in(tx, app), &error as &dyn std::error::Error);
        tracing::error!(app, %channel, error, "the profile of a channel cannot be read");
    }
    Ok((targets, unreadable))
}
