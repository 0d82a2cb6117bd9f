//! Platforms that nothing is configured for, so that in production everything for their devices fails.

use base::Result;
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::AppId;
use providers::platform::Provider;
use store::{Tx, documents};

use super::PlatformName;
use crate::Sending;

#[boxed]
impl Sending {
    /// The platform that reaches devices of a type, if nothing is configured for it, not even by the service itself.
    /// Credentials that are there and cannot be read are not lacking: messages wait for them. Nothing is written.
    pub async fn lacking(&self, app: AppId, device_type: &DeviceType) -> Result<Option<PlatformName>> {
        let Some(name) = PlatformName::of(device_type) else { return Ok(None) };
        let platform = name.clone();
        let read = move |tx: &mut Tx<'_>| documents::get(tx, app, platform.kind(), platform.id());
        let is_lacking = match (self.0.store.read(read).await?, &name) {
            (Some(_), _) => false,
            (None, PlatformName::Provider(Provider::WebPush)) => self.own_contact(app).await?.is_none(),
            (None, PlatformName::Provider(_) | PlatformName::Open(_)) => true,
        };
        Ok(is_lacking.then_some(name))
    }
}
