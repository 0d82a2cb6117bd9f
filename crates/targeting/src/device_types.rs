//! The device types that a request is for.

use audience::index::Index;
use audience::plan::Plan;
use index::term_plan;
use model::device_type::DeviceType;
use model::payload::device_types::DeviceTypes;
use model::term::Term;
use roaring::RoaringBitmap;

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

/// Channels by their device types; those that are uninstalled have none.
pub fn types_of(index: &Index, channels: &RoaringBitmap) -> Vec<(DeviceType, RoaringBitmap)> {
    let of_type = |device_type: DeviceType| {
        let having =
            Plan::And(vec![Plan::Set(channels.clone()), term_plan(index, &Term::DeviceType(device_type.clone()))]);
        (device_type, index.resolve(&having.normalize()))
    };
    let types = device_types(&DeviceTypes::all(), index).into_iter().map(of_type);
    types.filter(|(_, having)| !having.is_empty()).collect()
}

/// The open platforms among them, in which addresses are looked up.
pub fn open_types(wanted: &DeviceTypes, index: &Index) -> Vec<DeviceType> {
    let mut types = device_types(wanted, index);
    types.retain(|device_type| matches!(device_type, DeviceType::Open(_)));
    types
}
