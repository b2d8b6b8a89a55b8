//! A recording, read back.
//!
//! The events are read in one direction through a buffer of 64 KiB and the data only when they are
//! asked for, so a recording of any length takes a fixed amount of memory.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data::DataFile;
use super::format::{
    FILE_HEADER_BYTES, MAGIC, RECORD_BYTES_MAX, RECORD_HEADER_BYTES, Record, VERSION, decode,
};
use super::names::Names;
use super::{DATA_FILE, EVENTS_FILE, Event, Operation};
use crate::DriveError;
use crate::request::REQUEST_BYTES_MAX;

const BUFFER_BYTES: usize = 64 * 1024;

/// Ending of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingEnd {
    /// The drive was unmounted: the recording has all that reached it.
    Unmounted,
    /// It had grown to its limit; what reached the drive later is not in it.
    Limit,
    /// The drive's process was killed or could not write; the last 100 ms before may be missing.
    CutShort,
}

/// A recording in a directory.
#[derive(Debug)]
pub struct Recording {
    events: Arc<File>,
    data: Arc<DataFile>,
    profile: String,
    started_at_ns: u64,
    started_unix_ns: u64,
    base: Vec<(u64, PathBuf)>,
    first_event_at: u64,
    event_count: u64,
    ended: RecordingEnd,
    ended_at_ns: u64,
}

impl Recording {
    /// Reads the recording in `directory` once from its beginning to its end.
    ///
    /// # Errors
    ///
    /// A folder that holds no recording.
    pub fn open(directory: &Path) -> Result<Self, DriveError> {
        let open = |name| {
            let path = directory.join(name);
            File::open(&path).map_err(DriveError::path("read", &path))
        };
        let (events, data) = (Arc::new(open(EVENTS_FILE)?), open(DATA_FILE)?);
        let unreadable = |why: String| DriveError::Recording {
            directory: directory.to_owned(),
            why,
        };
        check_header(&events).map_err(unreadable)?;
        let data_path = directory.join(DATA_FILE);
        let metadata = data.metadata();
        let data_bytes = metadata
            .map_err(DriveError::path("read", &data_path))?
            .len();
        let data = Arc::new(DataFile {
            file: data,
            path: data_path,
        });
        let mut lines = Lines::new(&events, &data, FILE_HEADER_BYTES);
        let start = lines.next_record().map_err(unreadable)?;
        let Some((started_at_ns, Record::Start { profile, unix_ns })) = start else {
            return Err(unreadable("it does not name its drive".to_owned()));
        };
        let mut recording = Self {
            events,
            data,
            profile,
            started_at_ns,
            started_unix_ns: unix_ns,
            base: Vec::new(),
            first_event_at: lines.at,
            event_count: 0,
            ended: RecordingEnd::CutShort,
            ended_at_ns: started_at_ns,
        };
        recording
            .follow(&mut lines, data_bytes)
            .map_err(unreadable)?;
        Ok(recording)
    }

    /// The name of the drive's profile.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Returns the time of its begin: `CLOCK_MONOTONIC`, nanoseconds.
    pub fn started_at_ns(&self) -> u64 {
        self.started_at_ns
    }

    /// Returns the time of its begin: nanoseconds since 1970.
    pub fn started_unix_ns(&self) -> u64 {
        self.started_unix_ns
    }

    /// Returns the drive's entries at that time, by inode number and path from the drive's root;
    /// directories before what is in them. The root itself, number 1, is not listed.
    pub fn base(&self) -> &[(u64, PathBuf)] {
        &self.base
    }

    /// The names of what existed at the start.
    pub fn names(&self) -> Names {
        Names::from_list(&self.base)
    }

    /// Returns the number of events.
    pub fn event_count(&self) -> u64 {
        self.event_count
    }

    /// The events in their order, from the first one on.
    pub fn events(&self) -> Events {
        Events {
            lines: Lines::new(&self.events, &self.data, self.first_event_at),
            next_sequence: 0,
            event_count: self.event_count,
        }
    }

    /// Returns the reason that there are no more events.
    pub fn ended(&self) -> RecordingEnd {
        self.ended
    }

    /// Returns the time of its end: `CLOCK_MONOTONIC`, nanoseconds; if it was cut short, the last
    /// event's time.
    pub fn ended_at_ns(&self) -> u64 {
        self.ended_at_ns
    }

    /// Takes in what is listed, counts the events and finds the end.
    fn follow(&mut self, lines: &mut Lines, data_bytes: u64) -> Result<(), String> {
        while let Some((at_ns, record)) = lines.next_record()? {
            match record {
                Record::Base { file, path } if self.event_count == 0 => {
                    self.base.push((file, path));
                    self.first_event_at = lines.at;
                }
                Record::Operation(operation) => {
                    if !is_whole(&operation, self.event_count, data_bytes)? {
                        return Ok(());
                    }
                    self.event_count += 1;
                }
                Record::End { at_limit } => {
                    self.ended = if at_limit {
                        RecordingEnd::Limit
                    } else {
                        RecordingEnd::Unmounted
                    };
                    self.ended_at_ns = at_ns;
                    return Ok(());
                }
                Record::Start { .. } | Record::Base { .. } => {
                    return Err("it begins twice".to_owned());
                }
            }
            self.ended_at_ns = at_ns;
        }
        Ok(())
    }
}

/// Returns true if the data of the operation are there; an error if it contradicts the events
/// before it.
fn is_whole(operation: &Operation, sequence: u64, data_bytes: u64) -> Result<bool, String> {
    match operation {
        Operation::Write { offset, data, .. } => {
            if data.stored_bytes > data.bytes {
                return Err(format!("event {sequence} stores more than was written"));
            }
            if data.bytes > REQUEST_BYTES_MAX.into() || !is_within_a_file(*offset, data.bytes) {
                let bytes = data.bytes;
                return Err(format!("event {sequence} writes {bytes} bytes at {offset}"));
            }
            let end = data.at.checked_add(data.stored_bytes);
            Ok(end.is_some_and(|end| end <= data_bytes))
        }
        Operation::Allocate { offset, bytes, .. } if !is_within_a_file(*offset, *bytes) => Err(
            format!("event {sequence} allocates {bytes} bytes at {offset}"),
        ),
        Operation::Done { sequence: of } if *of >= sequence => Err(format!(
            "event {sequence} answers event {of}, which is later"
        )),
        _ => Ok(true),
    }
}

/// Returns true if a file of Linux can have these bytes.
fn is_within_a_file(offset: u64, bytes: u64) -> bool {
    let end = offset.checked_add(bytes);
    end.is_some_and(|end| i64::try_from(end).is_ok())
}

fn check_header(events: &File) -> Result<(), String> {
    let mut header = [0; FILE_HEADER_BYTES as usize];
    let read = events.read_exact_at(&mut header, 0);
    let (magic, version) = header.split_at(MAGIC.len());
    if read.is_err() || magic != MAGIC {
        return Err(format!(
            "`{EVENTS_FILE}` is not the beginning of a recording"
        ));
    }
    if version != VERSION.to_le_bytes() {
        let found = version
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        return Err(format!("version {found}, this weir reads {VERSION}"));
    }
    Ok(())
}

/// The events of a recording.
#[derive(Debug)]
pub struct Events {
    lines: Lines,
    next_sequence: u64,
    event_count: u64,
}

impl Iterator for Events {
    type Item = Result<Event, DriveError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next_sequence == self.event_count {
            return None;
        }
        let sequence = self.next_sequence;
        match self.lines.next_record() {
            Ok(Some((at_ns, Record::Operation(operation)))) => {
                self.next_sequence += 1;
                Some(Ok(Event {
                    sequence,
                    at_ns,
                    operation,
                }))
            }
            // They were there when the recording was opened.
            other => {
                self.next_sequence = self.event_count;
                let why = other.err().unwrap_or("it has changed".to_owned());
                let directory = self
                    .lines
                    .data
                    .path
                    .parent()
                    .unwrap_or(Path::new(""))
                    .to_owned();
                Some(Err(DriveError::Recording { directory, why }))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.event_count - self.next_sequence) as usize;
        (left, Some(left))
    }
}

/// The records of the events file from a position on.
#[derive(Debug)]
struct Lines {
    reader: BufReader<ReadFrom>,
    data: Arc<DataFile>,
    /// Offset of the next record.
    at: u64,
    record: Vec<u8>,
}

impl Lines {
    fn new(events: &Arc<File>, data: &Arc<DataFile>, at: u64) -> Self {
        let file = Arc::clone(events);
        Self {
            reader: BufReader::with_capacity(BUFFER_BYTES, ReadFrom { file, at }),
            data: Arc::clone(data),
            at,
            record: Vec::new(),
        }
    }

    /// Time and meaning of the next record; `None` where the file ends, also inside a record.
    fn next_record(&mut self) -> Result<Option<(u64, Record)>, String> {
        let failed = |error: io::Error| error.to_string();
        let mut length = [0; 4];
        if !read_whole(&mut self.reader, &mut length).map_err(failed)? {
            return Ok(None);
        }
        let length = u32::from_le_bytes(length) as usize;
        if length == 0 {
            // After a crash of the host a file may end in zeroes.
            return Ok(None);
        }
        let malformed = || format!("the record at byte {} is malformed", self.at);
        if !(RECORD_HEADER_BYTES..=RECORD_BYTES_MAX).contains(&length) {
            return Err(malformed());
        }
        self.record.resize(length - 4, 0);
        if !read_whole(&mut self.reader, &mut self.record).map_err(failed)? {
            return Ok(None);
        }
        let decoded = decode(&self.record, &self.data).ok_or_else(malformed)?;
        self.at += length as u64;
        Ok(Some(decoded))
    }
}

/// Fills `buffer`; false if the file ends before.
fn read_whole(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

/// A file that is read from a position of its own, so that many can read it at a time.
#[derive(Debug)]
struct ReadFrom {
    file: Arc<File>,
    at: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::encode;
    use super::super::{Data, OpenMode};
    use super::*;

    fn opened(operation: Operation) -> Result<Recording, String> {
        let folder = tempfile::tempdir().unwrap();
        let mut events = MAGIC.to_vec();
        events.extend(VERSION.to_le_bytes());
        let start = Record::Start {
            profile: "null".to_owned(),
            unix_ns: 1,
        };
        for record in [start, Record::Operation(operation)] {
            encode(&mut events, 1, &record);
        }
        std::fs::write(folder.path().join(EVENTS_FILE), events).unwrap();
        std::fs::write(folder.path().join(DATA_FILE), "").unwrap();
        Recording::open(folder.path()).map_err(|error| error.to_string())
    }

    fn write(offset: u64, bytes: u64) -> Operation {
        let file = tempfile::tempfile().unwrap();
        let path = PathBuf::from("data");
        Operation::Write {
            file: 5,
            offset,
            data: Data {
                source: Arc::new(DataFile { file, path }),
                at: 0,
                stored_bytes: 0,
                bytes,
            },
            opened: OpenMode {
                durable: false,
                direct: true,
            },
        }
    }

    #[test]
    fn what_no_drive_can_be_asked_is_refused() {
        assert_eq!(opened(write(0, 1 << 20)).unwrap().event_count(), 1);
        let allocate = Operation::Allocate {
            file: 5,
            mode: 0,
            offset: 1,
            bytes: u64::MAX,
        };
        for operation in [write(0, 1 << 60), write(u64::MAX, 512), allocate] {
            let error = opened(operation).unwrap_err();
            assert!(error.contains("event 0"), "{error}");
        }
    }
}
