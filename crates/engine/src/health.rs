//! Platforms that are not sent to as they should be: paused because the provider refuses us, waiting because it is down, or
//! held by the operator. Why, since when, and when somebody looks again.

use std::collections::BTreeMap;
use std::time::Duration;

use model::ids::AppId;
use model::platform::DeviceType;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::jobs::{self, Lane};

use crate::job::delivery_lane;
use crate::known::known;
use crate::{Engine, Error, PlatformName, Result};

/// How often one message is tried on a platform whose provider refuses us.
pub(crate) const PROBE_EVERY: Duration = Duration::from_secs(60);

/// What keeps a platform from being sent to, as it is stored. There is one of these per platform: while the operator
/// holds a platform, what else is wrong with it is not noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformHealth {
    /// Versions that knew only one hindrance did not write it: a provider that refuses us.
    #[serde(default)]
    pub hindrance: Hindrance,
    /// A sentence for the operator.
    pub reason: String,
    pub since: UtcMillis,
    /// When the next message is tried, if the provider refuses us.
    pub probe_at: UtcMillis,
}

/// The names are stored: never change one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hindrance {
    /// The provider refuses us, and nothing is sent but one message a minute. It ends by itself when that is taken, or when the
    /// operator changes the credentials.
    #[default]
    Refused,
    /// The provider took nothing in the last tries. Every block goes on trying by itself, so this only tells of it. It ends
    /// with the first message that is taken.
    Down,
    /// The operator wants nothing to be sent, and nobody else ends it.
    Held,
}

/// What becomes of the blocks that wait when a hindrance ends.
#[derive(Clone, Copy)]
enum Waiting {
    Woken,
    LeftAlone,
}

impl Engine {
    /// What keeps a platform from being sent to, if anything does.
    pub async fn platform_health(&self, app: AppId, device_type: &DeviceType) -> Result<Option<PlatformHealth>> {
        let id = device_type.to_string();
        self.0.store.read(move |tx| PlatformHealth::find(tx, app, &id)).await
    }

    /// What keeps platforms of an app from being sent to, by device type.
    pub(crate) async fn platform_healths(&self, app: AppId) -> Result<BTreeMap<String, PlatformHealth>> {
        let read = move |tx: &mut Tx<'_>| documents::list(tx, app, DocumentKind::PlatformHealth);
        let documents = self.0.store.read(read).await?.into_iter();
        Ok(documents
            .filter_map(|document| PlatformHealth::known(&document).map(|health| (document.id, health)))
            .collect())
    }

    /// Sends nothing to a platform any more, on any node, until [`Engine::release_platform`]. Holding it again changes the
    /// reason, and puts right what cannot be read.
    pub async fn hold_platform(&self, app: AppId, name: &PlatformName, reason: &str) -> Result<()> {
        self.check_steerable(app, name).await?;
        let (id, now, why) = (name.device_type().to_string(), self.clock().now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            let held = PlatformHealth::find_known(tx, app, &id)?.filter(|known| known.hindrance == Hindrance::Held);
            let since = held.as_ref().map_or(now, |held| held.since);
            // Nodes of the version before know only platforms that are tried at some time.
            let health =
                PlatformHealth { hindrance: Hindrance::Held, reason: why.clone(), since, probe_at: jobs::WITH_LANE };
            health.put(tx, app, &id, now)?;
            Ok::<_, Error>(held.is_none())
        };
        if self.0.store.write(app, write).await? {
            let key = self.key_for_log(app).await;
            tracing::info!(app = key, platform = %name, reason, "a platform is paused by the operator");
        }
        Ok(())
    }

    /// Lets deliveries to a platform go on at once, whatever keeps them. If the provider still refuses us, it is found out anew.
    pub async fn release_platform(&self, app: AppId, name: &PlatformName) -> Result<()> {
        let device_type = name.device_type();
        // An open platform may have been deleted while it was held.
        if self.platform_health(app, &device_type).await?.is_none() {
            self.check_steerable(app, name).await?;
        }
        self.go_on(app, &device_type, &[Hindrance::Refused, Hindrance::Down, Hindrance::Held], Waiting::Woken).await
    }

    /// Lets deliveries to a platform go on at once, on every node, unless the operator holds it.
    pub(crate) async fn resume_platform(&self, app: AppId, device_type: &DeviceType) -> Result<()> {
        self.go_on(app, device_type, &[Hindrance::Refused, Hindrance::Down], Waiting::Woken).await
    }

    /// A provider that was down took a message. Every block keeps to its own times, and to what it was asked to wait.
    pub(crate) async fn end_outage(&self, app: AppId, device_type: &DeviceType) -> Result<()> {
        self.go_on(app, device_type, &[Hindrance::Down], Waiting::LeftAlone).await
    }

    /// Pauses a platform whose provider refuses us, unless it is already. Answers when the next message is to be tried.
    pub(crate) async fn pause_platform(&self, app: AppId, device_type: &DeviceType, reason: &str) -> Result<UtcMillis> {
        let (id, now, why) = (device_type.to_string(), self.clock().now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            let known = PlatformHealth::find(tx, app, &id)?;
            let (since, probe_at) = match &known {
                // A block that tries again then finds out that the platform is held.
                Some(known) if known.hindrance == Hindrance::Held => return Ok((false, now.plus(PROBE_EVERY))),
                // What is known already stays as it is, but for the reason, which may be another by now.
                Some(known) if known.hindrance == Hindrance::Refused => (known.since, known.probe_at),
                Some(_) | None => (now, now.plus(PROBE_EVERY)),
            };
            let health = PlatformHealth { hindrance: Hindrance::Refused, reason: why.clone(), since, probe_at };
            if known.as_ref() != Some(&health) {
                health.put(tx, app, &id, now)?;
            }
            let is_new = known.is_none_or(|known| known.hindrance != Hindrance::Refused);
            Ok::<_, Error>((is_new, probe_at))
        };
        let (is_new, probe_at) = self.0.store.write(app, write).await?;
        if is_new {
            let (app, platform) = (self.key_for_log(app).await, PlatformName::for_log(device_type));
            tracing::error!(app, platform, reason, "a platform is paused: its provider refuses us");
        }
        Ok(probe_at)
    }

    /// Notes that a provider takes nothing, unless something is known to keep its platform already.
    pub(crate) async fn note_outage(&self, app: AppId, device_type: &DeviceType, reason: &str) -> Result<()> {
        let (id, now, why) = (device_type.to_string(), self.clock().now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            if PlatformHealth::find(tx, app, &id)?.is_some() {
                return Ok(false);
            }
            // A node of the version before takes it for a pause, and tries a message at once.
            let (since, probe_at) = (now, now);
            let health = PlatformHealth { hindrance: Hindrance::Down, reason: why.clone(), since, probe_at };
            health.put(tx, app, &id, now)?;
            Ok::<_, Error>(true)
        };
        if self.0.store.write(app, write).await? {
            let (app, platform) = (self.key_for_log(app).await, PlatformName::for_log(device_type));
            tracing::warn!(app, platform, reason, "a platform takes nothing; what is for it waits and is tried again");
        }
        Ok(())
    }

    async fn go_on(
        &self,
        app: AppId,
        device_type: &DeviceType,
        ended: &'static [Hindrance],
        waiting: Waiting,
    ) -> Result<()> {
        let (id, now) = (device_type.to_string(), self.clock().now());
        let lane = Lane { app, name: delivery_lane(&id) };
        let write = move |tx: &mut Tx<'_>| {
            let known = PlatformHealth::find(tx, app, &id)?.filter(|known| ended.contains(&known.hindrance));
            if known.is_some() {
                documents::delete(tx, app, DocumentKind::PlatformHealth, &id)?;
                match waiting {
                    Waiting::Woken => drop(jobs::wake_lane(tx, &lane, now)?),
                    Waiting::LeftAlone => {}
                }
            }
            Ok::<_, Error>(known)
        };
        if let Some(PlatformHealth { since, .. }) = self.0.store.write(app, write).await? {
            let (app, platform) = (self.key_for_log(app).await, PlatformName::for_log(device_type));
            let after_s = (now.0 - since.0) / 1000;
            tracing::info!(app, platform, after_s, "deliveries to a platform go on");
        }
        Ok(())
    }

    /// A provider can be held before it is configured: in development there is the sandbox. Open platforms are made up by
    /// their users, so that one nobody has heard of is a slip.
    async fn check_steerable(&self, app: AppId, name: &PlatformName) -> Result<()> {
        match name {
            PlatformName::Provider(_) => Ok(()),
            PlatformName::Open(_) => self.platform(app, name.clone()).await.map(drop),
        }
    }

    /// Whether the caller is the one to try a message now. At most one is, on all nodes.
    pub(crate) async fn claim_probe(&self, app: AppId, device_type: &DeviceType) -> Result<bool> {
        let (id, now) = (device_type.to_string(), self.clock().now());
        let write = move |tx: &mut Tx<'_>| {
            let is_due = |health: &PlatformHealth| health.hindrance == Hindrance::Refused && health.probe_at <= now;
            let Some(health) = PlatformHealth::find(tx, app, &id)?.filter(is_due) else {
                return Ok::<_, Error>(false);
            };
            PlatformHealth { probe_at: now.plus(PROBE_EVERY), ..health }.put(tx, app, &id, now)?;
            Ok(true)
        };
        self.0.store.write(app, write).await
    }
}

impl PlatformHealth {
    pub(crate) fn find(tx: &mut Tx<'_>, app: AppId, device_type: &str) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::PlatformHealth, device_type)?;
        document.map(|document| Self::read(&document)).transpose()
    }

    /// For whoever only tells of it: nothing else is kept from them by one that cannot be read.
    pub(crate) fn find_known(tx: &mut Tx<'_>, app: AppId, device_type: &str) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::PlatformHealth, device_type)?;
        Ok(document.and_then(|document| Self::known(&document)))
    }

    fn known(document: &Document) -> Option<Self> {
        known(DocumentKind::PlatformHealth, &document.id, Self::read(document))
    }

    fn read(document: &Document) -> Result<Self> {
        serde_json::from_str(&document.body).map_err(Error::internal)
    }

    /// Whether the operator wants nothing to be sent to a platform.
    pub(crate) fn is_held(tx: &mut Tx<'_>, app: AppId, device_type: &str) -> Result<bool> {
        Ok(Self::find(tx, app, device_type)?.is_some_and(|health| health.hindrance == Hindrance::Held))
    }

    fn put(&self, tx: &mut Tx<'_>, app: AppId, device_type: &str, now: UtcMillis) -> Result<()> {
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, DocumentKind::PlatformHealth, device_type, &body, now)?)
    }
}
