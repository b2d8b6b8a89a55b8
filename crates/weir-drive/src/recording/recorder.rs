//! The drive's end of a recording: what the FUSE front end tells.
//!
//! One thread reads the kernel's requests, applies them to the store and records them before it
//! reads the next; replies are recorded just before they are sent. So an operation stands before
//! every operation that could depend on it, and what a client knows to be done has
//! its [`Operation::Done`] before anything that the client did next.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use weir_process::{create_private_file, monotonic_ns};

use super::data::DataFile;
use super::format::{MAGIC, Record, VERSION, encode};
use super::log::Log;
use super::{DATA_FILE, EVENTS_FILE, OpenMode, Operation, RecordingOptions, base};
use crate::DriveError;

/// Records operations, or nothing if no recording was asked for.
#[derive(Debug)]
pub(crate) struct Recorder {
    running: Option<ActiveRecorder>,
}

#[derive(Debug)]
struct ActiveRecorder {
    log: Arc<Log>,
    events_path: PathBuf,
    writer: Mutex<Option<JoinHandle<std::io::Result<()>>>>,
}

/// A recorded write or flush that has not been answered.
#[derive(Debug)]
pub(crate) struct PendingRecord {
    log: Arc<Log>,
    sequence: u64,
}

impl PendingRecord {
    /// The answer to what was recorded, if it was, leaves now.
    pub(crate) fn done(recorded: Option<Self>) {
        if let Some(Self { log, sequence }) = recorded {
            log.operation(Operation::Done { sequence });
        }
    }
}

impl Recorder {
    /// Prepares the recording that `options` ask for, of a drive that keeps its files in
    /// `backing` and shows them at `mountpoint`.
    pub(crate) fn open(
        options: Option<&RecordingOptions>,
        backing: &Path,
        mountpoint: &Path,
    ) -> Result<Self, DriveError> {
        let running = options
            .map(|options| ActiveRecorder::open(options, [backing, mountpoint]))
            .transpose()?;
        Ok(Self { running })
    }

    /// Lists what is in `backing` and takes operations from now on.
    pub(crate) fn begin(&self, profile: &str, backing: &Path) -> Result<(), DriveError> {
        let Some(running) = &self.running else {
            return Ok(());
        };
        let mut opening = MAGIC.to_vec();
        opening.extend_from_slice(&VERSION.to_le_bytes());
        let now_ns = monotonic_ns();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        let start = Record::Start {
            profile: profile.to_owned(),
            unix_ns: since_epoch.unwrap_or_default().as_nanos() as u64,
        };
        encode(&mut opening, now_ns, &start);
        base::walk(backing, |file, path| {
            encode(&mut opening, now_ns, &Record::Base { file, path });
        })
        .map_err(DriveError::path("list", backing))?;
        running.log.begin(&opening);
        Ok(())
    }

    /// A write has arrived.
    pub(crate) fn write(
        &self,
        file: u64,
        offset: u64,
        data: &[u8],
        opened: OpenMode,
    ) -> Option<PendingRecord> {
        let log = &self.running.as_ref()?.log;
        let sequence = log.write(file, offset, data, opened)?;
        let log = Arc::clone(log);
        Some(PendingRecord { log, sequence })
    }

    /// A flush of `file` has arrived.
    pub(crate) fn flush(&self, file: u64) -> Option<PendingRecord> {
        let log = &self.running.as_ref()?.log;
        let sequence = log.operation(Operation::Flush { file })?;
        let log = Arc::clone(log);
        Some(PendingRecord { log, sequence })
    }

    /// Notes an operation that was issued; it counts if `outcome` is success.
    pub(crate) fn note<T, E>(
        &self,
        outcome: &Result<T, E>,
        operation: impl FnOnce(&T) -> Operation,
    ) {
        if let (Some(running), Ok(value)) = (&self.running, outcome)
            && running.log.is_running()
        {
            running.log.operation(operation(value));
        }
    }

    /// Returns true if operations are being recorded: it was asked for, and has not reached its
    /// limit.
    pub(crate) fn is_running(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.log.is_running())
    }

    /// Ends the recording; an error if it could not be written.
    pub(crate) fn finish(&self) -> Result<(), DriveError> {
        self.running.as_ref().map_or(Ok(()), ActiveRecorder::finish)
    }
}

impl ActiveRecorder {
    fn open(options: &RecordingOptions, forbidden: [&Path; 2]) -> Result<Self, DriveError> {
        let directory = &options.directory;
        for path in forbidden {
            check_outside(directory, path)?;
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(DriveError::path("create", directory))?;
        let data = DataFile {
            file: create_file(&directory.join(DATA_FILE))?,
            path: directory.join(DATA_FILE),
        };
        let events_path = directory.join(EVENTS_FILE);
        let events = create_file(&events_path)?;
        let log = Arc::new(Log::new(Arc::new(data), options.limit.0));
        let of_writer = Arc::clone(&log);
        let writer = std::thread::Builder::new()
            .name("drive-recording".to_owned())
            .spawn(move || of_writer.serve(events))
            .map_err(DriveError::path(
                "start the thread that writes",
                &events_path,
            ))?;
        Ok(Self {
            log,
            events_path,
            writer: Mutex::new(Some(writer)),
        })
    }

    fn finish(&self) -> Result<(), DriveError> {
        self.log.close();
        let writer = self.writer.lock();
        let writer = writer.unwrap_or_else(PoisonError::into_inner).take();
        // A panic in the thread has already been printed; there is nothing to add.
        match writer.map(JoinHandle::join) {
            Some(Ok(Err(error))) => Err(DriveError::path("write", &self.events_path)(error)),
            _ => Ok(()),
        }
    }
}

impl Drop for ActiveRecorder {
    fn drop(&mut self) {
        // A drive that could not be mounted; its error is on its way already.
        let _ = self.finish();
    }
}

/// A recording that reached the drive would record itself.
fn check_outside(directory: &Path, forbidden: &Path) -> Result<(), DriveError> {
    let absolute = std::path::absolute(directory).map_err(DriveError::path("find", directory))?;
    let existing = absolute
        .ancestors()
        .find_map(|path| path.canonicalize().ok());
    let forbidden = forbidden
        .canonicalize()
        .map_err(DriveError::path("find", forbidden))?;
    if existing.is_some_and(|existing| existing.starts_with(forbidden)) {
        return Err(DriveError::Path {
            action: "record into",
            path: directory.to_owned(),
            source: ErrorKind::InvalidInput.into(),
            advice: "; name a directory outside of the drive and its backing",
        });
    }
    Ok(())
}

fn create_file(path: &Path) -> Result<File, DriveError> {
    create_private_file(path).map_err(|source| DriveError::Path {
        action: "create",
        path: path.to_owned(),
        advice: if source.kind() == ErrorKind::AlreadyExists {
            "; a recording is there already, name another directory"
        } else {
            ""
        },
        source,
    })
}
