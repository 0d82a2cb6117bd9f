//! Uninstallation: the channel stays on record but has no address, no tags and no audience any more.

use audience::index::Index;
use model::channel::{OpenAddress, Uninstall};
use model::event::{self, RecordKind};
use model::ids::{AppId, Ordinal};
use model::platform::DeviceType;
use store::attributes::{self, Owner};
use store::{Tx, channels};

use super::keys;
use super::state::State;
use crate::desk::Desk;
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
    let mut desk = Desk::with_journal(app, index, journal);
    for ordinal in ordinals {
        let Some(row) = channels::by_ordinal(tx, app, *ordinal)?.filter(|row| row.installed) else { continue };
        let mut opened = desk.open(tx, row)?;
        opened.row.installed = false;
        // Nothing personal is kept.
        let nothing = State::nothing(opened.row.device_type.clone());
        let row = desk.save(tx, opened, &nothing)?;
        attributes::forget(tx, app, &Owner::Channel(row.ordinal))?;
        desk.journal.event(RecordKind::Uninstall, Some(row.ordinal), event::Uninstall { decay: false })?;
    }
    Ok(desk.journal)
}
