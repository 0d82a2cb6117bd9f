//! How the recipients of one platform are reached: its provider, the sandbox, or not at all.

use std::sync::{Arc, OnceLock};

use base::Result;
use model::app::Mode;
use model::channel::DeliveryType;
use model::device_type::DeviceType;
use model::ids::{Ordinal, PushId};
use model::time::UtcMillis;
use providers::RenderedPush;
use providers::open::OpenPlatformConfig;
use providers::outcome::Outcome;
use providers::platform::PlatformConfig;
use store::apps::App;

use super::batch::Batch;
use super::target::Target;
use crate::senders::{Route, RouteUse};
use crate::{PlatformName, Sending};

pub(super) enum Transport {
    /// A provider that takes one message per device.
    Provider(Provider),
    /// The endpoint of an open platform.
    Open(OpenPlatformConfig),
    /// The exact request is kept for the developer to look at.
    Sandbox,
    /// Production apps do not pretend: without a provider, deliveries fail and say why.
    Missing { reason: String },
}

/// The way to the phones that are reached by UnifiedPush, whatever there is for the other Android devices of the app: the messages
/// go to push services that the phones name, signed with the key pair that the app has for browsers.
pub(super) struct UnifiedPush {
    pub(super) route: Arc<Route>,
    /// From the first phone on: blocks without any leave the whole room to browsers.
    in_use: OnceLock<RouteUse>,
}

pub(super) struct Provider {
    pub(super) route: RouteUse,
    /// The way to those Android devices that Amazon reaches.
    amazon: Option<RouteUse>,
}

/// One request, with the means to send it.
pub(super) enum OutgoingRequest<'a> {
    Message { provider: &'a Provider, target: Target, content: Arc<RenderedPush>, way: Way, read_at: UtcMillis },
    ToPhone { by: &'a UnifiedPush, target: Target, content: Arc<RenderedPush>, read_at: UtcMillis },
    Batch { config: &'a OpenPlatformConfig, batch: Batch, read_at: UtcMillis },
}

/// The credentials that a message is sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Key(usize),
    Amazon(usize),
}

/// The receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum To {
    /// The provider of the platform, in one of its lanes.
    Own(usize),
    /// Amazon, for devices of another platform.
    Amazon,
    /// The push services of phones, in one of their lanes.
    Phone(usize),
}

impl Way {
    /// The queue of a message in a lane of the provider.
    pub(super) fn to(self, lane: usize) -> To {
        match self {
            Way::Key(_) => To::Own(lane),
            Way::Amazon(_) => To::Amazon,
        }
    }
}

/// The result of a request.
pub(super) enum Answered<'a> {
    Message { provider: &'a Provider, target: Target, way: Way, outcome: Outcome, read_at: UtcMillis },
    OfPhone { by: &'a UnifiedPush, target: Target, outcome: Outcome, read_at: UtcMillis },
    Batch { answers: Vec<(Vec<Ordinal>, Outcome)>, n_messages: usize, read_at: UtcMillis },
}

impl Transport {
    pub(super) async fn choose(sending: &Sending, app: &App, device_type: &DeviceType) -> Result<Self> {
        let missing = |reason| Ok(Transport::Missing { reason });
        match (sending.platform_config(app.id, device_type).await?, app.mode) {
            (Some(PlatformConfig::Open(config)), _) if config.enabled => Ok(Transport::Open(config)),
            (Some(PlatformConfig::Open(_)), _) => missing(format!("The platform {device_type} is disabled.")),
            (Some(config), _) => match sending.0.senders.route(app, device_type, &config) {
                Some(route) => {
                    let has_others = *device_type == DeviceType::Android;
                    let amazon = if has_others { route_of(sending, app, &DeviceType::Amazon).await? } else { None };
                    let amazon = amazon.map(|amazon| amazon.enter());
                    Ok(Transport::Provider(Provider { route: route.enter(), amazon }))
                }
                None => missing(format!("There is no way to deliver to the platform {device_type}.")),
            },
            (None, Mode::Development) => Ok(Transport::Sandbox),
            (None, Mode::Production) => missing(PlatformName::missing(device_type)),
        }
    }
}

impl UnifiedPush {
    /// `None` for other device types, and without a key pair.
    pub(super) async fn choose(sending: &Sending, app: &App, device_type: &DeviceType) -> Result<Option<Self>> {
        match device_type {
            DeviceType::Android => {
                let route = route_of(sending, app, &DeviceType::Web).await?;
                Ok(route.map(|route| Self { route, in_use: OnceLock::new() }))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn n_lanes(&self) -> usize {
        self.sender().n_lanes()
    }

    /// The lane of the messages to an endpoint.
    pub(super) fn lane(&self, endpoint: &str) -> usize {
        self.sender().lane(endpoint)
    }

    /// How many requests may be under way in a lane.
    pub(super) fn share(&self, lane: usize) -> usize {
        self.in_use.get_or_init(|| self.route.enter()).share(lane)
    }

    /// There is only one key pair.
    fn sender(&self) -> &providers::Sender {
        self.route.sender(self.route.key())
    }
}

impl<'a> OutgoingRequest<'a> {
    /// How many messages are in it.
    pub(super) fn len(&self) -> usize {
        match self {
            OutgoingRequest::Message { .. } | OutgoingRequest::ToPhone { .. } => 1,
            OutgoingRequest::Batch { batch, .. } => batch.len(),
        }
    }

    /// Sends it. Always ends: every wait is bounded in time.
    pub(super) async fn send(self, sending: &Sending, push: PushId, now: UtcMillis) -> Answered<'a> {
        match self {
            OutgoingRequest::Message { provider, target, content, way, read_at } => {
                let outcome = match provider.sender(way) {
                    Some(sender) => sender.send(&content, &target.filled(push), now).await,
                    None => Outcome::Rejected { reason: NO_AMAZON.to_owned() },
                };
                Answered::Message { provider, target, way, outcome, read_at }
            }
            OutgoingRequest::ToPhone { by, target, content, read_at } => {
                let outcome = by.sender().send(&content, &target.filled(push), now).await;
                Answered::OfPhone { by, target, outcome, read_at }
            }
            OutgoingRequest::Batch { config, batch, read_at } => {
                let n_messages = batch.len();
                // Large, and rare compared to single messages, whose futures would otherwise be as large.
                let answers = Box::pin(batch.deliver(&sending.0.http, config, push, now)).await;
                Answered::Batch { answers, n_messages, read_at }
            }
        }
    }
}

const NO_AMAZON: &str = "The device is reached through Amazon, for which the app has no credentials.";
const NO_HUAWEI: &str = "The device is reached through Huawei's push service, which this service does not speak.";
pub(super) const NO_KEY_PAIR: &str =
    "The device is reached by UnifiedPush, which needs the key pair of the platform webpush with a subject.";

/// The route of another platform, for some devices of this one.
async fn route_of(sending: &Sending, app: &App, platform: &DeviceType) -> Result<Option<Arc<Route>>> {
    let config = sending.platform_config(app.id, platform).await?;
    Ok(config.and_then(|config| sending.0.senders.route(app, platform, &config)))
}

impl Provider {
    /// The credentials for one recipient, or why there are none.
    pub(super) fn way(&self, device_type: &DeviceType, target: &Target) -> Result<Way, &'static str> {
        if *device_type != DeviceType::Android {
            return Ok(Way::Key(self.route.key()));
        }
        match target.delivery_type() {
            DeliveryType::Fcm => Ok(Way::Key(self.route.key())),
            DeliveryType::Adm => match &self.amazon {
                Some(amazon) => Ok(Way::Amazon(amazon.key())),
                None => Err(NO_AMAZON),
            },
            DeliveryType::Hms => Err(NO_HUAWEI),
            DeliveryType::UnifiedPush => Err(NO_KEY_PAIR),
        }
    }

    pub(super) fn n_lanes(&self) -> usize {
        self.route.sender(self.route.key()).n_lanes()
    }

    /// The lane of the messages to an address of the platform.
    pub(super) fn lane(&self, address: &str) -> usize {
        self.route.sender(self.route.key()).lane(address)
    }

    /// How many requests may be under way in a lane.
    pub(super) fn share(&self, lane: usize) -> usize {
        self.route.share(lane)
    }

    /// The same of those to Amazon.
    pub(super) fn share_of_amazon(&self) -> usize {
        self.amazon.as_ref().map_or(0, |amazon| amazon.share(0))
    }

    pub(super) fn leave_amazon_alone(&self, until: UtcMillis) {
        if let Some(amazon) = &self.amazon {
            amazon.leave_alone(until);
        }
    }

    /// Whether Amazon asked for time that is not over.
    pub(super) fn is_amazon_quiet(&self, now: UtcMillis) -> bool {
        self.amazon.as_ref().is_some_and(|amazon| amazon.quiet_until(now) > now)
    }

    /// The provider refuses the credentials of a message. Returns whether there are others to try.
    pub(super) fn give_up(&self, way: Way) -> bool {
        match (way, &self.amazon) {
            (Way::Key(key), _) => self.route.give_up(key),
            (Way::Amazon(key), Some(amazon)) => amazon.give_up(key),
            (Way::Amazon(_), None) => false,
        }
    }

    fn sender(&self, way: Way) -> Option<&providers::Sender> {
        match way {
            Way::Key(key) => Some(self.route.sender(key)),
            Way::Amazon(key) => self.amazon.as_ref().map(|amazon| amazon.sender(key)),
        }
    }
}
