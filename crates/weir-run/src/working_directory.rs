//! Directory of a run's data directory and mounts.

use std::path::{Path, PathBuf};
use std::{fs, io};

use weir_model::Bytes;

use crate::RunError;
use weir_model::with_headroom;
use weir_process::PathError;

/// Memory-backed storage of Linux (`shm_overview(7)`): an emulated drive on it has no other
/// latency than its model's.
const MEMORY: &str = "/dev/shm";

/// `work` if given, else memory if `data` fit there with room to spare, else the temporary
/// directory. The chosen place must have room for `data` and what a run adds to them.
pub(crate) fn choose(work: Option<&Path>, data: Bytes) -> Result<PathBuf, RunError> {
    let needed = with_headroom(data);
    let place = match work {
        Some(work) => {
            make(work)?;
            work.to_owned()
        }
        None if fits_in_memory(needed) => PathBuf::from(MEMORY),
        None => std::env::temp_dir(),
    };
    weir_server::check_space(&place, needed)?;
    Ok(place)
}

/// Makes `work`, but no folder above it: `/mnt/nvme/weir` without the drive's mount would measure another drive.
fn make(work: &Path) -> Result<(), RunError> {
    match fs::create_dir(work) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RunError::NoWorkParent {
            work: work.to_owned(),
        }),
        Err(_) if work.is_dir() => Ok(()),
        made => Ok(made.map_err(PathError::on("create", work))?),
    }
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
            assert_eq!(choose(Some(&work), Bytes(1)).unwrap(), work);
        }
        let absent = parent.path().join("not-mounted");
        let error = choose(Some(&absent.join("weir")), Bytes(1)).unwrap_err();
        assert!(error.to_string().contains("is mounted there"), "{error}");
        assert!(!absent.exists());
    }

    #[test]
    fn too_much_is_refused_with_the_place_and_both_sizes() {
        let place = tempfile::tempdir().unwrap();
        let error = choose(Some(place.path()), Bytes(1 << 60))
            .unwrap_err()
            .to_string();
        let name = place.path().display().to_string();
        assert!(error.contains(&name) && error.contains("not enough space"));
        assert_eq!(choose(Some(place.path()), Bytes(1)).unwrap(), place.path());
    }
}
