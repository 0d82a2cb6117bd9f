//! The addresses that the service may connect to: by default only those of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the operator lets the service talk to its own machine and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPolicy {
    /// `true` permits every address; the setting is `AEROGRAM_ALLOW_PRIVATE_ADDRESSES`.
    pub allow_private: bool,
}

impl AddressPolicy {
    pub const PUBLIC_ONLY: AddressPolicy = AddressPolicy { allow_private: false };
    pub const ANY: AddressPolicy = AddressPolicy { allow_private: true };

    /// `Err` names the kind of address that is refused.
    pub fn check(self, address: IpAddr) -> Result<(), &'static str> {
        if self.allow_private {
            return Ok(());
        }
        let reserved = match address {
            IpAddr::V4(v4) => reserved_v4(v4),
            IpAddr::V6(v6) => reserved_v6(v6),
        };
        reserved.map_or(Ok(()), Err)
    }
}

/// The IPv4 blocks that are not part of the public internet.
const RESERVED_V4: [(Ipv4Addr, u32, &str); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "private (shared by a carrier's NAT)"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "reserved for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "reserved for 6to4 relays"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "reserved for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "reserved for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "reserved for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// The IPv6 blocks that are not part of the public internet; the first that fits counts.
const RESERVED_V6: [(Ipv6Addr, u32, &str); 14] = [
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "private (local NAT64)"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "reserved for discarding"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "reserved for Teredo"),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, "reserved for benchmarks"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "reserved for documentation"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "reserved for protocols"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "reserved for documentation"),
    (Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0), 16, "reserved for segment routing"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "private"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "private (site-local)"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
];

fn reserved_v4(address: Ipv4Addr) -> Option<&'static str> {
    let within = |(block, bits, _): &&(Ipv4Addr, u32, _)| (block.to_bits() ^ address.to_bits()) >> (32 - bits) == 0;
    RESERVED_V4.iter().find(within).map(|(_, _, kind)| *kind)
}

fn reserved_v6(address: Ipv6Addr) -> Option<&'static str> {
    let within = |(block, bits, _): &&(Ipv6Addr, u32, _)| (block.to_bits() ^ address.to_bits()) >> (128 - bits) == 0;
    if let Some((_, _, kind)) = RESERVED_V6.iter().find(within) {
        return Some(kind);
    }
    // An address that leads to an IPv4 address is as public as that one.
    if let Some(v4) = embedded_v4(address) {
        return reserved_v4(v4);
    }
    let global_unicast = address.segments()[0] >> 13 == 0b001;
    (!global_unicast).then_some("reserved")
}

/// The IPv4 address inside a mapped, compatible, NAT64 or 6to4 address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff | 0) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(v4(g, h)),
        (0x2002, ..) => Some(v4(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: [(&str, &str); 34] = [
        ("0.0.0.0", "unspecified"),
        ("0.1.2.3", "unspecified"),
        ("10.255.0.1", "private"),
        ("100.64.0.1", "carrier"),
        ("100.127.255.255", "carrier"),
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("169.254.169.254", "link-local"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.8", "protocols"),
        ("192.0.2.1", "documentation"),
        ("192.88.99.1", "6to4"),
        ("192.168.1.1", "private"),
        ("198.19.255.255", "benchmarks"),
        ("198.51.100.7", "documentation"),
        ("203.0.113.7", "documentation"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::192.168.0.1", "private"),
        ("64:ff9b:1::1", "NAT64"),
        ("2002:7f00:1::1", "loopback"),
        ("2002:c0a8:101::", "private"),
        ("2001:db8::1", "documentation"),
        ("2001:0:4136:e378::1", "Teredo"),
        ("fd00::1", "private"),
        ("fe80::1", "link-local"),
        ("ff02::1", "multicast"),
        ("4000::1", "reserved"),
    ];

    const PERMITTED: [&str; 12] = [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1",
        "2002:101:101::1",
    ];

    #[test]
    fn addresses_outside_the_public_internet_are_refused_by_kind() {
        for (address, kind) in REFUSED {
            let refusal = AddressPolicy::PUBLIC_ONLY.check(address.parse().unwrap()).unwrap_err();
            assert!(refusal.contains(kind), "{address}: {refusal}");
            assert_eq!(AddressPolicy::ANY.check(address.parse().unwrap()), Ok(()), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_permitted() {
        for address in PERMITTED {
            assert_eq!(AddressPolicy::PUBLIC_ONLY.check(address.parse().unwrap()), Ok(()), "{address}");
        }
    }
}
