//! The account of one block: its channels by where they stand.

use audience::codec;
use base::{Error, Result};
use model::device_type::DeviceType;
use model::ids::{AppId, Ordinal};
use model::push_outcome::PushOutcome;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::blocks::{self, BlockKey};
use store::push_outcomes::{self, OutcomeSet};
use store::pushes::PushState;

use super::{Accounted, Standing};

/// The sets are disjoint.
#[derive(Default)]
pub(super) struct BlockAccount {
    pub(super) sets: Vec<StandingSet>,
    /// How often its recipients of a type had to be tried again.
    tries: Vec<(DeviceType, u32)>,
}

pub(super) struct StandingSet {
    pub(super) device_type: DeviceType,
    pub(super) standing: Standing,
    pub(super) reason: String,
    pub(super) at: Option<UtcMillis>,
    pub(super) channels: RoaringBitmap,
}

impl BlockAccount {
    pub(super) fn read(tx: &mut Tx<'_>, app: AppId, push: &Accounted, number: u32) -> Result<Self> {
        let mut account = Self::default();
        for set in push_outcomes::in_block(tx, app, push.row.id, number)? {
            let OutcomeSet { device_type, outcome, reason, since, members, .. } = set;
            let channels = decode(&members)?;
            let standing = Standing::Ended(outcome);
            account.sets.push(StandingSet { device_type, standing, reason, at: Some(since), channels });
        }
        for device_type in &push.device_types {
            let key = BlockKey { push: push.row.id, device_type: device_type.clone(), number };
            let Some(progress) = blocks::get(tx, app, &key)? else { continue };
            account.tries.push((device_type.clone(), progress.tries));
            let pending = match push.row.state {
                PushState::Canceled => Standing::Ended(PushOutcome::Canceled),
                PushState::Accepted | PushState::Sending | PushState::Done => Standing::Pending,
            };
            account.add_unknown(device_type, pending, &progress.pending)?;
            // What an earlier version has sent is only in these.
            account.add_unknown(device_type, Standing::Ended(PushOutcome::Delivered), &progress.delivered)?;
            account.add_unknown(device_type, Standing::Ended(PushOutcome::Gone), &progress.gone)?;
            account.add_unknown(device_type, Standing::Ended(PushOutcome::Failed), &progress.failed)?;
        }
        Ok(account)
    }

    /// Adds those of a set of whom nothing is known yet.
    fn add_unknown(&mut self, device_type: &DeviceType, standing: Standing, set: &[u8]) -> Result<()> {
        let channels = decode(set)? - self.everybody();
        if !channels.is_empty() {
            let (device_type, reason) = (device_type.clone(), String::new());
            self.sets.push(StandingSet { device_type, standing, reason, at: None, channels });
        }
        Ok(())
    }

    pub(super) fn everybody(&self) -> RoaringBitmap {
        self.sets.iter().fold(RoaringBitmap::new(), |all, set| all | &set.channels)
    }

    pub(super) fn of(&self, ordinal: Ordinal) -> Option<&StandingSet> {
        self.sets.iter().find(|set| set.channels.contains(ordinal.0))
    }

    pub(super) fn tries(&self, device_type: &DeviceType) -> u32 {
        self.tries.iter().find(|(of, _)| of == device_type).map_or(0, |(_, tries)| *tries)
    }

    /// The first block from one on in which a push has anything to tell.
    pub(super) fn next(tx: &mut Tx<'_>, app: AppId, push: &Accounted, from: u32) -> Result<Option<u32>> {
        let mut next = push_outcomes::next_block(tx, app, push.row.id, from)?;
        for device_type in &push.device_types {
            let found = blocks::next(tx, app, push.row.id, device_type, from)?;
            next = [next, found].into_iter().flatten().min();
        }
        Ok(next)
    }
}

pub(super) fn decode(bytes: &[u8]) -> Result<RoaringBitmap> {
    codec::decode(bytes).map_err(Error::internal)
}
