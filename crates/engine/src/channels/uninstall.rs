//! Uninstallation: the channel stays on record but has no address, no tags and no audience any more.

use audience::index::Index;
use model::channel::{OpenAddress, Profile, TagSets, Uninstall};
use model::event::{self, RecordKind};
use model::ids::{AppId, Ordinal};
use model::platform::DeviceType;
use store::{Tx, channels};

use super::keys;
use super::state::{Desk, State};
use crate::journal::Journal;
use crate::{Engine, Result};

impl Engine {
    /// Uninstalls channels. Ids that are unknown, uninstalled already or of another device type are passed over.
    pub async fn uninstall_channels(&self, app: AppId, uninstalls: Vec<Uninstall>) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut ordinals = Vec::with_capacity(uninstalls.len());
                for uninstall in &uninstalls {
                    let channel = channels::by_id(tx, app, uninstall.channel_id)?;
                    let meant = channel.filter(|channel| uninstall.device_type.matches(&channel.device_type));
                    ordinals.extend(meant.map(|channel| channel.ordinal));
                }
                uninstall_and_log(tx, app, &index, Journal::new(now), &ordinals)
            })
            .await
    }

    pub async fn uninstall_open(&self, app: AppId, address: OpenAddress) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let key = keys::address_key(&DeviceType::Open(address.platform.clone()), &address.address);
                let ordinals: Vec<_> = channels::by_key(tx, app, &key)?.into_iter().collect();
                uninstall_and_log(tx, app, &index, Journal::new(now), &ordinals)
            })
            .await
    }
}

fn uninstall_and_log(tx: &mut Tx<'_>, app: AppId, index: &Index, journal: Journal, ordinals: &[Ordinal]) -> Result<()> {
    uninstall_in(tx, app, index, journal, ordinals)?.write(tx, app)?;
    Ok(())
}

/// Uninstalls channels as part of a larger transaction.
pub(crate) fn uninstall_in(
    tx: &mut Tx<'_>,
    app: AppId,
    index: &Index,
    journal: Journal,
    ordinals: &[Ordinal],
) -> Result<Journal> {
    let mut desk = Desk { app, index, journal };
    for ordinal in ordinals {
        let Some(mut channel) = channels::by_ordinal(tx, app, *ordinal)?.filter(|channel| channel.installed) else {
            continue;
        };
        // Nothing personal is kept, and leaving is no change of tags: an uninstalled channel has none.
        let nothing = State { profile: Profile::new(channel.device_type.clone()), tags: TagSets::new() };
        channel.installed = false;
        channel.named_user = None;
        let channel = desk.save(tx, channel, &nothing, &nothing)?;
        let body = event::Uninstall { decay: false };
        desk.journal.event(RecordKind::Uninstall, Some(channel.ordinal), body)?;
    }
    Ok(desk.journal)
}
