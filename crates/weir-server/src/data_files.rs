//! Check that all of a server's data lie in its data directory: facts about the storage below that directory do not
//! hold for files elsewhere.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use weir_model::Flavor;
use weir_process::PathError;

use crate::{ServerError, Session};

/// Variables that put InnoDB's files outside of the data directory.
const DIRECTORIES: [&str; 3] = [
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_undo_directory",
];

/// Names a directory, table or tablespace of the server that does not lie on the file system of `data_dir`.
/// `None`: all do, as far as the server and its directory show.
///
/// # Errors
///
/// A server that refuses or is gone.
pub fn data_elsewhere(
    session: &mut Session,
    flavor: Flavor,
    data_dir: &Path,
) -> Result<Option<String>, ServerError> {
    let device = fs::metadata(data_dir)
        .map_err(PathError::on("read", data_dir))?
        .dev();
    for name in DIRECTORIES {
        let directory = session.variable(name)?.unwrap_or_default();
        if !directory.is_empty() && is_elsewhere(&data_dir.join(&directory), device) {
            return Ok(Some(format!("{name} = {directory}")));
        }
    }
    if let Some(found) = in_directory(data_dir, device, 1)? {
        return Ok(Some(found));
    }
    Ok(tablespace(session, flavor))
}

/// Returns true if the file lies elsewhere, or cannot be looked at.
fn is_elsewhere(path: &Path, device: u64) -> bool {
    fs::metadata(path).map_or(true, |found| found.dev() != device)
}

/// A link out of the directory, a mount in it, or a table that a link file says lies elsewhere (`.isl`: MySQL
/// 5.7, `MariaDB`).
fn in_directory(directory: &Path, device: u64, deeper: u32) -> Result<Option<String>, ServerError> {
    let entries = fs::read_dir(directory).map_err(PathError::on("read", directory))?;
    for entry in entries {
        let path = entry.map_err(PathError::on("read", directory))?.path();
        // Files come and go while a server works.
        let Ok(found) = fs::metadata(&path) else {
            continue;
        };
        if found.dev() != device || path.extension().is_some_and(|ending| ending == "isl") {
            return Ok(Some(path.display().to_string()));
        }
        if found.is_dir() && deeper > 0 {
            let below = in_directory(&path, device, deeper - 1)?;
            if below.is_some() {
                return Ok(below);
            }
        }
    }
    Ok(None)
}

/// A tablespace that MySQL's dictionary has elsewhere; what the account may not see may be anywhere.
fn tablespace(session: &mut Session, flavor: Flavor) -> Option<String> {
    if flavor == Flavor::Mariadb {
        return None;
    }
    // Relative paths lie in the data directory.
    let query = "SELECT FILE_NAME f FROM information_schema.FILES WHERE ENGINE = 'InnoDB' AND FILE_NAME LIKE '/%' \
                 AND FILE_NAME NOT LIKE CONCAT(@@datadir, '%') LIMIT 1";
    match session.row("ask where the tablespaces lie", query) {
        Ok(found) => found.and_then(|row| row.get("f").cloned()),
        Err(_) => Some("tablespaces that its account may not see (GRANT PROCESS)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_another_file_system_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let schema = directory.path().join("shop");
        fs::create_dir(&schema).unwrap();
        fs::write(schema.join("t.ibd"), "t").unwrap();
        let device = fs::metadata(directory.path()).unwrap().dev();
        let found = || in_directory(directory.path(), device, 1).unwrap();
        assert_eq!(found(), None);
        std::os::unix::fs::symlink("/proc/version", schema.join("u.ibd")).unwrap();
        assert!(found().unwrap().ends_with("shop/u.ibd"));
        fs::remove_file(schema.join("u.ibd")).unwrap();
        fs::write(schema.join("v.isl"), "/elsewhere/v.ibd").unwrap();
        assert!(found().unwrap().ends_with("shop/v.isl"));
    }
}
