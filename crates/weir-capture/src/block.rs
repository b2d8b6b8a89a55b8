//! Blocks of a capture file: each has its kind, lengths and checksum, so that what a killed writer left is good to its
//! last whole block, and a reader may follow a file that is still written.

use std::io::{self, Read, Write};

/// First bytes of every capture; the last one is the version of the format.
pub(crate) const MAGIC: [u8; 8] = *b"WEIRCAP2";
/// Versions that are read: version 1 has no collation of logins and no change of user.
pub(crate) const VERSIONS: [u8; 2] = *b"12";
/// Kind, length, stored length, checksum.
const HEADER_BYTES: usize = 13;
/// Longest block, unpacked: one whole statement of the largest size, and a little.
pub(crate) const BLOCK_BYTES_MAX: usize = 24 << 20;
/// zstd's fastest level that still halves statements.
const LEVEL: i32 = 1;

/// Kind of the content of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// The head of the capture, as JSON.
    Head = 1,
    /// Records.
    Records = 2,
    /// The end of the capture, as JSON.
    Tail = 3,
}

impl BlockKind {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Head, Self::Records, Self::Tail]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// Result of a look for the next block.
#[derive(Debug)]
pub(crate) enum NextBlock {
    /// A whole block, its content and how many bytes it takes in the file.
    Block(BlockKind, Vec<u8>, u64),
    /// The file ends after whole blocks.
    End,
    /// Bytes that are no whole block: a writer was killed or still writes, or the file is damaged.
    Cut,
}

/// Writes one block.
pub(crate) fn write_block(
    out: &mut impl Write,
    kind: BlockKind,
    content: &[u8],
) -> io::Result<usize> {
    let packed = zstd::bulk::compress(content, LEVEL)?;
    let mut block = Vec::with_capacity(HEADER_BYTES + packed.len());
    block.push(kind as u8);
    block.extend((content.len() as u32).to_le_bytes());
    block.extend((packed.len() as u32).to_le_bytes());
    block.extend(checksum(&block, &packed).to_le_bytes());
    block.extend(packed);
    // One call: a reader sees all of it or a part, never another order.
    out.write_all(&block)?;
    Ok(block.len())
}

fn checksum(header: &[u8], packed: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(header), packed)
}

/// Reads the next block; what cannot be one is where the file is cut.
pub(crate) fn read_block(from: &mut impl Read) -> io::Result<NextBlock> {
    let mut header = [0; HEADER_BYTES];
    let length = read_full(from, &mut header)?;
    if length < HEADER_BYTES {
        return Ok(match length {
            0 => NextBlock::End,
            _ => NextBlock::Cut,
        });
    }
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        u32::from_le_bytes(bytes)
    };
    let (unpacked, stored) = (number(1) as usize, number(5) as usize);
    let Some(kind) = BlockKind::from_byte(header[0]) else {
        return Ok(NextBlock::Cut);
    };
    if unpacked > BLOCK_BYTES_MAX || stored > BLOCK_BYTES_MAX {
        return Ok(NextBlock::Cut);
    }
    let mut packed = Vec::new();
    from.by_ref().take(stored as u64).read_to_end(&mut packed)?;
    if packed.len() < stored || checksum(&header[..9], &packed) != number(9) {
        return Ok(NextBlock::Cut);
    }
    match zstd::bulk::decompress(&packed, unpacked) {
        Ok(content) if content.len() == unpacked => {
            let length = (HEADER_BYTES + stored) as u64;
            Ok(NextBlock::Block(kind, content, length))
        }
        _ => Ok(NextBlock::Cut),
    }
}

fn read_full(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match from.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_or_damaged_anywhere_is_good_to_its_last_whole_block() {
        let mut file = Vec::new();
        write_block(&mut file, BlockKind::Head, b"head").unwrap();
        let first = file.len();
        write_block(&mut file, BlockKind::Records, &[7; 1000]).unwrap();
        for end in first..file.len() {
            let mut rest = &file[..end];
            let NextBlock::Block(BlockKind::Head, content, _) = read_block(&mut rest).unwrap()
            else {
                panic!("{end}");
            };
            assert_eq!(content, b"head");
            let next = read_block(&mut rest).unwrap();
            let is_end = matches!(next, NextBlock::End);
            assert_eq!(is_end, end == first, "{end}: {next:?}");
            assert!(is_end || matches!(next, NextBlock::Cut), "{end}: {next:?}");
        }
        for at in 0..first {
            let mut damaged = file.clone();
            damaged[at] ^= 0x40;
            let found = read_block(&mut &damaged[..]).unwrap();
            assert!(matches!(found, NextBlock::Cut), "{at}: {found:?}");
        }
    }
}
