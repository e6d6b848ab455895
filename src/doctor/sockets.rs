//! Which sockets of this machine listen, as the Linux kernel tells in `/proc`.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::protocol::sorting::sort;

/// The state of a socket that listens, in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The most addresses of this machine that are tried. Who runs containers has many interfaces, and
/// what is open at one of them is mostly open at all.
const ADDRESSES: usize = 32;

/// A socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listener {
    /// Where it is bound; the unspecified address stands for everywhere.
    pub(super) ip: IpAddr,
    /// The port.
    pub(super) port: u16,
    /// Its number in the kernel.
    pub(super) inode: u64,
}

/// The sockets that listen where this process can see them; `None` where the system does not tell.
pub(super) fn listeners() -> Option<Vec<Listener>> {
    let four = fs::read_to_string("/proc/net/tcp").ok()?;
    // A kernel may lack IPv6.
    let six = fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Some(four.lines().chain(six.lines()).filter_map(listener).collect())
}

/// The addresses by which other machines may know this one, of all interfaces; none when it is on no
/// network, or the system does not tell. Those that hold on one wire only (link-local) are left out:
/// who has no other is on no network yet.
pub(super) fn outward() -> Vec<IpAddr> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let ips = interfaces.into_iter().filter(|it| it.is_oper_up()).map(|it| it.ip());
    let mut ips: Vec<IpAddr> = ips.filter(|ip| is_outward(*ip)).collect();
    sort(&mut ips);
    ips.dedup();
    ips.truncate(ADDRESSES);
    ips
}

fn is_outward(ip: IpAddr) -> bool {
    let is_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    !ip.is_loopback() && !ip.is_unspecified() && !is_local
}

/// The sockets of a process, by their numbers; `None` when the system does not tell.
pub(super) fn sockets_of(pid: u32) -> Option<Vec<u64>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let number = |link: std::path::PathBuf| {
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    Some(links.filter_map(number).collect())
}

/// Reads a line of `/proc/net/tcp` or `tcp6`.
fn listener(line: &str) -> Option<Listener> {
    let mut fields = line.split_whitespace().skip(1);
    let (local, _, state) = (fields.next()?, fields.next()?, fields.next()?);
    let inode = fields.nth(5)?.parse().ok()?;
    let (ip, port) = local.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTEN).then_some(Listener { ip: ip_of(ip)?, port, inode })
}

/// An address as the kernel writes it: words of 32 bits in the order of this machine.
fn ip_of(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Some(Ipv6Addr::from(bytes).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn listening_sockets_are_found_where_they_are_bound() {
        let check = |address: &str| {
            let socket = TcpListener::bind(address).unwrap();
            let bound = socket.local_addr().unwrap();
            let found = listeners().unwrap();
            let found = found.iter().find(|listener| listener.port == bound.port()).unwrap();
            assert_eq!(found.ip, bound.ip());
            assert!(sockets_of(std::process::id()).unwrap().contains(&found.inode));
        };
        check("127.0.0.1:0");
        check("0.0.0.0:0");
    }

    #[test]
    fn addresses_are_outward_that_others_can_reach() {
        let check = |ip: &str, expected| {
            assert_eq!(is_outward(ip.parse().unwrap()), expected, "{ip}");
        };
        check("192.168.1.5", true);
        check("203.0.113.7", true);
        check("2001:db8::1", true);
        check("fd00::1", true);
        check("127.0.0.1", false);
        check("::1", false);
        check("169.254.1.1", false);
        check("fe80::1", false);
        check("0.0.0.0", false);
        assert!(outward().len() <= ADDRESSES && outward().into_iter().all(is_outward));
    }

    #[test]
    fn other_lines_are_no_listeners() {
        let check = |line: &str| assert_eq!(listener(line), None, "{line}");
        check("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt");
        check("0: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 1 1");
        check("");
    }
}
