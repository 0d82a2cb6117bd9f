//! Devices and the people behind them: channels, named users and contacts, with their tags, attributes, subscriptions, places and
//! days of activity. Every change goes to the log with the records that move the audience index.

mod activity;
mod addresses;
mod attributes;
mod change_context;
mod change_lists;
mod channels;
mod contacts;
mod growing;
mod holdings;
mod inbox_users;
mod journal;
mod legacy_tags;
mod live_content;
mod locations;
mod mistaken;
mod named_users;
mod received_file;
mod room;
mod search;
mod subscriptions;

use std::sync::Arc;

use base::{Base, Claim, Growth, SharedClock};
use index::Indexes;
use model::ids::AppId;
use model::time::Clock;
use store::Store;
use tenancy::Tenancy;
use tokio::sync::OnceCell;

pub use addresses::{Refusal, refused_in, served_among, served_in};
pub use attributes::{AttributeInUse, AttributeType, Attributes, ValueCount, parse_stored as parse_stored_attribute};
pub use change_context::ChangeContext;
pub use change_lists::{
    ChangeCounts, ChangeListStatus, ChangeListView, ChangeUpload, RowProblem,
    uploads_under_way as change_uploads_under_way,
};
pub use channels::{
    ChannelState, ChannelView, DeviceCount, ImportReport, ImportRow, OpenedChannel, OwnChange, RefusedRow, Registered,
    RegisteredBrowser, RegisteredOpen, address_key, apid_key, create_open, first_feedback, move_in, stored_profile,
    uninstall_gone_in, uninstall_in,
};
pub use contacts::{Contact, ContactKey};
pub use holdings::{Holdings, Membership};
pub use inbox_users::give as give_inbox;
pub use journal::{Journal, ManyEvent, NewEvent, empty_body, is_about_only, push_to_one_of, redact_many};
pub use locations::{LocationSettings, MOST_KEPT_DAYS, Whereabouts};
pub use mistaken::{Meant, Mistaken};
pub use named_users::{ImportUserRow, ImportUsersReport, NamedUserView};
pub use received_file::{MOST_BAD_ROWS, ReceivedFile, Receiver, Receiving};
pub use search::with_address;
pub use store::uninstalled::Uninstalled;
pub use subscriptions::{SubscriptionListView, subscribers};

use contacts::{ContactKeys, RememberedUsers};

/// The devices of the apps; clones share everything.
#[derive(Clone)]
pub struct Devices(Arc<Parts>, Author);

/// Who creates what a change needs. Only the growth that devices cause is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Devices,
    /// Servers of the app, and the service itself.
    Servers,
}

struct Parts {
    store: Store,
    clock: Clock,
    /// For leases of jobs, which other nodes judge.
    shared_clock: SharedClock,
    tenancy: Tenancy,
    index: Indexes,
    contact_keys: ContactKeys,
    remembered_users: RememberedUsers,
    locations: LocationSettings,
    atlas_is_read: OnceCell<()>,
    growth: Growth,
}

impl Devices {
    pub fn new(base: &Base, tenancy: &Tenancy, index: &Indexes, locations: LocationSettings) -> Self {
        let parts = Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            shared_clock: base.shared_clock.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            contact_keys: ContactKeys::default(),
            remembered_users: RememberedUsers::default(),
            locations,
            atlas_is_read: OnceCell::new(),
            growth: base.growth.clone(),
        });
        Self(parts, Author::Servers)
    }

    /// The same devices, for changes that an author asks for.
    pub fn by(&self, author: Author) -> Self {
        Self(self.0.clone(), author)
    }

    /// Counts what a change of the author creates, if that is limited.
    fn claim(&self, app: AppId) -> Option<Claim> {
        (self.1 == Author::Devices).then(|| Claim::new(self.0.growth.clone(), app))
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 2] {
        [jobs::Kind::of::<legacy_tags::ForgetTag>(self), jobs::Kind::of::<change_lists::ApplyChanges>(self)]
    }
}
