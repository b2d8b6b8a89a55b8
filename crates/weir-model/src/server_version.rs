//! Flavours and versions of MySQL-family servers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The family's two branches: they share a protocol and differ in files, variables and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Flavor {
    /// Oracle MySQL and Percona Server.
    Mysql,
    /// MariaDB.
    Mariadb,
}

/// The variable of [`Flavor::lru_scan_depth`].
pub const LRU_SCAN_DEPTH: &str = "innodb_lru_scan_depth";

impl Flavor {
    /// The default of `innodb_lru_scan_depth`: the pages of each pool instance that the page cleaner keeps
    /// free, every second, once the pool is full.
    pub const fn lru_scan_depth(self) -> u64 {
        match self {
            Self::Mysql => 1024,
            Self::Mariadb => 1536,
        }
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mysql => "mysql",
            Self::Mariadb => "mariadb",
        })
    }
}

impl FromStr for Flavor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mysql" => Ok(Self::Mysql),
            "mariadb" => Ok(Self::Mariadb),
            _ => Err(format!(
                "`{text}` is not a server flavour; write `mysql` or `mariadb`"
            )),
        }
    }
}

/// A server's version: three numbers that order as versions do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl ServerVersion {
    /// The version `MAJOR.MINOR.PATCH`.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads the version with which a server greets its clients, such as `5.5.5-10.2.11-MariaDB`: older `MariaDB` names a
    /// version of MySQL first, for clients that know no others.
    pub fn from_greeting(said: &str) -> Option<(Flavor, Self)> {
        let flavor = if said.to_ascii_lowercase().contains("mariadb") {
            Flavor::Mariadb
        } else {
            Flavor::Mysql
        };
        let said = said.strip_prefix("5.5.5-").unwrap_or(said);
        Some((flavor, said.parse().ok()?))
    }
}

impl FromStr for ServerVersion {
    type Err = String;

    /// Reads the start of `text`: `9.7.4-0ubuntu1` and `10.11.14-MariaDB` are versions.
    fn from_str(text: &str) -> Result<Self, String> {
        let numeric = text
            .split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .next()
            .unwrap_or("");
        let mut parts = numeric.split('.').map(str::parse::<u32>);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Ok(Self {
                major,
                minor,
                patch,
            }),
            _ => Err(format!(
                "`{text}` does not start with a version such as 9.7.4"
            )),
        }
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::{Flavor, ServerVersion};

    #[test]
    fn versions_read_from_what_servers_print_and_order() {
        let mysql: ServerVersion = "9.7.4-1debian".parse().unwrap();
        let mariadb: ServerVersion = "10.11.14-MariaDB-0+deb12u2".parse().unwrap();
        assert_eq!(mysql.to_string(), "9.7.4");
        assert!(mariadb > mysql);
        let old = ServerVersion::from_greeting("5.5.5-10.2.11-MariaDB");
        assert_eq!(old, Some((Flavor::Mariadb, ServerVersion::new(10, 2, 11))));
        assert!("MariaDB".parse::<ServerVersion>().is_err());
    }
}
