//! What providers said about the addresses of channels. An address that took a message is trusted: if many such are refused at
//! once, it is us. An address that is refused again and again is given up, and its channel uninstalled.

use std::collections::HashMap;
use std::time::Duration;

use audience::block::slices;
use audience::codec;
use base::{Error, Result};
use model::ids::{AppId, Ordinal};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::addresses::{self, RefusedAddress};

use crate::ChangeContext;
use crate::channels::uninstall_gone_in;

/// An address that once took a message is given up only if it is refused for at least this long: a provider can be wrong for an
/// afternoon.
const PROBATION: Duration = Duration::from_secs(24 * 60 * 60);

/// A provider refused the address of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub ordinal: Ordinal,
    /// When its address was read.
    pub asked_at: UtcMillis,
    /// After how many refusals in a row the address is given up.
    pub patience: u32,
}

/// The channels among some whose present address has taken a message.
pub fn served_among(tx: &mut Tx<'_>, app: AppId, channels: &RoaringBitmap) -> Result<RoaringBitmap> {
    let wanted = slices(channels).into_iter().map(|(slice, _)| slice);
    let mut served = RoaringBitmap::new();
    for (_, members) in addresses::served(tx, app, wanted)? {
        served |= codec::decode(&members).map_err(Error::internal)?;
    }
    Ok(served & channels)
}

/// Notes that the addresses of channels took a message.
pub fn served_in(tx: &mut Tx<'_>, app: AppId, channels: &RoaringBitmap) -> Result<()> {
    let (Some(first), Some(last)) = (channels.min(), channels.max()) else { return Ok(()) };
    let refused = addresses::refused_between(tx, app, Ordinal(first), Ordinal(last))?;
    addresses::forget_refused(tx, app, refused.into_iter().filter(|ordinal| channels.contains(ordinal.0)))?;
    let cut = slices(channels);
    let known = addresses::served(tx, app, cut.iter().map(|(slice, _)| *slice))?;
    let mut known: HashMap<u32, Vec<u8>> = known.into_iter().collect();
    let mut changed = Vec::new();
    for (slice, new) in cut {
        let before =
            known.remove(&slice).map(|members| codec::decode(&members).map_err(Error::internal)).transpose()?;
        let before = before.unwrap_or_default();
        if !new.is_subset(&before) {
            changed.push((slice, codec::encode(&(before | new))));
        }
    }
    Ok(addresses::put_served(tx, app, changed)?)
}

/// Counts refusals, and uninstalls the channels whose addresses were refused too often.
pub fn refused_in(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, refusals: &[Refusal]) -> Result<()> {
    if refusals.is_empty() {
        return Ok(());
    }
    let (app, now) = (context.app, context.journal.now());
    let known = addresses::refused(tx, app, refusals.iter().map(|refusal| refusal.ordinal))?;
    let known: HashMap<Ordinal, RefusedAddress> = known.into_iter().map(|known| (known.ordinal, known)).collect();
    let served = served_among(tx, app, &refusals.iter().map(|refusal| refusal.ordinal.0).collect())?;
    let (mut gone, mut counted) = (Vec::new(), Vec::new());
    for Refusal { ordinal, asked_at, patience } in refusals {
        let (n, since) = known.get(ordinal).map_or((1, now), |known| (known.n.saturating_add(1), known.since));
        let is_on_probation = served.contains(ordinal.0) && now < since.plus(PROBATION);
        match n >= *patience && !is_on_probation {
            true => gone.push((*ordinal, *asked_at)),
            false => counted.push(RefusedAddress { ordinal: *ordinal, n, since }),
        }
    }
    addresses::put_refused(tx, app, counted)?;
    uninstall_gone_in(tx, context, &gone)
}

/// Forgets what was said about an address that a channel no longer has.
pub(crate) fn forget(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<()> {
    addresses::forget_refused(tx, app, [ordinal])?;
    let channel = RoaringBitmap::from_iter([ordinal.0]);
    for (slice, _) in slices(&channel) {
        for (_, members) in addresses::served(tx, app, [slice])? {
            let mut members = codec::decode(&members).map_err(Error::internal)?;
            if members.remove(ordinal.0) {
                addresses::put_served(tx, app, [(slice, codec::encode(&members))])?;
            }
        }
    }
    Ok(())
}
