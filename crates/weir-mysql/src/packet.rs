//! Packet framing: a 3-byte little-endian length, a sequence number, a payload.

use thiserror::Error;

/// Bytes of a packet's header.
pub const HEADER_BYTES: usize = 4;

/// A payload of this length is continued in the next packet.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 0xFF_FFFF;

/// Bytes that are not the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MalformedPacket(pub &'static str);

/// Length of the payload that a packet's first three bytes announce.
pub(crate) fn payload_length(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

/// Writes the header of a packet of `payload_length` bytes into `packet`.
pub fn put_header(packet: &mut [u8], payload_length: usize, sequence: u8) {
    let length = (payload_length as u32).to_le_bytes();
    packet[..3].copy_from_slice(&length[..3]);
    packet[3] = sequence;
}

/// Reads a length-encoded integer; the number and the bytes that it took.
pub(crate) fn length_encoded(bytes: &[u8]) -> Result<(u64, usize), MalformedPacket> {
    let (&first, rest) = bytes
        .split_first()
        .ok_or(MalformedPacket("an integer is missing"))?;
    let width = match first {
        0..=0xFA => return Ok((u64::from(first), 1)),
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        0xFB | 0xFF => return Err(MalformedPacket("an integer begins with 0xFB or 0xFF")),
    };
    let digits = rest
        .get(..width)
        .ok_or(MalformedPacket("an integer is cut short"))?;
    let mut value = [0; 8];
    value[..width].copy_from_slice(digits);
    Ok((u64::from_le_bytes(value), 1 + width))
}

/// Appends a length-encoded integer.
pub fn put_length_encoded(out: &mut Vec<u8>, value: u64) {
    let digits = value.to_le_bytes();
    match value {
        0..=0xFA => out.push(digits[0]),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&digits[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&digits[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&digits);
        }
    }
}
