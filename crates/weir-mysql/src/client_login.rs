//! Login to a server that is named by a URL: as the servers' own clients would take the same words and the same option
//! file.

use std::path::{Path, PathBuf};

use thiserror::Error;
use weir_model::{Address, Endpoint, Secret, ServerUrl};

use crate::client_config::{ClientConfig, ClientSettings, FileChoice};
use crate::client_options::{ClientOptions, ClientPassword};
use crate::option_file::OptionFileError;

/// The account when nothing names one, as in sysbench.
pub const USER: &str = "sbtest";
/// The schema when nothing names one, as in sysbench.
pub const SCHEMA: &str = "sbtest";
/// The servers' port.
pub const PORT: u16 = 3306;
/// The host that means this one's socket.
pub const LOCAL: &str = "localhost";
/// This host over TCP.
pub const LOOPBACK: &str = "127.0.0.1";
/// Paths of the socket in MySQL's and MariaDB's packages.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

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
        /// Permitted values.
        why: String,
    },
    /// A password that was asked for.
    #[error(
        "the password could not be read ({0}); write it into the option file or WEIR_MYSQL_PASSWORD"
    )]
    Password(String),
}

/// The endpoint of `url`. Its option file, or the clients' usual ones and the environment, have what the URL
/// leaves out; the password comes from there or from `config` alone.
///
/// # Errors
///
/// An option file that cannot be read, a value that does not fit its option, a password that was asked for
/// and not typed.
pub fn endpoint(url: &ServerUrl, config: &ClientConfig) -> Result<Endpoint, LoginError> {
    let flavor = Some(url.flavor);
    let choice = match url.options.get("option-file") {
        Some(path) => FileChoice::Only(Path::new(path)),
        None => FileChoice::Usual(None),
    };
    let ClientSettings { mut login, own } = config.read(choice, flavor)?;
    for setting in &own {
        login.apply(setting, flavor)?;
    }
    for (name, value) in url
        .options
        .iter()
        .filter(|(name, _)| *name != "option-file")
    {
        let set = login.set(name, Some(value));
        set.map_err(|why| LoginError::Value {
            name: name.clone(),
            value: value.clone(),
            why,
        })?;
    }
    Ok(Endpoint {
        address: address(url, &login),
        user: url
            .user
            .clone()
            .or(login.user.clone())
            .unwrap_or_else(|| USER.to_owned()),
        password: password(login.password.clone(), config)?,
        database: url
            .database
            .clone()
            .or(login.database.clone())
            .unwrap_or_else(|| SCHEMA.to_owned()),
        tls: login.encryption(),
    })
}

/// Returns the address of the server. `localhost` alone is the socket, as in the servers' clients; a port of the URL's
/// makes it TCP.
fn address(url: &ServerUrl, login: &ClientOptions) -> Address {
    let is_socket_of_url = url.options.contains_key("socket");
    let host = url.host.as_ref().or(login.host.as_ref());
    let host = host.filter(|host| *host != LOCAL);
    let is_tcp = url.port.is_some() || login.uses_tcp;
    let tcp = |host: &str| Address::Tcp(host.to_owned(), url.port.or(login.port).unwrap_or(PORT));
    match host {
        Some(host) if !is_socket_of_url => tcp(host),
        None if is_tcp && !is_socket_of_url => tcp(LOOPBACK),
        _ => Address::Socket(login.socket.clone().unwrap_or_else(local_socket)),
    }
}

/// The password, which is asked for where a file says so and `config` has none.
fn password(said: Option<ClientPassword>, config: &ClientConfig) -> Result<Secret, LoginError> {
    match (&config.password, said) {
        (Some(password), _) => Ok(password.clone()),
        (None, Some(ClientPassword::Given(password))) => Ok(password),
        (None, Some(ClientPassword::Asked)) => (config.dialogue.ask)()
            .map_err(|error| LoginError::Password(error.to_string().to_lowercase())),
        (None, None) => Ok(Secret::default()),
    }
}

/// The socket of a server on this host, which `localhost` alone means.
pub fn local_socket() -> PathBuf {
    let found = SOCKETS.iter().find(|path| Path::new(path).exists());
    PathBuf::from(found.unwrap_or(&SOCKETS[0]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use weir_model::TlsMode;

    use super::*;

    fn endpoint_for(url: &str, config: &ClientConfig) -> Result<Endpoint, LoginError> {
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
        let endpoint = endpoint_for(&url, &ClientConfig::default()).unwrap();
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
        let endpoint =
            endpoint_for("mariadb://app@localhost/?socket=/x/mysql.sock", &config).unwrap();
        assert_eq!(endpoint.address, Address::Socket("/x/mysql.sock".into()));
        assert_eq!(endpoint.password, Secret::new("secret"));
        assert_eq!(endpoint.database, SCHEMA);
    }

    #[test]
    fn groups_are_read_as_the_flavours_clients_read_them() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        let text = "[client]\nuser=all\n[client-mariadb]\nuser=maria\n[mysqld]\nuser=no\n\
                    [client_x]\nuser=suffix\n[mysql-9.7]\nuser=no\n";
        fs::write(&file, text).unwrap();
        let mut config = ClientConfig {
            option_file: Some(file),
            ..ClientConfig::default()
        };
        let user = |url: &str, config: &ClientConfig| endpoint_for(url, config).unwrap().user;
        assert_eq!(user("mysql://db1/", &config), "all");
        assert_eq!(user("mariadb://db1/", &config), "maria");
        config.group_suffix = Some("_x".to_owned());
        assert_eq!(user("mysql://db1/", &config), "suffix");
    }

    #[test]
    fn a_password_without_a_value_is_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        fs::write(&file, "[client]\npassword\n").unwrap();
        let mut config = ClientConfig {
            option_file: Some(file),
            ..ClientConfig::default()
        };
        config.dialogue.ask = || Ok(Secret::new("typed"));
        let password =
            |config: &ClientConfig| endpoint_for("mysql://db1/", config).unwrap().password;
        assert_eq!(password(&config), Secret::new("typed"));
        config.password = Some(Secret::new("environment"));
        assert_eq!(password(&config), Secret::new("environment"));
    }

    #[test]
    fn the_environment_counts_where_files_say_nothing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(
            directory.path().join(".my.cnf"),
            "[client]\nuser=a\nport=7\n",
        )
        .unwrap();
        let environment = |pairs: &'static [(&str, &str)], home: &std::path::Path| {
            let home = home.to_owned();
            ClientConfig::of_environment(move |name| {
                if name == "HOME" {
                    return Some(home.clone().into());
                }
                let pair = pairs.iter().find(|(known, _)| *known == name);
                pair.map(|(_, value)| (*value).into())
            })
        };
        let pairs = &[
            ("MYSQL_HOST", "db7"),
            ("MYSQL_TCP_PORT", "8"),
            ("MYSQL_PWD", "x"),
        ];
        let mut config = environment(pairs, directory.path()).unwrap();
        config.global_files.clear();
        let endpoint = endpoint_for("mysql:///", &config).unwrap();
        assert_eq!(endpoint.address, Address::Tcp("db7".to_owned(), 7));
        assert_eq!(endpoint.password, Secret::new("x"));
        let wrong = environment(&[("MYSQL_TCP_PORT", "x")], directory.path());
        let error = wrong.unwrap_err().to_string();
        assert!(error.contains("MYSQL_TCP_PORT"), "{error}");
        let mut config = environment(&[("MYSQL_UNIX_PORT", "/x/s")], directory.path()).unwrap();
        config.global_files.clear();
        let address = endpoint_for("mysql://localhost/", &config).unwrap().address;
        assert_eq!(address, Address::Socket("/x/s".into()));
    }

    #[test]
    fn a_socket_of_a_file_is_what_localhost_means_and_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        fs::write(&file, "[client]\nsocket=/x/s\nport=3307\n").unwrap();
        let config = ClientConfig {
            option_file: Some(file.clone()),
            ..ClientConfig::default()
        };
        let address = |url: &str, config: &ClientConfig| endpoint_for(url, config).unwrap().address;
        let socket = Address::Socket("/x/s".into());
        assert_eq!(address("mysql:///", &config), socket);
        assert_eq!(address("mysql://localhost/", &config), socket);
        let tcp = |host: &str, port| Address::Tcp(host.to_owned(), port);
        assert_eq!(
            address("mysql://localhost:3308/", &config),
            tcp("127.0.0.1", 3308)
        );
        assert_eq!(address("mysql://[::1]/", &config), tcp("::1", 3307));
        fs::write(&file, "[client]\nprotocol=TCP\nport=3307\n").unwrap();
        assert_eq!(address("mysql:///", &config), tcp("127.0.0.1", 3307));
    }

    #[test]
    fn a_value_that_does_not_fit_is_named() {
        let error = endpoint_for("mysql://db1/?ssl-mode=verify", &ClientConfig::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("VERIFY_CA"), "{error}");
    }
}
