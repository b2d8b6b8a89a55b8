//! How to log in to a server that is named by a URL: what the servers' own clients would make of the same
//! words and the same option file.

use std::path::{Path, PathBuf};

use thiserror::Error;
use weir_model::{Address, Endpoint, Flavor, Secret, ServerUrl, Tls};

use crate::option_file::{self, OptionFileError, OptionFileSetting};

/// Environment variable that holds the password when nothing else does.
pub const PASSWORD_VARIABLE: &str = "WEIR_MYSQL_PASSWORD";
/// The account when nothing names one, as in sysbench.
pub const USER: &str = "sbtest";
/// The schema when nothing names one, as in sysbench.
pub const SCHEMA: &str = "sbtest";
/// The servers' port.
pub const PORT: u16 = 3306;
/// Where MySQL's and MariaDB's packages put their socket.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// What counts beside a URL or a command line.
#[derive(Debug, Clone, Default)]
pub struct ClientConfig {
    /// The value of [`PASSWORD_VARIABLE`], or what was typed.
    pub password: Option<Secret>,
    /// The user's option file, which need not exist.
    pub option_file: Option<PathBuf>,
}

/// A login that cannot be understood.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LoginError {
    /// Of an option file.
    #[error(transparent)]
    OptionFile(#[from] OptionFileError),
    /// An option whose value does not fit.
    #[error("{name} = `{value}`: {why}")]
    Value {
        /// By the name of MySQL's clients.
        name: String,
        /// As written.
        value: String,
        /// What it must be.
        why: String,
    },
}

/// The endpoint of `url`. What the URL leaves out, its option file or the user's own says; the password
/// comes from there or from `config` alone.
///
/// # Errors
///
/// An option file that cannot be read, a value that does not fit its option.
pub fn endpoint(url: &ServerUrl, config: &ClientConfig) -> Result<Endpoint, LoginError> {
    let mut login = Login::default();
    let own = config.option_file.as_deref().filter(|path| path.exists());
    let named = url.options.get("option-file").map(Path::new);
    if let Some(path) = named.or(own) {
        for setting in option_file::read(path)? {
            if is_for_clients(&setting, url.flavor) {
                login.apply(&setting.name, setting.value.as_deref().unwrap_or_default())?;
            }
        }
    }
    for (name, value) in url
        .options
        .iter()
        .filter(|(name, _)| *name != "option-file")
    {
        login.apply(name, value)?;
    }
    Ok(login.resolve(url, config))
}

/// The socket of a server on this host, which `localhost` alone means.
pub fn local_socket() -> PathBuf {
    let found = SOCKETS.iter().find(|path| Path::new(path).exists());
    PathBuf::from(found.unwrap_or(&SOCKETS[0]))
}

/// Whether the clients of this flavour read the setting's group (MySQL manual and MariaDB Knowledge
/// Base, "Option Files").
fn is_for_clients(setting: &OptionFileSetting, flavor: Flavor) -> bool {
    match setting.group.as_str() {
        "client" | "weir" => true,
        "client-server" | "client-mariadb" => flavor == Flavor::Mariadb,
        _ => false,
    }
}

/// What was said of a login, so far.
#[derive(Debug, Default)]
struct Login {
    host: Option<String>,
    port: Option<u16>,
    socket: Option<PathBuf>,
    user: Option<String>,
    password: Option<Secret>,
    schema: Option<String>,
    tls: Tls,
}

impl Login {
    /// Takes an option of MySQL's clients; those that say nothing of a login are passed over.
    fn apply(&mut self, name: &str, value: &str) -> Result<(), LoginError> {
        let wrong = |why: String| LoginError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            why,
        };
        let path = || (!value.is_empty()).then(|| PathBuf::from(value));
        match name {
            "host" => self.host = Some(value.to_owned()),
            "port" => {
                let port = value
                    .parse()
                    .map_err(|_| wrong("write a port".to_owned()))?;
                self.port = Some(port);
            }
            "socket" => self.socket = path(),
            "user" => self.user = Some(value.to_owned()),
            // Without a value the clients ask for it, which is Weir's --ask-password.
            "password" => self.password = (!value.is_empty()).then(|| Secret::new(value)),
            "database" => self.schema = Some(value.to_owned()),
            "ssl-mode" => self.tls.mode = value.parse().map_err(wrong)?,
            "ssl-ca" => self.tls.authority = path(),
            "ssl-cert" => self.tls.certificate = path(),
            "ssl-key" => self.tls.key = path(),
            "ssl-cipher" => {
                let names = value.split([':', ',']).map(str::trim);
                let names = names.filter(|name| !name.is_empty());
                self.tls.ciphers = names.map(str::to_owned).collect();
            }
            _ => {}
        }
        Ok(())
    }

    fn resolve(self, url: &ServerUrl, config: &ClientConfig) -> Endpoint {
        // A host of the URL's is not overridden by a socket of the file's.
        let socket = self
            .socket
            .filter(|_| url.host.is_none() || url.options.contains_key("socket"));
        let port = url.port.or(self.port);
        let host = url.host.clone().or(self.host);
        let address = match (socket, host) {
            (Some(socket), _) => Address::Socket(socket),
            // `localhost` alone is the socket, as in MySQL's clients.
            (None, Some(host)) if host == "localhost" => match url.port {
                Some(port) => Address::Tcp("127.0.0.1".to_owned(), port),
                None => Address::Socket(local_socket()),
            },
            (None, Some(host)) => Address::Tcp(host, port.unwrap_or(PORT)),
            (None, None) => Address::Socket(local_socket()),
        };
        Endpoint {
            address,
            user: url
                .user
                .clone()
                .or(self.user)
                .unwrap_or_else(|| USER.to_owned()),
            password: config
                .password
                .clone()
                .or(self.password)
                .unwrap_or_default(),
            database: url
                .database
                .clone()
                .or(self.schema)
                .unwrap_or_else(|| SCHEMA.to_owned()),
            tls: self.tls,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use weir_model::TlsMode;

    use super::*;

    fn of(url: &str, config: &ClientConfig) -> Result<Endpoint, LoginError> {
        endpoint(&url.parse().unwrap(), config)
    }

    #[test]
    fn the_url_wins_over_the_option_file_and_the_password_is_in_neither_url_nor_debug() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        let text = "[client]\nuser = app\npassword = hunter2\nhost = db9\nsocket = /x/s\n";
        fs::write(&file, text).unwrap();
        let url = format!(
            "mysql://db1:3307/shop?ssl-mode=required&option-file={}",
            file.display()
        );
        let endpoint = of(&url, &ClientConfig::default()).unwrap();
        assert_eq!(endpoint.address, Address::Tcp("db1".to_owned(), 3307));
        assert_eq!(endpoint.user, "app");
        assert_eq!(endpoint.database, "shop");
        assert_eq!(endpoint.tls.mode, TlsMode::Required);
        assert_eq!(endpoint.password, Secret::new("hunter2"));
        assert!(!format!("{endpoint:?}").contains("hunter2"));
    }

    #[test]
    fn what_the_environment_says_is_the_password() {
        let config = ClientConfig {
            password: Some(Secret::new("secret")),
            ..ClientConfig::default()
        };
        let endpoint = of("mariadb://app@localhost/?socket=/x/mysql.sock", &config).unwrap();
        assert_eq!(endpoint.address, Address::Socket("/x/mysql.sock".into()));
        assert_eq!(endpoint.password, Secret::new("secret"));
        assert_eq!(endpoint.database, SCHEMA);
    }

    #[test]
    fn groups_are_read_as_the_flavours_clients_read_them() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        let text =
            "[client]\nuser=all\npassword\n[client-mariadb]\nuser=maria\n[mysqld]\nuser=no\n";
        fs::write(&file, text).unwrap();
        let config = ClientConfig {
            option_file: Some(file),
            ..ClientConfig::default()
        };
        let user = |url: &str| of(url, &config).unwrap().user;
        assert_eq!(user("mysql://db1/"), "all");
        assert_eq!(user("mariadb://db1/"), "maria");
        assert_eq!(
            of("mysql://db1/", &config).unwrap().password,
            Secret::default()
        );
    }

    #[test]
    fn a_value_that_does_not_fit_is_named() {
        let error = of("mysql://db1/?ssl-mode=verify", &ClientConfig::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("VERIFY_CA"), "{error}");
    }
}
