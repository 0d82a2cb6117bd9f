//! Channels: the registrations of devices and open platforms, the state that follows from them, and changes to it.

mod android;
mod batch;
mod browser;
mod change;
mod device_attributes;
mod device_update;
mod imported;
mod ios;
mod live;
mod open;
mod profile;
mod reference;
mod registration;
mod tag_operation;
mod uninstall;
mod unproven;
mod usage;
mod web;

#[cfg(test)]
mod tests;

pub use android::{AndroidDetails, DeliveryType};
pub use batch::ChannelBatch;
pub use browser::Browser;
pub use change::Change;
pub use imported::{ImportedChannel, ImportedLine, ImportedUser};
pub use ios::{IosDetails, QuietTime, TimeOfDay};
pub use live::{LiveChange, LiveKey, LiveKind, LiveState};
pub(crate) use open::open_address;
pub use open::{OpenAddress, OpenDetails, OpenRegistration, OpenTags};
pub use profile::{IdentityHints, PermissionStatus, Profile};
pub use reference::{ChannelRef, ClaimedType};
pub use registration::{Registration, RegistrationBody};
pub use tag_operation::{ChannelTagsLookup, TagOperation, TagSets};
pub use uninstall::{Uninstall, Uninstalls};
pub use unproven::Proof;
pub use usage::{UsageDetails, UsageUpdate};
pub use web::{WebDetails, WebSubscription};

use std::collections::BTreeMap;

use crate::json::At;
use crate::limits;

/// A string that names something. Control characters are refused: no real name has them and databases choke on NUL.
pub(crate) fn name_text(at: &At<'_>, most_chars: usize) -> Option<String> {
    let text = at.text(1..=most_chars)?;
    if text.contains(char::is_control) {
        return at.invalid("This must not contain control characters.");
    }
    Some(text)
}

/// An object whose keys are the sender's own names.
fn string_map<T>(at: &At<'_>, most_keys: usize, read: impl FnMut(&At<'_>) -> Option<T>) -> Option<BTreeMap<String, T>> {
    let map = at.object()?.into_map(0..=most_keys, read)?;
    match map.keys().find(|key| !(1..=limits::MAP_KEY_CHARS).contains(&key.chars().count())) {
        None => Some(map),
        Some(key) => at.invalid_key(key, format!("A key here has 1 to {} characters.", limits::MAP_KEY_CHARS)),
    }
}
