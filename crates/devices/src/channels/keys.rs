//! The keys under which a channel can be found other than by its id.

use base::Result;
use model::channel::{IdentityHints, Profile};
use model::device_type::DeviceType;
use model::ids::{AppId, ContactId};
use store::Tx;
use store::channels::{self, Key};

/// The kinds of hints, which are stored.
const USER: &str = "user";
const DEVICE: &str = "device";
const ACCENGAGE: &str = "accengage";
const APID: &str = "apid";
/// Stored, too.
const CONTACT: &str = "contact";
const ADDRESS: &str = "address:";

/// The key of an address. A device has one channel, so an address belongs to one channel of a type.
pub fn address_key(device_type: &DeviceType, address: &str) -> Key {
    // Apple's tokens are hexadecimal, and clients write them in either letter case.
    let value = if *device_type == DeviceType::Ios { address.to_ascii_uppercase() } else { address.to_owned() };
    Key { kind: format!("{ADDRESS}{device_type}"), value }
}

/// The keys that an address could have in an app, by the device types that there are.
pub(super) fn address_keys(tx: &mut Tx<'_>, app: AppId, address: &str) -> Result<Vec<Key>> {
    let kinds = channels::kinds_of_keys(tx, app, ADDRESS)?;
    let types = kinds.iter().filter_map(|kind| DeviceType::from_name(kind.strip_prefix(ADDRESS)?));
    Ok(types.map(|device_type| address_key(&device_type, address)).collect())
}

pub fn apid_key(device_type: &DeviceType, apid: &str) -> Key {
    hint_key(APID, device_type, apid)
}

/// The key of an unknown user that was not the first one of its channel.
pub(crate) fn contact_key(contact: ContactId) -> Key {
    Key { kind: CONTACT.to_owned(), value: contact.to_string() }
}

/// The hints that identify a device, the strongest first.
pub(super) fn hint_keys(device_type: &DeviceType, hints: &IdentityHints) -> Vec<Key> {
    let IdentityHints { user_id, device_id, accengage_device_id, apid } = hints;
    let hints = [(USER, user_id), (DEVICE, device_id), (ACCENGAGE, accengage_device_id), (APID, apid)];
    hints.into_iter().filter_map(|(kind, value)| Some(hint_key(kind, device_type, value.as_ref()?))).collect()
}

/// Every key of a channel.
pub(super) fn keys(profile: &Profile) -> Vec<Key> {
    let mut keys = hint_keys(&profile.device_type, &profile.identity_hints);
    keys.extend(profile.unknown_contact.map(contact_key));
    keys.extend(profile.address.as_ref().map(|address| address_key(&profile.device_type, address)));
    keys
}

/// Removes the hints and the address whose keys another channel has taken. Hints of two kinds may have the same text, and lose
/// it one by one.
pub(super) fn give_up(profile: &mut Profile, taken: &[Key]) {
    let Profile { device_type, address, identity_hints, .. } = profile;
    give_up_hints(device_type, identity_hints, taken);
    address.take_if(|address| taken.contains(&address_key(device_type, address)));
}

/// Removes the hints whose keys another channel has.
pub(super) fn give_up_hints(device_type: &DeviceType, hints: &mut IdentityHints, taken: &[Key]) {
    let IdentityHints { user_id, device_id, accengage_device_id, apid } = hints;
    for (kind, hint) in [(USER, user_id), (DEVICE, device_id), (ACCENGAGE, accengage_device_id), (APID, apid)] {
        hint.take_if(|value| taken.contains(&hint_key(kind, device_type, value)));
    }
}

fn hint_key(kind: &str, device_type: &DeviceType, value: &str) -> Key {
    Key { kind: format!("{kind}:{device_type}"), value: value.to_owned() }
}
