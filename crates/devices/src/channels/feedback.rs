//! What is told of devices that are gone, as listings before channels did: for a month, with the addresses that they had.

use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::time::UtcMillis;
use store::Tx;
use store::channels::{self, Channel, Key};
use store::uninstalled::{self, Uninstalled};

use super::keys;
use super::state::State;
use crate::Devices;
use crate::change_context::ChangeContext;

/// How long uninstalled devices are told of: to the beginning of the day on which this ends.
const FEEDBACK_KEPT_FOR: Duration = Duration::from_secs(31 * 24 * 60 * 60);
/// The device types that there is feedback of.
const TOLD_OF: [DeviceType; 2] = [DeviceType::Ios, DeviceType::Android];
/// Who has more asks on with the time of the last one.
const MOST_TOLD: u32 = 20_000;
const PORTION: u32 = 1000;

/// Where a portion begins: an instant and an ordinal.
type Beginning = (UtcMillis, i64);

#[boxed]
impl Devices {
    /// The devices of a type that were uninstalled since an instant and whose channels are gone for good, in the order in which it
    /// happened.
    pub async fn uninstalled_since(
        &self,
        app: AppId,
        device_type: DeviceType,
        since: UtcMillis,
    ) -> Result<Vec<Uninstalled>> {
        let read = move |tx: &mut Tx<'_>| uninstalled::since(tx, app, &device_type, (since, 0), MOST_TOLD);
        Ok(self.0.store.read(read).await?)
    }

    /// Those of them whose address no other channel has by now.
    pub async fn addresses_gone_since(
        &self,
        app: AppId,
        device_type: DeviceType,
        since: UtcMillis,
    ) -> Result<Vec<Uninstalled>> {
        let most = MOST_TOLD as usize;
        let (mut gone, mut next) = (Vec::new(), Some((since, 0)));
        while let Some(first) = next.filter(|_| gone.len() < most) {
            let device_type = device_type.clone();
            let read = move |tx: &mut Tx<'_>| addresses_gone_from(tx, app, &device_type, first);
            let (more, after) = self.0.store.read(read).await?;
            gone.extend(more);
            next = after;
        }
        gone.truncate(most);
        Ok(gone)
    }

    /// Deletes what is not told of any more.
    pub async fn forget_old_feedback(&self, app: AppId) -> Result<()> {
        let oldest = first_feedback(self.0.clock.now());
        let forget = move |tx: &mut Tx<'_>| uninstalled::forget_before(tx, app, oldest, PORTION);
        while self.0.store.write(app, forget).await? == u64::from(PORTION) {}
        Ok(())
    }
}

/// Of a portion of those that are gone, the ones whose address no other channel has, and the beginning of the next portion.
fn addresses_gone_from(
    tx: &mut Tx<'_>,
    app: AppId,
    device_type: &DeviceType,
    first: Beginning,
) -> Result<(Vec<Uninstalled>, Option<Beginning>)> {
    let told = uninstalled::since(tx, app, device_type, first, PORTION)?;
    let is_full = told.len() == PORTION as usize;
    let next = told.last().filter(|_| is_full).map(|last| (last.at, i64::from(last.ordinal.0) + 1));
    let with_key = |one: Uninstalled| {
        let key = keys::address_key(device_type, one.address.as_deref()?);
        Some((one, key))
    };
    let (told, addresses): (Vec<Uninstalled>, Vec<Key>) = told.into_iter().filter_map(with_key).unzip();
    let owners = channels::owners_of_keys(tx, app, &addresses)?;
    let gone = told.into_iter().zip(owners).filter(|(_, owner)| owner.is_none()).map(|(one, _)| one);
    Ok((gone.collect(), next))
}

/// From when on uninstalled devices are told of: for whole days, because callers ask by date.
pub fn first_feedback(now: UtcMillis) -> UtcMillis {
    UtcMillis::of_day(now.minus(FEEDBACK_KEPT_FOR).day())
}

/// Notes that a channel is uninstalled, of which this was known.
pub(super) fn note(tx: &mut Tx<'_>, context: &ChangeContext<'_>, row: &Channel, known: &State) -> Result<()> {
    if !TOLD_OF.contains(&row.device_type) {
        return Ok(());
    }
    let address = known.profile.address.as_ref().map(|address| keys::address_key(&row.device_type, address).value);
    let alias = known.profile.alias.as_deref();
    Ok(uninstalled::add(tx, context.app, context.journal.now(), row.ordinal, address.as_deref(), alias)?)
}
