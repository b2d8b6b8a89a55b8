//! Encryption of a connection, in the words of MySQL's `--ssl-mode` (MySQL manual, "Command Options
//! for Encrypted Connections").

use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Demands on the server's encryption and certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TlsMode {
    /// No encryption.
    #[default]
    Disabled,
    /// Over TCP, encryption if the server offers it.
    Preferred,
    /// Encryption, with any certificate.
    Required,
    /// Encryption, with a certificate that a known authority has signed.
    VerifyCa,
    /// As [`TlsMode::VerifyCa`], and the certificate names the host that was asked for.
    VerifyIdentity,
}

impl TlsMode {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Disabled,
        Self::Preferred,
        Self::Required,
        Self::VerifyCa,
        Self::VerifyIdentity,
    ];

    /// MySQL's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Preferred => "PREFERRED",
            Self::Required => "REQUIRED",
            Self::VerifyCa => "VERIFY_CA",
            Self::VerifyIdentity => "VERIFY_IDENTITY",
        }
    }

    /// Returns true if the server's certificate is looked at.
    pub const fn verifies(self) -> bool {
        matches!(self, Self::VerifyCa | Self::VerifyIdentity)
    }
}

impl FromStr for TlsMode {
    type Err = String;

    /// Reads a mode's name in any case.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("no TLS mode `{text}`; write one of {names}")
            })
    }
}

/// Encryption of a connection: mode, certificates, ciphers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Demands on the server.
    pub mode: TlsMode,
    /// PEM file with the certificates of the authorities that are trusted.
    pub authority: Option<PathBuf>,
    /// PEM file with the client's own certificate.
    pub certificate: Option<PathBuf>,
    /// PEM file with the key of the client's certificate.
    pub key: Option<PathBuf>,
    /// Names of cipher suites, OpenSSL's or IANA's; empty for all that are secure.
    pub ciphers: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::TlsMode;

    #[test]
    fn names_are_read_back_in_any_case() {
        for mode in TlsMode::ALL {
            assert_eq!(mode.name().to_lowercase().parse(), Ok(mode));
        }
        assert!(
            "verify"
                .parse::<TlsMode>()
                .unwrap_err()
                .contains("VERIFY_CA")
        );
    }
}
