//! Which addresses are public. All others may be those of our own machines and networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address is globally reachable, by the IANA special-purpose registries of 2025
/// (RFC 6890 and its updates).
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match a {
        // This network, private, loopback, multicast and reserved with broadcast
        0 | 10 | 127 | 224..=255 => true,
        // Carrier-grade NAT: 100.64.0.0/10
        100 => (64..128).contains(&b),
        // Link-local, also the metadata of cloud machines
        169 => b == 254,
        // 172.16.0.0/12
        172 => (16..32).contains(&b),
        // Protocols, documentation, 6to4 relays, private
        192 => b == 168 || (b, c) == (0, 0) || (b, c) == (0, 2) || (b, c) == (88, 99),
        // Benchmarks 198.18.0.0/15, documentation
        198 => b == 18 || b == 19 || (b, c) == (51, 100),
        203 => (b, c) == (0, 113),
        _ => false,
    };
    !special
}

/// Of the whole space only `2000::/3` is assigned. Outside are loopback, link-local, unique local and
/// multicast addresses, and those with an IPv4 address in them: mapped, compatible and NAT64.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_global_unicast = a & 0xe000 == 0x2000;
    // Protocols with Teredo, documentation, 6to4, documentation
    let special =
        (a == 0x2001 && (b < 0x0200 || b == 0x0db8)) || a == 0x2002 || (a == 0x3fff && b < 0x1000);
    is_global_unicast && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_global_addresses_are_public() {
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.0",
            "169.253.1.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.1.1",
            "198.17.1.1",
            "198.20.1.1",
            "203.0.112.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for special in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.170",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(special.parse().unwrap()), "{special}");
        }
    }
}
