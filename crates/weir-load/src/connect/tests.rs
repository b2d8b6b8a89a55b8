//! Logins on real servers: every plugin that is spoken, with a cold and a warm cache.

use weir_model::{Address, Endpoint, Flavor, Secret, TlsMode, WorkloadName};
use weir_server::PrivateServer;

use super::*;
use weir_mysql::{Compression, Connection, Patience};

/// Connects without the checks of a run, which would log in before.
fn login(endpoint: &Endpoint) -> Result<(), LoadError> {
    let plan = LoadPlan::new(endpoint.clone(), WorkloadName::OltpPointSelect);
    let script = plan.script()?;
    let connector = Connector::new(plan.endpoint, None, Gate::own())?;
    open(&connector, &script, Deadline::after(plan.init_timeout)).map(drop)
}

fn control(endpoint: &Endpoint) -> Connection {
    let connector = Connector::new(endpoint.clone(), None, Gate::own()).unwrap();
    Connection::connect(&connector, true, Patience::Endless).unwrap()
}

/// A server that listens on TCP too, with the table that a point select needs.
fn server(flavor: Flavor) -> (PrivateServer, tempfile::TempDir, u16) {
    let (server, directory, port) = weir_testing::start_on_tcp(flavor, &[]);
    let endpoint = server.endpoint();
    let mut control = control(&endpoint);
    control
        .run("CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, c CHAR(120))")
        .unwrap();
    (server, directory, port)
}

fn account(server: &PrivateServer, name: &str, identified: &str) {
    let endpoint = server.endpoint();
    let mut control = control(&endpoint);
    for host in ["localhost", "127.0.0.1"] {
        control
            .run(format!(
                "CREATE USER '{name}'@'{host}' IDENTIFIED {identified}"
            ))
            .unwrap();
        control
            .run(format!("GRANT ALL ON *.* TO '{name}'@'{host}'"))
            .unwrap();
    }
}

/// The server names the compression of a connection, within TLS or without.
#[test]
fn the_server_knows_how_a_connection_is_compressed() {
    let (server, _directory, port) = server(Flavor::Mysql);
    account(&server, "far", "BY 'secret word'");
    for endpoint in endpoints(&server, port, "far", "secret word") {
        for mode in [TlsMode::Disabled, TlsMode::Required] {
            for (compression, name) in [
                (None, ""),
                (Some(Compression::Zlib), "zlib"),
                (Some(Compression::Zstd), "zstd"),
            ] {
                let mut endpoint = endpoint.clone();
                endpoint.tls.mode = mode;
                let connector = Connector::new(endpoint, compression, Gate::own()).unwrap();
                let mut control = Connection::connect(&connector, true, Patience::Endless).unwrap();
                let mut status = |variable: &str| {
                    let sql = format!("SHOW SESSION STATUS LIKE '{variable}'");
                    let row: Option<(String, String)> = control.first(&sql).unwrap();
                    row.unwrap().1
                };
                assert_eq!(status("Compression_algorithm"), name);
                let is_encrypted = !status("Ssl_cipher").is_empty();
                assert_eq!(is_encrypted, mode == TlsMode::Required);
            }
        }
    }
}

#[test]
fn mariadb_knows_that_a_connection_is_compressed() {
    let (server, _directory, _) = server(Flavor::Mariadb);
    for (compression, expected) in [(None, "OFF"), (Some(Compression::Zlib), "ON")] {
        let connector = Connector::new(server.endpoint(), compression, Gate::own()).unwrap();
        let mut control = Connection::connect(&connector, true, Patience::Endless).unwrap();
        let sql = "SHOW SESSION STATUS LIKE 'Compression'";
        let row: Option<(String, String)> = control.first(sql).unwrap();
        assert_eq!(row.unwrap().1, expected);
    }
}

/// On the socket and over TCP.
fn endpoints(server: &PrivateServer, port: u16, user: &str, password: &str) -> [Endpoint; 2] {
    let socket = Endpoint {
        user: user.to_owned(),
        password: Secret::new(password),
        ..server.endpoint()
    };
    let tcp = Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), port),
        ..socket.clone()
    };
    [socket, tcp]
}

#[test]
fn mysql_logs_in_with_cold_and_warm_password_caches() {
    let (server, _directory, port) = server(Flavor::Mysql);
    account(
        &server,
        "sha2",
        "WITH caching_sha2_password BY 'secret word'",
    );
    account(&server, "empty", "WITH caching_sha2_password BY ''");
    for endpoint in endpoints(&server, port, "sha2", "secret word") {
        let mut control = control(&server.endpoint());
        // Empties the cache: the next login must hand over the password itself, in the clear on
        // the socket and encrypted with the server's key over TCP.
        control.run("FLUSH PRIVILEGES").unwrap();
        login(&endpoint).unwrap_or_else(|error| panic!("cold cache, {error}"));
        login(&endpoint).unwrap_or_else(|error| panic!("warm cache, {error}"));
        let wrong = Endpoint {
            password: Secret::new("wrong"),
            ..endpoint
        };
        let error = login(&wrong).unwrap_err();
        assert!(error.to_string().contains("Access denied"), "{error}");
    }
    for endpoint in endpoints(&server, port, "empty", "") {
        login(&endpoint).unwrap();
    }
}

#[test]
fn older_ways_to_log_in_are_spoken_on_both_flavours() {
    for (flavor, identified) in [
        (
            Flavor::Mariadb,
            "VIA mysql_native_password USING PASSWORD('secret word')",
        ),
        // Gone from MySQL since 9.0, where accounts of its successor are the nearest thing.
        (Flavor::Mysql, "WITH sha256_password BY 'secret word'"),
    ] {
        let (server, _directory, port) = server(flavor);
        account(&server, "native", identified);
        for endpoint in endpoints(&server, port, "native", "secret word") {
            login(&endpoint).unwrap_or_else(|error| panic!("{flavor}: {error}"));
        }
    }
}

/// MariaDB's own plugin is a package of its own (`mariadb-server` on Debian): where it is missing,
/// there is nothing to log in to.
#[test]
fn mariadb_logs_in_with_ed25519_where_the_server_has_it() {
    let (server, _directory, port) = server(Flavor::Mariadb);
    if control(&server.endpoint())
        .run("INSTALL SONAME 'auth_ed25519'")
        .is_err()
    {
        eprintln!("skipped: this MariaDB has no auth_ed25519");
        return;
    }
    account(
        &server,
        "curve",
        "VIA ed25519 USING PASSWORD('secret word')",
    );
    for endpoint in endpoints(&server, port, "curve", "secret word") {
        // Nonces are random: one that ends in a zero byte comes once in 256 logins.
        for _ in 0..20 {
            login(&endpoint).unwrap();
        }
        let wrong = Endpoint {
            password: Secret::new("wrong"),
            ..endpoint
        };
        let error = login(&wrong).unwrap_err().to_string();
        assert!(error.contains("Access denied"), "{error}");
    }
}

#[test]
fn a_missing_schema_is_named() {
    let (server, _directory, _) = server(Flavor::Mariadb);
    let endpoint = Endpoint {
        database: "nowhere".to_owned(),
        ..server.endpoint()
    };
    let error = login(&endpoint).unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
}
