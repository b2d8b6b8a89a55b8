//! The writer of a power-cut test: a run of all lanes at once, in a new folder.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use weir_model::Bytes;
use weir_process::{MappedMemory, PathError};

use super::error::PowercutError;
use super::lane::{Lane, PAGE_SIZES};
use super::lane_writer::{LaneWriter, SharedRun};
use super::order::WriteOrder;
use super::run_directory::RunDirectory;
use super::run_id::RunId;
use super::storage_identity::StorageIdentity;
use super::witness_link::WitnessLink;
use super::witness_message::{Event, FORMAT, RunStart, boot_id};

/// Interval at which the writer shows its witness that it lives.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Interval at which it looks for its end.
const POLL: Duration = Duration::from_millis(50);
/// Part of the needed space that the file system may take for itself.
const OVERHEAD: u64 = 10;

/// Options of the writer.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Folder on the storage; the run makes a new folder in it.
    pub directory: PathBuf,
    /// `HOST:PORT` of the witness.
    pub witness: String,
    /// Pages of each file, a power of two.
    pub pages: u32,
}

/// A run that is about to begin; nothing is written yet.
#[derive(Debug)]
pub struct Writer {
    directory: RunDirectory,
    witness: String,
    start: RunStart,
    needed: Bytes,
    free: Bytes,
}

impl Writer {
    /// Looks at the storage and its space. Leaves an empty file for a moment, to see if it takes `O_DIRECT`.
    ///
    /// # Errors
    ///
    /// A folder that cannot be used or has no room, or a bad number of pages.
    pub fn prepare(options: &WriteOptions) -> Result<Self, PowercutError> {
        let pages = options.pages;
        if !pages.is_power_of_two() || !(8..=1 << 24).contains(&pages) {
            return Err(PowercutError::Pages(pages));
        }
        let parent = options.directory.canonicalize();
        let parent = parent.map_err(PathError::on("use", &options.directory))?;
        let space = rustix::fs::statvfs(&parent);
        let space = space.map_err(|errno| PathError::on("look at", &parent)(errno.into()))?;
        let with_direct = takes_direct(&parent)?;
        let lanes = Lane::all().into_iter().enumerate();
        let lanes = lanes.filter(|(_, lane)| with_direct || !lane.direct);
        let lanes: Vec<_> = lanes.map(|(number, lane)| (number as u16, lane)).collect();
        let content: u64 = lanes
            .iter()
            .map(|(_, lane)| lane.page.0 * u64::from(pages))
            .sum();
        let needed = Bytes(content + content / OVERHEAD);
        let free = Bytes(space.f_bavail * space.f_frsize);
        if free < needed {
            return Err(PowercutError::NoRoom {
                directory: parent,
                needed,
                free,
            });
        }
        Ok(Self {
            start: RunStart {
                format: FORMAT,
                pages,
                lanes: lanes.into_iter().map(|(number, _)| number).collect(),
                boot: boot_id(),
                storage: StorageIdentity::below(&parent)?,
                directory: parent.clone(),
            },
            directory: RunDirectory::new(&parent, RunId::random()),
            witness: options.witness.clone(),
            needed,
            free,
        })
    }

    /// Folder that the run will make.
    pub fn directory(&self) -> &Path {
        &self.directory.path
    }

    /// Space that it needs.
    pub fn needed(&self) -> Bytes {
        self.needed
    }

    /// Space that there is.
    pub fn free(&self) -> Bytes {
        self.free
    }

    /// Identity of the storage.
    pub fn storage(&self) -> &StorageIdentity {
        &self.start.storage
    }

    /// Returns true if the storage takes `O_DIRECT`; the ways of writing with it are left out if not.
    pub fn has_direct(&self) -> bool {
        let all = Lane::all();
        let mut lanes = self.start.lanes.iter();
        lanes.any(|number| all[usize::from(*number)].direct)
    }

    /// Writes until `stop` is set, or until the device or the witness is gone. `ready` is called when each write may be
    /// cut.
    ///
    /// # Errors
    ///
    /// A device that fails, as one that is detached does, or a witness that goes away.
    pub fn run(&self, stop: &AtomicBool, ready: impl FnOnce()) -> Result<(), PowercutError> {
        let link = WitnessLink::connect(&self.witness, self.directory.run)?;
        link.tell(Event::Begin(Box::new(self.start.clone())))?;
        link.wait_for_all()?;
        let all = Lane::all();
        let numbers = self.start.lanes.iter().copied();
        let lanes: Vec<_> = numbers
            .map(|number| (number, all[usize::from(number)]))
            .collect();
        let order = WriteOrder::new(self.start.pages);
        self.directory.create(&lanes, order)?;
        let _lock = self.directory.lock();
        for (lane, _) in &lanes {
            let (lane, sequence) = (*lane, order.pages());
            link.tell(Event::Flushed { lane, sequence })?;
        }
        link.tell(Event::Filled)?;
        link.wait_for_all()?;
        ready();
        let ended = AtomicBool::new(false);
        let shared = SharedRun {
            directory: &self.directory,
            order,
            link: &link,
            flushed: std::array::from_fn(|_| AtomicU64::new(0)),
            stop: &ended,
        };
        let written = write_all(&shared, &lanes, stop);
        let last = self.last_event(&written)?;
        // A witness that is gone is the error already, or has nothing more to lose.
        let told = link.tell(last).and_then(|()| link.wait_for_all());
        written.and(told)
    }

    /// Returns the last event of a run. Where the device is not gone, nothing is written any more, and a cut from now on
    /// meets no write.
    fn last_event(&self, written: &Result<(), PowercutError>) -> Result<Event, PowercutError> {
        if let Err(error @ PowercutError::Operation { .. }) = written {
            let why = error.to_string();
            return Ok(Event::Failed { why });
        }
        let marked = self.directory.mark_ended();
        marked.map_err(PathError::on("mark the end in", &self.directory.path))?;
        Ok(Event::Ended)
    }
}

/// Runs each lane in a thread of its own; the first failure of any.
fn write_all(
    shared: &SharedRun<'_>,
    lanes: &[(u16, Lane)],
    stop: &AtomicBool,
) -> Result<(), PowercutError> {
    std::thread::scope(|scope| {
        let lane = |lane: &(u16, Lane)| {
            let lane = *lane;
            scope.spawn(move || {
                let done = LaneWriter::open(shared, lane).and_then(|mut writer| writer.run());
                if done.is_err() {
                    shared.stop.store(true, Ordering::Relaxed);
                }
                done
            })
        };
        let threads: Vec<_> = lanes.iter().map(lane).collect();
        let alive = until_end(shared, stop);
        shared.stop.store(true, Ordering::Relaxed);
        let ends = threads.into_iter().map(|thread| {
            let end = thread.join();
            end.unwrap_or(Err(PowercutError::Thread))
        });
        let ends: Vec<_> = ends.collect();
        ends.into_iter().fold(alive, Result::and)
    })
}

/// Shows the witness that the writer lives, until the user or a lane ends the run.
fn until_end(shared: &SharedRun<'_>, stop: &AtomicBool) -> Result<(), PowercutError> {
    let is_over = || stop.load(Ordering::Relaxed) || shared.stop.load(Ordering::Relaxed);
    let mut waited = Duration::ZERO;
    while !is_over() {
        std::thread::sleep(POLL);
        waited += POLL;
        if waited >= HEARTBEAT {
            waited = Duration::ZERO;
            shared.link.tell(Event::Alive)?;
        }
    }
    Ok(())
}

/// Returns true if a file in `folder` can be written with `O_DIRECT` in pages of the smallest size.
fn takes_direct(folder: &Path) -> Result<bool, PathError> {
    let probe = folder.join(format!(".weir-powercut-{}", std::process::id()));
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    drop(
        options
            .open(&probe)
            .map_err(PathError::on("create", &probe))?,
    );
    let flags = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let mut direct = OpenOptions::new();
    let mut takes = || -> io::Result<()> {
        let page = PAGE_SIZES[0] as usize;
        let memory = MappedMemory::new(page)?;
        let file = direct.write(true).custom_flags(flags).open(&probe)?;
        file.write_all_at(memory.get(0, page), 0)
    };
    let found = takes().is_ok();
    std::fs::remove_file(&probe).map_err(PathError::on("remove", &probe))?;
    Ok(found)
}
