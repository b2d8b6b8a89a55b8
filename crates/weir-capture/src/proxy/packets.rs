//! Packets of the protocol in a stream of bytes that passes by: only their beginnings are kept.

/// Length and sequence number.
const HEADER_BYTES: usize = 4;
/// A payload of this length goes on in the next packet.
const PAYLOAD_BYTES_MAX: usize = 0xFF_FFFF;

/// A payload, perhaps of several packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<'a> {
    /// Number of the first packet in the exchange; 0 begins one.
    pub(super) sequence: u8,
    /// Beginning of the payload.
    pub(super) payload: &'a [u8],
    /// All of its bytes.
    pub(super) length: usize,
}

impl Packet<'_> {
    /// Returns true if all of it was kept.
    pub(super) fn is_whole(&self) -> bool {
        self.payload.len() == self.length
    }
}

/// Cuts one direction of a connection into packets.
#[derive(Debug)]
pub(super) struct Cutter {
    /// Bytes of a payload that are kept.
    keep: usize,
    header: Vec<u8>,
    payload: Vec<u8>,
    length: usize,
    /// Bytes of the current packet that are still to come.
    missing: usize,
    sequence: u8,
    is_within: bool,
    /// The payload goes on in the next packet.
    continues: bool,
}

impl Cutter {
    pub(super) fn new(keep: usize) -> Self {
        Self {
            keep,
            header: Vec::with_capacity(HEADER_BYTES),
            payload: Vec::new(),
            length: 0,
            missing: 0,
            sequence: 0,
            is_within: false,
            continues: false,
        }
    }

    /// Takes bytes, and hands over each payload that is complete.
    pub(super) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        mut on_packet: impl FnMut(Packet<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if !self.is_within {
                let taken = (HEADER_BYTES - self.header.len()).min(bytes.len());
                self.header.extend_from_slice(&bytes[..taken]);
                bytes = &bytes[taken..];
                if self.header.len() < HEADER_BYTES {
                    return Ok(());
                }
                self.begin();
            }
            let taken = self.missing.min(bytes.len());
            let room = self.keep.saturating_sub(self.payload.len()).min(taken);
            self.payload.extend_from_slice(&bytes[..room]);
            bytes = &bytes[taken..];
            self.missing -= taken;
            if self.missing > 0 {
                return Ok(());
            }
            self.is_within = false;
            if self.continues {
                continue;
            }
            on_packet(Packet {
                sequence: self.sequence,
                payload: &self.payload,
                length: self.length,
            })?;
            self.payload.clear();
            self.length = 0;
            if self.payload.capacity() > 1 << 20 {
                self.payload = Vec::new();
            }
        }
    }

    fn begin(&mut self) {
        let length = usize::from(self.header[0])
            | usize::from(self.header[1]) << 8
            | usize::from(self.header[2]) << 16;
        if !self.continues {
            self.sequence = self.header[3];
        }
        self.continues = length == PAYLOAD_BYTES_MAX;
        self.missing = length;
        self.length += length;
        self.is_within = true;
        self.header.clear();
    }
}

/// Numbers and texts of a payload, from its beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(
            taken
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        )
    }

    /// A length-encoded integer.
    pub(super) fn encoded(&mut self) -> Option<u64> {
        match self.number(1)? {
            small @ 0..=0xFA => Some(small),
            0xFC => self.number(2),
            0xFD => self.number(3),
            0xFE => self.number(8),
            _ => None,
        }
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.encoded()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// A text that ends with a NUL.
    pub(super) fn until_nul(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_found_wherever_reads_end() {
        let mut stream = Vec::new();
        for (sequence, length) in [(0_u8, 5_usize), (1, 0), (2, 300)] {
            stream.extend([length as u8, (length >> 8) as u8, 0, sequence]);
            stream.extend(std::iter::repeat_n(b'x', length));
        }
        for size in [1, 2, 3, 7, 1_000] {
            let mut cutter = Cutter::new(10);
            let mut seen = Vec::new();
            for chunk in stream.chunks(size) {
                let fed: Result<(), ()> = cutter.feed(chunk, |packet| {
                    seen.push((packet.sequence, packet.payload.len(), packet.length));
                    Ok(())
                });
                fed.unwrap();
            }
            assert_eq!(seen, [(0, 5, 5), (1, 0, 0), (2, 10, 300)], "{size}");
        }
    }

    #[test]
    fn a_payload_of_the_largest_length_goes_on() {
        let mut stream = vec![0xFF, 0xFF, 0xFF, 0];
        stream.extend(vec![1; PAYLOAD_BYTES_MAX]);
        stream.extend([2, 0, 0, 1, 9, 9]);
        let mut seen = Vec::new();
        let fed: Result<(), ()> = Cutter::new(4).feed(&stream, |packet| {
            seen.push((packet.sequence, packet.payload.to_vec(), packet.length));
            Ok(())
        });
        fed.unwrap();
        assert_eq!(seen, [(0, vec![1; 4], PAYLOAD_BYTES_MAX + 2)]);
    }
}
