//! The bus's own authority and certificate.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

use crate::BusError;

/// The name in the certificate. A client checks it whatever address it dials: a tunnel has another one.
pub(crate) const SERVER_NAME: &str = "weir-bus";

/// PEM texts.
pub(crate) struct Certificates {
    /// The authority that clients trust; its key is thrown away.
    pub(crate) authority: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Makes an authority and one certificate of it.
pub(crate) fn make() -> Result<Certificates, BusError> {
    generate().map_err(|error| BusError::Keys {
        why: error.to_string(),
    })
}

fn generate() -> Result<Certificates, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let name = "authority of a weir bus";
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);
    let server_key = KeyPair::generate()?;
    let mut server = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
    server
        .distinguished_name
        .push(DnType::CommonName, SERVER_NAME);
    Ok(Certificates {
        authority,
        certificate: server.signed_by(&server_key, &issuer)?.pem(),
        key: server_key.serialize_pem(),
    })
}
