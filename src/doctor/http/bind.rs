//! Where a local server listens: for its own machine, or for everybody who shares a network with it.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use super::origin::not_local;
use super::probe::NoAnswer;
use super::site::Site;
use crate::doctor::finding::{Finding, Need};
use crate::doctor::sockets::{self, Listener};

/// How long to wait for a connection to an address of this machine.
const PATIENCE: Duration = Duration::from_secs(1);

/// Looks where the port is bound, and tries it where that cannot be seen.
pub(super) async fn check(site: &Site) -> Finding {
    if let Some(skipped) = not_local(site) {
        return skipped;
    }
    if let Some(fault) = site.unreached() {
        return NoAnswer::Unreached(fault.clone()).into();
    }
    let port = site.address.port();
    let seen = sockets::listeners().and_then(|all| judge(&all, site.address.ip(), port));
    match seen {
        Some(finding) => finding,
        // The system does not tell, or the port belongs to another container.
        None => smol::unblock(move || try_each(&sockets::outward(), port)).await,
    }
}

/// The finding by what listens on this machine; `None` when the server is not among it.
fn judge(listeners: &[Listener], ip: Option<IpAddr>, port: u16) -> Option<Finding> {
    let is_reached = |it: &&Listener| match ip {
        _ if it.ip.is_unspecified() => true,
        Some(ip) => it.ip == ip,
        None => it.ip.is_loopback(),
    };
    let on_port: Vec<&Listener> = listeners.iter().filter(|it| it.port == port).collect();
    on_port.iter().find(|it| is_reached(it))?;
    let bound = |wanted: fn(&IpAddr) -> bool| {
        let ips = on_port.iter().map(|it| it.ip).filter(wanted);
        ips.map(|ip| ip.to_string()).collect::<Vec<_>>().join(" and ")
    };
    let open = bound(|ip| !ip.is_loopback());
    Some(match open.is_empty() {
        true => Finding::pass(format!("port {port} is bound to {}", bound(IpAddr::is_loopback))),
        false => Finding::warn(format!(
            "port {port} is bound to {open}, so whoever shares a network with this machine reaches \
             it"
        )),
    })
}

/// The finding by whether the port is open at the addresses by which others know this machine.
fn try_each(addresses: &[IpAddr], port: u16) -> Finding {
    let tried = addresses.iter().map(|ip| {
        let address = SocketAddr::new(*ip, port);
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => Finding::warn(format!(
                "{address} is open, so whoever shares a network with this machine reaches it"
            )),
            Err(error) => closed(address, &error),
        }
    });
    let none = "this machine has no address that others could reach";
    Finding::worst(tried).unwrap_or_else(|| Finding::unknown(none, Need::Network))
}

fn closed(address: SocketAddr, error: &io::Error) -> Finding {
    match error.kind() {
        ErrorKind::ConnectionRefused => Finding::pass(format!("{address} is closed")),
        // Something filters, for us at least.
        _ => Finding::unknown(format!("{address}: {error}"), Need::Linux),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

    use super::*;
    use crate::doctor::Verdict;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn a_port_is_judged_by_all_that_it_is_bound_to() {
        let check = |bound: &[&str], ip: Option<IpAddr>, expected: Option<Verdict>| {
            let sockets: Vec<Listener> = bound
                .iter()
                .map(|it| it.parse::<SocketAddr>().unwrap())
                .map(|it| Listener { ip: it.ip(), port: it.port(), inode: 0 })
                .collect();
            let found = judge(&sockets, ip, 80);
            assert_eq!(found.as_ref().map(|it| it.verdict), expected, "{bound:?} {found:?}");
        };
        check(&["127.0.0.1:80"], Some(LOOPBACK), Some(Verdict::Pass));
        check(&["127.0.0.1:80", "[::1]:80"], None, Some(Verdict::Pass));
        check(&["0.0.0.0:80"], Some(LOOPBACK), Some(Verdict::Warn));
        check(&["[::]:80"], None, Some(Verdict::Warn));
        check(&["127.0.0.1:80", "192.168.1.5:80"], Some(LOOPBACK), Some(Verdict::Warn));
        check(&["127.0.0.1:81", "0.0.0.0:81"], Some(LOOPBACK), None);
        check(&["127.0.0.2:80"], Some(LOOPBACK), None);
        check(&["[::1]:80"], Some(LOOPBACK), None);
        check(&["192.168.1.5:80"], Some(LOOPBACK), None);
        check(&[], None, None);
    }

    #[test]
    fn every_address_is_tried() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let other = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        let check = |addresses: &[IpAddr], expected: Verdict, evidence: &str| {
            let found = try_each(addresses, port);
            assert_eq!(found.verdict, expected, "{found:?}");
            assert!(found.evidence.contains(evidence), "{found:?}");
        };
        if cfg!(target_os = "linux") {
            // Elsewhere the loopback interface has one address.
            check(&[other], Verdict::Pass, &format!("127.0.0.2:{port} is closed"));
            check(&[other, LOOPBACK], Verdict::Warn, &format!("127.0.0.1:{port} is open"));
        }
        check(&[LOOPBACK], Verdict::Warn, "is open");
        check(&[], Verdict::Unknown, "no address that others could reach");
        // One that leads nowhere.
        let nowhere = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
        assert_ne!(try_each(&[nowhere], 1).verdict, Verdict::Warn);
    }
}
