//! Address of a server, and the login.

use std::fmt;
use std::path::PathBuf;

use crate::Tls;

/// A password. It prints as `***`, so that no log, error or result can hold it by accident.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password.
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }

    /// The password itself; only for the packet or the 0600 file that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Address of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A Unix socket.
    Socket(PathBuf),
    /// TCP: host and port.
    Tcp(String, u16),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            // An IPv6 address has colons of its own.
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

/// A server to connect to, with its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Address of the server.
    pub address: Address,
    /// The account's name.
    pub user: String,
    /// The account's password; empty for none.
    pub password: Secret,
    /// The schema that holds the workload's tables.
    pub database: String,
    /// Encryption of connections.
    pub tls: Tls,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_in_a_url() {
        let tcp = |host: &str| Address::Tcp(host.to_owned(), 3306).to_string();
        assert_eq!(tcp("db1"), "db1:3306");
        assert_eq!(tcp("::1"), "[::1]:3306");
    }

    #[test]
    fn a_password_never_prints() {
        let endpoint = Endpoint {
            address: Address::Socket("/x/mysql.sock".into()),
            user: "weir".into(),
            password: Secret::new("hunter2"),
            database: "sbtest".into(),
            tls: Tls::default(),
        };
        assert!(!format!("{endpoint:?}").contains("hunter2"));
        assert_eq!(endpoint.password.reveal(), "hunter2");
    }
}
