//! The compressed protocol: from the end of the login on, plain packets travel within compressed
//! ones.
//!
//! A compressed packet has a header of seven bytes: the length of what follows (3), a number (1), and
//! the length before compression (3), which is 0 if what follows was left as it is. What follows is
//! any part of a stream of plain packets. It is compressed by itself, so that one [`Codec`] serves
//! all connections of a thread; of each connection only its [`Wire`] is kept. Encryption lies below.
//!
//! Method: "MySQL Internals: Compressed Packet" and MariaDB's "0 - Packet: Compressed packet".

mod algorithm;
mod blocking;
mod engine;
mod wire;

use super::packet::{MalformedPacket, PAYLOAD_BYTES_MAX, payload_length};
use super::reply::{Reply, ReplyParser};

pub use algorithm::Compression;
pub(crate) use blocking::PacketStream;
use engine::{Compressor, Decompressor};
pub use wire::Wire;

/// Bytes of a compressed packet's header.
const HEADER_BYTES: usize = 7;
/// Less than this is not worth its compression (`MIN_COMPRESS_LENGTH` of MySQL's and MariaDB's
/// clients and servers).
const COMPRESSED_BYTES_MIN: usize = 50;

/// Packs and unpacks compressed packets. Its parts are made when they are first needed: a connection
/// that only says short things needs none.
pub struct Codec {
    compression: Compression,
    compressor: Option<Compressor>,
    decompressor: Option<Decompressor>,
    packed: Vec<u8>,
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codec")
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl Codec {
    /// A codec that has compressed nothing yet.
    pub fn new(compression: Compression) -> Self {
        Self {
            compression,
            compressor: None,
            decompressor: None,
            packed: Vec::new(),
        }
    }

    /// Replaces the plain packets of a request by the compressed ones that carry them.
    ///
    /// The first of them has the number of the first plain packet, since both count from 0 in each command.
    /// A client's packets are shorter than a compressed packet can be, so both stay in step.
    pub fn pack(&mut self, wire: &mut Wire, request: &mut Vec<u8>) {
        let first = request.get(3).copied().unwrap_or(0);
        wire.begin(first);
        self.packed.clear();
        for part in request.chunks(PAYLOAD_BYTES_MAX) {
            self.pack_one(part, wire.next_number());
        }
        std::mem::swap(&mut self.packed, request);
    }

    fn pack_one(&mut self, plain: &[u8], number: u8) {
        let start = self.packed.len();
        let body = start + HEADER_BYTES;
        // Compressed bytes that are not fewer than the plain ones are of no use.
        self.packed.resize(body + plain.len(), 0);
        let (length, length_before) = if let Some(length) = self.compress(plain, body) {
            (length, plain.len())
        } else {
            self.packed[body..].copy_from_slice(plain);
            (plain.len(), 0)
        };
        self.packed.truncate(body + length);
        let header = &mut self.packed[start..body];
        header[..3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        header[3] = number;
        header[4..].copy_from_slice(&(length_before as u32).to_le_bytes()[..3]);
    }

    /// Compresses `plain` into what is packed, from `body` on; its length, or nothing if that would be
    /// no shorter.
    fn compress(&mut self, plain: &[u8], body: usize) -> Option<usize> {
        if plain.len() < COMPRESSED_BYTES_MIN {
            return None;
        }
        if self.compressor.is_none() {
            self.compressor = Compressor::new(self.compression);
        }
        let room = &mut self.packed[body..body + plain.len() - 1];
        self.compressor.as_mut()?.compress(plain, room)
    }

    /// Feeds what was read to a parser; the reply, if this completes it.
    ///
    /// # Errors
    ///
    /// Bytes that are not the protocol.
    pub fn feed(
        &mut self,
        wire: &mut Wire,
        parser: &mut ReplyParser,
        bytes: &[u8],
    ) -> Result<Option<Reply>, MalformedPacket> {
        let mut reply = None;
        self.unpack_all(wire, bytes, |plain| {
            if reply.is_some() {
                return Err(MalformedPacket("bytes follow the last reply"));
            }
            reply = parser.feed(plain)?;
            Ok(())
        })?;
        Ok(reply)
    }

    /// Takes all that was read. The plain bytes of each compressed packet that is whole go to `feed`.
    ///
    /// # Errors
    ///
    /// Bytes that are not the protocol, and errors of `feed`.
    pub fn unpack_all(
        &mut self,
        wire: &mut Wire,
        mut bytes: &[u8],
        mut feed: impl FnMut(&[u8]) -> Result<(), MalformedPacket>,
    ) -> Result<(), MalformedPacket> {
        while !bytes.is_empty() {
            let taken = self.unpack(wire, bytes, &mut feed)?;
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    /// Takes what was read, up to the end of the first compressed packet, whose plain bytes go to
    /// `feed` piece by piece once it is whole. How many bytes that took.
    pub(crate) fn unpack(
        &mut self,
        wire: &mut Wire,
        bytes: &[u8],
        feed: impl FnMut(&[u8]) -> Result<(), MalformedPacket>,
    ) -> Result<usize, MalformedPacket> {
        if !wire.has_part() {
            // The rule: it lies whole in what was read.
            let whole = match bytes.first_chunk() {
                Some(header) => wire.check_header(*header)?,
                None => HEADER_BYTES,
            };
            if let Some(packet) = bytes.get(..whole) {
                wire.next_number();
                self.unpack_one(packet, feed)?;
                return Ok(whole);
            }
        }
        let (taken, is_whole) = wire.keep(bytes)?;
        if is_whole {
            let packet = wire.take_part();
            let result = self.unpack_one(&packet, feed);
            wire.return_part(packet);
            result?;
        }
        Ok(taken)
    }

    /// Hands on what a whole compressed packet holds.
    fn unpack_one(
        &mut self,
        packet: &[u8],
        mut feed: impl FnMut(&[u8]) -> Result<(), MalformedPacket>,
    ) -> Result<(), MalformedPacket> {
        let (header, body) = packet.split_at(HEADER_BYTES);
        match payload_length(&header[4..]) {
            0 => feed(body),
            length_before => self.decompress(body, length_before, feed),
        }
    }

    fn decompress(
        &mut self,
        packed: &[u8],
        length_before: usize,
        mut feed: impl FnMut(&[u8]) -> Result<(), MalformedPacket>,
    ) -> Result<(), MalformedPacket> {
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new(self.compression)?),
        };
        decompressor.begin()?;
        let (mut packed, mut left) = (packed, length_before);
        loop {
            let step = decompressor.step(packed)?;
            packed = &packed[step.taken..];
            left = left.checked_sub(step.plain.len()).ok_or(MalformedPacket(
                "a compressed packet holds more than it says",
            ))?;
            if !step.plain.is_empty() {
                feed(step.plain)?;
            }
            if step.is_end {
                break;
            }
            if step.taken == 0 && step.plain.is_empty() {
                return Err(MalformedPacket(
                    "what a compressed packet holds is cut short",
                ));
            }
        }
        if left > 0 {
            return Err(MalformedPacket(
                "a compressed packet holds less than it says",
            ));
        }
        if !packed.is_empty() {
            return Err(MalformedPacket(
                "bytes follow what a compressed packet holds",
            ));
        }
        Ok(())
    }
}
