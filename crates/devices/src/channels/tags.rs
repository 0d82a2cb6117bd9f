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
use crate::mistaken::Meant;
use crate::room::Batch;

#[boxed]
impl Devices {
    /// Changes the tags of channels. Ids that are unknown or uninstalled are skipped, and so are channels of another type and those
    /// without room for more, each of which is told in a sentence.
    pub async fn tag_channels(
        &self,
        app: AppId,
        channels: Vec<ChannelRef>,
        operation: TagOperation,
    ) -> Result<Vec<String>> {
        self.tag(app, operation, move |tx, context| context.meant(tx, &channels)).await
    }

    /// Changes the tags of one open channel. An unregistered address is skipped.
    pub async fn tag_open(&self, app: AppId, address: OpenAddress, operation: TagOperation) -> Result<()> {
        let tagged = self.tag(app, operation, move |tx, _| {
            let key = keys::address_key(&DeviceType::Open(address.platform.clone()), &address.address);
            let Some(ordinal) = channels::by_key(tx, app, &key)? else { return Ok(Meant::default()) };
            let row = channels::by_ordinal(tx, app, ordinal)?.filter(|row| row.installed);
            let installed = row.into_iter().map(Holder::from).collect();
            Ok(Meant { installed, ..Meant::default() })
        });
        tagged.await.map(drop)
    }

    async fn tag(
        &self,
        app: AppId,
        operation: TagOperation,
        find: impl Fn(&mut Tx<'_>, &ChangeContext<'_>) -> Result<Meant> + Send + 'static,
    ) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let (mut batch, channels) = Batch::of(find(tx, context)?);
            for row in channels {
                let room = context.try_change_own(tx, &row, &[OwnChange::Tags(std::slice::from_ref(&operation))])?;
                batch.add(|| format!("channel {}", row.id), room);
            }
            batch.finish()
        })
        .await
    }
}
