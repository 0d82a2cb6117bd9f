//! Settings about callers: how much they may have, try and create.

use std::ops::RangeInclusive;
use std::time::Duration;

use api::Limits;
use clap::Args;
use engine::{GrowthLimits, Quota};
use model::network::Network;

use super::{HEADING, network, number_in};

/// How much callers may have and try, whoever they are.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Callers {
    /// How many connections of callers the node keeps open
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::CONNECTIONS,
        value_parser = number_in(16_usize..=1_000_000)
    )]
    pub(crate) connections: usize,

    /// How many of these one address may have
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::CONNECTIONS_PER_ADDRESS,
        value_parser = number_in(1_usize..=1_000_000)
    )]
    pub(crate) connections_per_address: usize,

    /// How many live connections of devices the node keeps open, beside those of callers
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::LIVE_CONNECTIONS,
        value_parser = number_in(0_usize..=10_000_000)
    )]
    pub(crate) live_connections: usize,

    /// After how many requests with wrong credentials in a minute an address is answered late
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::WRONG_CREDENTIALS_PER_MINUTE,
        value_parser = number_in(1_u32..=1_000_000)
    )]
    pub(crate) wrong_credentials_per_minute: u32,

    /// Networks of proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8; it decides where a token may be used from
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',', value_parser = network)]
    pub(crate) trusted_proxies: Vec<Network>,

    /// Whether /demo, the page that shows a push arriving, is shown to others than those on this machine
    #[arg(
        long,
        value_name = "BOOLEAN",
        default_value = "false",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub(crate) demo: bool,

    /// For how many seconds a node that stops still serves callers that keep their connection; a service manager has to wait half a
    /// minute longer
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = number_in(0_u64..=300))]
    drain_seconds: u64,
}

impl Callers {
    pub(crate) const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }
}

/// How much the devices of one app may create. Servers are not limited.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct GrowthSettings {
    /// How many new channels the devices of an app may register in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.channels.per_minute, value_parser = number_in(ANY))]
    device_channels_per_minute: u64,

    /// How many channels the devices of an app may have registered in all
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.channels.in_all, value_parser = number_in(ANY))]
    device_channels: u64,

    /// How many new tags the devices of an app may create in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.tags.per_minute, value_parser = number_in(ANY))]
    device_tags_per_minute: u64,

    /// How many tags the devices of an app may have created in all
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.tags.in_all, value_parser = number_in(ANY))]
    device_tags: u64,

    /// How many tag groups the devices of an app may have created in all
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.tag_groups.in_all, value_parser = number_in(ANY))]
    device_tag_groups: u64,

    /// How many new values of device properties the devices of an app may report in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.properties.per_minute, value_parser = number_in(ANY))]
    device_properties_per_minute: u64,

    /// How many different values of device properties the devices of an app may have reported in all
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.properties.in_all, value_parser = number_in(ANY))]
    device_properties: u64,

    /// How many new named users the devices of an app may name in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.named_users.per_minute, value_parser = number_in(ANY))]
    device_named_users_per_minute: u64,

    /// How many named users the devices of an app may have named in all
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.named_users.in_all, value_parser = number_in(ANY))]
    device_named_users: u64,

    /// How many attributes the devices of an app may change in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.attributes, value_parser = number_in(ANY))]
    device_attributes_per_minute: u64,

    /// How many events the devices of an app may send in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.events, value_parser = number_in(ANY))]
    device_events_per_minute: u64,

    /// How often the devices of an app may upload events in a minute, on each node
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.uploads, value_parser = number_in(ANY))]
    device_uploads_per_minute: u64,
}

const DEFAULT: GrowthLimits = GrowthLimits::DEFAULT;
/// Zero lets devices create nothing.
const ANY: RangeInclusive<u64> = 0..=1_000_000_000_000;

impl GrowthSettings {
    pub(crate) fn limits(&self) -> GrowthLimits {
        GrowthLimits {
            channels: Quota { per_minute: self.device_channels_per_minute, in_all: self.device_channels },
            tags: Quota { per_minute: self.device_tags_per_minute, in_all: self.device_tags },
            tag_groups: Quota { per_minute: u64::MAX, in_all: self.device_tag_groups },
            properties: Quota { per_minute: self.device_properties_per_minute, in_all: self.device_properties },
            named_users: Quota { per_minute: self.device_named_users_per_minute, in_all: self.device_named_users },
            attributes: self.device_attributes_per_minute,
            events: self.device_events_per_minute,
            uploads: self.device_uploads_per_minute,
        }
    }
}
