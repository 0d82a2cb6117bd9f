//! How many items the pages of each listing have, usually and at most. All listings refuse a caller who asks for none or for more
//! than the most: a page that is silently shorter looks like the end to a client that counts.

use std::ops::RangeInclusive;

use model::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageSize {
    usual: u32,
    most: u32,
}

impl PageSize {
    pub(crate) const CHANNELS: Self = Self::always(limits::CHANNELS_PER_PAGE);
    /// A user has up to a hundred channels, so that a full page can be long.
    pub(crate) const NAMED_USERS: Self = Self { usual: 100, most: limits::NAMED_USERS_PER_PAGE };
    pub(crate) const SEGMENTS: Self = Self::always(limits::SEGMENTS_PER_PAGE);
    pub(crate) const SCHEDULES: Self = Self::always(limits::SCHEDULES_PER_PAGE);
    pub(crate) const DRAFTS: Self = Self { usual: 100, most: limits::DRAFTS_PER_PAGE };
    pub(crate) const TEMPLATES: Self = Self { usual: 25, most: limits::TEMPLATES_PER_PAGE };
    pub(crate) const EXPERIMENTS: Self = Self { usual: 10, most: limits::EXPERIMENTS_PER_PAGE };
    pub(crate) const PIPELINES: Self = Self::always(limits::PIPELINES_PER_PAGE);
    pub(crate) const FILTERED_PIPELINES: Self = Self { usual: 20, most: limits::PIPELINES_PER_PAGE };
    pub(crate) const REGIONS: Self = Self { usual: 100, most: 1000 };
    pub(crate) const DELETED_PIPELINES: Self = Self::always(limits::DELETED_PIPELINES);
    /// Of the reports that list pushes.
    pub(crate) const REPORTED_PUSHES: Self = Self::always(100);
    /// Of the names of custom events.
    pub(crate) const EVENT_NAMES: Self = Self::always(100);
    /// Of the names of custom events due to a push. Not every client asks for a second page there.
    pub(crate) const EVENT_NAMES_OF_PUSH: Self = Self::always(1000);
    /// Of the tags of a group, and of tag groups.
    pub(crate) const TAGS_IN_USE: Self = Self { usual: 100, most: 1000 };
    /// Of the names of attributes, whose values are looked at, too.
    pub(crate) const ATTRIBUTES: Self = Self { usual: 50, most: 100 };
    pub(crate) const TIMELINE: Self = Self { usual: 50, most: 1000 };
    pub(crate) const SANDBOX: Self = Self { usual: 100, most: 1000 };
    /// Of pushes with deliveries in the sandbox, each with some requests.
    pub(crate) const SANDBOX_PUSHES: Self = Self { usual: 20, most: 100 };
    /// Of the requests that a node remembers.
    pub(crate) const REQUESTS: Self = Self { usual: 100, most: 1000 };
    pub(crate) const PUSHES_ON_THEIR_WAY: Self = Self { usual: 100, most: 1000 };
    /// Of the account of a push.
    pub(crate) const RECIPIENTS: Self = Self { usual: 100, most: 1000 };
    pub(crate) const PUSHES: Self = Self { usual: 100, most: 1000 };
    pub(crate) const ACCOUNTS: Self = Self { usual: 100, most: 1000 };
    pub(crate) const AUDIT: Self = Self { usual: 100, most: 1000 };
    /// Of the requests and of the given-up events of a webhook.
    pub(crate) const OF_WEBHOOK: Self = Self { usual: 100, most: 1000 };

    const fn always(most: u32) -> Self {
        Self { usual: most, most }
    }

    /// How many there are when nobody asks.
    pub(crate) const fn usual(self) -> u32 {
        self.usual
    }

    /// What can be asked for.
    pub(crate) const fn range(self) -> RangeInclusive<u32> {
        1..=self.most
    }
}
