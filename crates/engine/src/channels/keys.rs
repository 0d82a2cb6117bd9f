//! The keys under which a channel can be found other than by its id.

use model::channel::{IdentityHints, Profile};
use model::device_type::DeviceType;
use store::channels::Key;

/// The key of an address. A device has one channel, so an address belongs to one channel of a type.
pub(crate) fn address_key(device_type: &DeviceType, address: &str) -> Key {
    // Apple's tokens are hexadecimal, and clients write them in either letter case.
    let value = if *device_type == DeviceType::Ios { address.to_ascii_uppercase() } else { address.to_owned() };
    Key { kind: format!("address:{device_type}"), value }
}

pub(crate) fn apid_key(device_type: &DeviceType, apid: &str) -> Key {
    Key { kind: format!("apid:{device_type}"), value: apid.to_owned() }
}

/// The hints that identify a device, the strongest first.
pub(super) fn hint_keys(device_type: &DeviceType, hints: &IdentityHints) -> Vec<Key> {
    let named = [("user", &hints.user_id), ("device", &hints.device_id), ("accengage", &hints.accengage_device_id)];
    let named = named
        .into_iter()
        .filter_map(|(kind, value)| Some(Key { kind: format!("{kind}:{device_type}"), value: value.clone()? }));
    named.chain(hints.apid.as_ref().map(|apid| apid_key(device_type, apid))).collect()
}

/// Every key of a channel.
pub(super) fn keys(profile: &Profile) -> Vec<Key> {
    let mut keys = hint_keys(&profile.device_type, &profile.identity_hints);
    keys.extend(profile.address.as_ref().map(|address| address_key(&profile.device_type, address)));
    keys
}
