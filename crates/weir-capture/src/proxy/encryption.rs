//! TLS on both sides of a proxy: it ends at the proxy and begins anew, and what a login says passes as it is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{Connection, ServerConfig, ServerConnection};
use weir_model::{Address, Endpoint, TlsMode};
use weir_mysql::TlsClient;

use crate::CaptureError;

/// The certificate that a proxy shows to clients that encrypt.
#[derive(Debug, Clone, Default)]
pub struct ProxyCertificate {
    /// The files of a certificate with its chain, and of its key, in PEM form; `None`: one that the proxy makes and
    /// signs itself.
    pub files: Option<(PathBuf, PathBuf)>,
}

/// Makes both sides of encrypted connections.
#[derive(Debug)]
pub(super) struct Encryption {
    clients: Arc<ServerConfig>,
    server: TlsClient,
    /// A client that does not encrypt is not let in.
    pub(super) is_required: bool,
}

impl Encryption {
    /// `None` where the endpoint's mode switches it off.
    pub(super) fn new(
        endpoint: &Endpoint,
        certificate: &ProxyCertificate,
    ) -> Result<Option<Self>, CaptureError> {
        if endpoint.tls.mode == TlsMode::Disabled {
            return Ok(None);
        }
        let host = match &endpoint.address {
            Address::Tcp(host, _) => Some(host.as_str()),
            Address::Socket(_) => None,
        };
        Ok(Some(Self {
            clients: Arc::new(config(certificate)?),
            server: TlsClient::new(&endpoint.tls, host)?,
            is_required: endpoint.tls.mode != TlsMode::Preferred,
        }))
    }

    /// The side that a client sees.
    pub(super) fn of_client(&self) -> io::Result<Connection> {
        let connection = ServerConnection::new(Arc::clone(&self.clients));
        connection.map(Connection::Server).map_err(io::Error::other)
    }

    /// The side that the server sees.
    pub(super) fn of_server(&self) -> io::Result<Connection> {
        self.server
            .connection()
            .map(Connection::Client)
            .map_err(io::Error::other)
    }
}

fn config(certificate: &ProxyCertificate) -> Result<ServerConfig, CaptureError> {
    let (chain, key) = match &certificate.files {
        Some((chain, key)) => read(chain, key)?,
        None => own()?,
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let config = builder.with_no_client_auth().with_single_cert(chain, key);
    config.map_err(unusable)
}

type CertificateAndKey = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read(chain: &std::path::Path, key: &std::path::Path) -> Result<CertificateAndKey, CaptureError> {
    let failed = |path: &std::path::Path, why: String| CaptureError::File {
        what: "cannot use",
        path: path.display().to_string(),
        why: why.to_lowercase(),
    };
    let certificates = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    let certificates = certificates.map_err(|error| failed(chain, error.to_string()))?;
    let private = PrivateKeyDer::from_pem_file(key);
    Ok((
        certificates,
        private.map_err(|error| failed(key, error.to_string()))?,
    ))
}

fn own() -> Result<CertificateAndKey, CaptureError> {
    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).map_err(unusable)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}

fn unusable(why: impl std::fmt::Display) -> CaptureError {
    CaptureError::Host {
        what: "make a certificate for clients",
        why: why.to_string().to_lowercase(),
    }
}
