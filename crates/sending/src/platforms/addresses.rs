//! Whether the address that a device registers can be one of its provider.

use base::{Error, Result};
use boxed::boxed;
use model::app::Mode;
use model::channel::{Change, DeliveryType, Registration};
use model::device_type::DeviceType;
use model::ids::AppId;
use providers::{address_problem, keys_problem};

use crate::Sending;

#[boxed]
impl Sending {
    /// Refuses what cannot be the address of a device, in production. Development apps are tried with addresses that somebody
    /// typed, and a platform whose endpoint is elsewhere gives out addresses of its own.
    pub async fn check_address(&self, app: AppId, mode: Mode, registration: &Registration) -> Result<()> {
        if mode == Mode::Development {
            return Ok(());
        }
        let Registration { device_type, push_address, .. } = registration;
        let problem = match push_address {
            Change::Set(address) => {
                let hosts = self.0.senders.network().push_hosts();
                address_problem(device_type, registration.delivery_type(), address, hosts)
            }
            Change::Keep | Change::Clear => None,
        };
        let problem = problem.map(|problem| ("channel.push_address".to_owned(), problem));
        let of_keys = || {
            let (details, keys) = registration.subscription()?;
            keys_problem(keys).map(|problem| (format!("channel.{details}.subscription"), problem))
        };
        let reached_as = match registration.delivery_type() {
            Some(DeliveryType::UnifiedPush) => &DeviceType::Web,
            Some(DeliveryType::Fcm | DeliveryType::Hms | DeliveryType::Adm) | None => device_type,
        };
        match problem.or_else(of_keys) {
            Some((path, problem)) if !self.is_elsewhere(app, reached_as).await? => Err(Error::invalid(&path, problem)),
            Some(_) | None => Ok(()),
        }
    }

    async fn is_elsewhere(&self, app: AppId, device_type: &DeviceType) -> Result<bool> {
        let config = self.platform_config(app, device_type).await?;
        Ok(config.is_some_and(|config| config.keys().iter().any(|key| key.endpoint.is_some())))
    }
}
