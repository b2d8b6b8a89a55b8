//! Connections to a bus.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, ConnectOptions};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::bus::authority::SERVER_NAME;
use crate::bus::subjects::inbox_of;
use crate::bus::{BusError, JoinFile};

/// Pause before each further try to come back to a bus that is gone.
const RETRY: Duration = Duration::from_millis(250);
/// Longest time for a connection to be made.
const PATIENCE: Duration = Duration::from_secs(5);

/// Joins the bus; the connection comes back by itself when it is lost.
///
/// # Errors
///
/// A bus that does not answer, has another authority, or does not know the key.
pub async fn connect(join: &JoinFile) -> Result<Client, BusError> {
    let failed = |why: String| BusError::Connect {
        address: join.address.clone(),
        why,
    };
    let tls = client_config(&join.authority).map_err(&failed)?;
    ConnectOptions::with_nkey(join.seed.clone())
        .name(&join.name)
        .custom_inbox_prefix(inbox_of(&join.name))
        .require_tls(true)
        .tls_client_config(tls)
        .connection_timeout(PATIENCE)
        .ping_interval(Duration::from_secs(2))
        .ignore_discovered_servers()
        .reconnect_delay_callback(|_| RETRY)
        .connect(format!("tls://{}", join.address))
        .await
        .map_err(|error| failed(why(&error)))
}

/// The error with its causes.
fn why(error: &async_nats::ConnectError) -> String {
    let mut line = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let text = next.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = next.source();
    }
    line
}

/// TLS that trusts the bus's own authority alone.
fn client_config(authority: &str) -> Result<ClientConfig, String> {
    let certificate = CertificateDer::from_pem_slice(authority.as_bytes());
    let certificate = certificate.map_err(|error| format!("its authority ({error})"))?;
    let mut roots = RootCertStore::empty();
    roots
        .add(certificate)
        .map_err(|error| format!("its authority ({error})"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| error.to_string())?;
    let name = ServerName::try_from(SERVER_NAME).map_err(|error| error.to_string())?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(BusVerifier { inner, name }))
        .with_no_client_auth();
    Ok(config)
}

/// Checks the certificate as usual, for the bus's own name in place of the address: that of a tunnel is another one.
/// The authority has signed for no other server.
#[derive(Debug)]
struct BusVerifier {
    inner: Arc<WebPkiServerVerifier>,
    name: ServerName<'static>,
}

impl ServerCertVerifier for BusVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _address: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.inner
            .verify_server_cert(end_entity, intermediates, &self.name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
