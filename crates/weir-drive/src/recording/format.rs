//! The records of the events file; `docs/drive-recording.md` is their description.
//!
//! All numbers are little-endian. A record is its length (u32, of the whole record), its kind
//! (u32), a time (u64) and the fields of its kind: numbers of 8 bytes, and text as a length of 8
//! bytes and its bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::data::DataFile;
use super::{Data, Node, OpenMode, Operation, Place};

/// The first bytes of an events file.
pub(super) const MAGIC: [u8; 8] = *b"weir-rec";
/// Follows the magic as u32; counts up with each change that an older reader would misread.
pub(super) const VERSION: u32 = 2;
pub(super) const FILE_HEADER_BYTES: u64 = 12;
/// Length, kind and time.
pub(super) const RECORD_HEADER_BYTES: usize = 16;
/// A rename with two names of 255 bytes is the longest operation, a path of the listing the
/// longest record.
pub(super) const RECORD_BYTES_MAX: usize = 64 * 1024;

/// A line of the recording.
#[derive(Debug, Clone)]
pub(super) enum Record {
    /// The first: what is recorded.
    Start { profile: String, unix_ns: u64 },
    /// File that existed at the start.
    Base { file: u64, path: PathBuf },
    /// Operation after the start.
    Operation(Operation),
    /// The last, if it ended in order: because of its limit, or with the drive.
    End { at_limit: bool },
}

mod kind {
    pub(super) const START: u32 = 1;
    pub(super) const BASE: u32 = 2;
    pub(super) const END: u32 = 3;
    pub(super) const WRITE: u32 = 16;
    pub(super) const FLUSH: u32 = 17;
    pub(super) const DONE: u32 = 18;
    pub(super) const CREATE_FILE: u32 = 19;
    pub(super) const CREATE_DIRECTORY: u32 = 20;
    pub(super) const CREATE_SYMLINK: u32 = 21;
    pub(super) const CREATE_SPECIAL: u32 = 22;
    pub(super) const LINK: u32 = 23;
    pub(super) const RENAME: u32 = 24;
    pub(super) const REMOVE: u32 = 25;
    pub(super) const TRUNCATE: u32 = 26;
    pub(super) const ALLOCATE: u32 = 27;
    pub(super) const SET_MODE: u32 = 28;
}

/// Appends `record` to `buffer`.
pub(super) fn encode(buffer: &mut Vec<u8>, at_ns: u64, record: &Record) {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; 8]);
    let mut fields = Encoder(buffer);
    fields.number(at_ns);
    let kind = match record {
        Record::Start { profile, unix_ns } => {
            fields.number(*unix_ns).text(profile.as_bytes());
            kind::START
        }
        Record::Base { file, path } => {
            fields.number(*file).text(path.as_os_str().as_bytes());
            kind::BASE
        }
        Record::Operation(operation) => encode_operation(&mut fields, operation),
        Record::End { at_limit } => {
            fields.number((*at_limit).into());
            kind::END
        }
    };
    let length = (buffer.len() - start) as u32;
    buffer[start..start + 4].copy_from_slice(&length.to_le_bytes());
    buffer[start + 4..start + 8].copy_from_slice(&kind.to_le_bytes());
}

fn encode_operation(fields: &mut Encoder, operation: &Operation) -> u32 {
    match operation {
        Operation::Write {
            file,
            offset,
            data,
            opened,
        } => {
            fields.number(*file).number(*offset);
            fields.number(data.at).number(data.stored_bytes);
            fields.number(data.bytes).number(opened_bits(*opened));
            kind::WRITE
        }
        Operation::Flush { file } => {
            fields.number(*file);
            kind::FLUSH
        }
        Operation::Done { sequence } => {
            fields.number(*sequence);
            kind::DONE
        }
        Operation::Create { file, at, node } => {
            fields.number(*file).place(at);
            encode_node(fields, node)
        }
        Operation::Link { file, at } => {
            fields.number(*file).place(at);
            kind::LINK
        }
        Operation::Rename { from, to, flags } => {
            fields.place(from).place(to).number((*flags).into());
            kind::RENAME
        }
        Operation::Remove { at, is_directory } => {
            fields.place(at).number((*is_directory).into());
            kind::REMOVE
        }
        Operation::Truncate { file, bytes } => {
            fields.number(*file).number(*bytes);
            kind::TRUNCATE
        }
        Operation::Allocate {
            file,
            mode,
            offset,
            bytes,
        } => {
            fields.number(*file).number(mode.cast_unsigned().into());
            fields.number(*offset).number(*bytes);
            kind::ALLOCATE
        }
        Operation::SetMode { file, mode } => {
            fields.number(*file).number((*mode).into());
            kind::SET_MODE
        }
    }
}

fn encode_node(fields: &mut Encoder, node: &Node) -> u32 {
    match node {
        Node::File { mode } => {
            fields.number((*mode).into());
            kind::CREATE_FILE
        }
        Node::Directory { mode } => {
            fields.number((*mode).into());
            kind::CREATE_DIRECTORY
        }
        Node::Symlink { target } => {
            fields.text(target.as_os_str().as_bytes());
            kind::CREATE_SYMLINK
        }
        Node::Special { mode, device } => {
            fields.number((*mode).into()).number(*device);
            kind::CREATE_SPECIAL
        }
    }
}

/// Time and meaning of a record without its length; `None` if it says nothing that this version
/// knows.
pub(super) fn decode(record: &[u8], source: &Arc<DataFile>) -> Option<(u64, Record)> {
    let (kind, rest) = record.split_first_chunk()?;
    let mut fields = Decoder(rest);
    let at_ns = fields.number()?;
    let record = match u32::from_le_bytes(*kind) {
        kind::START => Record::Start {
            unix_ns: fields.number()?,
            profile: fields.text()?.into_string().ok()?,
        },
        kind::BASE => Record::Base {
            file: fields.number()?,
            path: fields.path()?,
        },
        kind::END => Record::End {
            at_limit: fields.flag()?,
        },
        kind => Record::Operation(decode_operation(kind, &mut fields, source)?),
    };
    fields.0.is_empty().then_some((at_ns, record))
}

fn decode_operation(kind: u32, fields: &mut Decoder, source: &Arc<DataFile>) -> Option<Operation> {
    Some(match kind {
        kind::WRITE => Operation::Write {
            file: fields.number()?,
            offset: fields.number()?,
            data: Data {
                source: Arc::clone(source),
                at: fields.number()?,
                stored_bytes: fields.number()?,
                bytes: fields.number()?,
            },
            opened: fields.opened()?,
        },
        kind::FLUSH => Operation::Flush {
            file: fields.number()?,
        },
        kind::DONE => Operation::Done {
            sequence: fields.number()?,
        },
        kind::CREATE_FILE..=kind::CREATE_SPECIAL => Operation::Create {
            file: fields.number()?,
            at: fields.place()?,
            node: decode_node(kind, fields)?,
        },
        kind::LINK => Operation::Link {
            file: fields.number()?,
            at: fields.place()?,
        },
        kind::RENAME => Operation::Rename {
            from: fields.place()?,
            to: fields.place()?,
            flags: fields.small()?,
        },
        kind::REMOVE => Operation::Remove {
            at: fields.place()?,
            is_directory: fields.flag()?,
        },
        kind::TRUNCATE => Operation::Truncate {
            file: fields.number()?,
            bytes: fields.number()?,
        },
        kind::ALLOCATE => Operation::Allocate {
            file: fields.number()?,
            mode: fields.small()?.cast_signed(),
            offset: fields.number()?,
            bytes: fields.number()?,
        },
        kind::SET_MODE => Operation::SetMode {
            file: fields.number()?,
            mode: fields.small()?,
        },
        _ => return None,
    })
}

fn decode_node(kind: u32, fields: &mut Decoder) -> Option<Node> {
    Some(match kind {
        kind::CREATE_FILE => Node::File {
            mode: fields.small()?,
        },
        kind::CREATE_DIRECTORY => Node::Directory {
            mode: fields.small()?,
        },
        kind::CREATE_SYMLINK => Node::Symlink {
            target: fields.text()?.into(),
        },
        _ => Node::Special {
            mode: fields.small()?,
            device: fields.number()?,
        },
    })
}

/// Bits of how the file of a write was opened.
const DURABLE: u64 = 1;
const DIRECT: u64 = 2;

fn opened_bits(opened: OpenMode) -> u64 {
    (u64::from(opened.durable) * DURABLE) | (u64::from(opened.direct) * DIRECT)
}

struct Encoder<'a>(&'a mut Vec<u8>);

impl Encoder<'_> {
    fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn text(&mut self, text: &[u8]) -> &mut Self {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text);
        self
    }

    fn place(&mut self, place: &Place) -> &mut Self {
        self.number(place.parent).text(place.name.as_bytes())
    }
}

struct Decoder<'a>(&'a [u8]);

impl Decoder<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.number()? != 0)
    }

    fn text(&mut self) -> Option<OsString> {
        let bytes = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(OsString::from_vec(text.to_owned()))
    }

    fn opened(&mut self) -> Option<OpenMode> {
        let bits = self.number()?;
        let opened = OpenMode {
            durable: bits & DURABLE != 0,
            direct: bits & DIRECT != 0,
        };
        (opened_bits(opened) == bits).then_some(opened)
    }

    fn place(&mut self) -> Option<Place> {
        let (parent, name) = (self.number()?, self.text()?);
        is_name(&name).then_some(Place { parent, name })
    }

    /// A path that stays below where it begins.
    fn path(&mut self) -> Option<PathBuf> {
        let path = PathBuf::from(self.text()?);
        let is_below = |part| matches!(part, Component::Normal(name) if is_name(name));
        path.components().all(is_below).then_some(path)
    }
}

/// Returns true if it can be the name of an entry of a directory, and leads nowhere else.
fn is_name(name: &OsStr) -> bool {
    let mut parts = Path::new(name).components();
    parts.next() == Some(Component::Normal(name))
        && parts.next().is_none()
        && !name.as_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(source: &Arc<DataFile>) -> Vec<Record> {
        let place = |name: &str| Place::new(7, name.as_ref());
        let created = |node| Operation::Create {
            file: u64::MAX,
            at: place("t1.ibd"),
            node,
        };
        let data = Data {
            source: Arc::clone(source),
            at: 1 << 33,
            stored_bytes: 1024,
            bytes: 16_384,
        };
        let (file, offset, bytes) = (9, 1 << 40, 3);
        let target = "../t".into();
        let operations = [
            Operation::Write {
                file,
                offset,
                data,
                opened: OpenMode {
                    durable: true,
                    direct: false,
                },
            },
            Operation::Flush { file },
            Operation::Done { sequence: 12 },
            created(Node::File { mode: 0o640 }),
            created(Node::Directory { mode: 0o1777 }),
            created(Node::Symlink { target }),
            created(Node::Special {
                mode: libc::S_IFSOCK | 0o777,
                device: 5,
            }),
            Operation::Link {
                file,
                at: place("l"),
            },
            Operation::Rename {
                from: place("a"),
                to: place("b"),
                flags: 2,
            },
            Operation::Remove {
                at: place("a"),
                is_directory: true,
            },
            Operation::Truncate { file, bytes },
            Operation::Allocate {
                file,
                mode: -1,
                offset,
                bytes,
            },
            Operation::SetMode { file, mode: 0o600 },
        ];
        let path = PathBuf::from(OsString::from_vec(b"not \xff UTF-8".to_vec()));
        let mut records = vec![
            Record::Start {
                profile: "null".to_owned(),
                unix_ns: 1,
            },
            Record::Base { file, path },
        ];
        records.extend(operations.map(Record::Operation));
        records.push(Record::End { at_limit: true });
        records.push(Record::End { at_limit: false });
        records
    }

    #[test]
    fn names_that_lead_out_of_their_directory_are_not_understood() {
        let file = tempfile::tempfile().unwrap();
        let path = PathBuf::from("data");
        let source = Arc::new(DataFile { file, path });
        let decoded = |record| {
            let mut buffer = Vec::new();
            encode(&mut buffer, 77, &record);
            decode(&buffer[4..], &source)
        };
        for name in ["", ".", "..", "/etc", "a/b", "../a", "a/", "a\0b"] {
            let at = Place::new(1, name.as_ref());
            let link = Record::Operation(Operation::Link { file: 9, at });
            assert!(decoded(link).is_none(), "{name:?}");
        }
        for (path, is_understood) in [("a/b", true), ("/a", false), ("a/../b", false)] {
            let path = path.into();
            let base = Record::Base { file: 9, path };
            assert_eq!(decoded(base).is_some(), is_understood);
        }
    }

    #[test]
    fn what_is_read_is_what_was_written_and_nothing_else_is_understood() {
        let file = tempfile::tempfile().unwrap();
        let path = PathBuf::from("data");
        let source = Arc::new(DataFile { file, path });
        for record in records(&source) {
            let mut buffer = b"before".to_vec();
            encode(&mut buffer, 77, &record);
            let encoded = &buffer[6..];
            assert_eq!(encoded[..4], (encoded.len() as u32).to_le_bytes());
            let (at_ns, decoded) = decode(&encoded[4..], &source).unwrap();
            assert_eq!(at_ns, 77);
            assert_eq!(format!("{decoded:?}"), format!("{record:?}"));
            for bytes in 4..encoded.len() {
                assert!(decode(&encoded[4..bytes], &source).is_none(), "{record:?}");
            }
            let longer = [&encoded[4..], &[0]].concat();
            assert!(decode(&longer, &source).is_none(), "{record:?}");
        }
        assert!(decode(&[99; 32], &source).is_none());
    }
}
