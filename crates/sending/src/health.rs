//! Platforms that are not sent to normally: paused because the provider refuses us, waiting because it is down, or held by the
//! operator. The reason, since when, and when it is tried again.

use std::collections::BTreeMap;
use std::time::Duration;

use base::{Error, Result, readable};
use boxed::boxed;
use jobs::Lane;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};

use crate::deliver::Deliver;
use crate::{PlatformName, Sending};

/// How often one message is tried on a platform whose provider refuses us.
pub(crate) const PROBE_EVERY: Duration = Duration::from_secs(60);

/// Why a platform is not sent to, as it is stored. There is one of these per platform: while the operator holds a platform, other
/// trouble is not noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformHealth {
    pub hindrance: Hindrance,
    /// A sentence for the operator.
    pub reason: String,
    pub since: UtcMillis,
    /// When the next message is tried, if the provider refuses us.
    pub probe_at: Option<UtcMillis>,
    /// It does not refuse our credentials, but addresses that took messages before. Then an address that never did cannot show
    /// that the provider is back.
    #[serde(default)]
    pub refuses_addresses: bool,
}

/// How a provider shows that it does not want messages from us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalOf {
    Credentials,
    /// Of many that took messages before.
    Addresses,
}

/// The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hindrance {
    /// The provider refuses us, and nothing is sent but one message a minute. It ends by itself when that is taken, or when the
    /// operator changes the credentials.
    Refused,
    /// The provider took nothing in the last tries. Every block keeps trying by itself, so this is only for show. It ends with
    /// the first message that is taken.
    Down,
    /// The operator wants nothing to be sent, and only the operator ends it.
    Held,
}

/// How to treat the waiting blocks when a hindrance ends.
#[derive(Clone, Copy)]
enum Waiting {
    Woken,
    LeftAlone,
}

#[boxed]
impl Sending {
    /// Why a platform is not sent to; `None` if it is.
    pub async fn platform_health(&self, app: AppId, device_type: &DeviceType) -> Result<Option<PlatformHealth>> {
        let of = device_type.clone();
        self.0.store.read(move |tx| PlatformHealth::find(tx, app, &of)).await
    }

    /// The hindrances of the platforms of an app, by device type.
    pub(crate) async fn platform_healths(&self, app: AppId) -> Result<BTreeMap<DeviceType, PlatformHealth>> {
        let read = move |tx: &mut Tx<'_>| documents::list(tx, app, DocumentKind::PlatformHealth);
        let documents = self.0.store.read(read).await?.into_iter();
        Ok(documents
            .filter_map(|document| Some((DeviceType::from_name(&document.id)?, PlatformHealth::readable(&document)?)))
            .collect())
    }

    /// Sends nothing to a platform any more, on any node, until [`Sending::release_platform`]. Holding it again changes the
    /// reason, and puts right what cannot be read.
    pub async fn hold_platform(&self, app: AppId, name: &PlatformName, reason: &str) -> Result<()> {
        self.check_steerable(app, name).await?;
        let (of, now, why) = (name.device_type(), self.0.clock.now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            let held = PlatformHealth::find_known(tx, app, &of)?.filter(|known| known.hindrance == Hindrance::Held);
            let since = held.as_ref().map_or(now, |held| held.since);
            let health = PlatformHealth {
                hindrance: Hindrance::Held,
                reason: why.clone(),
                since,
                probe_at: None,
                refuses_addresses: false,
            };
            health.put(tx, app, &of, now)?;
            Ok::<_, Error>(held.is_none())
        };
        if self.0.store.write(app, write).await? {
            let key = self.0.tenancy.key_for_log(app).await;
            tracing::info!(event = "platform.held", app = key, platform = %name, reason, "a platform is paused by the operator");
        }
        Ok(())
    }

    /// Resumes deliveries to a platform at once, whatever the hindrance. If the provider still refuses us, that is found out
    /// anew.
    pub async fn release_platform(&self, app: AppId, name: &PlatformName) -> Result<()> {
        let device_type = name.device_type();
        // An open platform may have been deleted while it was held.
        if self.platform_health(app, &device_type).await?.is_none() {
            self.check_steerable(app, name).await?;
        }
        self.go_on(app, &device_type, &[Hindrance::Refused, Hindrance::Down, Hindrance::Held], Waiting::Woken).await
    }

    /// Resumes deliveries to a platform at once, on every node, unless the operator holds it. Also what waits without a known
    /// hindrance, such as after a single failure.
    pub(crate) async fn resume_platform(&self, app: AppId, device_type: &DeviceType) -> Result<()> {
        self.go_on(app, device_type, &[Hindrance::Refused, Hindrance::Down], Waiting::Woken).await
    }

    /// A provider that was down took a message. Every block keeps to its own retry times.
    pub(crate) async fn end_outage(&self, app: AppId, device_type: &DeviceType) -> Result<()> {
        self.go_on(app, device_type, &[Hindrance::Down], Waiting::LeftAlone).await
    }

    /// Pauses a platform whose provider refuses us, unless it is already. Returns when the next message is to be tried.
    pub(crate) async fn pause_platform(
        &self,
        app: AppId,
        device_type: &DeviceType,
        refusal: RefusalOf,
        reason: &str,
    ) -> Result<UtcMillis> {
        // Every node judges by it when the next message is to be tried.
        let (of, now, why) = (device_type.clone(), self.0.shared_clock.now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            let known = PlatformHealth::find(tx, app, &of)?;
            let (since, probe_at) = match &known {
                // A block that tries again then finds out that the platform is held.
                Some(known) if known.hindrance == Hindrance::Held => return Ok((false, now.plus(PROBE_EVERY))),
                // An existing hindrance stays as it is, except for the reason, which may have changed.
                Some(known) if known.hindrance == Hindrance::Refused => (known.since, known.next_probe(now)),
                Some(_) | None => (now, now.plus(PROBE_EVERY)),
            };
            let health = PlatformHealth {
                hindrance: Hindrance::Refused,
                reason: why.clone(),
                since,
                probe_at: Some(probe_at),
                refuses_addresses: refusal == RefusalOf::Addresses,
            };
            if known.as_ref() != Some(&health) {
                health.put(tx, app, &of, now)?;
            }
            let is_new = known.is_none_or(|known| known.hindrance != Hindrance::Refused);
            Ok::<_, Error>((is_new, probe_at))
        };
        let (is_new, probe_at) = self.0.store.write(app, write).await?;
        if is_new {
            let (app, platform) = (self.0.tenancy.key_for_log(app).await, PlatformName::for_log(device_type));
            tracing::error!(
                event = "platform.paused",
                app,
                platform,
                reason,
                "a platform is paused: its provider refuses us"
            );
        }
        Ok(probe_at)
    }

    /// Notes that a provider takes nothing, unless something is known to keep its platform already.
    pub(crate) async fn note_outage(&self, app: AppId, device_type: &DeviceType, reason: &str) -> Result<()> {
        let (of, now, why) = (device_type.clone(), self.0.clock.now(), reason.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            if PlatformHealth::find(tx, app, &of)?.is_some() {
                return Ok(false);
            }
            let health = PlatformHealth {
                hindrance: Hindrance::Down,
                reason: why.clone(),
                since: now,
                probe_at: None,
                refuses_addresses: false,
            };
            health.put(tx, app, &of, now)?;
            Ok::<_, Error>(true)
        };
        if self.0.store.write(app, write).await? {
            let (app, platform) = (self.0.tenancy.key_for_log(app).await, PlatformName::for_log(device_type));
            let text = "a platform takes nothing; what is for it waits and is tried again";
            tracing::warn!(event = "platform.waiting", app, platform, reason, "{text}");
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
        let (of, now, due) = (device_type.clone(), self.0.clock.now(), self.0.shared_clock.now());
        let lane = Lane { app, name: Deliver::lane_of(device_type) };
        let write = move |tx: &mut Tx<'_>| {
            let known = PlatformHealth::find(tx, app, &of)?;
            if known.as_ref().is_some_and(|known| !ended.contains(&known.hindrance)) {
                return Ok(None);
            }
            if known.is_some() {
                documents::delete(tx, app, DocumentKind::PlatformHealth, &of.to_string())?;
            }
            match waiting {
                Waiting::Woken => drop(jobs::wake_lane(tx, &lane, due)?),
                Waiting::LeftAlone => {}
            }
            Ok::<_, Error>(known)
        };
        if let Some(PlatformHealth { since, .. }) = self.0.store.write(app, write).await? {
            let (app, platform) = (self.0.tenancy.key_for_log(app).await, PlatformName::for_log(device_type));
            let after_s = (now.0 - since.0) / 1000;
            tracing::info!(event = "platform.resumed", app, platform, after_s, "deliveries to a platform go on");
        }
        Ok(())
    }

    /// A provider can be held before it is configured: in development there is the sandbox. Open platforms have names chosen by
    /// users, so an unknown one is a mistake.
    async fn check_steerable(&self, app: AppId, name: &PlatformName) -> Result<()> {
        match name {
            PlatformName::Provider(_) => Ok(()),
            PlatformName::Open(_) => self.platform(app, name.clone()).await.map(drop),
        }
    }

    /// Whether the caller is the one to try a message now. At most one is, on all nodes.
    pub(crate) async fn claim_probe(&self, app: AppId, device_type: &DeviceType) -> Result<bool> {
        let (of, now) = (device_type.clone(), self.0.shared_clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let is_due = |health: &PlatformHealth| health.hindrance == Hindrance::Refused && health.is_due(now);
            let Some(health) = PlatformHealth::find(tx, app, &of)?.filter(is_due) else {
                return Ok::<_, Error>(false);
            };
            PlatformHealth { probe_at: Some(now.plus(PROBE_EVERY)), ..health }.put(tx, app, &of, now)?;
            Ok(true)
        };
        self.0.store.write(app, write).await
    }
}

impl PlatformHealth {
    /// Whether it is time to try a message.
    pub(crate) fn is_due(&self, now: UtcMillis) -> bool {
        self.next_probe(now) <= now
    }

    /// When the next message is tried.
    pub(crate) fn next_probe(&self, now: UtcMillis) -> UtcMillis {
        self.probe_at.map_or(now, |probe_at| probe_at.end_of_wait(now))
    }

    pub(crate) fn find(tx: &mut Tx<'_>, app: AppId, device_type: &DeviceType) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::PlatformHealth, &device_type.to_string())?;
        document.map(|document| Self::read(&document)).transpose()
    }

    /// For displays, which treat an unreadable document as none.
    pub(crate) fn find_known(tx: &mut Tx<'_>, app: AppId, device_type: &DeviceType) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::PlatformHealth, &device_type.to_string())?;
        Ok(document.and_then(|document| Self::readable(&document)))
    }

    fn readable(document: &Document) -> Option<Self> {
        readable(DocumentKind::PlatformHealth, &document.id, Self::read(document))
    }

    pub(crate) fn read(document: &Document) -> Result<Self> {
        serde_json::from_str(&document.body).map_err(Error::internal)
    }

    /// Whether the operator wants nothing to be sent to a platform.
    pub(crate) fn is_held(tx: &mut Tx<'_>, app: AppId, device_type: &DeviceType) -> Result<bool> {
        Ok(Self::find(tx, app, device_type)?.is_some_and(|health| health.hindrance == Hindrance::Held))
    }

    fn put(&self, tx: &mut Tx<'_>, app: AppId, device_type: &DeviceType, now: UtcMillis) -> Result<()> {
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, DocumentKind::PlatformHealth, &device_type.to_string(), &body, now)?)
    }
}
