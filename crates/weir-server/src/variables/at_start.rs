//! Values that a server decides when it starts, and its help does not say: foretold by the manual's rule, or tried.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use weir_model::variables::{BUFFER_POOL_SIZE, LOG_FILE_SIZE, PAGE_SIZE};
use weir_model::{Bytes, Flavor};
use weir_process::{PathError, create_private_directory};

use crate::find::Defaults;
use crate::helper_process::run_within;
use crate::option_file_writer::OptionFileWriter;
use crate::{ServerBinary, ServerError, error_log};

const CHUNK: &str = "innodb_buffer_pool_chunk_size";
const INSTANCES: &str = "innodb_buffer_pool_instances";

const MEBIBYTE: u64 = 1 << 20;

/// The smallest pool of `MySQL`.
const POOL_MIN: u64 = 5 * MEBIBYTE;

/// Smaller pools have one instance, whatever is asked for.
const ONE_INSTANCE_BELOW: u64 = 1 << 30;

/// Larger pools do for each size of a page: `MariaDB` 10.11.19 wants 21 MiB for pages of 64 KiB.
const POOL_TRIED_BELOW: u64 = 64 * MEBIBYTE;

/// A start on no data takes 0.2 s.
const TRIAL: Duration = Duration::from_secs(10);

/// Returns the reason that `MariaDB` would not start with the pool of `values`. It refuses a small one, by its version
/// and the size of a page. It is started on no data, in `home`.
pub(super) fn refused_pool(
    server: &ServerBinary,
    values: &BTreeMap<String, String>,
    home: &Path,
) -> Result<Option<String>, ServerError> {
    let number = |name: &str| -> Option<u64> { values.get(name)?.parse().ok() };
    let (Some(pool), Some(page)) = (number(BUFFER_POOL_SIZE), number(PAGE_SIZE)) else {
        return Ok(None);
    };
    if server.flavor != Flavor::Mariadb || pool >= POOL_TRIED_BELOW {
        return Ok(None);
    }
    let data = home.join("data");
    create_private_directory(&data)?;
    let log = home.join("start.log");
    let mut file = OptionFileWriter::new();
    for (name, path) in [("datadir", &data), ("tmpdir", &data), ("log_error", &log)] {
        file.set_path(name, path)?;
    }
    if rustix::process::geteuid().is_root() {
        file.set("user", "root")?;
    }
    for (name, value) in [
        (BUFFER_POOL_SIZE, pool),
        (PAGE_SIZE, page),
        (LOG_FILE_SIZE, 4 * MEBIBYTE),
    ] {
        file.set(name, &value.to_string())?;
    }
    let options = home.join("start.cnf");
    fs::write(&options, file.text()).map_err(PathError::on("write", &options))?;
    let mut command = server.command(&Defaults::File(&options));
    let errors = File::create(&log).map_err(PathError::on("create", &log))?;
    command.arg("--bootstrap").stderr(errors);
    let started = run_within(&mut command, Vec::new(), TRIAL);
    // A trial that fails for another reason says nothing of the pool.
    let is_refused = started.is_ok_and(|finished| !finished.success);
    let cause = is_refused.then(|| error_log::cause(&log));
    let cause = cause.filter(|words| words.contains(BUFFER_POOL_SIZE));
    Ok(cause.map(|words| format!("{BUFFER_POOL_SIZE} = {}: {words}", Bytes(pool))))
}

/// Gives `values`, which the program's help printed, the values that a start would give them.
pub(super) fn complete(server: &ServerBinary, values: &mut BTreeMap<String, String>) {
    if server.flavor != Flavor::Mysql {
        return;
    }
    let number = |name: &str| {
        let bytes: Option<Bytes> = values.get(name)?.parse().ok();
        bytes.map(|bytes| bytes.0)
    };
    let (Some(size), Some(chunk)) = (number(BUFFER_POOL_SIZE), number(CHUNK)) else {
        return;
    };
    if let Some(pool) = pool(size, chunk, number(INSTANCES).unwrap_or(0)) {
        values.insert(BUFFER_POOL_SIZE.to_owned(), pool.to_string());
    }
}

/// Bytes of a pool that is to have `size`, in whole chunks of each instance ("Configuring InnoDB Buffer Pool Size",
/// `MySQL` manual); `None` where the number of instances, 0, follows from the host.
fn pool(size: u64, chunk: u64, instances: u64) -> Option<u64> {
    let size = size.max(POOL_MIN);
    let instances = match instances {
        _ if size < ONE_INSTANCE_BELOW => 1,
        0 => return None,
        instances => instances,
    };
    let whole = |bytes: u64| bytes / MEBIBYTE * MEBIBYTE;
    // A chunk that is too large for the pool is as large as the pool allows.
    let chunk = whole(chunk.min(size / instances)).max(MEBIBYTE);
    let unit = chunk * instances;
    // Below the next whole mebibyte nothing is added.
    Some(whole(size).div_ceil(unit) * unit)
}

#[cfg(test)]
mod tests {
    use super::pool;

    /// As `MySQL` 9.7.4 says after its start.
    #[test]
    fn a_pool_has_whole_chunks() {
        const CHUNK: u64 = 128;
        for (size, chunk, instances, found) in [
            (1, CHUNK, 0, 5),
            (8, CHUNK, 0, 8),
            (100, CHUNK, 0, 100),
            (129, CHUNK, 0, 256),
            (200, CHUNK, 0, 256),
            (250, CHUNK, 0, 256),
            (1000, CHUNK, 0, 1024),
            (600, CHUNK, 4, 640),
            (1100, CHUNK, 4, 1536),
            (200, 64, 0, 256),
            (2100, CHUNK, 1, 2176),
        ] {
            let found_bytes = pool(size << 20, chunk << 20, instances);
            assert_eq!(found_bytes, Some(found << 20), "{size} {chunk} {instances}");
        }
        assert_eq!(pool(16_384_001, CHUNK << 20, 0), Some(15_728_640));
        assert_eq!(pool(9500 << 10, 1 << 20, 0), Some(9_437_184));
        assert_eq!(pool(2100 << 20, CHUNK << 20, 0), None, "the host decides");
    }
}
