//! The recording on its way to its files: encoded at once, written by a thread of its own.
//!
//! Two pairs of buffers take turns: one is filled while the other is written. A thread that would fill
//! a pair beyond its bound waits for the writer, so memory is bounded whatever the drive's
//! throughput. Data are written before the events that refer to them.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use weir_process::monotonic_ns;

use super::data::{DataFile, without_zeroes_at_the_end};
use super::format::{Record, encode};
use super::{Data, OpenMode, Operation};

/// Worth a system call.
const WORTH_WRITING_BYTES: usize = 1 << 20;
/// Of each of two buffers of data; a write of the largest size (1 MiB) may exceed it.
const DATA_BYTES_MAX: usize = 16 << 20;
/// Of each of two buffers of events.
const EVENTS_BYTES_MAX: usize = 4 << 20;
/// Time after which an event is in the file, also if the process is killed.
const WRITTEN_WITHIN: Duration = Duration::from_millis(100);

/// Log of a recording, in its order.
#[derive(Debug)]
pub(super) struct Log {
    filling: Mutex<ActiveBuffers>,
    filled: Condvar,
    room: Condvar,
    /// Begun and not ended; looked at without the lock by those who have nothing to wait for.
    running: AtomicBool,
    data: Arc<DataFile>,
    limit_bytes: u64,
}

/// The pair of buffers that is being filled, and what has been counted so far.
#[derive(Debug, Default)]
struct ActiveBuffers {
    buffers: Buffers,
    next_sequence: u64,
    data_bytes: u64,
    events_bytes: u64,
    /// The writer was woken, since there is something worth writing.
    is_writer_called: bool,
    closed: bool,
}

#[derive(Debug, Default)]
struct Buffers {
    events: Vec<u8>,
    data: Vec<u8>,
}

impl Log {
    pub(super) fn new(data: Arc<DataFile>, limit_bytes: u64) -> Self {
        Self {
            filling: Mutex::default(),
            filled: Condvar::new(),
            room: Condvar::new(),
            running: AtomicBool::new(false),
            data,
            limit_bytes,
        }
    }

    /// Starts with `opening`: from now on operations are taken.
    pub(super) fn begin(&self, opening: &[u8]) {
        let mut filling = self.lock();
        filling.buffers.events.extend_from_slice(opening);
        filling.events_bytes = opening.len() as u64;
        self.running.store(true, Ordering::Release);
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire)
    }

    /// Appends a write; its sequence number, `None` if nothing is recorded (any more).
    pub(super) fn write(
        &self,
        file: u64,
        offset: u64,
        data: &[u8],
        opened: OpenMode,
    ) -> Option<u64> {
        let stored = without_zeroes_at_the_end(data);
        let mut filling = self.lock_for(stored.len() as u64)?;
        let held = Data {
            source: Arc::clone(&self.data),
            at: filling.data_bytes,
            stored_bytes: stored.len() as u64,
            bytes: data.len() as u64,
        };
        filling.buffers.data.extend_from_slice(stored);
        filling.data_bytes += stored.len() as u64;
        let operation = Operation::Write {
            file,
            offset,
            data: held,
            opened,
        };
        Some(self.append(filling, operation))
    }

    /// Appends anything but a write; its sequence number.
    pub(super) fn operation(&self, operation: Operation) -> Option<u64> {
        let filling = self.lock_for(0)?;
        Some(self.append(filling, operation))
    }

    /// Ends the recording; what was appended is written and the writer's thread returns.
    pub(super) fn close(&self) {
        let mut filling = self.lock();
        self.end(&mut filling, false);
        filling.closed = true;
        self.filled.notify_one();
    }

    /// Writes to the files until the log is closed: the writer's thread.
    pub(super) fn serve(&self, mut events: File) -> io::Result<()> {
        let mut writing = Buffers::default();
        loop {
            let closed = self.take_filled(&mut writing);
            let written = (&self.data.file)
                .write_all(&writing.data)
                .and_then(|()| events.write_all(&writing.events));
            if let Err(error) = written {
                // Without an end record the recording says itself that it was cut short.
                self.running.store(false, Ordering::Release);
                self.room.notify_all();
                return Err(error);
            }
            if closed {
                return Ok(());
            }
            writing.data.clear();
            writing.events.clear();
        }
    }

    /// Swaps the full pair of buffers for the empty one; whether it was the last.
    fn take_filled(&self, empty: &mut Buffers) -> bool {
        let filling = self.lock();
        let waited = self
            .filled
            .wait_timeout_while(filling, WRITTEN_WITHIN, |filling| {
                !filling.closed && filling.buffers.bytes() < WORTH_WRITING_BYTES
            });
        let mut filling = waited.unwrap_or_else(PoisonError::into_inner).0;
        std::mem::swap(&mut filling.buffers, empty);
        filling.is_writer_called = false;
        self.room.notify_all();
        filling.closed
    }

    /// The lock, when there is room for `data_bytes`; `None` if nothing is recorded (any more).
    fn lock_for(&self, data_bytes: u64) -> Option<MutexGuard<'_, ActiveBuffers>> {
        if !self.is_running() {
            return None;
        }
        let is_full = |filling: &mut ActiveBuffers| {
            let full = filling.buffers.data.len() >= DATA_BYTES_MAX && data_bytes > 0
                || filling.buffers.events.len() >= EVENTS_BYTES_MAX;
            full && self.is_running()
        };
        let waited = self.room.wait_while(self.lock(), is_full);
        let mut filling = waited.unwrap_or_else(PoisonError::into_inner);
        if filling.data_bytes + filling.events_bytes + data_bytes > self.limit_bytes {
            self.end(&mut filling, true);
        }
        self.is_running().then_some(filling)
    }

    fn append(&self, mut filling: MutexGuard<'_, ActiveBuffers>, operation: Operation) -> u64 {
        filling.append(&Record::Operation(operation));
        let sequence = filling.next_sequence;
        filling.next_sequence += 1;
        // Once for each pair: waking a thread is a system call, also if none waits.
        let is_worth_writing = filling.buffers.bytes() >= WORTH_WRITING_BYTES;
        if is_worth_writing && !std::mem::replace(&mut filling.is_writer_called, true) {
            self.filled.notify_one();
        }
        sequence
    }

    fn end(&self, filling: &mut ActiveBuffers, at_limit: bool) {
        if self.running.swap(false, Ordering::AcqRel) {
            filling.append(&Record::End { at_limit });
        }
    }

    fn lock(&self) -> MutexGuard<'_, ActiveBuffers> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveBuffers {
    /// The time is taken under the lock, so that times follow the order.
    fn append(&mut self, record: &Record) {
        let before = self.buffers.events.len();
        encode(&mut self.buffers.events, monotonic_ns(), record);
        self.events_bytes += (self.buffers.events.len() - before) as u64;
    }
}

impl Buffers {
    fn bytes(&self) -> usize {
        self.events.len() + self.data.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::time::Instant;

    fn log(data: File) -> Log {
        let path = "data".into();
        let log = Log::new(Arc::new(DataFile { file: data, path }), u64::MAX);
        log.begin(b"");
        log
    }

    #[test]
    fn whoever_is_faster_than_the_writer_waits_and_nothing_is_lost() {
        const WRITES: u64 = 48;
        let (data, events) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let log = log(data.try_clone().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..WRITES {
                    let page = vec![1; 1 << 20];
                    log.write(9, number << 20, &page, OpenMode::default())
                        .unwrap();
                }
                log.close();
            });
            let patience = Instant::now() + Duration::from_mins(1);
            while log.lock().buffers.data.len() < DATA_BYTES_MAX {
                assert!(Instant::now() < patience, "the buffer does not fill");
                std::thread::yield_now();
            }
            // What has no data does not wait for those that have.
            assert_eq!(log.operation(Operation::Flush { file: 9 }), Some(16));
            assert!(log.lock().buffers.data.len() < DATA_BYTES_MAX + (1 << 20));
            scope.spawn(|| log.serve(events.try_clone().unwrap()).unwrap());
        });
        assert_eq!(data.metadata().unwrap().len(), WRITES << 20);
        assert!(events.metadata().unwrap().len() > WRITES * 64);
    }

    #[test]
    fn a_full_disk_ends_the_recording_and_holds_nobody_up() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let log = log(full);
        let page = vec![1; DATA_BYTES_MAX];
        assert_eq!(log.write(9, 0, &page, OpenMode::default()), Some(0));
        std::thread::scope(|scope| {
            // Either waits for room that a failed writer never makes, or finds it has failed.
            let waiting = scope.spawn(|| log.write(9, 0, &page, OpenMode::default()));
            let error = log.serve(tempfile::tempfile().unwrap()).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
            // Taken by the writer before it failed, or refused: it came back in any case.
            assert!(matches!(waiting.join().unwrap(), None | Some(1)));
        });
        assert_eq!(log.write(9, 0, &page, OpenMode::default()), None);
        assert_eq!(log.operation(Operation::Flush { file: 9 }), None);
    }
}
