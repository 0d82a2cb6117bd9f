//! Channels: registration, lookup, tags and uninstallation. Every change moves the channel's terms and writes its events in
//! the transaction of the change.

mod counting;
mod keys;
mod lookup;
mod open;
mod own;
mod own_change;
mod register;
mod state;
mod tags;
mod uninstall;

pub use lookup::ChannelView;
pub use open::RegisteredOpen;
pub use register::Registered;

pub(crate) use keys::{address_key, apid_key, contact_key};
pub(crate) use open::create_open;
pub(crate) use own_change::OwnChange;
pub(crate) use state::stored_profile;
pub(crate) use uninstall::{move_in, uninstall_gone_in, uninstall_in};
