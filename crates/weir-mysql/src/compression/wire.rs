//! State of one compressed connection.

use super::HEADER_BYTES;
use crate::packet::{MalformedPacket, payload_length};

/// The place in the exchange, and a compressed packet of which a part has come.
#[derive(Debug, Default)]
pub struct Wire {
    /// Number of the next compressed packet of either side.
    number: u8,
    part: Vec<u8>,
    /// It is one direction of a connection of others, who look at the numbers.
    is_watched: bool,
}

impl Wire {
    /// One direction of a connection that passes by.
    pub fn watched() -> Self {
        Self {
            is_watched: true,
            ..Self::default()
        }
    }

    /// Begins to send: the first compressed packet has this number.
    pub(crate) fn begin(&mut self, number: u8) {
        self.number = number;
    }

    /// The number of the packet that is sent or was received.
    pub(crate) fn next_number(&mut self) -> u8 {
        let number = self.number;
        self.number = number.wrapping_add(1);
        number
    }

    /// Returns true if the beginning of a packet waits for its rest.
    pub(crate) fn has_part(&self) -> bool {
        !self.part.is_empty()
    }

    /// Checks a header before its payload is there, which might never come; the packet's length.
    pub(crate) fn check_header(
        &self,
        header: [u8; HEADER_BYTES],
    ) -> Result<usize, MalformedPacket> {
        if header[3] != self.number && !self.is_watched {
            return Err(MalformedPacket("a compressed packet is out of sequence"));
        }
        match payload_length(&header) {
            0 => Err(MalformedPacket("a compressed packet is empty")),
            length => Ok(HEADER_BYTES + length),
        }
    }

    /// Keeps as many bytes as the packet lacks; how many that were, and whether it is whole.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Result<(usize, bool), MalformedPacket> {
        let mut taken = 0;
        loop {
            let length = match self.part.first_chunk() {
                Some(header) => self.check_header(*header)?,
                None => HEADER_BYTES,
            };
            let missing = length - self.part.len();
            if missing == 0 {
                return Ok((taken, true));
            }
            let rest = &bytes[taken..];
            let more = &rest[..missing.min(rest.len())];
            self.part.extend_from_slice(more);
            taken += more.len();
            if more.len() < missing {
                return Ok((taken, false));
            }
        }
    }

    /// The packet that has become whole.
    pub(crate) fn take_part(&mut self) -> Vec<u8> {
        self.next_number();
        std::mem::take(&mut self.part)
    }

    /// Gives its memory back, to be used again.
    pub(crate) fn return_part(&mut self, part: Vec<u8>) {
        self.part = part;
        self.part.clear();
    }
}
