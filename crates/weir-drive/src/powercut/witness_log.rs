//! Log of a witness: a line of JSON for each event, only ever appended to and flushed before it is answered.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::FlockOperation;
use weir_process::PathError;

use super::error::PowercutError;
use super::lane::LANES;
use super::run_id::RunId;
use super::witness_message::{Event, FORMAT, LINE_BYTES_MAX, Message, RunStart};

/// The log of a witness that listens; no other one may write it.
#[derive(Debug)]
pub(crate) struct WitnessLog {
    file: File,
}

impl WitnessLog {
    /// Opens or makes the log; also returns the runs that are in it.
    pub(crate) fn open(path: &Path) -> Result<(Self, LoggedRuns), PowercutError> {
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true).mode(0o600);
        let file = options.open(path).map_err(PathError::on("open", path))?;
        let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        locked.map_err(|_| PowercutError::LogInUse(path.to_owned()))?;
        let runs = LoggedRuns::read(path)?;
        let mut log = Self { file };
        let mended = log.end_partial_line();
        mended.map_err(PathError::on("write", path))?;
        Ok((log, runs))
    }

    /// Appends lines, each with its end, and flushes them.
    pub(crate) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.file.sync_data()
    }

    /// Ends a line that a killed witness has left half written.
    fn end_partial_line(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let mut last = [b'\n'];
        if length > 0 {
            self.file.seek(SeekFrom::Start(length - 1))?;
            self.file.read_exact(&mut last)?;
        }
        if last == [b'\n'] {
            return Ok(());
        }
        self.append(b"\n")
    }
}

/// All that a log says.
#[derive(Debug, Default)]
pub(crate) struct LoggedRuns {
    pub(crate) runs: BTreeMap<RunId, LoggedRun>,
    /// Lines that a killed witness has left half written.
    pub(crate) unreadable_lines: u64,
}

/// Knowledge of the witness about one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedRun {
    pub(crate) start: RunStart,
    pub(crate) filled: bool,
    /// Newest acknowledged write of each lane.
    pub(crate) acknowledged: [u64; LANES],
    /// The writer was stopped before any cut.
    pub(crate) ended: bool,
}

impl LoggedRuns {
    /// Reads the log at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, PowercutError> {
        let file = File::open(path).map_err(PathError::on("open", path))?;
        let mut reader = BufReader::new(file);
        let (mut found, mut line) = (Self::default(), Vec::new());
        let mut lines = 0_u64;
        loop {
            line.clear();
            // A file that is no log may have no line ends at all.
            let mut limited = reader.by_ref().take(2 * LINE_BYTES_MAX as u64);
            let read = limited.read_until(b'\n', &mut line);
            if read.map_err(PathError::on("read", path))? == 0 {
                break;
            }
            lines += 1;
            match serde_json::from_slice::<Message>(&line) {
                Ok(message) => found.add(message),
                Err(_) => found.unreadable_lines += 1,
            }
        }
        if lines > 0 && found.unreadable_lines == lines {
            return Err(PowercutError::Unreadable {
                path: path.to_owned(),
                why: "none of its lines is one of a witness".to_owned(),
                remedy: "name the file that `weir drive powercut witness --log` has written",
            });
        }
        Ok(found)
    }

    /// Takes an event; one of a run that has not begun says nothing.
    pub(crate) fn add(&mut self, message: Message) {
        let Message { run, event } = message;
        if let Event::Begin(start) = event {
            if start.format == FORMAT {
                self.runs.entry(run).or_insert(LoggedRun {
                    start: *start,
                    filled: false,
                    acknowledged: [0; LANES],
                    ended: false,
                });
            }
            return;
        }
        let Some(found) = self.runs.get_mut(&run) else {
            return;
        };
        match event {
            Event::Filled => found.filled = true,
            Event::Flushed { lane, sequence } => {
                if let Some(newest) = found.acknowledged.get_mut(usize::from(lane)) {
                    *newest = sequence.max(*newest);
                }
            }
            Event::Ended => found.ended = true,
            Event::Begin(_) | Event::Alive | Event::Failed { .. } => {}
        }
    }
}
