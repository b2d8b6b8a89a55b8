//! zlib and zstd behind one form. Each is set up once and used for one packet after the other.

use std::io;

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};
use zstd::bulk;
use zstd::stream::raw::{DParameter, Decoder, Operation as _};

use super::Compression;
use crate::packet::MalformedPacket;

/// The most that a packet can hold is 2^24 bytes: a longer memory of them is a lie.
const ZSTD_WINDOW_BITS_MAX: u32 = 24;

/// Plain bytes that are made at once, so that no server's word decides about memory. Servers compress
/// what fills their 16 KiB of `net_buffer_length`.
const PIECE_BYTES: usize = 32 << 10;

const BROKEN: MalformedPacket =
    MalformedPacket("what a compressed packet holds does not decompress");

/// Makes streams.
pub(crate) enum Compressor {
    Zlib(Compress),
    Zstd(bulk::Compressor<'static>),
}

impl Compressor {
    /// Nothing if there is no memory for it: what it would have compressed may be sent as it is.
    pub(crate) fn new(compression: Compression) -> Option<Self> {
        let level = compression.level();
        match compression {
            Compression::Zlib => {
                let level = flate2::Compression::new(u32::from(level));
                Some(Self::Zlib(Compress::new(level, true)))
            }
            Compression::Zstd => bulk::Compressor::new(i32::from(level)).ok().map(Self::Zstd),
        }
    }

    /// Compresses `plain` into `room`; the bytes that it takes, or nothing if there is too little.
    pub(crate) fn compress(&mut self, plain: &[u8], room: &mut [u8]) -> Option<usize> {
        match self {
            Self::Zlib(zlib) => {
                zlib.reset();
                match zlib.compress(plain, room, FlushCompress::Finish) {
                    Ok(Status::StreamEnd) => Some(zlib.total_out() as usize),
                    _ => None,
                }
            }
            Self::Zstd(zstd) => zstd.compress_to_buffer(plain, room).ok(),
        }
    }
}

/// Reads streams, piece by piece.
pub(crate) struct Decompressor {
    stream: Stream,
    piece: Box<[u8]>,
}

enum Stream {
    Zlib(Decompress),
    Zstd(Decoder<'static>),
}

/// Result of a step.
pub(crate) struct Step<'a> {
    /// Compressed bytes that were used up.
    pub(crate) taken: usize,
    /// Plain bytes.
    pub(crate) plain: &'a [u8],
    /// The stream is complete.
    pub(crate) is_end: bool,
}

impl Decompressor {
    pub(crate) fn new(compression: Compression) -> Result<Self, MalformedPacket> {
        Ok(Self {
            stream: Stream::new(compression).map_err(|_| BROKEN)?,
            piece: vec![0; PIECE_BYTES].into_boxed_slice(),
        })
    }

    /// A new stream begins.
    pub(crate) fn begin(&mut self) -> Result<(), MalformedPacket> {
        match &mut self.stream {
            Stream::Zlib(zlib) => {
                zlib.reset(true);
                Ok(())
            }
            Stream::Zstd(zstd) => zstd.reinit().map_err(|_| BROKEN),
        }
    }

    /// Makes the next piece from `packed`, or as much of it as `packed` is good for.
    pub(crate) fn step(&mut self, packed: &[u8]) -> Result<Step<'_>, MalformedPacket> {
        let (taken, made, is_end) = match &mut self.stream {
            Stream::Zlib(zlib) => {
                let (before_in, before_out) = (zlib.total_in(), zlib.total_out());
                let status = zlib
                    .decompress(packed, &mut self.piece, FlushDecompress::None)
                    .map_err(|_| BROKEN)?;
                let taken = (zlib.total_in() - before_in) as usize;
                let made = (zlib.total_out() - before_out) as usize;
                (taken, made, status == Status::StreamEnd)
            }
            Stream::Zstd(zstd) => {
                let status = zstd
                    .run_on_buffers(packed, &mut self.piece)
                    .map_err(|_| BROKEN)?;
                (
                    status.bytes_read,
                    status.bytes_written,
                    status.remaining == 0,
                )
            }
        };
        Ok(Step {
            taken,
            plain: &self.piece[..made],
            is_end,
        })
    }
}

impl Stream {
    fn new(compression: Compression) -> io::Result<Self> {
        match compression {
            Compression::Zlib => Ok(Self::Zlib(Decompress::new(true))),
            Compression::Zstd => {
                let mut zstd = Decoder::new()?;
                zstd.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_BITS_MAX))?;
                Ok(Self::Zstd(zstd))
            }
        }
    }
}
