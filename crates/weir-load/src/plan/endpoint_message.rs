//! Servers as text, on their way to another process: all but the password, which travels apart.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use weir_model::{Address, Endpoint, Secret, Tls, TlsMode};

/// Addresses of servers, and the account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndpointMessage {
    addresses: Vec<AddressMessage>,
    user: String,
    database: String,
    tls_mode: TlsMode,
    authority: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    ciphers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum AddressMessage {
    Socket(PathBuf),
    Tcp(String, u16),
}

impl EndpointMessage {
    /// `endpoint`, and the same account at more addresses.
    pub fn new(endpoint: &Endpoint, more: &[Address]) -> Self {
        let tls = endpoint.tls.clone();
        let addresses = std::iter::once(&endpoint.address).chain(more);
        Self {
            addresses: addresses
                .map(|address| match address {
                    Address::Socket(path) => AddressMessage::Socket(path.clone()),
                    Address::Tcp(host, port) => AddressMessage::Tcp(host.clone(), *port),
                })
                .collect(),
            user: endpoint.user.clone(),
            database: endpoint.database.clone(),
            tls_mode: tls.mode,
            authority: tls.authority,
            certificate: tls.certificate,
            key: tls.key,
            ciphers: tls.ciphers,
        }
    }

    /// The endpoint and the other addresses.
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words.
    pub fn endpoint(self, password: Secret) -> Result<(Endpoint, Vec<Address>), String> {
        let mut addresses = self.addresses.into_iter().map(|address| match address {
            AddressMessage::Socket(path) => Address::Socket(path),
            AddressMessage::Tcp(host, port) => Address::Tcp(host, port),
        });
        let endpoint = Endpoint {
            address: addresses.next().ok_or("it names no server")?,
            user: self.user,
            password,
            database: self.database,
            tls: Tls {
                mode: self.tls_mode,
                authority: self.authority,
                certificate: self.certificate,
                key: self.key,
                ciphers: self.ciphers,
            },
        };
        Ok((endpoint, addresses.collect()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A server with a password.
    pub(crate) fn with_password() -> Endpoint {
        Endpoint {
            address: Address::Tcp("db1".to_owned(), 3306),
            user: "weir".to_owned(),
            password: Secret::new("sesame-42"),
            database: "sbtest".to_owned(),
            tls: Tls::default(),
        }
    }
}
