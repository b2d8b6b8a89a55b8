//! States that make a server less durable than its variables say.
//!
//! Found on `MySQL` 9.7.4 and `MariaDB` 10.11.19: with `ALTER INSTANCE DISABLE INNODB REDO_LOG` (`MySQL` from 8.0.21
//! on) a crash leaves a server that does not start, and only a status variable says so; under libeatmydata no
//! `fsync` reaches the kernel, and no variable does. Storage may withhold flushes, or lie in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use weir_model::variables::{
    DATA_LOST_BECAUSE, FLUSHES_DISABLED_BY, OTHER_ENGINES, REDO_LOG_ENABLED,
};
use weir_process::Mount;

use crate::{ServerError, Session};

/// Libraries that make `fsync` and its like do nothing, by the beginning of their names.
const FLUSH_DISABLERS: [&str; 3] = ["libeatmydata", "libnosync", "nosync.so"];

/// What of these is so, to be kept with the server's variables. `pid` is its process, `data` the directory of the
/// user's data; a server without them is only asked.
pub fn unsaid(
    session: &mut Session,
    pid: Option<u32>,
    data: Option<&Path>,
) -> Result<BTreeMap<String, String>, ServerError> {
    let enabled = session.status()?.remove(REDO_LOG_ENABLED);
    let found = [
        (REDO_LOG_ENABLED, enabled),
        (FLUSHES_DISABLED_BY, pid.and_then(flush_disabler)),
        (DATA_LOST_BECAUSE, data.and_then(why_lost)),
        (OTHER_ENGINES, other_engines(session)),
    ];
    let found = found.into_iter();
    Ok(found
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect())
}

/// The library in the process that disables flushes. Another user's process cannot be looked at.
fn flush_disabler(pid: u32) -> Option<String> {
    in_maps(&fs::read_to_string(format!("/proc/{pid}/maps")).ok()?)
}

fn in_maps(maps: &str) -> Option<String> {
    let mut files = maps.lines().filter_map(|line| line.rsplit('/').next());
    let disables = |file: &&str| FLUSH_DISABLERS.iter().any(|start| file.starts_with(start));
    files.find(disables).map(str::to_owned)
}

/// Why what lies in `directory` does not survive a power cut.
fn why_lost(directory: &Path) -> Option<String> {
    let mount = Mount::of(directory)?;
    if mount.is_in_memory() {
        return Some(format!("they lie in memory ({})", mount.file_system));
    }
    let withheld = mount.withholds_flushes()?;
    Some(format!("the file system sends no flushes ({withheld})"))
}

/// Of tables by the workload's names, those that InnoDB's settings say nothing about.
fn other_engines(session: &mut Session) -> Option<String> {
    let query = "SELECT GROUP_CONCAT(DISTINCT engine) e FROM information_schema.tables \
                 WHERE table_name REGEXP '^sbtest[0-9]+$' AND engine <> 'InnoDB'";
    let row = session.row("ask for the tables' engines", query).ok()??;
    row.get("e").filter(|engines| !engines.is_empty()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_disables_flushes_is_seen_in_the_memory_map() {
        let maps = "7f00-7f01 r-xp 00000000 fe:00 1 /usr/lib/x86_64-linux-gnu/libc.so.6\n\
                    7f02-7f03 r-xp 00000000 fe:00 2 /usr/lib/x86_64-linux-gnu/libeatmydata.so.1.3.0\n";
        assert_eq!(in_maps(maps).as_deref(), Some("libeatmydata.so.1.3.0"));
        assert_eq!(in_maps("7f00-7f01 rw-p 0 00:00 0 [heap]\n"), None);
    }

    #[test]
    fn data_in_memory_are_lost() {
        assert_eq!(why_lost(Path::new("/proc")), None);
        if let Some(why) = why_lost(Path::new("/dev/shm")) {
            assert_eq!(why, "they lie in memory (tmpfs)");
        }
    }
}
