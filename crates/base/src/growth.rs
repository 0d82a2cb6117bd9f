//! What devices may create. The app secret ships inside apps, so anybody may have it: growth that it allows is bounded, per app
//! and minute, and in total. Servers are not limited, and what they create does not count.
//!
//! The rates are counted in the memory of a node, so that several nodes allow as many times as much. The totals are columns of the
//! app's row, which every transaction reads anyway, and hold for all nodes together.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::ids::AppId;
use model::time::UtcMillis;
use parking_lot::Mutex;
use store::growth::Created;
use store::{Tx, growth};

use crate::{Error, Metrics, Result};

const MINUTE_MILLIS: i64 = 60_000;

/// What the devices of one app may create, each in a minute and in all.
#[derive(Clone, Copy, Debug)]
pub struct GrowthLimits {
    pub channels: Quota,
    /// Distinct tags, in all groups, and subscription lists.
    pub tags: Quota,
    pub tag_groups: Quota,
    /// Distinct values of device properties, such as versions of the app.
    pub properties: Quota,
    pub named_users: Quota,
    /// Attributes set or removed, in a minute.
    pub attributes: u64,
    /// Events uploaded in a minute, and uploads.
    pub events: u64,
    pub uploads: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Quota {
    pub per_minute: u64,
    pub in_all: u64,
}

impl Quota {
    const NONE: Self = Self { per_minute: u64::MAX, in_all: u64::MAX };
}

impl GrowthLimits {
    /// Nobody is limited.
    pub const NONE: Self = Self {
        channels: Quota::NONE,
        tags: Quota::NONE,
        tag_groups: Quota::NONE,
        properties: Quota::NONE,
        named_users: Quota::NONE,
        attributes: u64::MAX,
        events: u64::MAX,
        uploads: u64::MAX,
    };

    pub const DEFAULT: Self = Self {
        channels: Quota { per_minute: 30_000, in_all: 100_000_000 },
        tags: Quota { per_minute: 10_000, in_all: 100_000 },
        tag_groups: Quota { per_minute: 100, in_all: 100 },
        properties: Quota { per_minute: 1_000, in_all: 50_000 },
        named_users: Quota { per_minute: 30_000, in_all: 100_000_000 },
        attributes: 600_000,
        events: 3_000_000,
        uploads: 300_000,
    };
}

/// What is counted per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growing {
    Created(Created),
    Attributes,
    Events,
    Uploads,
}

/// Clones count together.
#[derive(Clone)]
pub struct Growth(Arc<Parts>);

struct Parts {
    limits: GrowthLimits,
    metrics: Metrics,
    current: Mutex<Minute>,
}

#[derive(Default)]
struct Minute {
    number: i64,
    counts: HashMap<(AppId, Growing), u64>,
}

impl Growth {
    pub fn new(limits: GrowthLimits, metrics: Metrics) -> Self {
        Self(Arc::new(Parts { limits, metrics, current: Mutex::default() }))
    }

    /// Lets devices send some more of what is limited per minute only, in a request that runs once.
    pub fn send(&self, app: AppId, what: Growing, n: u64, now: UtcMillis) -> Result<()> {
        self.count(app, what, n, now)
    }

    fn per_minute(&self, what: Growing) -> u64 {
        match what {
            Growing::Created(created) => self.quota(created).per_minute,
            Growing::Attributes => self.0.limits.attributes,
            Growing::Events => self.0.limits.events,
            Growing::Uploads => self.0.limits.uploads,
        }
    }

    fn quota(&self, what: Created) -> Quota {
        let limits = &self.0.limits;
        match what {
            Created::Channels => limits.channels,
            Created::Tags => limits.tags,
            Created::TagGroups => limits.tag_groups,
            Created::Properties => limits.properties,
            Created::NamedUsers => limits.named_users,
        }
    }

    /// What would be more than the rate counts for nothing, so that a large request does not use up what small ones may have.
    fn count(&self, app: AppId, what: Growing, n: u64, now: UtcMillis) -> Result<()> {
        let mut current = self.0.current.lock();
        let number = now.0.div_euclid(MINUTE_MILLIS);
        if current.number != number {
            *current = Minute { number, counts: HashMap::new() };
        }
        let count = current.counts.entry((app, what)).or_default();
        if count.saturating_add(n) > self.per_minute(what) {
            self.0.metrics.growth_refused(label(what), "minute");
            let left = MINUTE_MILLIS - now.0.rem_euclid(MINUTE_MILLIS);
            let retry_after = Duration::from_millis(left.unsigned_abs());
            return Err(Error::TooMany { text: too_fast(what), retry_after });
        }
        *count += n;
        Ok(())
    }

    fn give_back(&self, app: AppId, what: Growing, n: u64, at: UtcMillis) {
        let mut current = self.0.current.lock();
        if current.number == at.0.div_euclid(MINUTE_MILLIS)
            && let Some(count) = current.counts.get_mut(&(app, what))
        {
            *count = count.saturating_sub(n);
        }
    }
}

/// What one command has counted. It may run several times before it commits, and counts once.
pub struct Claim {
    growth: Growth,
    app: AppId,
    counted: Mutex<Vec<(Growing, u64, UtcMillis)>>,
}

impl Claim {
    pub fn new(growth: Growth, app: AppId) -> Self {
        Self { growth, app, counted: Mutex::default() }
    }

    /// Forgets what was counted: the command begins anew, or has failed.
    pub fn restart(&self) {
        for (what, n, at) in std::mem::take(&mut *self.counted.lock()) {
            self.growth.give_back(self.app, what, n, at);
        }
    }

    /// Lets a device create one more thing, in the transaction that creates it.
    pub fn create(&self, tx: &mut Tx<'_>, what: Created, now: UtcMillis) -> Result<()> {
        if growth::created_by_devices(tx, self.app, what)? >= self.growth.quota(what).in_all {
            self.growth.0.metrics.growth_refused(label(Growing::Created(what)), "total");
            return Err(Error::Forbidden(full(what).to_owned()));
        }
        self.send(Growing::Created(what), 1, now)?;
        Ok(growth::count(tx, self.app, what)?)
    }

    /// Lets a device send some more of what is limited per minute only.
    pub fn send(&self, what: Growing, n: u64, now: UtcMillis) -> Result<()> {
        self.growth.count(self.app, what, n, now)?;
        self.counted.lock().push((what, n, now));
        Ok(())
    }
}

const fn label(what: Growing) -> &'static str {
    match what {
        Growing::Created(Created::Channels) => "channels",
        Growing::Created(Created::Tags) => "tags",
        Growing::Created(Created::TagGroups) => "tag_groups",
        Growing::Created(Created::Properties) => "properties",
        Growing::Created(Created::NamedUsers) => "named_users",
        Growing::Attributes => "attributes",
        Growing::Events => "events",
        Growing::Uploads => "uploads",
    }
}

const fn too_fast(what: Growing) -> &'static str {
    match what {
        Growing::Created(Created::Channels) => {
            "Devices of this app register faster than 'device_channels_per_minute' allows; try again in the next minute."
        }
        Growing::Created(Created::Tags) => {
            "Devices of this app create tags faster than 'device_tags_per_minute' allows; try again in the next minute."
        }
        Growing::Created(Created::TagGroups) => {
            "Devices of this app create tag groups too fast; try again in the next minute."
        }
        Growing::Created(Created::Properties) => {
            "Devices of this app report new device properties faster than 'device_properties_per_minute' allows; try \
             again in the next minute."
        }
        Growing::Created(Created::NamedUsers) => {
            "Devices of this app name new users faster than 'device_named_users_per_minute' allows; try again in the \
             next minute."
        }
        Growing::Attributes => {
            "Devices of this app change attributes faster than 'device_attributes_per_minute' allows; try again in the \
             next minute."
        }
        Growing::Events => {
            "Devices of this app send events faster than 'device_events_per_minute' allows; try again in the next \
             minute."
        }
        Growing::Uploads => {
            "Devices of this app upload more often than 'device_uploads_per_minute' allows; try again in the next \
             minute."
        }
    }
}

const fn full(what: Created) -> &'static str {
    match what {
        Created::Channels => {
            "Devices of this app have registered as many channels as the setting 'device_channels' allows; the operator \
             can raise it, and servers can still register channels."
        }
        Created::Tags => {
            "Devices of this app have created as many tags as the setting 'device_tags' allows; the operator can raise \
             it, and servers can still create tags."
        }
        Created::TagGroups => {
            "Devices of this app have created as many tag groups as the setting 'device_tag_groups' allows; the \
             operator can raise it, and servers can still create tag groups."
        }
        Created::Properties => {
            "Devices of this app have reported as many different properties as the setting 'device_properties' allows; \
             the operator can raise it."
        }
        Created::NamedUsers => {
            "Devices of this app have named as many users as the setting 'device_named_users' allows; the operator can \
             raise it, and servers can still name users."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_holds_for_an_app_and_a_minute() {
        let growth = Growth::new(GrowthLimits { events: 10, ..GrowthLimits::NONE }, Metrics::default());
        let send = |app, n, now| growth.send(AppId(app), Growing::Events, n, UtcMillis(now));
        assert!(send(1, 7, 0).is_ok() && send(1, 3, 59_999).is_ok());
        let Err(Error::TooMany { retry_after, .. }) = send(1, 1, 59_000) else { panic!("too many are taken") };
        assert_eq!(retry_after, Duration::from_secs(1));
        assert!(send(2, 10, 0).is_ok() && growth.send(AppId(1), Growing::Uploads, 99, UtcMillis(0)).is_ok());
        assert!(send(1, 11, 60_000).is_err() && send(1, 10, 60_000).is_ok());
        let claim = Claim::new(growth.clone(), AppId(3));
        for _ in 0..3 {
            claim.restart();
            assert!(claim.send(Growing::Events, 6, UtcMillis(60_000)).is_ok(), "a command that runs again counts once");
        }
        assert!(send(3, 5, 60_000).is_err() && send(3, 4, 60_000).is_ok());
    }
}
