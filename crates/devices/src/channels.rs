//! Channels: registration, lookup, tags and uninstallation. Every change moves the channel's terms and writes its events in
//! the transaction of the change.

mod browser;
mod by_type;
mod counting;
mod feedback;
mod import;
mod keys;
mod lookup;
mod open;
mod own;
mod own_change;
mod register;
mod state;
mod tags;
mod uninstall;

pub use browser::RegisteredBrowser;
pub use by_type::DeviceCount;
pub use feedback::first_feedback;
pub use import::{ImportReport, ImportRow, RefusedRow};
pub use lookup::ChannelView;
pub use open::RegisteredOpen;
pub use register::Registered;

pub use keys::address_key;
pub use keys::apid_key;
pub(crate) use keys::contact_key;
pub use open::create_open;
pub use own_change::OwnChange;
pub use state::{OpenedChannel, State as ChannelState, stored_profile};
pub use uninstall::move_in;
pub use uninstall::uninstall_gone_in;
pub use uninstall::uninstall_in;
