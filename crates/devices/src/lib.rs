//! Devices and the people behind them: channels, named users and contacts, with their tags, attributes, subscriptions, places and
//! days of activity. Every change goes to the log with the records that move the audience index.

mod activity;
mod addresses;
mod attributes;
mod change_context;
mod channels;
mod contacts;
mod holdings;
mod inbox_users;
mod journal;
mod legacy_tags;
mod locations;
mod named_users;
mod subscriptions;

use std::sync::Arc;

use base::Base;
use index::Indexes;
use model::time::Clock;
use store::Store;
use tenancy::Tenancy;

pub use addresses::{Refusal, refused_in, served_among, served_in};
pub use attributes::{Attributes, parse_stored as parse_stored_attribute};
pub use change_context::ChangeContext;
pub use channels::{
    ChannelState, ChannelView, OpenedChannel, OwnChange, Registered, RegisteredOpen, address_key, apid_key,
    create_open, move_in, stored_profile, uninstall_gone_in,
};
pub use contacts::{Contact, ContactKey};
pub use holdings::{Holdings, Membership};
pub use inbox_users::give as give_inbox;
pub use journal::{Journal, ManyEvent, NewEvent};
pub use locations::{LocationSettings, MOST_KEPT_DAYS, Whereabouts};
pub use named_users::NamedUserView;
pub use subscriptions::{SubscriptionListView, subscribers};

use contacts::ContactKeys;

/// The devices of the apps; clones share everything.
#[derive(Clone)]
pub struct Devices(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    tenancy: Tenancy,
    index: Indexes,
    contact_keys: ContactKeys,
    locations: LocationSettings,
}

impl Devices {
    pub fn new(base: &Base, tenancy: &Tenancy, index: &Indexes, locations: LocationSettings) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            contact_keys: ContactKeys::default(),
            locations,
        }))
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 1] {
        [jobs::Kind::of::<legacy_tags::ForgetTag>(self)]
    }
}
