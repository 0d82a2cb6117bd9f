//! The device types that a request is for.

use audience::index::Index;
use model::device_type::DeviceType;
use model::payload::device_types::DeviceTypes;
use model::term::Term;

/// The device types that are named, each once; all that channels have registered for when none are.
pub fn device_types(wanted: &DeviceTypes, index: &Index) -> Vec<DeviceType> {
    let mut types: Vec<DeviceType> = match wanted {
        DeviceTypes::All { .. } => {
            let (group, _) = Term::DeviceType(DeviceType::Ios).key();
            index.tags(group).iter().filter_map(|name| DeviceType::from_name(name)).collect()
        }
        DeviceTypes::List(types) => types.clone(),
    };
    types.sort();
    types.dedup();
    types
}

/// The open platforms among them, in which addresses are looked up.
pub fn open_types(wanted: &DeviceTypes, index: &Index) -> Vec<DeviceType> {
    let mut types = device_types(wanted, index);
    types.retain(|device_type| matches!(device_type, DeviceType::Open(_)));
    types
}
