//! Platforms that nothing is configured for, so that in production everything for their devices fails.

use base::Result;
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::AppId;

use super::PlatformName;
use crate::Sending;

#[boxed]
impl Sending {
    /// The platform that reaches devices of a type, if nothing is configured for it, not even by the service itself.
    /// Credentials that are there and cannot be read are not lacking: messages wait for them.
    pub async fn lacking(&self, app: AppId, device_type: &DeviceType) -> Result<Option<PlatformName>> {
        let Some(name) = PlatformName::of(device_type) else { return Ok(None) };
        let is_lacking = self.stored(app, name.clone()).await?.is_none();
        Ok(is_lacking.then_some(name))
    }
}
