//! Directory of a run's data directory and mounts.

use std::iter;
use std::path::{Path, PathBuf};

use weir_model::{Bytes, Cell};

use crate::RunError;
use weir_model::with_headroom;
use weir_process::{Mount, create_users_folder};

/// Memory-backed storage of Linux (`shm_overview(7)`): an emulated drive on it has no other
/// latency than its model's.
const MEMORY: &str = "/dev/shm";

/// Kind of storage that data lie on where the user names no folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorageKind {
    /// Memory, if the data fit there: below an emulated drive, and where data are only made.
    Memory,
    /// A disk: what is measured is to be storage.
    Disk,
}

impl StorageKind {
    /// The kind for the server of `cell`: an emulated drive on a disk would add the latency of that disk.
    pub(crate) fn for_cell(cell: &Cell) -> Self {
        match cell.spec.primary().drive {
            Some(_) => Self::Memory,
            None => Self::Disk,
        }
    }
}

/// The folder for `data`, made if need be. It must have room for `data` and what a run adds to them.
pub(crate) fn choose(
    work: Option<&Path>,
    data: Bytes,
    kind: StorageKind,
) -> Result<PathBuf, RunError> {
    let place = made(work, data, kind)?;
    weir_server::check_space(&place, with_headroom(data))?;
    Ok(place)
}

/// The folder for the data of runs that no emulated drive is for, made if need be.
///
/// # Errors
///
/// A folder that cannot be made.
pub fn data_folder(work: Option<&Path>) -> Result<PathBuf, RunError> {
    made(work, Bytes(0), StorageKind::Disk)
}

fn made(work: Option<&Path>, data: Bytes, kind: StorageKind) -> Result<PathBuf, RunError> {
    work.map_or(Ok(()), create_users_folder)?;
    Ok(folder(work, data, kind))
}

/// `work` if given, else memory if that is wanted and `data` fit there with room to spare, else a folder on a disk.
fn folder(work: Option<&Path>, data: Bytes, kind: StorageKind) -> PathBuf {
    match work {
        Some(work) => work.to_owned(),
        None if kind == StorageKind::Memory && fits_in_memory(with_headroom(data)) => MEMORY.into(),
        None => on_disk(std::env::temp_dir(), is_in_memory),
    }
}

/// `temporary`, or a longer-lived folder where that lies in memory, as `/tmp` does on some systems.
fn on_disk(temporary: PathBuf, is_in_memory: impl Fn(&Path) -> bool) -> PathBuf {
    let others = [PathBuf::from("/var/tmp"), weir_server::cache_directory()];
    let is_disk = |folder: &PathBuf| folder.is_dir() && !is_in_memory(folder);
    let mut folders = iter::once(temporary.clone()).chain(others);
    folders.find(is_disk).unwrap_or(temporary)
}

fn is_in_memory(folder: &Path) -> bool {
    Mount::for_path(folder).is_some_and(|mount| mount.is_in_memory())
}

/// Where [`choose`] puts `data`, in words: `on disk: /var/tmp (ext4 on nvme0n1)`.
pub(crate) fn in_words(work: Option<&Path>, data: Bytes, kind: StorageKind) -> String {
    let folder = folder(work, data, kind);
    let where_it_is = if is_in_memory(&folder) {
        "in memory"
    } else {
        "on disk"
    };
    let device = weir_drive::measure::device_below(&folder);
    let device = device.map_or_else(String::new, |device| format!(" on {device}"));
    let file_system =
        Mount::for_path(&folder).map(|mount| format!(" ({}{device})", mount.file_system));
    format!(
        "{where_it_is}: {}{}",
        folder.display(),
        file_system.unwrap_or_default()
    )
}

/// Half of the free memory is left to the server and other programs.
fn fits_in_memory(needed: Bytes) -> bool {
    let half = weir_probe::memory().map_or(0, |memory| memory.available.0 / 2);
    weir_server::check_space(Path::new(MEMORY), needed).is_ok() && half >= needed.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_where_its_parent_is_and_nowhere_else() {
        let parent = tempfile::tempdir().unwrap();
        let work = parent.path().join("weir");
        for _ in 0..2 {
            assert_eq!(
                choose(Some(&work), Bytes(1), StorageKind::Disk).unwrap(),
                work
            );
        }
        let absent = parent.path().join("not-mounted");
        let error = choose(Some(&absent.join("weir")), Bytes(1), StorageKind::Disk).unwrap_err();
        assert!(error.to_string().contains("is mounted there"), "{error}");
        assert!(!absent.exists());
    }

    #[test]
    fn too_much_is_refused_with_the_place_and_both_sizes() {
        let place = tempfile::tempdir().unwrap();
        let error = choose(Some(place.path()), Bytes(1 << 60), StorageKind::Disk)
            .unwrap_err()
            .to_string();
        let name = place.path().display().to_string();
        assert!(error.contains(&name) && error.contains("not enough space"));
        let chosen = choose(Some(place.path()), Bytes(1), StorageKind::Disk).unwrap();
        assert_eq!(chosen, place.path());
    }

    #[test]
    fn measured_data_lie_on_a_disk_unless_the_user_says_otherwise() {
        let on_host = folder(None, Bytes(1), StorageKind::Disk);
        assert!(!on_host.starts_with(MEMORY), "{}", on_host.display());
        let memory = Path::new(MEMORY);
        assert_eq!(folder(Some(memory), Bytes(1), StorageKind::Disk), memory);
        // A temporary folder in memory is passed over, and taken where nothing else is there.
        let in_memory = |folder: &Path| folder == Path::new("/tmp");
        assert_eq!(on_disk("/tmp".into(), in_memory), Path::new("/var/tmp"));
        assert_eq!(on_disk("/tmp".into(), |_| true), Path::new("/tmp"));
    }

    #[test]
    fn a_place_is_told_with_its_kind() {
        if is_in_memory(MEMORY.as_ref()) {
            let words = in_words(Some(MEMORY.as_ref()), Bytes(1), StorageKind::Disk);
            assert_eq!(words, "in memory: /dev/shm (tmpfs)");
        }
        let words = in_words(Some("/proc".as_ref()), Bytes(1), StorageKind::Disk);
        assert_eq!(words, "on disk: /proc (proc)");
        // This file's disk, if the kernel names one.
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let words = in_words(Some(here), Bytes(1), StorageKind::Disk);
        if let Some(device) = weir_drive::measure::device_below(here) {
            assert!(words.ends_with(&format!(" on {device})")), "{words}");
        }
    }
}
