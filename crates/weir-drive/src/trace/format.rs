//! The bytes of a trace; `docs/drive-trace.md` is their description.

use weir_model::{FileKind, Nanoseconds, Op, OpKind};

pub(super) const RECORD_BYTES: usize = 24;
pub(super) const MAGIC: [u8; 8] = *b"WEIRTRC\0";
pub(super) const VERSION: u32 = 1;
/// Magic, version, bytes of a record; what follows is compressed.
pub(super) const HEADER: [u8; 16] = header();

const fn header() -> [u8; 16] {
    let mut header = [0; 16];
    let mut index = 0;
    while index < MAGIC.len() {
        header[index] = MAGIC[index];
        index += 1;
    }
    header[8] = VERSION as u8;
    header[12] = RECORD_BYTES as u8;
    header
}

/// Unit of a discard's length, which may be a whole file's.
const DISCARD_BYTES: u64 = 4096;
/// Widest values of the narrow fields.
const U24_MAX: u64 = (1 << 24) - 1;
const U48_MAX: u64 = (1 << 48) - 1;
/// Kind of a record, in the upper half of its last byte; operations have the numbers below.
const END: u8 = 14;
const NAME: u8 = 15;

/// An operation of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceOperation {
    /// Time at which the drive read the request, nanoseconds since it was mounted.
    pub at_ns: u64,
    /// Latency by the model, nanoseconds; at most 4.29 s.
    pub latency_ns: u32,
    /// Kind of the operation.
    pub what: OpKind,
    /// Purpose of the file.
    pub file_kind: FileKind,
    /// Number of the file in this trace.
    pub file: u32,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Length, bytes; of a discard, rounded up to 4 KiB.
    pub bytes: u64,
}

/// A record as its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    at: u64,
    offset: u64,
    latency: u32,
    file: u32,
    bytes: u32,
    kind: u8,
}

/// Meaning of a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning {
    Operation(TraceOperation),
    /// A file's name of so many bytes follows, padded to whole records.
    Name {
        file: u32,
        bytes: usize,
    },
    /// The end, after so many operations; so many more were lost.
    End {
        operations: u64,
        lost: u64,
    },
}

impl Record {
    pub(super) fn operation(op: &Op, now: Nanoseconds, latency: Nanoseconds, file: u32) -> Self {
        let bytes = match op.kind {
            OpKind::Discard => op.bytes.div_ceil(DISCARD_BYTES),
            OpKind::Read | OpKind::Write | OpKind::Flush => op.bytes,
        };
        Self {
            at: now.min(U48_MAX),
            offset: op.offset.min(U48_MAX),
            latency: u32::try_from(latency).unwrap_or(u32::MAX),
            file,
            bytes: bytes.min(U24_MAX) as u32,
            kind: number_of(op.kind) << 4 | op.file_kind.index() as u8,
        }
    }

    pub(super) fn name(file: u32, bytes: usize) -> Self {
        Self {
            at: 0,
            offset: 0,
            latency: 0,
            file,
            bytes: (bytes as u64).min(U24_MAX) as u32,
            kind: NAME << 4,
        }
    }

    pub(super) fn end(operations: u64, lost: u64) -> Self {
        Self {
            at: operations.min(U48_MAX),
            offset: lost.min(U48_MAX),
            latency: 0,
            file: 0,
            bytes: 0,
            kind: END << 4,
        }
    }

    pub(super) fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[0..6].copy_from_slice(&self.at.to_le_bytes()[..6]);
        bytes[6..12].copy_from_slice(&self.offset.to_le_bytes()[..6]);
        bytes[12..16].copy_from_slice(&self.latency.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.file.to_le_bytes());
        bytes[20..23].copy_from_slice(&self.bytes.to_le_bytes()[..3]);
        bytes[23] = self.kind;
        bytes
    }

    pub(super) fn decode(bytes: &[u8; RECORD_BYTES]) -> Self {
        let number = |range: std::ops::Range<usize>| {
            let mut wide = [0; 8];
            wide[..range.len()].copy_from_slice(&bytes[range]);
            u64::from_le_bytes(wide)
        };
        Self {
            at: number(0..6),
            offset: number(6..12),
            latency: number(12..16) as u32,
            file: number(16..20) as u32,
            bytes: number(20..23) as u32,
            kind: bytes[23],
        }
    }

    /// Returns the meaning; `None` if this version knows no such record.
    pub(super) fn meaning(&self) -> Option<Meaning> {
        match self.kind >> 4 {
            END => Some(Meaning::End {
                operations: self.at,
                lost: self.offset,
            }),
            NAME => Some(Meaning::Name {
                file: self.file,
                bytes: self.bytes as usize,
            }),
            number => {
                let what = operation_of(number)?;
                let unit = if what == OpKind::Discard {
                    DISCARD_BYTES
                } else {
                    1
                };
                Some(Meaning::Operation(TraceOperation {
                    at_ns: self.at,
                    latency_ns: self.latency,
                    what,
                    file_kind: *FileKind::ALL.get(usize::from(self.kind & 15))?,
                    file: self.file,
                    offset: self.offset,
                    bytes: u64::from(self.bytes) * unit,
                }))
            }
        }
    }
}

fn number_of(what: OpKind) -> u8 {
    match what {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Flush => 2,
        OpKind::Discard => 3,
    }
}

fn operation_of(number: u8) -> Option<OpKind> {
    let all = [OpKind::Read, OpKind::Write, OpKind::Flush, OpKind::Discard];
    all.into_iter().find(|what| number_of(*what) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_the_same_after_being_written_and_read() {
        let op = Op {
            kind: OpKind::Discard,
            file: 1 << 40,
            file_kind: FileKind::Undo,
            offset: 1 << 46,
            bytes: (1 << 30) + 1,
            compressed_fraction: 1.0,
        };
        let record = Record::operation(&op, (1 << 47) + 5, u64::MAX, 7);
        let read = Record::decode(&record.encode()).meaning().unwrap();
        let Meaning::Operation(read) = read else {
            panic!("{read:?}")
        };
        assert_eq!((read.at_ns, read.offset), ((1 << 47) + 5, 1 << 46));
        assert_eq!((read.latency_ns, read.file), (u32::MAX, 7));
        assert_eq!(read.bytes, (1 << 30) + 4096);
        assert_eq!(
            (read.what, read.file_kind),
            (OpKind::Discard, FileKind::Undo)
        );
    }

    #[test]
    fn an_unknown_record_has_no_meaning() {
        let mut bytes = Record::end(1, 0).encode();
        bytes[23] = 0x90;
        assert!(Record::decode(&bytes).meaning().is_none());
    }
}
