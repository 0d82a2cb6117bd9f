//! Platforms that nothing is configured for, so that in production everything for their devices fails.

use base::Result;
use boxed::boxed;
use model::channel::DeliveryType;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::term::Term;
use providers::platform::Provider;
use store::{Tx, documents, terms};
use targeting::{DeliveryCount, DeviceTypeCount};

use super::PlatformName;
use crate::Sending;

/// Devices of one type that get nothing in production, because nothing is configured for what they are reached by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    pub device_type: DeviceType,
    /// The provider behind the devices, where it is not that of their type.
    pub delivery_type: Option<DeliveryType>,
    /// What is to be configured.
    pub platform: PlatformName,
    pub n_devices: u64,
}

/// The platforms that Android devices are reached by, and the delivery type of those that Google's is not enough for.
const OF_ANDROID: [(Provider, Option<DeliveryType>); 3] = [
    (Provider::Fcm, None),
    (Provider::Adm, Some(DeliveryType::Adm)),
    (Provider::WebPush, Some(DeliveryType::UnifiedPush)),
];

#[boxed]
impl Sending {
    /// Which of the counted devices nothing reaches in production, as nothing is configured for them, not even by the service
    /// itself. Devices that need two platforms count with each that is lacking. Nothing is written.
    pub async fn lacking(&self, app: AppId, counts: &[DeviceTypeCount]) -> Result<Vec<Lacking>> {
        let mut found = Vec::new();
        for DeviceTypeCount { device_type, reachable, live, deliveries, .. } in counts {
            if *device_type == DeviceType::Android {
                found.extend(self.lacking_android(app, deliveries).await?);
                continue;
            }
            let n_devices = reachable - live;
            if n_devices > 0
                && let Some(platform) = PlatformName::of(device_type)
                && self.is_lacking(app, &platform).await?
            {
                found.push(Lacking { device_type: device_type.clone(), delivery_type: None, platform, n_devices });
            }
        }
        Ok(found)
    }

    /// Whether devices of a type may lack something, which is certain once they are counted. Most apps with Google's credentials
    /// never had an Android device that others deliver to.
    pub async fn may_lack(&self, app: AppId, device_type: &DeviceType) -> Result<bool> {
        let Some(platform) = PlatformName::of(device_type) else { return Ok(false) };
        if self.is_lacking(app, &platform).await? {
            return Ok(true);
        }
        if *device_type != DeviceType::Android {
            return Ok(false);
        }
        for (provider, delivery_type) in OF_ANDROID {
            let Some(delivery_type) = delivery_type else { continue };
            let find = move |tx: &mut Tx<'_>| terms::find(tx, app, &Term::DeliveryType(delivery_type));
            let has_been_there = self.0.store.read(find).await?.is_some();
            if has_been_there && self.is_lacking(app, &PlatformName::Provider(provider)).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn lacking_android(&self, app: AppId, deliveries: &[DeliveryCount]) -> Result<Vec<Lacking>> {
        let mut found = Vec::new();
        if deliveries.is_empty() {
            return Ok(found);
        }
        let has_google = !self.is_lacking(app, &PlatformName::Provider(Provider::Fcm)).await?;
        for (provider, delivery_type) in OF_ANDROID {
            let concerned = deliveries.iter().filter(|of| needed(of.delivery_type).contains(&provider));
            let n_devices: u64 = concerned.map(|of| of.reachable - n_live_instead(of, has_google)).sum();
            let platform = PlatformName::Provider(provider);
            if n_devices > 0 && self.is_lacking(app, &platform).await? {
                found.push(Lacking { device_type: DeviceType::Android, delivery_type, platform, n_devices });
            }
        }
        Ok(found)
    }

    /// Credentials that are there and cannot be read are not lacking: messages wait for them.
    async fn is_lacking(&self, app: AppId, name: &PlatformName) -> Result<bool> {
        let platform = name.clone();
        let read = move |tx: &mut Tx<'_>| documents::get(tx, app, platform.kind(), platform.id());
        Ok(match (self.0.store.read(read).await?, name) {
            (Some(_), _) => false,
            (None, PlatformName::Provider(Provider::WebPush)) => self.own_contact(app).await?.is_none(),
            (None, PlatformName::Provider(_) | PlatformName::Open(_)) => true,
        })
    }
}

/// The platforms that Android devices need, as `deliver::transport` has it: without Google's nothing is sent to Android but by
/// UnifiedPush.
fn needed(delivery_type: DeliveryType) -> &'static [Provider] {
    match delivery_type {
        DeliveryType::Fcm => &[Provider::Fcm],
        DeliveryType::Adm => &[Provider::Fcm, Provider::Adm],
        DeliveryType::UnifiedPush => &[Provider::WebPush],
        // No credentials help: the service does not speak to Huawei.
        DeliveryType::Hms => &[],
    }
}

/// How many are reached by live connections for want of their provider: as long as nothing is configured for Android all that have
/// any, otherwise those without an address.
fn n_live_instead(of: &DeliveryCount, has_google: bool) -> u64 {
    if has_google { of.live_only } else { of.live }
}
