//! Connections for ordinary statements, outside all measurement: the control plane's and the probes'.
//!
//! One place that knows how an [`Endpoint`] becomes options of the `mysql` crate, so that whoever looks
//! at a server logs in as whoever changes it.

use std::time::Duration;

use mysql::{ClientIdentity, Conn, DriverError, Error, OptsBuilder, SslOpts};
use weir_model::{Address, Endpoint, Tls, TlsMode};

/// Logs in, without choosing the endpoint's schema: it may not exist yet. Nothing that the server is
/// asked may take longer than `patience`.
pub fn connect(endpoint: &Endpoint, patience: Duration) -> Result<Conn, Error> {
    let plain = options(endpoint, patience);
    let Some(encryption) = encryption(endpoint) else {
        return Conn::new(plain);
    };
    let encrypted = Conn::new(plain.clone().ssl_opts(Some(encryption)));
    match encrypted {
        Err(Error::DriverError(DriverError::TlsNotSupported))
            if endpoint.tls.mode == TlsMode::Preferred =>
        {
            Conn::new(plain)
        }
        connected => connected,
    }
}

/// What the server or the system said, without the crate's wrapping.
pub fn words(error: &Error) -> String {
    match error {
        Error::MySqlError(error) => format!("{}, error {}", error.message, error.code),
        Error::IoError(error) => error.to_string(),
        Error::DriverError(error) => error.to_string(),
        Error::CodecError(error) => format!("the connection failed: {error}"),
        Error::TlsError(error) => format!("encryption failed: {error}"),
        other => other.to_string(),
    }
}

fn options(endpoint: &Endpoint, patience: Duration) -> OptsBuilder {
    let options = OptsBuilder::new()
        .user(Some(&endpoint.user))
        .pass(Some(endpoint.password.reveal()))
        // The crate would look for a socket behind our back, with a statement that the server counts.
        .prefer_socket(false)
        .tcp_connect_timeout(Some(patience))
        .read_timeout(Some(patience))
        .write_timeout(Some(patience));
    match &endpoint.address {
        Address::Socket(path) => options.socket(path.to_str()),
        Address::Tcp(host, port) => options.ip_or_hostname(Some(host)).tcp_port(*port),
    }
}

/// The encryption that is asked for; a Unix socket needs none.
fn encryption(endpoint: &Endpoint) -> Option<SslOpts> {
    let Tls {
        mode,
        authority,
        certificate,
        key,
        ..
    } = &endpoint.tls;
    if *mode == TlsMode::Disabled || matches!(endpoint.address, Address::Socket(_)) {
        return None;
    }
    let identity = certificate.clone().zip(key.clone());
    Some(
        SslOpts::default()
            .with_root_cert_path(authority.clone())
            .with_client_identity(identity.map(|(chain, key)| ClientIdentity::new(chain, key)))
            .with_danger_accept_invalid_certs(!mode.verifies())
            .with_danger_skip_domain_validation(*mode != TlsMode::VerifyIdentity),
    )
}
