//! The models of iOS devices.

/// The tag of a model: its identifier, whether or not it has a name here, so that devices of later years can be addressed.
pub(super) fn model(identifier: &str) -> Option<&str> {
    let is_known = ios_model_name(identifier).is_some() || identifier == "arm64";
    (is_known || is_well_formed(identifier)).then_some(identifier)
}

/// The common name of a model, for the identifiers that have one.
pub fn ios_model_name(identifier: &str) -> Option<&'static str> {
    IOS_MODELS.iter().find(|(known, _)| *known == identifier).map(|(_, name)| *name)
}

/// Letters, digits, a comma and digits, as in `iPhone17,2`.
fn is_well_formed(identifier: &str) -> bool {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_family = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic());
    identifier.split_once(',').is_some_and(|(front, minor)| {
        let family = front.trim_end_matches(|c: char| c.is_ascii_digit());
        is_family(family) && are_digits(&front[family.len()..]) && are_digits(minor)
    })
}

/// Identifiers and names.
pub const IOS_MODELS: [(&str, &str); 46] = [
    ("i386", "32-bit Simulator"),
    ("x86_64", "64-bit Simulator"),
    ("iPod1,1", "iPod Touch 1"),
    ("iPod2,1", "iPod Touch 2"),
    ("iPod3,1", "iPod Touch 3"),
    ("iPod4,1", "iPod Touch 4"),
    ("iPod5,1", "iPod Touch 5"),
    ("iPhone1,1", "iPhone"),
    ("iPhone1,2", "iPhone 3G"),
    ("iPhone2,1", "iPhone 3GS"),
    ("iPad1,1", "iPad 1"),
    ("iPad2,1", "iPad 2 (Wifi)"),
    ("iPad2,2", "iPad 2 (Wifi/GSM)"),
    ("iPad2,3", "iPad 2 (Wifi/CDMA)"),
    ("iPad2,4", "iPad 2 (Wifi 16GB)"),
    ("iPad2,5", "iPad Mini (Wifi)"),
    ("iPad2,6", "iPad Mini (Wifi/GSM)"),
    ("iPad2,7", "iPad Mini (Wifi/CDMA)"),
    ("iPad3,1", "iPad 3 (Wifi)"),
    ("iPad3,2", "iPad 3 (Wifi/CDMA)"),
    ("iPad3,3", "iPad 3 (Wifi/GSM)"),
    ("iPad3,4", "iPad 4 (Wifi)"),
    ("iPad3,5", "iPad 4 Gen (Wifi/GSM)"),
    ("iPad3,6", "iPad 4 Gen (Wifi/CDMA)"),
    ("iPad4,1", "iPad Air (Wifi)"),
    ("iPad4,2", "iPad Air (Wifi/Cellular)"),
    ("iPad4,3", "iPad Air (Wifi/Cellular China)"),
    ("iPad4,4", "iPad Mini 2 (Wifi)"),
    ("iPad4,5", "iPad Mini 2 (Wifi/Cellular)"),
    ("iPad4,6", "iPad Mini 2 (Wifi/Cellular China)"),
    ("iPad4,7", "iPad Mini 3 (Wifi)"),
    ("iPad4,8", "iPad Mini 3 (Wifi/Cellular)"),
    ("iPad4,9", "iPad Mini 3 (Wifi/Cellular China)"),
    ("iPad5,3", "iPad Air 2 (Wifi)"),
    ("iPad5,4", "iPad Air 2 (Wifi/Cellular)"),
    ("iPhone3,1", "iPhone 4 (GSM)"),
    ("iPhone3,3", "iPhone 4 (CDMA)"),
    ("iPhone4,1", "iPhone 4S"),
    ("iPhone5,1", "iPhone 5 (GSM)"),
    ("iPhone5,2", "iPhone 5 (CDMA)"),
    ("iPhone5,3", "iPhone 5c (CDMA/GSM)"),
    ("iPhone5,4", "iPhone 5c (EMEA)"),
    ("iPhone6,1", "iPhone 5s (CDMA/GSM)"),
    ("iPhone6,2", "iPhone 5s (EMEA)"),
    ("iPhone7,1", "iPhone 6 Plus"),
    ("iPhone7,2", "iPhone 6"),
];
