//! Recording what a drive is asked: 24 bytes an operation, compressed, in bounded memory.
//!
//! The thread that serves requests fills blocks; another one compresses and writes them. If that
//! one cannot keep up, whole blocks are left out and counted, since a drive must not wait for its
//! own record. The format stands in `docs/drive-trace.md`.

mod format;
mod reader;

pub use self::format::TraceOperation;
pub use self::reader::TraceReader;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use weir_model::{Nanoseconds, Op};
use weir_process::create_private_file;

use self::format::{HEADER, RECORD_BYTES, Record};

/// Operations that are handed over at once.
const BLOCK_RECORDS: usize = 2048;
/// Blocks that may wait: 3 MiB, a second of the most that a drive can serve.
const BLOCKS_WAITING_MAX: usize = 64;
/// The fastest level that shrinks records well; its thread takes 1 % of a core.
const ZSTD_LEVEL: i32 = 1;

/// Summary of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Operations that were recorded.
    pub operations: u64,
    /// Operations that were left out because writing could not keep up.
    pub lost: u64,
}

/// Recorder of a drive's operations.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    active: AtomicBool,
    recording: Mutex<Option<Recording>>,
}

/// The path of the file with that number, relative to the drive's root.
type PathOf = Box<dyn Fn(u64) -> String + Send>;

struct Recording {
    sender: SyncSender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
    block: Vec<u8>,
    block_operations: u64,
    /// Numbers in this trace of the drive's files.
    files: HashMap<u64, u32>,
    next_file: u32,
    path_of: PathOf,
    summary: TraceSummary,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording")
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

impl Tracer {
    /// Begins to record into the new file `path`.
    pub(crate) fn start(&self, path: &Path, path_of: PathOf) -> io::Result<()> {
        let mut recording = self.lock();
        if recording.is_some() {
            let why = "a trace is being recorded already; stop it first";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        *recording = Some(Recording::start(path, path_of)?);
        self.active.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the recording; `None` if there was none.
    pub(crate) fn stop(&self) -> Option<io::Result<TraceSummary>> {
        self.active.store(false, Ordering::Relaxed);
        let recording = self.lock().take();
        recording.map(Recording::finish)
    }

    /// Records that `op` came at `now` and takes `latency` by the model.
    pub(crate) fn record(&self, op: &Op, now: Nanoseconds, latency: Nanoseconds) {
        if !self.active.load(Ordering::Relaxed) {
            return;
        }
        if let Some(recording) = &mut *self.lock() {
            recording.record(op, now, latency);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Recording>> {
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    fn start(path: &Path, path_of: PathOf) -> io::Result<Self> {
        let mut file = create_private_file(path)?;
        file.write_all(&HEADER)?;
        let (sender, blocks) = sync_channel(BLOCKS_WAITING_MAX);
        let writer = std::thread::Builder::new()
            .name("drive-trace".to_owned())
            .spawn(move || write(file, &blocks))?;
        Ok(Self {
            sender,
            writer,
            block: new_block(),
            block_operations: 0,
            files: HashMap::new(),
            next_file: 0,
            path_of,
            summary: TraceSummary::default(),
        })
    }

    fn record(&mut self, op: &Op, now: Nanoseconds, latency: Nanoseconds) {
        let file = match self.files.get(&op.file) {
            Some(file) => *file,
            None => self.introduce(op.file),
        };
        self.push(&Record::operation(op, now, latency, file));
        self.block_operations += 1;
        if self.block.len() >= BLOCK_RECORDS * RECORD_BYTES {
            self.hand_over();
        }
    }

    fn introduce(&mut self, number: u64) -> u32 {
        let file = self.next_file;
        self.next_file += 1;
        self.files.insert(number, file);
        let path = (self.path_of)(number);
        self.push(&Record::name(file, path.len()));
        self.block.extend_from_slice(path.as_bytes());
        let whole = self.block.len().next_multiple_of(RECORD_BYTES);
        self.block.resize(whole, 0);
        file
    }

    fn push(&mut self, record: &Record) {
        self.block.extend_from_slice(&record.encode());
    }

    fn hand_over(&mut self) {
        let operations = std::mem::take(&mut self.block_operations);
        let block = std::mem::replace(&mut self.block, new_block());
        match self.sender.try_send(block) {
            Ok(()) => self.summary.operations += operations,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.summary.lost += operations;
                // The names that went with the block have to be said again.
                self.files.clear();
            }
        }
    }

    fn finish(mut self) -> io::Result<TraceSummary> {
        self.summary.operations += self.block_operations;
        let end = Record::end(self.summary.operations, self.summary.lost);
        self.push(&end);
        // A writer that failed says why below.
        let _ = self.sender.send(self.block);
        drop(self.sender);
        let written = self.writer.join();
        written.map_err(|_| io::Error::other("the writing thread failed"))??;
        Ok(self.summary)
    }
}

fn new_block() -> Vec<u8> {
    // Room for some names beside the operations.
    Vec::with_capacity((BLOCK_RECORDS + 64) * RECORD_BYTES)
}

fn write(file: File, blocks: &Receiver<Vec<u8>>) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(file, ZSTD_LEVEL)?;
    for block in blocks {
        encoder.write_all(&block)?;
    }
    encoder.finish()?.sync_data()
}

#[cfg(test)]
mod tests {
    use weir_model::{FileKind, OpKind};

    use super::*;

    fn op(file: u64, offset: u64, bytes: u64) -> Op {
        Op {
            kind: OpKind::Write,
            file,
            file_kind: FileKind::Data,
            offset,
            bytes,
            compressed_fraction: 1.0,
        }
    }

    fn traced(path: &Path, operations: u64) -> TraceSummary {
        let tracer = Tracer::default();
        tracer.record(&op(9, 0, 1), 0, 0);
        let path_of = |number| format!("sbtest/t{number}.ibd");
        tracer.start(path, Box::new(path_of)).unwrap();
        for number in 0..operations {
            tracer.record(&op(number % 3, number * 16_384, 16_384), number * 7, 80_000);
            if number % BLOCK_RECORDS as u64 == 0 {
                // The writer must keep up on any machine, for the test to know the outcome.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        tracer.stop().unwrap().unwrap()
    }

    #[test]
    fn what_was_recorded_is_read_back_with_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        assert_eq!(traced(&path, 10_000).operations, 10_000);
        let mut reader = TraceReader::open(&path).unwrap();
        let found: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(found.len(), 10_000);
        let last = found[9_999];
        assert_eq!((last.at_ns, last.latency_ns), (9_999 * 7, 80_000));
        assert_eq!((last.offset, last.bytes), (9_999 * 16_384, 16_384));
        assert_eq!(last.what, OpKind::Write);
        assert_eq!(reader.path(last.file), Some("sbtest/t0.ibd"));
        assert_eq!(reader.lost(), 0);
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!(bytes < 10_000 * RECORD_BYTES as u64 / 2, "{bytes}");
    }

    #[test]
    fn a_cut_off_trace_gives_what_it_has_and_then_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        traced(&path, 10_000);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 20]).unwrap();
        let mut results: Vec<_> = TraceReader::open(&path).unwrap().collect();
        let error = results.pop().unwrap().unwrap_err().to_string();
        assert!(
            error.contains("ends in the middle") && error.lines().count() == 1,
            "{error}"
        );
        assert!(results.iter().all(Result::is_ok));
    }

    #[test]
    fn what_is_no_trace_and_what_is_of_another_version_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, "title = \"not a trace\"").unwrap();
        let error = TraceReader::open(&path).unwrap_err().to_string();
        assert!(error.contains("is no trace of a drive"), "{error}");
        traced(&path.with_extension("1"), 1);
        let mut bytes = std::fs::read(path.with_extension("1")).unwrap();
        bytes[8] = 9;
        std::fs::write(&path, bytes).unwrap();
        let error = TraceReader::open(&path).unwrap_err().to_string();
        assert!(error.contains("version 9"), "{error}");
    }

    fn made(path: &Path, records: &[u8]) -> Result<u64, String> {
        let mut bytes = HEADER.to_vec();
        bytes.extend(zstd::encode_all(records, ZSTD_LEVEL).unwrap());
        std::fs::write(path, bytes).unwrap();
        let reader = TraceReader::open(path).unwrap();
        let mut count = 0;
        for operation in reader {
            operation.map_err(|error| error.to_string())?;
            count += 1;
        }
        Ok(count)
    }

    #[test]
    fn a_small_file_costs_little_whatever_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let error = made(&path, &vec![0; 16 << 20]).unwrap_err();
        assert!(error.contains("times as long as its file"), "{error}");
        let name = Record::name(1, 4097).encode();
        let error = made(&path, &name).unwrap_err();
        assert!(error.contains("a name of 4097 bytes"), "{error}");
        let read = Record::operation(&op(1, 0, (1 << 20) + 1), 0, 0, 1).encode();
        let error = made(&path, &read).unwrap_err();
        assert!(error.contains("a request of 1048577 bytes"), "{error}");
    }

    #[test]
    fn an_existing_file_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        std::fs::write(&path, "kept").unwrap();
        let refused = Tracer::default().start(&path, Box::new(|_| String::new()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(Tracer::default().stop().is_none());
    }
}
