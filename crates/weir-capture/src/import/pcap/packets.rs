//! Packets of a file in either format, with their times.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use crate::CaptureError;

/// Bytes that are read at a time, and the longest block.
const BUFFER_BYTES: usize = 1 << 20;
const NANOSECONDS: u32 = 0xA1B2_3C4D;

/// A packet.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    pub(super) at_unix_us: i64,
    pub(super) link: Linktype,
    pub(super) data: Vec<u8>,
    /// The file has not all of it.
    pub(super) is_cut: bool,
}

/// A file of packets.
pub(super) struct Packets {
    reader: Box<dyn PcapReaderIterator + Send>,
    path: PathBuf,
    /// Of the classic format.
    link: Linktype,
    has_nanoseconds: bool,
    /// Of the interfaces of a section: link, units in a second, and seconds to add.
    interfaces: Vec<(Linktype, u64, i64)>,
    ended: bool,
    /// Bytes that were read.
    offset: u64,
}

/// Returns true if a file is one of packets.
pub(in super::super) fn is_packets(path: &Path) -> Result<bool, CaptureError> {
    let failed = |error: std::io::Error| CaptureError::file("cannot read", path, &error);
    let mut magic = [0; 4];
    let mut file = File::open(path).map_err(failed)?;
    if file.read_exact(&mut magic).is_err() {
        return Ok(false);
    }
    let known = [0xA1B2_C3D4, NANOSECONDS, 0x0A0D_0D0A];
    Ok(known
        .iter()
        .any(|number: &u32| magic == number.to_le_bytes() || magic == number.to_be_bytes()))
}

impl Packets {
    pub(super) fn open(path: &Path) -> Result<Self, CaptureError> {
        let file =
            File::open(path).map_err(|error| CaptureError::file("cannot read", path, &error))?;
        let reader = create_reader(BUFFER_BYTES, file).map_err(|_| CaptureError::Log {
            path: path.display().to_string(),
            offset: 0,
            why: "it is no pcap or pcapng file".to_owned(),
        })?;
        Ok(Self {
            reader,
            path: path.to_owned(),
            link: Linktype::NULL,
            has_nanoseconds: false,
            interfaces: Vec::new(),
            ended: false,
            offset: 0,
        })
    }

    /// Offset of the first byte that could not be read, once the packets have ended; `None` if all were read.
    pub(super) fn broken_at(&self) -> Option<u64> {
        let length = self.path.metadata().ok()?.len();
        (self.offset < length).then_some(self.offset)
    }

    /// The next packet; `None` at the end, also where the file breaks off.
    pub(super) fn next(&mut self) -> Result<Option<Packet>, CaptureError> {
        let mut asked_for_more = false;
        while !self.ended {
            match self.reader.next() {
                Ok((length, block)) => {
                    asked_for_more = false;
                    let packet = packet(
                        &block,
                        &mut self.link,
                        &mut self.has_nanoseconds,
                        &mut self.interfaces,
                    );
                    self.reader.consume(length);
                    self.offset += length as u64;
                    if packet.is_some() {
                        return Ok(packet);
                    }
                }
                Err(PcapError::Incomplete(_)) => {
                    // Twice without more: the file breaks off, or a block is longer than the buffer.
                    if asked_for_more {
                        self.ended = true;
                        break;
                    }
                    asked_for_more = true;
                    self.reader.refill().map_err(|_| CaptureError::File {
                        what: "cannot read",
                        path: self.path.display().to_string(),
                        why: "the file system refused".to_owned(),
                    })?;
                }
                Err(_) => self.ended = true,
            }
        }
        Ok(None)
    }
}

fn packet(
    block: &PcapBlockOwned<'_>,
    link: &mut Linktype,
    has_nanoseconds: &mut bool,
    interfaces: &mut Vec<(Linktype, u64, i64)>,
) -> Option<Packet> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            *link = header.network;
            *has_nanoseconds = matches!(header.magic_number, NANOSECONDS | 0x4D3C_B2A1);
            None
        }
        PcapBlockOwned::Legacy(block) => {
            let fraction = if *has_nanoseconds {
                block.ts_usec / 1_000
            } else {
                block.ts_usec
            };
            Some(Packet {
                at_unix_us: i64::from(block.ts_sec) * 1_000_000 + i64::from(fraction),
                link: *link,
                data: block.data.to_vec(),
                is_cut: block.caplen < block.origlen,
            })
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            None
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(found)) => {
            let units = found.ts_resolution().unwrap_or(1_000_000).max(1);
            interfaces.push((found.linktype, units, found.ts_offset()));
            None
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
            let (link, units, offset_s) = *interfaces.get(block.if_id as usize)?;
            let ticks = u128::from(block.ts_high) << 32 | u128::from(block.ts_low);
            let us = i64::try_from(ticks * 1_000_000 / u128::from(units)).ok()?;
            let data = block
                .data
                .get(..block.caplen as usize)
                .unwrap_or(block.data);
            Some(Packet {
                at_unix_us: us.checked_add(offset_s.checked_mul(1_000_000)?)?,
                link,
                data: data.to_vec(),
                is_cut: block.caplen < block.origlen,
            })
        }
        PcapBlockOwned::NG(_) => None,
    }
}
