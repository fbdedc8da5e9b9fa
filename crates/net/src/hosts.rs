//! Lists of hosts in access rules: proxy users, service-level authorization.
//! Source: `MachineList.java`, Hadoop 3.5.0.

use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs as _};

/// Addresses, host names and ranges (`10.1.0.0/16`), or `*` for any. Names are resolved once, when the configuration is
/// read, so that no request ever waits for a name server.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    any: bool,
    addresses: Vec<IpAddr>,
    networks: Vec<(Ipv4Addr, u32)>,
}

impl Hosts {
    /// The list that `text` is; names that do not resolve are logged and left out.
    pub fn parse(text: &str) -> Self {
        let mut hosts = Hosts::default();
        for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            let network = name.split_once('/').and_then(|(n, bits)| Some((n.parse().ok()?, bits.parse().ok()?)));
            match (name, name.parse(), network) {
                ("*", ..) => hosts.any = true,
                (_, Ok(address), _) => hosts.addresses.push(address),
                (_, _, Some(network)) => hosts.networks.push(network),
                _ => match (name, 0).to_socket_addrs() {
                    Ok(found) => hosts.addresses.extend(found.map(|a| a.ip())),
                    Err(error) => tracing::warn!("host {name} of an access list does not resolve: {error}"),
                },
            }
        }
        hosts
    }

    /// Whether the list has the address.
    pub fn has(&self, address: IpAddr) -> bool {
        self.any || self.addresses.contains(&address) || matches!(address, IpAddr::V4(a) if self.has_network_of(a))
    }

    fn has_network_of(&self, address: Ipv4Addr) -> bool {
        let prefix = |a: Ipv4Addr, bits: u32| u64::from(u32::from(a)) >> (32 - bits.min(32));
        self.networks.iter().any(|(network, bits)| prefix(address, *bits) == prefix(*network, *bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_ranges() {
        let hosts = Hosts::parse("10.1.0.0/16, 127.0.0.1");
        let has = |address: &str| hosts.has(address.parse().unwrap());
        assert_eq!((has("10.1.2.3"), has("10.2.0.1"), has("127.0.0.1"), has("127.0.0.2")), (true, false, true, false));
        assert!(Hosts::parse("*").has("::1".parse().unwrap()) && !Hosts::parse("").has("::1".parse().unwrap()));
    }
}
