//! Algorithms of compression.

use mysql_common::constants::CapabilityFlags;
use serde::{Deserialize, Serialize};
use weir_model::ProtocolCompression;

/// Compression of the packets of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// zlib: every server that compresses at all.
    Zlib,
    /// zstd: MySQL from 8.0.18 on.
    Zstd,
}

impl From<Compression> for ProtocolCompression {
    fn from(compression: Compression) -> Self {
        match compression {
            Compression::Zlib => Self::Zlib,
            Compression::Zstd => Self::Zstd,
        }
    }
}

impl Compression {
    /// Returns the compression that a run's description asks for, if any.
    pub fn from_protocol(asked: ProtocolCompression) -> Option<Self> {
        match asked {
            ProtocolCompression::Uncompressed => None,
            ProtocolCompression::Zlib => Some(Self::Zlib),
            ProtocolCompression::Zstd => Some(Self::Zstd),
        }
    }

    /// As options and servers call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the capability that a server that has it offers, and a client that wants it asks
    /// for.
    pub fn capability(self) -> CapabilityFlags {
        match self {
            Self::Zlib => CapabilityFlags::CLIENT_COMPRESS,
            Self::Zstd => CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM,
        }
    }

    /// The default of the clients' libraries: zlib's own, and that of
    /// MySQL's `--zstd-compression-level`.
    pub fn level(self) -> u8 {
        match self {
            Self::Zlib => 6,
            Self::Zstd => 3,
        }
    }
}
