//! Compressed connections: the plain bytes that their packets carry.

use weir_mysql::{Codec, Compression, MalformedPacket, Wire};

use super::replies::NotUnderstood;

/// The two directions of a compressed connection.
#[derive(Debug)]
pub(super) struct Unpacker {
    codec: Codec,
    client: Wire,
    server: Wire,
}

impl Unpacker {
    pub(super) fn new(compression: Compression) -> Self {
        Self {
            codec: Codec::new(compression),
            client: Wire::watched(),
            server: Wire::watched(),
        }
    }

    /// Hands the plain bytes of what a client sent to `feed`.
    pub(super) fn client_sent(
        &mut self,
        bytes: &[u8],
        feed: impl FnMut(&[u8]) -> Result<(), NotUnderstood>,
    ) -> Result<(), NotUnderstood> {
        unpack(&mut self.codec, &mut self.client, bytes, feed)
    }

    /// Hands the plain bytes of what a server sent to `feed`.
    pub(super) fn server_sent(
        &mut self,
        bytes: &[u8],
        feed: impl FnMut(&[u8]) -> Result<(), NotUnderstood>,
    ) -> Result<(), NotUnderstood> {
        unpack(&mut self.codec, &mut self.server, bytes, feed)
    }
}

fn unpack(
    codec: &mut Codec,
    wire: &mut Wire,
    bytes: &[u8],
    mut feed: impl FnMut(&[u8]) -> Result<(), NotUnderstood>,
) -> Result<(), NotUnderstood> {
    let feed = |plain: &[u8]| feed(plain).map_err(|_| MalformedPacket("it is not understood"));
    codec
        .unpack_all(wire, bytes, feed)
        .map_err(|_| NotUnderstood)
}
