//! The server's first packet.
//!
//! Read here rather than by `mysql_common`, whose arithmetic on the length of the nonce overflows
//! on a malformed packet.

use mysql_common::constants::CapabilityFlags;

use super::packet::MalformedPacket;

/// Facts that the server sends before the client says anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// As the server writes it.
    pub(crate) version: String,
    /// The server's number of the connection.
    pub(crate) connection_id: u32,
    pub(crate) capabilities: CapabilityFlags,
    pub(crate) nonce: Vec<u8>,
    pub(crate) plugin: Vec<u8>,
}

/// Length of the nonce of every plugin in use.
const NONCE_BYTES: usize = 20;

impl Greeting {
    /// Reads the payload of protocol version 10's greeting.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, MalformedPacket> {
        let cut_short = MalformedPacket("the greeting is cut short");
        let (&version, rest) = payload.split_first().ok_or(cut_short)?;
        if version != 10 {
            return Err(MalformedPacket(
                "the greeting is not of protocol version 10",
            ));
        }
        let end = rest.iter().position(|byte| *byte == 0).ok_or(cut_short)?;
        let version = String::from_utf8_lossy(&rest[..end]).into_owned();
        let rest = &rest[end + 1..];
        // Connection id 4, nonce 8, filler 1, capabilities 2, collation 1, status 2,
        // capabilities 2, nonce length 1, reserved 10.
        let (fixed, rest) = rest.split_at_checked(31).ok_or(cut_short)?;
        let capabilities = u32::from_le_bytes([fixed[13], fixed[14], fixed[18], fixed[19]]);
        let second_length = usize::from(fixed[20]).saturating_sub(8).max(13);
        let (second, plugin) = rest.split_at_checked(second_length).ok_or(cut_short)?;
        let mut nonce = fixed[4..12].to_vec();
        nonce.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
        nonce.resize(NONCE_BYTES, 0);
        Ok(Self {
            version,
            connection_id: u32::from_le_bytes([fixed[0], fixed[1], fixed[2], fixed[3]]),
            capabilities: CapabilityFlags::from_bits_truncate(capabilities),
            nonce,
            plugin: plugin
                .split(|byte| *byte == 0)
                .next()
                .unwrap_or(&[])
                .to_vec(),
        })
    }
}
