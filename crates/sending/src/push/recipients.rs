//! Recipients named by a push: unknown ones become channels in the transaction that accepts the push.

use std::sync::Arc;

use audience::index::Index;
use base::Result;
use boxed::boxed;
use devices::{ChangeContext, address_key, create_open};
use model::channel::OpenRegistration;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::payload::Push;
use model::time::UtcMillis;
use store::Tx;
use store::channels;

use crate::Sending;

/// Everything needed to register recipients, which most pushes do not name.
pub struct Registry {
    app: AppId,
    now: UtcMillis,
    /// `None` when there are none to register.
    index: Option<Arc<Index>>,
}

#[boxed]
impl Sending {
    pub async fn registry_for<'p>(&self, app: AppId, pushes: impl IntoIterator<Item = &'p Push>) -> Result<Registry> {
        let brings_some = pushes.into_iter().any(|push| push.recipients().is_some());
        let index = if brings_some { Some(self.0.index.get(app).await?) } else { None };
        Ok(Registry { app, now: self.0.clock.now(), index })
    }
}

impl Registry {
    /// Known channels stay as they are: an opt-out was on purpose, and such a channel gets nothing.
    pub fn register_recipients<'p>(&self, tx: &mut Tx<'_>, pushes: impl IntoIterator<Item = &'p Push>) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let mut context = ChangeContext::new(self.app, index, self.now);
        for (platform, recipients) in pushes.into_iter().filter_map(Push::recipients) {
            let device_type = DeviceType::Open(platform.clone());
            for recipient in recipients.as_slice() {
                let key = address_key(&device_type, &recipient.address);
                if channels::by_key(tx, self.app, &key)?.is_none() {
                    let registration = OpenRegistration::of_address(platform.clone(), recipient.address.clone());
                    create_open(tx, &mut context, &registration)?;
                }
            }
        }
        context.journal.write(tx, self.app)?;
        Ok(())
    }
}
