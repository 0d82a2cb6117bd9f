//! Tags set by servers, and by devices for themselves.

use model::channel::{ChannelRef, OpenAddress, TagOperation};
use model::ids::AppId;
use model::platform::DeviceType;
use store::Tx;
use store::channels::{self, Holder};

use super::keys;
use super::own::about_tags;
use crate::desk::Desk;
use crate::{Engine, Result};

impl Engine {
    /// Changes the tags of channels. Ids that are unknown, uninstalled or of another type are passed over.
    pub async fn tag_channels(&self, app: AppId, channels: Vec<ChannelRef>, operation: TagOperation) -> Result<()> {
        self.tag(app, operation, move |tx, desk| desk.installed(tx, &channels)).await
    }

    /// Changes the tags of one open channel. An address nobody has registered is passed over.
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
        find_installed: impl Fn(&mut Tx<'_>, &Desk<'_>) -> Result<Vec<Holder>> + Send + 'static,
    ) -> Result<()> {
        self.at_desk(app, move |tx, desk| {
            for row in find_installed(tx, desk)? {
                let is_about = about_tags(std::slice::from_ref(&operation));
                desk.change_own(tx, &row, is_about, |own| operation.apply(&mut own.tags))?;
            }
            Ok(())
        })
        .await
    }
}
