//! Networks of addresses, as lists of those who may call name them: `10.0.0.0/8`, `192.0.2.7`, `2001:db8::/48`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

use schemars::json_schema;
use serde::{Serialize, Serializer};

use crate::json::At;
use crate::json::body::Read;

/// One host usually has all addresses of an IPv6 network of 64 bits, so that a smaller one would say nothing.
const LONGEST_V6: u8 = 64;
const LONGEST_V4: u8 = 32;

/// Why a text is no network.
pub const NETWORK_SHAPE: &str = "This must be an address or a network, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/48, with no bits set \
                                 after the prefix; an IPv6 network has a prefix of at most 64 bits.";

/// A network of IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Read)]
#[body(schema = json_schema!({"type": "string", "minLength": 2, "maxLength": 43, "examples": ["10.0.0.0/8", "2001:db8::/48"]}))]
pub struct Network {
    first: IpAddr,
    prefix: u8,
}

/// A text that is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoNetwork;

impl Network {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        at.string()?.parse().ok().or_else(|| at.invalid(NETWORK_SHAPE))
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => masked_v4(address, self.prefix) == first,
            (IpAddr::V6(first), IpAddr::V6(address)) => masked_v6(address, self.prefix) == first,
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let (first, prefix) = match text.split_once('/') {
            Some((first, prefix)) => (first, Some(prefix)),
            None => (text, None),
        };
        let first: IpAddr = first.parse().map_err(|_| NoNetwork)?;
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: Option<u8> = match prefix {
            Some(prefix) if is_number(prefix) => Some(prefix.parse().map_err(|_| NoNetwork)?),
            Some(_) => return Err(NoNetwork),
            None => None,
        };
        let (prefix, longest, masked) = match first {
            IpAddr::V4(v4) => {
                let prefix = prefix.unwrap_or(LONGEST_V4);
                (prefix, LONGEST_V4, IpAddr::V4(masked_v4(v4, prefix)))
            }
            IpAddr::V6(v6) => {
                let prefix = prefix.ok_or(NoNetwork)?;
                (prefix, LONGEST_V6, IpAddr::V6(masked_v6(v6, prefix)))
            }
        };
        if prefix <= longest && masked == first { Ok(Self { first, prefix }) } else { Err(NoNetwork) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first {
            IpAddr::V4(v4) if self.prefix == LONGEST_V4 => write!(f, "{v4}"),
            first => write!(f, "{first}/{}", self.prefix),
        }
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn masked_v4(address: Ipv4Addr, prefix: u8) -> Ipv4Addr {
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
    Ipv4Addr::from_bits(address.to_bits() & mask)
}

fn masked_v6(address: Ipv6Addr, prefix: u8) -> Ipv6Addr {
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
    Ipv6Addr::from_bits(address.to_bits() & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_printed_as_they_were() {
        for text in ["10.0.0.0/8", "0.0.0.0/0", "192.0.2.7", "2001:db8::/48", "::/0", "2001:db8:0:1::/64"] {
            assert_eq!(text.parse::<Network>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.7/32".parse::<Network>().unwrap().to_string(), "192.0.2.7");
        let wrong = [
            "",
            "/",
            "10.0.0.0/33",
            "10.0.0.1/8",
            "10.0.0/8",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "2001:db8::1",
            "::1/128",
            "x/8",
        ];
        for text in wrong {
            assert_eq!(text.parse::<Network>(), Err(NoNetwork), "{text}");
        }
    }

    #[test]
    fn a_network_has_its_own_addresses_only() {
        let has = |network: &str, address: &str| network.parse::<Network>().unwrap().contains(address.parse().unwrap());
        assert!(has("10.0.0.0/8", "10.255.0.1") && !has("10.0.0.0/8", "11.0.0.0"));
        assert!(has("0.0.0.0/0", "8.8.8.8") && !has("0.0.0.0/0", "2001:db8::1"));
        assert!(has("192.0.2.7", "192.0.2.7") && !has("192.0.2.7", "192.0.2.8"));
        assert!(has("192.0.2.7", "::ffff:192.0.2.7"), "IPv4 in the clothes of IPv6");
        assert!(has("2001:db8::/48", "2001:db8:0:ffff::1") && !has("2001:db8::/48", "2001:db8:1::"));
    }
}
