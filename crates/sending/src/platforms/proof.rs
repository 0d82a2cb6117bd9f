//! Whether a platform accepts its configuration, tested without sending anything to any device.

use base::{Error, Result};
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::AppId;
use providers::platform::PlatformConfig;
use store::Tx;
use store::documents::{self, DocumentKind};

use super::PlatformName;
use crate::Sending;

#[boxed]
impl Sending {
    /// Tries every key of a platform. When all are accepted, a paused platform resumes. The error is for the operator.
    pub async fn test_platform(&self, app: AppId, name: PlatformName) -> Result<Result<(), String>> {
        let stored = self.stored(app, name.clone()).await?.ok_or(Error::NotFound("platform"))?;
        let config = stored.config?;
        let proof = match &config {
            PlatformConfig::Open(config) => self.shake_hands(config).await,
            PlatformConfig::Apns(_)
            | PlatformConfig::Fcm(_)
            | PlatformConfig::Adm(_)
            | PlatformConfig::Wns(_)
            | PlatformConfig::WebPush(_) => self.prove_keys(&config).await,
        };
        if proof.is_ok() {
            self.note_proof(app, &name.device_type()).await?;
            self.resume_platform(app, &name.device_type()).await?;
        }
        Ok(proof)
    }

    /// Notes that a platform took its credentials, or a message with them.
    pub(crate) async fn note_proof(&self, app: AppId, device_type: &DeviceType) -> Result<()> {
        let (of, now) = (device_type.to_string(), self.0.clock.now());
        let id = of.clone();
        let known = self.0.store.read(move |tx| documents::get(tx, app, DocumentKind::PlatformProof, &id)).await?;
        if known.is_none() {
            let write = move |tx: &mut Tx<'_>| documents::put(tx, app, DocumentKind::PlatformProof, &of, "{}", now);
            self.0.store.write(app, write).await?;
        }
        Ok(())
    }

    async fn prove_keys(&self, config: &PlatformConfig) -> Result<(), String> {
        let (keys, now) = (config.keys(), self.0.clock.now());
        // Not those in use: their tokens and connections may outlive the credentials that they were made with.
        let network = self.0.senders.network();
        let senders = config.senders(network, network.push_hosts());
        let mut refusals = Vec::new();
        for (key, sender) in keys.iter().zip(senders) {
            if let Err(message) = sender.check(now).await {
                refusals.push(match keys.len() {
                    1 => message,
                    _ => format!("Key {}: {message}", key.fingerprint),
                });
            }
        }
        match refusals.len() {
            0 => Ok(()),
            _ => Err(refusals.join(" ")),
        }
    }
}

/// New credentials are not proven by what was done with those before.
pub(super) fn forget_proof(tx: &mut Tx<'_>, app: AppId, name: &PlatformName) -> store::Result<()> {
    documents::delete(tx, app, DocumentKind::PlatformProof, &name.device_type().to_string()).map(drop)
}
