//! Tags set by servers.

use model::channel::{OpenAddress, TagOperation};
use model::ids::AppId;
use model::platform::DeviceType;
use store::channels;

use super::keys;
use super::state::Desk;
use crate::{Engine, Result};

impl Engine {
    /// Changes the tags of one open channel. An address nobody has registered is passed over.
    pub async fn tag_open(&self, app: AppId, address: OpenAddress, operation: TagOperation) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let key = keys::address_key(&DeviceType::Open(address.platform.clone()), &address.address);
                let Some(ordinal) = channels::by_key(tx, app, &key)? else { return Ok(()) };
                let Some(channel) = channels::by_ordinal(tx, app, ordinal)? else { return Ok(()) };
                let mut desk = Desk::new(app, &index, now);
                let before = desk.open(tx, &channel)?;
                let mut after = before.clone();
                operation.apply(&mut after.tags);
                after.tags.retain(|_, tags| !tags.is_empty());
                desk.save(tx, channel, &before, &after)?;
                desk.journal.write(tx, app)?;
                Ok(())
            })
            .await
    }
}
