//! Authorities of Weir's own, each with one certificate.

use std::fmt;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

use crate::bus::BusError;

/// The name in the certificate. A client checks it whatever address it dials: a tunnel has another one.
pub(crate) const SERVER_NAME: &str = "weir-bus";

/// PEM texts.
pub struct Certificates {
    /// The authority that clients trust; its key is thrown away.
    pub authority: String,
    /// Certificate of the server.
    pub certificate: String,
    /// The key of that.
    pub key: String,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}

impl Certificates {
    /// Makes an authority and one certificate of it for a server with this name or address.
    ///
    /// # Errors
    ///
    /// A name that no certificate can have.
    pub fn make(server_name: &str) -> Result<Self, BusError> {
        generate(server_name).map_err(|error| BusError::Keys {
            why: error.to_string(),
        })
    }
}

fn generate(server_name: &str) -> Result<Certificates, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let name = format!("authority of {server_name}");
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);
    let server_key = KeyPair::generate()?;
    let mut server = CertificateParams::new(vec![server_name.to_owned()])?;
    server
        .distinguished_name
        .push(DnType::CommonName, server_name);
    Ok(Certificates {
        authority,
        certificate: server.signed_by(&server_key, &issuer)?.pem(),
        key: server_key.serialize_pem(),
    })
}
