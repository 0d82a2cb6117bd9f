//! Any address that a device names is accepted or refused with a reason; an accepted one leads to no private address and, for
//! browsers, Windows and UnifiedPush, to no host but those of known push services.
#![no_main]

use std::net::IpAddr;

use http::Uri;
use model::channel::DeliveryType;
use model::device_type::DeviceType;
use providers::address_problem;
use providers::http::{AddressPolicy, check_url};
use providers::webpush::{HostPattern, PushHosts};

const HOSTS: [&str; 6] = [
    "fcm.googleapis.com",
    "jmt17.google.com",
    "updates.push.services.mozilla.com",
    ".push.apple.com",
    ".notify.windows.com",
    "ntfy.sh",
];
const TYPES: [DeviceType; 5] =
    [DeviceType::Ios, DeviceType::Android, DeviceType::Amazon, DeviceType::Wns, DeviceType::Web];

const DELIVERIES: [Option<DeliveryType>; 5] =
    [None, Some(DeliveryType::Fcm), Some(DeliveryType::Hms), Some(DeliveryType::Adm), Some(DeliveryType::UnifiedPush)];

fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_unspecified(),
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let hosts = PushHosts::default();
    for device_type in TYPES {
        for delivery in DELIVERIES {
            if let Some(problem) = address_problem(&device_type, delivery, text, &hosts) {
                assert!(!problem.is_empty(), "a refusal says why");
                continue;
            }
            let is_url = matches!(device_type, DeviceType::Wns | DeviceType::Web)
                || device_type == DeviceType::Android && delivery == Some(DeliveryType::UnifiedPush);
            if is_url {
                let uri: Uri = text.parse().expect("an accepted address is a URL");
                let host = uri.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
                assert_eq!(uri.scheme_str(), Some("https"));
                let is_known = |known: &str| host == known || known.starts_with('.') && host.ends_with(known);
                assert!(HOSTS.into_iter().any(is_known), "{host} is no push service");
            }
        }
    }
    if let Ok(url) = check_url(text, AddressPolicy::PUBLIC_ONLY) {
        let host = url.uri().host().unwrap_or_default();
        let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        assert!(!address.is_some_and(is_private), "{host} is private");
        assert!(!host.trim_end_matches('.').eq_ignore_ascii_case("localhost"));
        assert!(!url.uri().authority().is_some_and(|authority| authority.as_str().contains('@')));
    }
    if let Ok(pattern) = text.parse::<HostPattern>() {
        assert_eq!(pattern.to_string().parse().ok(), Some(pattern), "a printed pattern reads as the same pattern");
    }
});
