//! States that make a server other than its variables say, most of them less durable.
//!
//! Found on `MySQL` 9.7.4 and `MariaDB` 10.11.19: with `ALTER INSTANCE DISABLE INNODB REDO_LOG` (`MySQL` from 8.0.21
//! on) a crash leaves a server that does not start, and only a status variable says so; under libeatmydata no
//! `fsync` reaches the kernel, and no variable does. Storage may withhold flushes, or lie in memory. A file system that
//! refuses `O_DIRECT` leaves a warning in the log of `MySQL`, none in that of `MariaDB`, and both go on saying `O_DIRECT`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use weir_model::variables::{
    DATA_LOST_BECAUSE, FLUSHES_DISABLED_BY, OTHER_ENGINES, PAGES_CACHED_BECAUSE, REDO_LOG_ENABLED,
};
use weir_model::{Flavor, ServerVariables};
use weir_process::Mount;

use crate::{ServerError, Session};

/// Libraries that make `fsync` and its like do nothing, by the beginning of their names.
const FLUSH_DISABLERS: [&str; 3] = ["libeatmydata", "libnosync", "nosync.so"];

/// Returns those of these states that hold, to be kept with the server's `variables`. `pid` is its process, `data` the
/// directory of the user's data; a server without them is only asked.
///
/// # Errors
///
/// A server that refuses or is gone.
pub fn unsaid(
    session: &mut Session,
    variables: &BTreeMap<String, String>,
    pid: Option<u32>,
    data: Option<&Path>,
) -> Result<BTreeMap<String, String>, ServerError> {
    let enabled = session.status()?.remove(REDO_LOG_ENABLED);
    let mut found = unsaid_of_host(wants_direct_pages(variables), pid, data);
    let asked = [
        (REDO_LOG_ENABLED, enabled),
        (OTHER_ENGINES, other_engines(session)),
    ];
    found.extend(known(asked));
    Ok(found)
}

/// Returns those of these states that only the server's host shows. `is_direct`: the server is to write its pages past
/// the page cache.
pub fn unsaid_of_host(
    is_direct: bool,
    pid: Option<u32>,
    data: Option<&Path>,
) -> BTreeMap<String, String> {
    let cached = pid.filter(|_| is_direct).and_then(why_cached);
    known([
        (FLUSHES_DISABLED_BY, pid.and_then(flush_disabler)),
        (DATA_LOST_BECAUSE, data.and_then(why_lost)),
        (PAGES_CACHED_BECAUSE, cached),
    ])
    .collect()
}

/// Returns true if a server with these variables is to write its pages past the page cache.
pub(crate) fn wants_direct_pages(variables: &BTreeMap<String, String>) -> bool {
    // Both flavours say these in the same way.
    let said = ServerVariables::said(Flavor::Mysql, variables).writes_pages_directly();
    said == Some(true)
}

fn known<const N: usize>(
    found: [(&str, Option<String>); N],
) -> impl Iterator<Item = (String, String)> {
    let found = found.into_iter();
    found.filter_map(|(name, value)| Some((name.to_owned(), value?)))
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

/// Returns the reason that files in `directory` do not survive a power cut.
fn why_lost(directory: &Path) -> Option<String> {
    let mount = Mount::for_path(directory)?;
    if mount.is_in_memory() {
        return Some(format!("they lie in memory ({})", mount.file_system));
    }
    let withheld = mount.withholds_flushes()?;
    Some(format!("the file system sends no flushes ({withheld})"))
}

/// Returns the reason that pages go through the page cache of a server with `O_DIRECT`, by the
/// flags of its open files.
fn why_cached(pid: u32) -> Option<String> {
    let file = cached_data_file(pid)?;
    let on = Mount::for_path(&file).map_or_else(String::new, |mount| mount.file_system);
    Some(format!(
        "O_DIRECT was refused for {} ({on})",
        file.file_name()?.display()
    ))
}

/// True where a server's data files are open past the page cache; `None`: the process cannot be looked at.
pub(crate) fn writes_directly(pid: u32) -> Option<bool> {
    data_files(pid)
        .map(|(_, is_direct)| is_direct)
        .reduce(|all, one| all && one)
}

/// A data file that the process has open without `O_DIRECT`.
fn cached_data_file(pid: u32) -> Option<PathBuf> {
    let mut cached = data_files(pid).filter(|(_, is_direct)| !is_direct);
    cached.next().map(|(file, _)| file)
}

/// The data files that a process has open, and whether with `O_DIRECT`. Another user's process cannot be looked at.
fn data_files(pid: u32) -> impl Iterator<Item = (PathBuf, bool)> {
    let opened = fs::read_dir(format!("/proc/{pid}/fd"));
    let opened = opened.into_iter().flatten().flatten();
    opened.filter_map(move |entry| {
        let file = fs::read_link(entry.path()).ok()?;
        let number = entry.file_name();
        let information = format!("/proc/{pid}/fdinfo/{}", number.display());
        let flags = is_data_file(&file).then(|| fs::read_to_string(information).ok());
        let flags = open_flags(&flags??)?;
        Some((file, flags & rustix::fs::OFlags::DIRECT.bits() != 0))
    })
}

/// Tablespaces but those of temporary tables, which no crash reads again.
fn is_data_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "ibdata1" || name.ends_with(".ibd")
}

/// The `flags:` of a file in `/proc/PID/fdinfo`, in octal digits (`proc_pid_fdinfo(5)`).
fn open_flags(information: &str) -> Option<u32> {
    let mut lines = information.lines();
    let flags = lines.find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
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
    fn open_flags_are_octal() {
        // Of ibdata1 of MySQL 9.7.4, with and without O_DIRECT.
        let direct = rustix::fs::OFlags::DIRECT.bits();
        let flags =
            |octal| open_flags(&format!("pos:\t0\nflags:\t{octal}\nmnt_id:\t25\n")).unwrap();
        assert_ne!(flags("0140002") & direct, 0);
        assert_eq!(flags("0100002") & direct, 0);
        assert_eq!(open_flags("pos:\t0\n"), None);
        assert!(
            is_data_file(Path::new("/d/sbtest/t.ibd")) && !is_data_file(Path::new("/d/#ib_redo5"))
        );
    }

    #[test]
    fn data_in_memory_are_lost() {
        assert_eq!(why_lost(Path::new("/proc")), None);
        if let Some(why) = why_lost(Path::new("/dev/shm")) {
            assert_eq!(why, "they lie in memory (tmpfs)");
        }
    }
}
