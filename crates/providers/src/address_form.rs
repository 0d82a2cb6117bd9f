//! The form of the addresses that devices register: what cannot be an address of its provider is not worth a message. Lenient where
//! the providers promise nothing: an address that a library got from its provider must never be refused.

use http::Uri;
use model::channel::{DeliveryType, WebSubscription};
use model::device_type::DeviceType;

use crate::webpush::{PushHosts, is_point};
use crate::wns::CHANNEL_HOSTS;

/// Apple says not to rely on the length of tokens. They had 64 digits for years, those of simulators have 160, and no more than 200
/// are documented.
const APNS_DIGITS: std::ops::RangeInclusive<usize> = 64..=200;
/// Registration ids have some 140 to 200 characters, and nobody promises that.
const FEWEST_FCM_CHARS: usize = 32;
/// Those of Amazon and Huawei are of unknown form, but not short.
const FEWEST_CHARS: usize = 16;

/// Why an address cannot be one of a device, as a sentence. `delivery` is the provider behind an Android address, if it is known.
pub fn address_problem(
    device_type: &DeviceType,
    delivery: Option<DeliveryType>,
    address: &str,
    hosts: &PushHosts,
) -> Option<String> {
    match device_type {
        DeviceType::Ios => apns_problem(address),
        DeviceType::Android => match delivery {
            Some(DeliveryType::Fcm) => fcm_problem(address),
            Some(DeliveryType::UnifiedPush) => hosts.problem(address),
            Some(DeliveryType::Hms | DeliveryType::Adm) | None => id_problem(address),
        },
        DeviceType::Amazon => id_problem(address),
        DeviceType::Wns => wns_problem(address),
        DeviceType::Web => hosts.problem(address),
        DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => None,
    }
}

/// Why nothing can be encrypted for a browser or a phone, as a sentence.
pub fn keys_problem(subscription: &WebSubscription) -> Option<String> {
    let problem = "The key p256dh of the subscription is not a point on the curve P-256.";
    (!is_point(subscription)).then(|| problem.to_owned())
}

fn apns_problem(token: &str) -> Option<String> {
    let (least, most) = (APNS_DIGITS.start(), APNS_DIGITS.end());
    let is_token = APNS_DIGITS.contains(&token.len())
        && token.len().is_multiple_of(2)
        && token.bytes().all(|byte| byte.is_ascii_hexdigit())
        && token.bytes().any(|byte| byte != b'0');
    (!is_token).then(|| {
        format!("A device token of Apple's is the hexadecimal form of its bytes, with {least} to {most} digits that are not all 0.")
    })
}

fn fcm_problem(id: &str) -> Option<String> {
    let is_id =
        id.len() >= FEWEST_FCM_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:.%".contains(&byte));
    (!is_id).then(|| {
        format!(
            "A registration id of Firebase's has at least {FEWEST_FCM_CHARS} letters, digits and characters of '_-:.%'."
        )
    })
}

fn id_problem(id: &str) -> Option<String> {
    let is_id = id.len() >= FEWEST_CHARS && id.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_id)
        .then(|| format!("A registration id has at least {FEWEST_CHARS} visible characters of ASCII, and no spaces."))
}

fn wns_problem(address: &str) -> Option<String> {
    let is_channel = address.parse::<Uri>().is_ok_and(|url| {
        let host = url.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        let is_usual = url.scheme_str() == Some("https") && matches!(url.port_u16(), None | Some(443));
        is_usual && host.ends_with(CHANNEL_HOSTS)
    });
    (!is_channel)
        .then(|| format!("The address of a Windows channel is an https URL of a host below {}.", &CHANNEL_HOSTS[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL_ID: &str = "fGw0qy4TQfmX3gW:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx_5wYHG8lz9kKgZ3pJ0-8bTQfXkVbNnYw";

    fn is_accepted(device_type: &str, delivery: Option<DeliveryType>, address: &str) -> bool {
        let device_type = DeviceType::from_name(device_type).unwrap();
        address_problem(&device_type, delivery, address, &PushHosts::default()).is_none()
    }

    #[test]
    fn tokens_of_apple() {
        let of = |digit: &str, n: usize| digit.repeat(n);
        for token in [of("a1", 32), of("A1", 32), of("0f", 80), of("0f", 100)] {
            assert!(is_accepted("ios", None, &token), "{token}");
        }
        for token in
            [of("a1", 31), of("a1", 101), of("0", 64), of("g1", 32), format!("{}a", of("a1", 32)), String::new()]
        {
            assert!(!is_accepted("ios", None, &token), "{token}");
        }
    }

    #[test]
    fn registration_ids() {
        let adm = "amzn1.adm-registration.v3.Y29tLmFtYXpvbi5EZXZpY2VNZXNzYWdpbmcuUmVnaXN0cmF0aW9uSWRFbmNyeXB0aW9uS2V5ITEhRg==";
        for delivery in [None, Some(DeliveryType::Fcm), Some(DeliveryType::Hms)] {
            assert!(is_accepted("android", delivery, REAL_ID), "{delivery:?}");
            assert!(!is_accepted("android", delivery, "fake"), "{delivery:?}");
            assert!(!is_accepted("android", delivery, &REAL_ID.replace('_', " ")), "{delivery:?}");
        }
        assert!(is_accepted("android", Some(DeliveryType::Adm), adm) && is_accepted("amazon", None, adm));
        assert!(!is_accepted("android", Some(DeliveryType::Fcm), adm), "it has characters that Firebase's have not");
    }

    #[test]
    fn urls() {
        let edge = "https://wns2-par02p.notify.windows.com/w/?token=BQYAAA";
        assert!(is_accepted("wns", None, edge) && is_accepted("web", None, edge));
        for wrong in ["https://notify.windows.com.evil.example/", "https://db5.notify.windows.com:9/", "db5", ""] {
            assert!(!is_accepted("wns", None, wrong) && !is_accepted("web", None, wrong), "{wrong}");
            assert!(!is_accepted("android", Some(DeliveryType::UnifiedPush), wrong), "{wrong}");
        }
        let ntfy = "https://ntfy.sh/upAbCdEf123456?up=1";
        assert!(is_accepted("android", Some(DeliveryType::UnifiedPush), ntfy));
    }
}
