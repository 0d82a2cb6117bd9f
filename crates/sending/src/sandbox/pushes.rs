//! The pushes that have deliveries in the sandbox: how many, of which device types, and the newest by each transport.

use std::collections::BTreeMap;

use base::Result;
use model::ids::{AppId, PushId};
use store::Tx;
use store::sandbox::{self, SandboxDelivery};

use super::{PORTION, SandboxQuery};

#[derive(Clone, Debug)]
pub struct SandboxPush {
    pub push: PushId,
    /// Of its newest delivery.
    pub position: i64,
    pub n_deliveries: u64,
    pub by_device_type: BTreeMap<String, u64>,
    /// The newest by each transport, the newest of all first.
    pub newest: Vec<SandboxDelivery>,
}

/// The database keeps a limited number of deliveries, so that all of them can be counted.
pub(super) fn all(tx: &mut Tx<'_>, app: AppId, query: &SandboxQuery) -> Result<Vec<SandboxPush>> {
    let (mut pushes, mut before): (Vec<SandboxPush>, i64) = (Vec::new(), i64::MAX);
    let mut places: BTreeMap<PushId, usize> = BTreeMap::new();
    loop {
        let portion = sandbox::before(tx, app, before, query.filter, PORTION)?;
        let is_last = portion.len() < PORTION as usize;
        for (position, delivery) in portion {
            before = position;
            if query.takes(&delivery) {
                let place = *places.entry(delivery.push).or_insert(pushes.len());
                if place == pushes.len() {
                    pushes.push(SandboxPush::new(delivery.push, position));
                }
                pushes[place].count(delivery);
            }
        }
        if is_last {
            return Ok(pushes);
        }
    }
}

impl SandboxPush {
    const fn new(push: PushId, position: i64) -> Self {
        Self { push, position, n_deliveries: 0, by_device_type: BTreeMap::new(), newest: Vec::new() }
    }

    fn count(&mut self, delivery: SandboxDelivery) {
        self.n_deliveries += 1;
        *self.by_device_type.entry(delivery.device_type.clone()).or_default() += 1;
        if !self.newest.iter().any(|known| known.transport == delivery.transport) {
            self.newest.push(delivery);
        }
    }
}
