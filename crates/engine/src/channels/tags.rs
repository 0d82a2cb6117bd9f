//! Tags set by servers, and by devices for themselves.

use model::channel::{ChannelRef, OpenAddress, TagOperation};
use model::ids::AppId;
use model::platform::DeviceType;
use store::Tx;
use store::channels::{self, Channel};

use super::keys;
use crate::desk::Desk;
use crate::{Engine, Result};

impl Engine {
    /// Changes the tags of channels. Ids that are unknown, uninstalled or of another type are passed over.
    pub async fn tag_channels(&self, app: AppId, channels: Vec<ChannelRef>, operation: TagOperation) -> Result<()> {
        self.tag(app, operation, move |tx| {
            let mut found = Vec::with_capacity(channels.len());
            for wanted in &channels {
                let row = channels::by_id(tx, app, wanted.id)?;
                found.extend(row.filter(|row| wanted.fits(&row.device_type)));
            }
            Ok(found)
        })
        .await
    }

    /// Changes the tags of one open channel. An address nobody has registered is passed over.
    pub async fn tag_open(&self, app: AppId, address: OpenAddress, operation: TagOperation) -> Result<()> {
        self.tag(app, operation, move |tx| {
            let key = keys::address_key(&DeviceType::Open(address.platform.clone()), &address.address);
            let Some(ordinal) = channels::by_key(tx, app, &key)? else { return Ok(Vec::new()) };
            Ok(channels::by_ordinal(tx, app, ordinal)?.into_iter().collect())
        })
        .await
    }

    async fn tag(
        &self,
        app: AppId,
        operation: TagOperation,
        find: impl Fn(&mut Tx<'_>) -> Result<Vec<Channel>> + Send + 'static,
    ) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut desk = Desk::new(app, &index, now);
                for row in find(tx)?.into_iter().filter(|row| row.installed) {
                    desk.change_own(tx, &row, |own| operation.apply(&mut own.tags))?;
                }
                desk.journal.write(tx, app)?;
                Ok(())
            })
            .await
    }
}
