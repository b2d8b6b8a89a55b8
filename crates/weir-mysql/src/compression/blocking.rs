//! The stream of plain packets of a session, which waits, compressed or not.

use std::io::{self, BufRead as _, BufReader, Read, Write};

use super::{Codec, Compression, Wire};
use crate::channel::Channel;

/// A channel, and the compression over it.
#[derive(Debug)]
pub(crate) struct PacketStream<S> {
    channel: BufReader<Channel<S>>,
    packed: Option<Box<CompressedStream>>,
}

#[derive(Debug)]
struct CompressedStream {
    codec: Codec,
    wire: Wire,
    /// A request on its way out.
    request: Vec<u8>,
    /// Content of the last compressed packet, and the number of bytes that were read of it.
    plain: Vec<u8>,
    read: usize,
}

impl<S: Read + Write> PacketStream<S> {
    /// A stream that is not compressed.
    pub(crate) fn new(socket: S) -> Self {
        Self {
            channel: BufReader::new(Channel::plain(socket)),
            packed: None,
        }
    }

    /// Compresses from here on.
    pub(crate) fn compress(&mut self, compression: Compression) {
        self.packed = Some(Box::new(CompressedStream {
            codec: Codec::new(compression),
            wire: Wire::default(),
            request: Vec::new(),
            plain: Vec::new(),
            read: 0,
        }));
    }

    /// Returns true if it compresses.
    pub(crate) fn is_compressed(&self) -> bool {
        self.packed.is_some()
    }

    /// Returns true if everything that has come was read.
    pub(crate) fn is_drained(&self) -> bool {
        let packed = self.packed.as_ref();
        self.channel.buffer().is_empty()
            && packed.is_none_or(|p| p.read == p.plain.len() && !p.wire.has_part())
    }

    /// The channel below.
    pub(crate) fn channel(&mut self) -> &mut Channel<S> {
        self.channel.get_mut()
    }

    /// The channel below, and nothing more of this.
    pub(crate) fn into_channel(self) -> Channel<S> {
        self.channel.into_inner()
    }

    /// Sends whole packets.
    pub(crate) fn send(&mut self, packets: &[u8]) -> io::Result<()> {
        let Some(packed) = &mut self.packed else {
            return self.channel.get_mut().write_all(packets);
        };
        packed.request.clear();
        packed.request.extend_from_slice(packets);
        packed.codec.pack(&mut packed.wire, &mut packed.request);
        self.channel.get_mut().write_all(&packed.request)
    }
}

impl CompressedStream {
    /// Reads until there is something plain to hand on, one compressed packet at a time: what the
    /// next ones hold needs no memory yet.
    fn fill(&mut self, channel: &mut BufReader<impl Read>) -> io::Result<()> {
        while self.read == self.plain.len() {
            self.plain.clear();
            self.read = 0;
            let bytes = channel.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            let plain = &mut self.plain;
            let keep = |piece: &[u8]| {
                plain.extend_from_slice(piece);
                Ok(())
            };
            let taken = self
                .codec
                .unpack(&mut self.wire, bytes, keep)
                .map_err(|malformed| io::Error::new(io::ErrorKind::InvalidData, malformed))?;
            channel.consume(taken);
        }
        Ok(())
    }
}

impl<S: Read + Write> Read for PacketStream<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(packed) = &mut self.packed else {
            return self.channel.read(buffer);
        };
        packed.fill(&mut self.channel)?;
        let read = (&packed.plain[packed.read..]).read(buffer)?;
        packed.read += read;
        Ok(read)
    }
}
