//! Parameters of a client's encryption: certificates, ciphers, and the checks of the server's
//! certificate.
//!
//! The modes are those of MySQL's `--ssl-mode`. Names are compared with the certificate's subject
//! alternative names only (RFC 9525), not with its common name as OpenSSL still does.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme, SupportedCipherSuite,
};
use weir_model::{Tls, TlsMode};

use crate::ClientError;

/// The name of a server that is reached through a Unix socket.
const LOCAL_NAME: &str = "localhost";

/// Makes the TLS side of connections to one host.
#[derive(Debug, Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsClient {
    /// Reads the certificates that `tls` names. `host`: what the certificate is to be made out to;
    /// none on a Unix socket.
    ///
    /// # Errors
    ///
    /// Files, ciphers and modes that cannot be used.
    pub fn new(tls: &Tls, host: Option<&str>) -> Result<Self, ClientError> {
        let name = match ServerName::try_from(host.unwrap_or(LOCAL_NAME).to_owned()) {
            Ok(name) => name,
            Err(_) if tls.mode != TlsMode::VerifyIdentity => ServerName::try_from(LOCAL_NAME)
                .expect("invariant: `localhost` is a valid name of a host"),
            Err(_) => {
                return Err(ClientError::TlsSetting {
                    setting: "host",
                    value: format!("`{}`", host.unwrap_or_default()),
                    why: "VERIFY_IDENTITY needs the name of a host or an IP address".to_owned(),
                });
            }
        };
        Ok(Self {
            config: Arc::new(config(tls)?),
            name,
        })
    }

    /// A connection whose handshake has not begun.
    ///
    /// # Errors
    ///
    /// A name that no certificate can have.
    pub fn connection(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
    }
}

fn config(tls: &Tls) -> Result<ClientConfig, ClientError> {
    let mut provider = ring::default_provider();
    if !tls.ciphers.is_empty() {
        provider.cipher_suites = chosen(&tls.ciphers, &provider.cipher_suites)?;
    }
    let provider = Arc::new(provider);
    let verifier = Verifier {
        chain: chain_verifier(tls, &provider)?,
        checks_name: tls.mode == TlsMode::VerifyIdentity,
        provider: Arc::clone(&provider),
    };
    let unusable = |error: rustls::Error| ClientError::TlsSetting {
        setting: "TLS",
        value: tls.mode.name().to_owned(),
        why: error.to_string().to_lowercase(),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => {
            let chain = certificates(certificate)?;
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| file(key, &error))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| file(certificate, &error))?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => {
            return Err(ClientError::TlsSetting {
                setting: "TLS client certificate",
                value: "incomplete".to_owned(),
                why: "needs both the certificate and its key".to_owned(),
            });
        }
    };
    // MySQL's own clients do not name the host in the handshake either.
    config.enable_sni = false;
    Ok(config)
}

/// Returns the verifier of the server's chain of certificates, in modes that want it checked.
fn chain_verifier(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<WebPkiServerVerifier>>, ClientError> {
    if !tls.mode.verifies() {
        return Ok(None);
    }
    let Some(path) = &tls.authority else {
        return Err(ClientError::TlsSetting {
            setting: "TLS mode",
            value: tls.mode.name().to_owned(),
            why: "needs the file of the authorities' certificates, --mysql-ssl-ca".to_owned(),
        });
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| file(path, &error))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map(Some)
        .map_err(|error| file(path, &error))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| file(path, &error))?;
    if certificates.is_empty() {
        return Err(file(path, &"it holds no certificate in PEM form"));
    }
    Ok(certificates)
}

/// The suites of these names, in the provider's order, which is that of preference.
fn chosen(
    names: &[String],
    all: &[SupportedCipherSuite],
) -> Result<Vec<SupportedCipherSuite>, ClientError> {
    let is_named = |suite: &SupportedCipherSuite, name: &str| {
        cipher_names(*suite)
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    if let Some(unknown) = names
        .iter()
        .find(|name| !all.iter().any(|suite| is_named(suite, name)))
    {
        let known: Vec<_> = all
            .iter()
            .map(|suite| cipher_names(*suite)[1].clone())
            .collect();
        return Err(ClientError::Cipher {
            name: unknown.clone(),
            known: known.join(", "),
        });
    }
    let is_chosen = |suite: &SupportedCipherSuite| names.iter().any(|name| is_named(suite, name));
    Ok(all.iter().copied().filter(is_chosen).collect())
}

/// A suite's names: IANA's and OpenSSL's.
fn cipher_names(suite: SupportedCipherSuite) -> [String; 2] {
    let iana = format!("{:?}", suite.suite()).replace("TLS13_", "TLS_");
    if suite.tls13().is_some() {
        return [iana.clone(), iana];
    }
    let openssl = iana
        .trim_start_matches("TLS_")
        .replace("_WITH", "")
        .replace("AES_", "AES")
        .replace("POLY1305_SHA256", "POLY1305")
        .replace('_', "-");
    [iana, openssl]
}

fn file(path: &Path, why: &impl Display) -> ClientError {
    ClientError::TlsFile {
        path: path.display().to_string(),
        why: why.to_string().to_lowercase(),
    }
}

/// The reason in words, if encryption failed.
pub(crate) fn tls_words(error: &io::Error) -> Option<String> {
    use CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext,
        UnknownIssuer,
    };

    let error: &rustls::Error = error.get_ref()?.downcast_ref()?;
    let rustls::Error::InvalidCertificate(certificate) = error else {
        return Some(error.to_string().to_lowercase());
    };
    let why = match certificate {
        // The second: an authority of the same name has another key.
        UnknownIssuer | BadSignature => {
            "is signed by none of the authorities that are trusted".to_owned()
        }
        NotValidForName | NotValidForNameContext { .. } => {
            "is not made out to this host".to_owned()
        }
        Expired | ExpiredContext { .. } => "has expired".to_owned(),
        other => format!("is not accepted: {}", other.to_string().to_lowercase()),
    };
    Some(format!("the server's certificate {why}"))
}

/// Checks as much of the server's certificate as the mode asks for.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};

        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        match chain.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is compared last: the chain is good.
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(tls: &Tls) -> String {
        TlsClient::new(tls, Some("db")).unwrap_err().to_string()
    }

    #[test]
    fn ciphers_are_chosen_by_either_name() {
        for name in [
            "ECDHE-RSA-AES128-GCM-SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "ecdhe-rsa-chacha20-poly1305",
            "TLS_AES_256_GCM_SHA384",
        ] {
            let suites = ring::default_provider().cipher_suites;
            let chosen = chosen(&[name.to_owned()], &suites).unwrap();
            assert_eq!(chosen.len(), 1, "{name}");
        }
        let tls = Tls {
            mode: TlsMode::Required,
            ciphers: vec!["DES-CBC3-SHA".to_owned()],
            ..Tls::default()
        };
        assert!(refused(&tls).contains("ECDHE-RSA-AES128-GCM-SHA256"));
    }

    #[test]
    fn files_that_are_missing_empty_or_not_given_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "").unwrap();
        let verify = |authority: Option<&Path>| {
            refused(&Tls {
                mode: TlsMode::VerifyCa,
                authority: authority.map(Path::to_owned),
                ..Tls::default()
            })
        };
        assert!(verify(None).contains("--mysql-ssl-ca"));
        assert!(verify(Some(&empty)).contains("empty.pem"));
        assert!(verify(Some(&directory.path().join("none.pem"))).contains("none.pem"));
        let half = Tls {
            mode: TlsMode::Required,
            key: Some(empty),
            ..Tls::default()
        };
        assert!(refused(&half).contains("both"));
    }
}
