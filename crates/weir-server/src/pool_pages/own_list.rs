//! A list of Weir's own in a server's data directory, which leaves the server's list as it was.
//!
//! MySQL takes another file name while it runs. `MariaDB` does not: its list is set aside meanwhile.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::Session;
use weir_model::Flavor;
use weir_process::PathError;

use crate::pool_pages::{PoolError, PoolServer};

/// The file of Weir's own, which the server's own dump at its shutdown does not meet.
const FILE: &str = "ib_buffer_pool.weir";
const FILENAME: &str = "innodb_buffer_pool_filename";
/// Times of files and of the server are compared in whole seconds, each off by up to one.
const CLOCKS: Duration = Duration::from_secs(2);
const DUMP_AT_SHUTDOWN: &str = "innodb_buffer_pool_dump_at_shutdown";
/// Name of a list that is set aside.
const KEPT: &str = "weir-kept";

impl PoolServer {
    /// Does `work` with the path of a list that the server writes to and loads from, while `variables` have other values.
    /// Afterwards variables and the server's own list are as before, and Weir's list is gone.
    pub(crate) fn with_own_list<T>(
        &self,
        variables: &[(&str, String)],
        work: impl FnOnce(&Path, &mut Session) -> Result<T, PoolError>,
    ) -> Result<T, PoolError> {
        let mut variables = variables.to_vec();
        let (file, kept) = match self.flavor() {
            Flavor::Mysql => {
                variables.push((FILENAME, FILE.to_owned()));
                (self.data_dir().join(FILE), None)
            }
            Flavor::Mariadb => {
                let mut session = self.session()?;
                let name = session.variable(FILENAME)?;
                let file = self.data_dir().join(name.unwrap_or_default());
                let kept = ListBackup::move_server_dump_away(&file, dumped_at(&mut session)?)?;
                (file, Some(kept))
            }
        };
        remove(&file)?;
        let done = self.with_variables(&variables, |session| work(&file, session));
        remove(&file)?;
        drop(kept);
        done
    }
}

/// The server's own list, which is set aside; dropping this puts it back.
struct ListBackup {
    file: PathBuf,
    aside: PathBuf,
}

/// Returns the latest time at which the server may have written its list at a shutdown: its own start; `None`: it
/// writes none then.
fn dumped_at(session: &mut Session) -> Result<Option<SystemTime>, PoolError> {
    let dumps = session.variable(DUMP_AT_SHUTDOWN)?;
    if !dumps.is_some_and(|value| value.eq_ignore_ascii_case("ON") || value == "1") {
        return Ok(None);
    }
    let uptime = session.status()?.remove("Uptime");
    let uptime_s: Option<u64> = uptime.and_then(|seconds| seconds.parse().ok());
    let since = |uptime_s| Duration::from_secs(uptime_s) + CLOCKS;
    Ok(uptime_s.and_then(|uptime_s| SystemTime::now().checked_sub(since(uptime_s))))
}

impl ListBackup {
    /// A list that a killed Weir has set aside is the server's, and what stands in its place is not, unless the server
    /// `dumped_at` a later time.
    fn move_server_dump_away(
        file: &Path,
        dumped_at: Option<SystemTime>,
    ) -> Result<Self, PoolError> {
        let aside = beside(file, KEPT);
        // The rename that set it aside changed its status.
        let set_aside_at = fs::metadata(&aside).map(|found| {
            let since_epoch = Duration::from_secs(found.ctime().try_into().unwrap_or(0));
            SystemTime::UNIX_EPOCH + since_epoch
        });
        let is_newer = |then: SystemTime| dumped_at.is_some_and(|dumped| dumped > then);
        if set_aside_at.map_or(true, |then| is_newer(then) && file.exists()) {
            let moved = absent_is_fine(fs::rename(file, &aside));
            moved.map_err(PathError::on("move", file))?;
        }
        Ok(Self {
            file: file.to_owned(),
            aside,
        })
    }
}

impl Drop for ListBackup {
    fn drop(&mut self) {
        // Without one there was none before.
        let _ = fs::rename(&self.aside, &self.file);
    }
}

/// `FILE.ENDING`.
pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Removes a list and its incomplete form, if they are there.
fn remove(file: &Path) -> Result<(), PoolError> {
    for file in [file.to_owned(), beside(file, "incomplete")] {
        let removed = absent_is_fine(fs::remove_file(&file));
        removed.map_err(PathError::on("remove", &file))?;
    }
    Ok(())
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_a_killed_weir_has_set_aside_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("ib_buffer_pool");
        fs::write(&file, "1,1\n").unwrap();
        let killed = ListBackup::move_server_dump_away(&file, None).unwrap();
        std::mem::forget(killed);
        fs::write(&file, "of Weir").unwrap();
        drop(ListBackup::move_server_dump_away(&file, None).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "1,1\n");
        fs::remove_file(&file).unwrap();
        drop(ListBackup::move_server_dump_away(&file, None).unwrap());
        assert!(!file.exists());
    }
}
