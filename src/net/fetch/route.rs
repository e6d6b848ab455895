//! Where a request goes: a name is resolved once, and every address that it has must be allowed.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use super::{FetchError, Fetcher, Source};
use crate::net::{Address, InvalidSettings, Zone};

/// Where a request goes.
#[derive(Debug)]
pub(super) struct Route {
    /// The addresses of the host; empty when there is nothing to resolve.
    pub(super) ips: Vec<IpAddr>,
    /// How near the nearest of them is.
    pub(super) zone: Zone,
}

impl Fetcher {
    /// Where a request goes, if it may go there.
    pub(super) async fn route(
        &self,
        address: &Address,
        source: Source,
    ) -> Result<Route, FetchError> {
        if self.is_behind_socket(address) {
            return Ok(Route { ips: Vec::new(), zone: Zone::Loopback });
        }
        if let Some(ip) = self.settings.known(address) {
            // The user has said where this host is, so the name stands for what the user wants.
            return self.admit(address, Source::User, Route { ips: vec![ip], zone: Zone::of(ip) });
        }
        let proxied = self.settings.proxy.choose(address);
        let proxied =
            proxied.map_err(|error| FetchError::Settings(InvalidSettings::Proxy(error)))?;
        let ips = match (address.ip(), proxied) {
            (Some(ip), _) => vec![ip],
            (None, Some(_)) if address.is_loopback() => vec![Ipv4Addr::LOCALHOST.into()],
            // The proxy resolves the name, and it knows its own network.
            (None, Some(_)) => Vec::new(),
            (None, None) => self.resolver.resolve(address).await?,
        };
        let zone = ips.iter().map(|ip| Zone::of(*ip)).min().unwrap_or(Zone::Public);
        let route = self.admit(address, source, Route { ips, zone })?;
        // An address that stands in the URL needs no name service.
        Ok(if address.ip().is_some() { Route { ips: Vec::new(), ..route } } else { route })
    }

    fn admit(&self, address: &Address, source: Source, route: Route) -> Result<Route, FetchError> {
        if route.ips.iter().any(|ip| Zone::is_forbidden(*ip)) {
            return Err(FetchError::Forbidden(address.clone()));
        }
        if let Source::Document(from) = source
            && route.zone < from
            && !self.policy.allow_private
        {
            let nearest = route.ips.iter().copied().min_by_key(|ip| Zone::of(*ip));
            let ip = nearest.expect("a route without addresses leads to the world");
            return Err(FetchError::Inwards { address: address.clone(), ip });
        }
        let stays = route.zone == Zone::Loopback || self.policy.allow_http;
        let typed = source == Source::User;
        match address.is_tls() || stays || typed {
            true => Ok(route),
            false => Err(FetchError::NotEncrypted(address.clone())),
        }
    }

    /// Whether a socket leads to the server of an address.
    pub(super) fn is_behind_socket(&self, address: &Address) -> bool {
        self.behind_socket.as_ref().is_some_and(|server| server.same_origin(address))
    }
}

/// Finds the addresses of a name.
type Resolve = dyn Fn(&str) -> Vec<IpAddr>;

/// Who knows the addresses of names.
#[derive(Default)]
pub(super) enum Resolver {
    /// The system.
    #[default]
    System,
    /// Something else.
    Other(Box<Resolve>),
}

impl Resolver {
    /// The addresses of a name.
    async fn resolve(&self, address: &Address) -> Result<Vec<IpAddr>, FetchError> {
        let host = address.host();
        let ips: Vec<IpAddr> = match self {
            Resolver::System => {
                let found = smol::net::resolve((host.to_owned(), address.port())).await;
                found.unwrap_or_default().iter().map(|found| found.ip()).collect()
            }
            Resolver::Other(resolve) => resolve(host),
        };
        match ips.is_empty() {
            true => Err(FetchError::Unknown(address.clone())),
            false => Ok(ips),
        }
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resolver::System => "System",
            Resolver::Other(_) => "Other",
        })
    }
}
