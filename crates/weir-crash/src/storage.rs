//! The user's own storage: what can be known about its atomicity without cutting its power.
//!
//! Sources: statx(2) (`STATX_DIOALIGN`, `STATX_WRITE_ATOMIC`: Linux 6.11 for block devices, 6.13 for
//! ext4 and XFS), sysfs (`Documentation/ABI/stable/sysfs-block`: `atomic_write_unit_max_bytes`,
//! `physical_block_size`, `write_cache`), and what an `NVMe` device identifies itself with.

mod nvme;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, major, minor, statfs, statx};
use serde::Serialize;
use weir_model::{Atomicity, Bytes};
use weir_process::{Mount, PathError};
use weir_server::Proof;

use crate::device_rules::CacheRule;
use crate::error::CrashError;
use crate::kept_rules::KeptRules;

pub use nvme::{Nvme, NvmeIdentity};

/// Block devices that lie in memory.
const MEMORY_DEVICES: [&str; 2] = ["zram", "ram"];

/// `include/uapi/linux/magic.h`.
const EXT4: u64 = 0xef53;

/// `include/uapi/linux/stat.h`; rustix reads the answer and has no name for the question.
const STATX_WRITE_ATOMIC: u32 = 0x0001_0000;

/// Facts that a folder's storage states about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Storage {
    /// The folder.
    pub path: PathBuf,
    /// Type of its file system; `None`: the mount table does not say.
    pub file_system: Option<String>,
    /// A power cut leaves nothing at all.
    pub in_memory: bool,
    /// The mount is set to send no flushes to the device.
    pub flushes_withheld: bool,
    /// `O_DIRECT` opens there.
    pub direct: bool,
    /// Alignment that direct writes need, bytes; `None`: the kernel does not say.
    pub direct_alignment: Option<u32>,
    /// Largest write that the file system promises never to tear when asked with `RWF_ATOMIC`,
    /// bytes; `None`: no such promise.
    pub file_system_atomic: Option<u32>,
    /// All extents of files begin and end at multiples of this, as far as is known, bytes: what is aligned
    /// and no larger lies in one piece on the device.
    pub extent_unit: u32,
    /// The block device below, where there is one.
    pub device: Option<BlockDevice>,
}

/// Facts that a block device states about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockDevice {
    /// Name in sysfs.
    pub name: String,
    /// The smallest write that it takes, which is never torn, bytes.
    pub logical_block: Option<u32>,
    /// Bytes that it writes at once.
    pub physical_block: Option<u32>,
    /// Largest write that it never tears, bytes; 0: none but its sectors.
    pub atomic_write_max: Option<u32>,
    /// It has a cache that a power cut may empty, as far as the kernel knows.
    pub volatile_cache: Option<bool>,
    /// Answers of the device itself; `None`: it is no `NVMe` device.
    pub nvme: Option<Nvme>,
}

impl Storage {
    /// Looks at the storage below the folder `path`; makes an empty file there for a moment.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read or written.
    pub fn inspect(path: &Path) -> Result<Self, CrashError> {
        let probe = path.join(format!(".weir-storage-{}", std::process::id()));
        // Where O_DIRECT is refused, the call that asks for it leaves a file all the same.
        fs::File::create_new(&probe).map_err(PathError::on("create", &probe))?;
        let is_direct = direct().write(true).open(&probe).is_ok();
        let storage = Self::of_file(&probe, path, is_direct);
        let _ = fs::remove_file(&probe);
        storage
    }

    /// Looks at the storage below the folder `path` through the file `name` in it; writes nothing.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened.
    pub fn inspect_through(path: &Path, name: &str) -> Result<Self, CrashError> {
        let file = path.join(name);
        let is_direct = direct().read(true).open(&file).is_ok();
        Self::of_file(&file, path, is_direct)
    }

    fn of_file(file: &Path, path: &Path, is_direct: bool) -> Result<Self, CrashError> {
        let folder = fs::metadata(path).map_err(PathError::on("read", path))?;
        let wanted = StatxFlags::DIOALIGN | StatxFlags::from_bits_retain(STATX_WRITE_ATOMIC);
        let told = statx(rustix::fs::CWD, file, AtFlags::empty(), wanted);
        let told = told.map_err(|error| PathError::on("look at", path)(error.into()))?;
        let some = |value: u32| (value > 0).then_some(value);
        let kind = statfs(path).map_err(|error| PathError::on("look at", path)(error.into()))?;
        // What ext4 promises is never more than its unit of allocation: a block, with bigalloc a cluster
        // (ext4_atomic_write_init, fs/ext4/super.c). XFS looks for an aligned extent at each write.
        let extent_unit = match (kind.f_type.cast_unsigned(), told.stx_atomic_write_unit_max) {
            (EXT4, promised @ 1..) => promised,
            _ => u32::try_from(kind.f_bsize).unwrap_or(0),
        };
        let (mount, device) = (Mount::for_path(path), BlockDevice::by_number(folder.dev()));
        Ok(Self {
            path: path.to_owned(),
            in_memory: mount.as_ref().is_some_and(Mount::is_in_memory)
                || device.as_ref().is_some_and(BlockDevice::is_in_memory),
            flushes_withheld: mount
                .as_ref()
                .is_some_and(|mount| mount.withholds_flushes().is_some()),
            file_system: mount.map(|mount| mount.file_system),
            direct: is_direct,
            direct_alignment: some(told.stx_dio_offset_align),
            file_system_atomic: some(told.stx_atomic_write_unit_max),
            extent_unit,
            device,
        })
    }

    /// Returns its proof for the pages of a server that does not ask for untorn writes, which is every one today. File
    /// system and device have to promise them, extents may not begin within a page, and without `O_DIRECT` the kernel
    /// cuts writes as it likes.
    pub fn proof(&self) -> Proof {
        let whole = self.whole();
        let alone = self.device.as_ref().map_or(0, BlockDevice::largest_whole);
        match (whole, alone) {
            (0, 0) => Proof::None,
            _ if !self.direct && alone == 0 => Proof::None,
            _ => Proof::Storage {
                largest: Bytes(whole),
                device: Bytes(alone),
            },
        }
    }

    /// The largest aligned write that is never torn, bytes; 0: none but the device's blocks.
    fn whole(&self) -> u64 {
        let device = self.device.as_ref();
        let kernel = device.and_then(|device| device.atomic_write_max);
        match (self.direct, self.file_system_atomic, kernel) {
            (true, Some(file_system), Some(device)) => {
                file_system.min(device).min(self.extent_unit).into()
            }
            _ => 0,
        }
    }

    /// The rules that it keeps in a power cut, by its own word.
    pub fn kept(&self) -> KeptRules {
        let device = self.device.as_ref();
        let block = device.and_then(|device| device.logical_block);
        let block = u64::from(block.unwrap_or(512));
        let cache = match self.cache() {
            Some(CacheRule::Volatile) if self.flushes_withheld => Some(CacheRule::Lying),
            cache => cache,
        };
        KeptRules {
            cache,
            // The kernel does not say.
            cache_size: None,
            atomicity: Atomicity {
                unit: Bytes(self.whole().max(block)),
                granularity: Bytes(block),
                // Linux promises aligned writes only.
                boundary: None,
                ..Atomicity::default()
            },
        }
    }

    /// Returns the rule of its write cache; `None`: unknown.
    fn cache(&self) -> Option<CacheRule> {
        if self.in_memory {
            return Some(CacheRule::Lying);
        }
        let is_volatile = self.device.as_ref()?.volatile_cache?;
        Some(if is_volatile {
            CacheRule::Volatile
        } else {
            CacheRule::PowerProtected
        })
    }

    /// Returns true if the file system promises that a page of `page` is never torn, if it is
    /// asked.
    fn promises_whole(&self, page: Bytes) -> bool {
        self.file_system_atomic
            .is_some_and(|largest| u64::from(largest) >= page.0)
    }

    /// Returns true if the device promises it, of a write that reaches it in one piece.
    fn device_promises_whole(&self, page: Bytes) -> bool {
        let device = self.device.as_ref();
        device.is_some_and(|device| device.largest_whole() >= page.0)
    }

    /// Returns the known and the unknown facts on pages of `page`, in plain words.
    pub fn lines(&self, page: Bytes) -> Vec<String> {
        let size = |bytes: u32| Bytes(bytes.into()).to_string();
        let mut lines = vec![if self.direct {
            let alignment = self
                .direct_alignment
                .map_or("of unknown alignment".to_owned(), |bytes| {
                    format!("aligned to {}", size(bytes))
                });
            format!("O_DIRECT: possible, {alignment}")
        } else {
            "O_DIRECT: refused; the kernel may cut a page's write into pieces of its own".to_owned()
        }];
        lines.push(match self.file_system_atomic {
            Some(bytes) => format!("untorn writes by the file system: up to {}", size(bytes)),
            None => "untorn writes by the file system: none promised (statx)".to_owned(),
        });
        match &self.device {
            None => lines.push(
                "block device: none that sysfs knows (network, memory or FUSE file system)"
                    .to_owned(),
            ),
            Some(device) => lines.extend(device.lines()),
        }
        if self.in_memory {
            lines.push("it is in memory: no data survive a power cut".to_owned());
        } else if self.flushes_withheld {
            lines.push("flushes: the mount sends none to the device (nobarrier)".to_owned());
        }
        lines.push(format!("what this proves: {}", self.proven(page)));
        lines.push(
            "what it cannot prove: the behaviour of this device in a power cut. Only cutting its power can \
             (`weir drive powercut`); `weir crash-test run --drive` tests a server against an emulated drive's rules, \
             never this device"
                .to_owned(),
        );
        lines
    }

    fn proven(&self, page: Bytes) -> String {
        if matches!(self.proof(), Proof::Storage { largest, .. } if largest >= page) {
            format!(
                "file system and device promise pages of {page} untorn, and no page lies across two extents; a \
                 promise is no power cut"
            )
        } else if self.promises_whole(page) {
            format!(
                "the system promises pages of {page} untorn, for writes that ask for it (RWF_ATOMIC); a server \
                 that does not ask gets no promise, and a promise is no power cut; keep the doublewrite buffer on"
            )
        } else if self.device_promises_whole(page) {
            format!(
                "the device promises not to tear a write of {page} that reaches it in one piece; the file system \
                 does not promise that a page does (its extents may lie across). Keep the doublewrite buffer on"
            )
        } else {
            "nothing here promises untorn pages; keep the doublewrite buffer on".to_owned()
        }
    }
}

/// Options that open without the page cache.
fn direct() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed());
    options
}

impl BlockDevice {
    /// The device with this number, or the disk of which it is a partition.
    fn by_number(device: u64) -> Option<Self> {
        let link = format!("/sys/dev/block/{}:{}", major(device), minor(device));
        let path = fs::canonicalize(link).ok()?;
        let disk = if path.join("partition").exists() {
            path.parent()?.to_owned()
        } else {
            path
        };
        let queue = disk.join("queue");
        let text = |name: &str| fs::read_to_string(queue.join(name)).ok();
        let number = |name: &str| text(name)?.trim().parse().ok();
        let name = disk.file_name()?.to_string_lossy().into_owned();
        Some(Self {
            nvme: Nvme::for_node(&Path::new("/dev").join(&name), &disk),
            name,
            logical_block: number("logical_block_size"),
            physical_block: number("physical_block_size"),
            atomic_write_max: number("atomic_write_unit_max_bytes"),
            volatile_cache: text("write_cache").map(|kind| kind.trim() == "write back"),
        })
    }

    fn is_in_memory(&self) -> bool {
        let kind = self.name.trim_end_matches(|c: char| c.is_ascii_digit());
        MEMORY_DEVICES.contains(&kind)
    }

    /// The largest write that it never tears, as far as it or the kernel says.
    fn largest_whole(&self) -> u64 {
        let identified = match &self.nvme {
            Some(Nvme::Identified(identity)) => identity.power_fail_atomic_bytes,
            _ => 0,
        };
        identified.max(self.atomic_write_max.unwrap_or(0).into())
    }

    fn lines(&self) -> Vec<String> {
        let size = |bytes: u32| Bytes(bytes.into()).to_string();
        let unknown = || "unknown".to_owned();
        let mut lines = vec![
            format!(
                "block device {}: physical blocks of {}",
                self.name,
                self.physical_block.map_or_else(unknown, size)
            ),
            match self.atomic_write_max {
                None => "  atomic writes: the kernel does not say".to_owned(),
                Some(0) => "  atomic writes: none but its blocks".to_owned(),
                Some(bytes) => format!("  atomic writes: up to {}", size(bytes)),
            },
            match self.volatile_cache {
                None => "  write cache: unknown".to_owned(),
                Some(true) => "  write cache: volatile; only flushed writes survive".to_owned(),
                Some(false) => "  write cache: none, or protected".to_owned(),
            },
        ];
        lines.extend(self.nvme.as_ref().map(Nvme::line));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = Bytes(16_384);

    #[test]
    fn a_folder_is_looked_at_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let found = Storage::inspect(folder.path()).unwrap();
        assert!(
            found
                .lines(PAGE)
                .iter()
                .any(|line| line.starts_with("O_DIRECT"))
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let absent = folder.path().join("absent");
        assert!(
            Storage::inspect(&absent)
                .unwrap_err()
                .to_string()
                .contains("absent")
        );
    }

    #[test]
    fn nothing_is_left_where_o_direct_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let Some(_mount) = weir_testing::RamFs::mount(folder.path()) else {
            return;
        };
        for _ in 0..2 {
            let found = Storage::inspect(folder.path()).unwrap();
            assert!(!found.direct && found.in_memory);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    fn storage(file_system_atomic: Option<u32>, device_atomic: u64) -> Storage {
        let identity = NvmeIdentity {
            power_fail_atomic_bytes: device_atomic,
            boundary_bytes: None,
            volatile_cache: false,
        };
        Storage {
            path: PathBuf::new(),
            file_system: Some("ext4".to_owned()),
            in_memory: false,
            flushes_withheld: false,
            direct: true,
            direct_alignment: None,
            file_system_atomic,
            extent_unit: 4096,
            device: Some(BlockDevice {
                name: "nvme0n1".to_owned(),
                logical_block: Some(512),
                physical_block: Some(4096),
                atomic_write_max: Some(device_atomic as u32),
                volatile_cache: None,
                nvme: Some(Nvme::Identified(identity)),
            }),
        }
    }

    /// Returns the proof on a file system whose extents begin at multiples of `extent_unit`.
    fn proven(file_system_atomic: Option<u32>, extent_unit: u32, direct: bool) -> Proof {
        let storage = Storage {
            direct,
            extent_unit,
            ..storage(file_system_atomic, 16_384)
        };
        storage.proof()
    }

    #[test]
    fn a_server_that_asks_for_nothing_needs_file_system_and_device_and_whole_extents() {
        let storage = |largest| Proof::Storage {
            largest: Bytes(largest),
            device: Bytes(16_384),
        };
        assert_eq!(proven(Some(16_384), 16_384, true), storage(16_384));
        // XFS with small blocks makes larger writes untorn by copying, for those that ask.
        assert_eq!(proven(Some(65_536), 4096, true), storage(4096));
        assert_eq!(proven(None, 16_384, true), storage(0));
        assert_eq!(proven(Some(16_384), 16_384, false), storage(0));
        let none = Storage {
            device: None,
            ..self::storage(Some(16_384), 0)
        };
        assert_eq!(none.proof(), Proof::None);
    }

    #[test]
    fn a_promise_counts_from_a_page_on_and_the_devices_alone_is_not_enough() {
        for (file_system, extent_unit, device, words) in [
            (None, 4096, 4096, "nothing here promises"),
            (Some(4096), 4096, 4096, "nothing here promises"),
            (None, 4096, 16_384, "Keep the doublewrite buffer on"),
            (
                Some(16_384),
                4096,
                16_384,
                "a server that does not ask gets no promise",
            ),
            (
                Some(16_384),
                16_384,
                16_384,
                "no page lies across two extents",
            ),
        ] {
            let storage = Storage {
                extent_unit,
                ..storage(file_system, device)
            };
            let lines = storage.lines(PAGE);
            let proven = lines
                .iter()
                .find(|line| line.starts_with("what this proves"));
            assert!(proven.unwrap().contains(words), "{lines:#?}");
        }
    }

    #[test]
    fn a_switch_and_its_status_judge_pages_of_the_servers_size() {
        let storage = storage(Some(4096), 4096);
        let proven = |page| storage.proven(Bytes(page));
        assert!(proven(4096).contains("promise pages of 4K untorn"));
        assert!(proven(16_384).contains("nothing here promises"));
    }

    #[test]
    fn what_is_kept_is_never_more_than_what_is_said() {
        let with_cache = |volatile_cache, flushes_withheld, in_memory| {
            let mut storage = storage(Some(16_384), 16_384);
            storage.extent_unit = 16_384;
            storage.flushes_withheld = flushes_withheld;
            storage.in_memory = in_memory;
            storage.device.as_mut().unwrap().volatile_cache = volatile_cache;
            storage.kept()
        };
        let kept = with_cache(Some(false), false, false);
        assert_eq!(kept.cache, Some(CacheRule::PowerProtected));
        assert!(kept.atomicity.keeps_whole(16_384));
        assert_eq!(with_cache(None, false, false).cache, None);
        assert_eq!(
            with_cache(Some(true), false, false).cache,
            Some(CacheRule::Volatile)
        );
        assert_eq!(
            with_cache(Some(true), true, false).cache,
            Some(CacheRule::Lying)
        );
        assert_eq!(
            with_cache(Some(false), false, true).cache,
            Some(CacheRule::Lying)
        );
        let plain = storage(None, 16_384).kept();
        assert_eq!(plain.atomicity.unit, Bytes(512), "the device's word alone");
    }
}
