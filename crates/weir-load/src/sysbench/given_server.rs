//! How to log in to a server that is named by a URL: what `weir load` would make of the same words.

use weir_model::{Endpoint, ServerUrl};

use super::value::UsageError;
use super::{Surroundings, parse};

/// The endpoint of `url`. What the URL leaves out, its option file or the user's own says; the
/// password comes from these or from `surroundings` alone.
pub fn endpoint(url: &ServerUrl, surroundings: &Surroundings) -> Result<Endpoint, UsageError> {
    // The files of encryption are sysbench 1.1's words.
    let words = ["oltp_read_write", "run", "--compat=1.1"];
    let mut words = words.map(str::to_owned).to_vec();
    let mut option = |name: &str, value: Option<&str>| {
        words.extend(value.map(|value| format!("--{name}={value}")));
    };
    let port = url.port.map(|port| port.to_string());
    option("mysql-user", url.user.as_deref());
    // `localhost` alone is the socket, as in MySQL's clients.
    let host = match (url.host.as_deref(), url.port) {
        (Some("localhost"), Some(_)) => Some("127.0.0.1"),
        (host, _) => host,
    };
    option("mysql-host", host);
    option("mysql-port", port.as_deref());
    option("mysql-db", url.database.as_deref());
    for (name, option_name) in [
        ("option-file", "defaults-file"),
        ("socket", "mysql-socket"),
        ("ssl-mode", "mysql-ssl"),
        ("ssl-ca", "mysql-ssl-ca"),
        ("ssl-cert", "mysql-ssl-cert"),
        ("ssl-key", "mysql-ssl-key"),
    ] {
        option(option_name, url.options.get(name).map(String::as_str));
    }
    Ok(parse(&words, surroundings)?.plan.endpoint)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use weir_model::{Address, Secret, TlsMode};

    use super::*;

    #[test]
    fn the_url_wins_over_the_option_file_and_the_password_is_in_neither_url_nor_debug() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        fs::write(
            &file,
            "[client]\nuser = app\npassword = hunter2\nhost = db9\n",
        )
        .unwrap();
        let url = format!(
            "mysql://db1:3307/shop?ssl-mode=required&option-file={}",
            file.display()
        );
        let endpoint = endpoint(&url.parse().unwrap(), &Surroundings::default()).unwrap();
        assert_eq!(endpoint.address, Address::Tcp("db1".to_owned(), 3307));
        assert_eq!(endpoint.user, "app");
        assert_eq!(endpoint.database, "shop");
        assert_eq!(endpoint.tls.mode, TlsMode::Required);
        assert_eq!(endpoint.password, Secret::new("hunter2"));
        assert!(!format!("{endpoint:?}").contains("hunter2"));
    }

    #[test]
    fn what_the_environment_says_is_the_password() {
        let surroundings = Surroundings {
            password: Some("secret".to_owned()),
            ..Surroundings::default()
        };
        let url = "mariadb://app@localhost/?socket=/x/mysql.sock"
            .parse()
            .unwrap();
        let endpoint = endpoint(&url, &surroundings).unwrap();
        assert_eq!(endpoint.address, Address::Socket("/x/mysql.sock".into()));
        assert_eq!(endpoint.password, Secret::new("secret"));
        assert_eq!(endpoint.database, "sbtest");
    }
}
