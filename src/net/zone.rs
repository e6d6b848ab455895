//! How near an address is: this machine, a network nearby, or the world.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// How near an address is, the nearest first.
///
/// What is learned from a document may lead outwards and never inwards: a page of the world that
/// names an address on this machine wants something done that only this machine can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    /// This machine.
    Loopback,
    /// A network that is not the world: private, link-local, shared, multicast, reserved.
    Private,
    /// The world.
    Public,
}

/// Where clouds tell the machines in them their secrets. Nothing that we may want is there.
const METADATA_SERVICES: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

impl Zone {
    /// The zone of an address.
    pub fn of(ip: IpAddr) -> Zone {
        match embedded(ip) {
            IpAddr::V4(ip) => zone_v4(ip),
            IpAddr::V6(ip) => zone_v6(ip),
        }
    }

    /// Whether nothing may ever be fetched from there.
    pub fn is_forbidden(ip: IpAddr) -> bool {
        METADATA_SERVICES.contains(&embedded(ip))
    }
}

/// The IPv4 address that some IPv6 addresses stand for: mapped (RFC 4291), translated (RFC 6052)
/// and tunnelled ones (RFC 3056).
pub fn embedded(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let v4 =
        |high: u16, low: u16| IpAddr::V4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        _ => ip,
    }
}

/// IANA IPv4 Special-Purpose Address Registry.
fn zone_v4(ip: Ipv4Addr) -> Zone {
    match ip.octets() {
        // 0.0.0.0 reaches this machine.
        [0 | 127, ..] => Zone::Loopback,
        [10, ..]
        | [100, 64..=127, ..]
        | [169, 254, ..]
        | [172, 16..=31, ..]
        | [192, 0, 0 | 2, _]
        | [192, 168, ..]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [224..=255, ..] => Zone::Private,
        _ => Zone::Public,
    }
}

/// IANA IPv6 Special-Purpose Address Registry.
fn zone_v6(ip: Ipv6Addr) -> Zone {
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Zone::Loopback,
        // Only 2000::/3 is handed out for the world, and not all of it.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, ..] => Zone::Private,
        [0x2000..=0x3fff, ..] => Zone::Public,
        _ => Zone::Private,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_zones() {
        let check = |zone: Zone, addresses: &[&str]| {
            for address in addresses {
                assert_eq!(Zone::of(address.parse().unwrap()), zone, "{address}");
            }
        };
        check(
            Zone::Loopback,
            &["127.0.0.1", "127.255.0.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"],
        );
        check(Zone::Loopback, &["2002:7f00:1::", "64:ff9b::127.0.0.1"]);
        check(
            Zone::Private,
            &["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.1.1"],
        );
        check(Zone::Private, &["100.64.0.1", "100.127.255.255", "224.0.0.1", "255.255.255.255"]);
        check(Zone::Private, &["192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9"]);
        check(Zone::Private, &["fe80::1", "fd12::1", "fc00::1", "ff02::1", "2001:db8::1"]);
        check(Zone::Private, &["2001::1", "fec0::1", "64:ff9b:1::1", "100::1", "4000::1"]);
        check(Zone::Private, &["::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::192.168.0.1"]);
        check(Zone::Public, &["8.8.8.8", "172.32.0.1", "100.128.0.1", "192.0.3.1", "1.1.1.1"]);
        check(Zone::Public, &["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"]);
        check(Zone::Public, &["2002:808:808::", "64:ff9b::8.8.8.8"]);
    }

    #[test]
    fn outwards_is_more() {
        assert!(Zone::Loopback < Zone::Private && Zone::Private < Zone::Public);
    }

    #[test]
    fn metadata_services_are_known_in_every_disguise() {
        let check = |address: &str, expected: bool| {
            assert_eq!(Zone::is_forbidden(address.parse().unwrap()), expected, "{address}");
        };
        check("169.254.169.254", true);
        check("::ffff:169.254.169.254", true);
        check("64:ff9b::169.254.169.254", true);
        check("2002:a9fe:a9fe::1", true);
        check("fd00:ec2::254", true);
        check("169.254.169.253", false);
        check("fd00:ec2::253", false);
    }
}
