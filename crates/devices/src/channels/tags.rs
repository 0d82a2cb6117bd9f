//! Tags set by servers, and by devices for themselves.

use base::Result;
use boxed::boxed;
use model::channel::{ChannelRef, OpenAddress, TagOperation};
use model::device_type::DeviceType;
use model::ids::AppId;
use store::Tx;
use store::channels::{self, Holder};

use super::{OwnChange, keys};
use crate::Devices;
use crate::change_context::ChangeContext;

#[boxed]
impl Devices {
    /// Changes the tags of channels. Ids that are unknown, uninstalled or of another type are skipped.
    pub async fn tag_channels(&self, app: AppId, channels: Vec<ChannelRef>, operation: TagOperation) -> Result<()> {
        self.tag(app, operation, move |tx, context| context.installed(tx, &channels)).await
    }

    /// Changes the tags of one open channel. An unregistered address is skipped.
    pub async fn tag_open(&self, app: AppId, address: OpenAddress, operation: TagOperation) -> Result<()> {
        self.tag(app, operation, move |tx, _| {
            let key = keys::address_key(&DeviceType::Open(address.platform.clone()), &address.address);
            let Some(ordinal) = channels::by_key(tx, app, &key)? else { return Ok(Vec::new()) };
            let row = channels::by_ordinal(tx, app, ordinal)?.filter(|row| row.installed);
            Ok(row.into_iter().map(Holder::from).collect())
        })
        .await
    }

    async fn tag(
        &self,
        app: AppId,
        operation: TagOperation,
        find_installed: impl Fn(&mut Tx<'_>, &ChangeContext<'_>) -> Result<Vec<Holder>> + Send + 'static,
    ) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            for row in find_installed(tx, context)? {
                context.change_own(tx, &row, &[OwnChange::Tags(std::slice::from_ref(&operation))])?;
            }
            Ok(())
        })
        .await
    }
}
