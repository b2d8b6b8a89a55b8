//! Facts about a storage without measuring, as the kernel states them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use weir_model::WriteCache;

/// Facts that the kernel states about a storage. None of it is measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The device, or what stands for it.
    pub device: String,
    /// Bytes of the device, or of its file system.
    pub capacity_bytes: u64,
    /// Smallest unit that the device writes, bytes.
    pub logical_block_bytes: Option<u64>,
    /// Largest write that the device promises not to tear, bytes.
    pub atomic_unit_bytes: Option<u64>,
    /// Cache of the device, as it declares it.
    pub write_cache: Option<WriteCache>,
    /// Type of the file system.
    pub file_system: String,
}

impl Facts {
    /// Of the storage below the existing `folder`.
    pub fn gather(folder: &Path) -> Self {
        let mut facts = Self::default();
        if let Ok(space) = rustix::fs::statvfs(folder) {
            facts.capacity_bytes = space.f_blocks * space.f_frsize;
        }
        facts.file_system = file_system(folder).unwrap_or_default();
        let Some(queue) = queue_folder(folder) else {
            facts.device = format!("{} below {}", facts.file_system, folder.display());
            return facts;
        };
        let device = queue.parent().unwrap_or(&queue).to_owned();
        facts.device = name(&device);
        if let Some(sectors) = number(&device.join("size")) {
            facts.capacity_bytes = sectors * 512;
        }
        facts.logical_block_bytes = number(&queue.join("logical_block_size"));
        facts.atomic_unit_bytes =
            number(&queue.join("atomic_write_unit_max_bytes")).filter(|&bytes| bytes > 0);
        facts.write_cache = match text(&queue.join("write_cache")).as_deref() {
            Some("write back") => Some(WriteCache::Volatile),
            Some("write through") => Some(WriteCache::PowerProtected),
            _ => None,
        };
        facts
    }
}

/// The device below the existing `folder`, with its model where that is known: `nvme0n1`, `Example SSD (nvme0n1)`; `None`
/// where there is none, as in memory.
pub fn device_below(folder: &Path) -> Option<String> {
    Some(name(queue_folder(folder)?.parent()?))
}

/// Name and model of a device's folder in sysfs.
fn name(device: &Path) -> String {
    let name = device.file_name().unwrap_or_default().to_string_lossy();
    match text(&device.join("device/model")) {
        Some(model) => format!("{model} ({name})"),
        None => name.into_owned(),
    }
}

/// The queue of the whole disk that `folder` is on, in sysfs.
fn queue_folder(folder: &Path) -> Option<PathBuf> {
    let device = fs::metadata(folder).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let link = format!("/sys/dev/block/{major}:{minor}");
    let device = fs::canonicalize(link).ok()?;
    // A partition lies in the folder of its disk.
    let candidates = [Some(device.as_path()), device.parent()];
    let found = candidates.into_iter().flatten().map(|at| at.join("queue"));
    found.into_iter().find(|queue| queue.is_dir())
}

fn file_system(folder: &Path) -> Option<String> {
    let device = fs::metadata(folder).ok()?.dev();
    let wanted = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(&wanted))?;
    let kind = line.split(" - ").nth(1)?.split(' ').next()?;
    Some(kind.to_owned())
}

fn text(file: &Path) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().to_owned())
}

fn number(file: &Path) -> Option<u64> {
    text(file)?.parse().ok()
}
