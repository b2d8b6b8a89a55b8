//! Writer of one lane: it overwrites the pages of its file until it is stopped, and tells the witness what is safe.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_process::{MappedMemory, PathError};

use super::error::PowercutError;
use super::lane::{Durability, LANES, Lane};
use super::order::WriteOrder;
use super::record::{NewestFlushes, Record};
use super::run_directory::RunDirectory;
use super::witness_link::WitnessLink;
use super::witness_message::Event;

/// Writes between two flushes at most.
const BATCH_MAX: u64 = 8;

/// State that all lanes of a run share.
pub(super) struct SharedRun<'a> {
    pub(super) directory: &'a RunDirectory,
    pub(super) order: WriteOrder,
    pub(super) link: &'a WitnessLink,
    /// Newest flushed write of each lane.
    pub(super) flushed: [AtomicU64; LANES],
    /// A lane has failed, or the user stops.
    pub(super) stop: &'a AtomicBool,
}

impl SharedRun<'_> {
    fn flushed(&self) -> NewestFlushes {
        std::array::from_fn(|lane| self.flushed[lane].load(Ordering::Acquire))
    }
}

/// The file of a lane, and the number of its last write.
pub(super) struct LaneWriter<'a> {
    shared: &'a SharedRun<'a>,
    number: u16,
    lane: Lane,
    path: PathBuf,
    file: File,
    /// Aligned, as direct writes need it.
    memory: MappedMemory,
    sequence: u64,
}

impl<'a> LaneWriter<'a> {
    /// Opens the filled file of a lane.
    pub(super) fn open(
        shared: &'a SharedRun<'a>,
        (number, lane): (u16, Lane),
    ) -> Result<Self, PowercutError> {
        let path = shared.directory.file(&lane);
        let mut options = OpenOptions::new();
        let options = options.write(true);
        let options = options.custom_flags(lane.open_flags().bits().cast_signed());
        let file = options.open(&path).map_err(PathError::on("open", &path))?;
        let memory = MappedMemory::new(lane.page.0 as usize);
        Ok(Self {
            memory: memory.map_err(PathError::on("get memory to write", &path))?,
            shared,
            number,
            lane,
            path,
            file,
            sequence: shared.order.pages(),
        })
    }

    /// Writes until the run is stopped.
    pub(super) fn run(&mut self) -> Result<(), PowercutError> {
        while !self.shared.stop.load(Ordering::Relaxed) {
            match self.lane.durability {
                Durability::Dsync | Durability::Completion => self.write()?,
                Durability::Fsync | Durability::Fdatasync => {
                    // Batches of all lengths, so that cuts meet few and many open writes.
                    for _ in 0..=self.sequence % BATCH_MAX {
                        self.write()?;
                    }
                    self.flush()?;
                }
            }
            self.acknowledged()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), PowercutError> {
        self.sequence += 1;
        let page = self.shared.order.page(self.sequence);
        let record = Record {
            run: self.shared.directory.run,
            lane: self.number,
            page: page as u32,
            sequence: self.sequence,
            flushed: self.shared.flushed(),
        };
        let bytes = self.lane.page.0 as usize;
        let mut content = vec![0; bytes];
        record.encode(&mut content);
        self.memory.put(0, &content);
        let written = self
            .file
            .write_all_at(self.memory.get(0, bytes), page * self.lane.page.0);
        written.map_err(|source| self.failed("writing", source))
    }

    fn flush(&self) -> Result<(), PowercutError> {
        let flushed = match self.lane.durability {
            Durability::Fdatasync => self.file.sync_data(),
            _ => self.file.sync_all(),
        };
        flushed.map_err(|source| self.failed("flushing", source))
    }

    fn acknowledged(&self) -> Result<(), PowercutError> {
        if self.lane.durability.is_promised() {
            self.shared.flushed[usize::from(self.number)].store(self.sequence, Ordering::Release);
        }
        self.shared.link.tell(Event::Flushed {
            lane: self.number,
            sequence: self.sequence,
        })
    }

    fn failed(&self, what: &'static str, source: io::Error) -> PowercutError {
        PowercutError::Operation {
            what,
            path: self.path.clone(),
            source,
        }
    }
}
