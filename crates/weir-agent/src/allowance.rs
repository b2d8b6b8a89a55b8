//! Permissions of an agent for a conductor.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use weir_load::{LoadPlan, PreparePlan};
use weir_model::Address;

/// Addresses that an agent may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// This host by this name, at any port or this one.
    Host(String, Option<u16>),
    /// Addresses whose first bits are these.
    Block(IpAddr, u8),
}

impl FromStr for Network {
    type Err = String;

    /// Reads `HOST`, `HOST:PORT` or `ADDRESS/BITS`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: must be HOST, HOST:PORT or a network such as 10.0.0.0/8");
        if let Some((address, bits)) = text.split_once('/') {
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let bits: u8 = bits.parse().map_err(|_| wrong())?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            return (bits <= most)
                .then_some(Self::Block(address, bits))
                .ok_or_else(wrong);
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') => {
                let port = port.parse().map_err(|_| wrong())?;
                Ok(Self::Host(host.to_owned(), Some(port)))
            }
            _ if text.is_empty() => Err(wrong()),
            _ => Ok(Self::Host(text.to_owned(), None)),
        }
    }
}

impl fmt::Display for Network {
    /// As [`Network::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(name, None) => f.write_str(name),
            Self::Host(name, Some(port)) => write!(f, "{name}:{port}"),
            Self::Block(address, bits) => write!(f, "{address}/{bits}"),
        }
    }
}

impl Network {
    fn contains(&self, host: &str, port: u16) -> bool {
        match self {
            Self::Host(name, wanted) => {
                name.eq_ignore_ascii_case(host) && wanted.is_none_or(|wanted| wanted == port)
            }
            Self::Block(block, bits) => match (host, port).to_socket_addrs() {
                Ok(found) => {
                    let found: Vec<_> = found.collect();
                    !found.is_empty() && found.iter().all(|at| is_in(at.ip(), *block, *bits))
                }
                Err(_) => false,
            },
        }
    }
}

fn is_in(address: IpAddr, block: IpAddr, bits: u8) -> bool {
    match (address, block) {
        (IpAddr::V4(address), IpAddr::V4(block)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            (address.to_bits() ^ block.to_bits()) & mask == 0
        }
        (IpAddr::V6(address), IpAddr::V6(block)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            (address.to_bits() ^ block.to_bits()) & mask == 0
        }
        _ => false,
    }
}

/// Networks that cannot be reached from outside: RFC 1918, RFC 4193, loopback and link-local addresses.
const PRIVATE: [&str; 8] = [
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
];

/// Permission of an agent's owner for a conductor on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Take a share of a load.
    Load,
    /// Run a conductor's Lua scripts for it: programs, with all rights of the agent's user.
    Script,
    /// Read the figures of the host and of a server's process; nothing is changed.
    Probe,
    /// Start servers of studies, on restored data and emulated drives, and end them.
    Server,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Script => "script",
            Self::Probe => "probe",
            Self::Server => "server",
        })
    }
}

impl FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Load, Self::Script, Self::Probe, Self::Server];
        let found = all.into_iter().find(|one| one.to_string() == text);
        found.ok_or_else(|| format!("{text}: must be load, script, probe or server"))
    }
}

/// Permissions of an agent's owner, so that a stolen key cannot turn it on the world.
#[derive(Debug, Clone)]
pub struct Allowance {
    targets: Vec<Network>,
    words: String,
    max_connections: u32,
    permissions: Vec<Permission>,
}

impl Allowance {
    /// Shares of loads, with connections to these networks; to private ones if there are none.
    pub fn new(targets: &[Network], max_connections: u32) -> Self {
        let words: Vec<_> = targets.iter().map(ToString::to_string).collect();
        let is_private = targets.is_empty();
        Self {
            words: if is_private {
                "private networks".to_owned()
            } else {
                words.join(", ")
            },
            targets: if is_private {
                PRIVATE
                    .iter()
                    .filter_map(|block| block.parse().ok())
                    .collect()
            } else {
                targets.to_vec()
            },
            max_connections,
            permissions: vec![Permission::Load],
        }
    }

    /// The same with these permissions and no others.
    #[must_use]
    pub fn with(self, permissions: &[Permission]) -> Self {
        Self {
            permissions: permissions.to_vec(),
            ..self
        }
    }

    pub(crate) fn permissions(&self) -> &[Permission] {
        &self.permissions
    }

    /// An error says what its owner would have to allow.
    pub(crate) fn permits(&self, wanted: Permission) -> Result<(), String> {
        if self.permissions.contains(&wanted) {
            return Ok(());
        }
        Err(format!(
            "its owner does not allow `{wanted}`; start it with --allow {wanted}, on the host that is meant"
        ))
    }

    /// Returns the addresses that it may connect to, in words.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    pub(crate) fn max_connections(&self) -> u32 {
        self.max_connections
    }

    /// Refuses a plan beyond what is allowed, in a sentence.
    pub(crate) fn check(&self, plan: &LoadPlan) -> Result<(), String> {
        if plan.workload.is_lua() {
            self.permits(Permission::Script)?;
        }
        let share = plan.share.as_ref();
        let wanted = share.map_or(0, |share| share.connections.len() + share.idle.len());
        self.check_connections(wanted)?;
        for address in std::iter::once(&plan.endpoint.address).chain(&plan.more_addresses) {
            self.check_address(address)?;
        }
        Ok(())
    }

    /// The same of tables that are to be made.
    pub(crate) fn check_tables(&self, plan: &PreparePlan) -> Result<(), String> {
        self.check_connections(plan.threads as usize)?;
        self.check_address(&plan.endpoint.address)
    }

    fn check_connections(&self, wanted: usize) -> Result<(), String> {
        if wanted <= self.max_connections as usize {
            return Ok(());
        }
        Err(format!(
            "{wanted} connections are more than it allows ({}); start it with --max-connections, or use more \
             agents",
            self.max_connections
        ))
    }

    fn check_address(&self, address: &Address) -> Result<(), String> {
        // A socket is of its own host.
        let Address::Tcp(host, port) = address else {
            return Ok(());
        };
        let mut targets = self.targets.iter();
        if targets.any(|network| network.contains(host, *port)) {
            return Ok(());
        }
        Err(format!(
            "it does not connect to {address} (allowed: {}); start it with --targets {address}",
            self.words
        ))
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{Endpoint, Secret, Tls, WorkloadName};

    use super::*;

    fn plan(host: &str, connections: u32) -> LoadPlan {
        let endpoint = Endpoint {
            address: Address::Tcp(host.to_owned(), 3306),
            user: "weir".to_owned(),
            password: Secret::new(""),
            database: "sbtest".to_owned(),
            tls: Tls::default(),
        };
        let mut plan = LoadPlan::new(endpoint, WorkloadName::OltpReadOnly);
        plan.load.connections = connections;
        plan.share = Some(plan.whole());
        plan
    }

    #[test]
    fn an_agent_connects_to_what_its_owner_allows_and_no_further() {
        let private = Allowance::new(&[], 100);
        for host in [
            "10.1.2.3",
            "192.168.7.1",
            "127.0.0.1",
            "fd00::5",
            "172.31.0.9",
        ] {
            assert_eq!(private.check(&plan(host, 100)), Ok(()), "{host}");
        }
        for host in ["8.8.8.8", "172.32.0.1", "2001:db8::1"] {
            assert!(private.check(&plan(host, 1)).is_err(), "{host}");
        }
        assert!(private.check(&plan("10.1.2.3", 101)).is_err());
        let named: Vec<Network> = ["db1:3306", "8.8.0.0/16"]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let named = Allowance::new(&named, 10);
        assert_eq!(named.check(&plan("DB1", 1)), Ok(()));
        assert_eq!(named.check(&plan("8.8.8.8", 1)), Ok(()));
        assert!(named.check(&plan("10.1.2.3", 1)).is_err());
        for wrong in ["", "10.0.0.0/33", "db1:port", "x/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
