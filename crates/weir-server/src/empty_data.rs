//! An empty data directory of a server, made once and kept: to make one takes seconds.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{ServerBinary, ServerError, SnapshotKey, Snapshots, cache_directory, initialise};

/// Makes `target` an empty data directory of `binary`, from the cache of snapshots if it has one. `shaping`: variables
/// that only a new data directory takes, such as `lower_case_table_names`.
///
/// # Errors
///
/// A cache that cannot be used, or a server that does not initialise.
pub fn make_empty_data(
    binary: &ServerBinary,
    target: &Path,
    shaping: &BTreeMap<String, String>,
) -> Result<(), ServerError> {
    let cache = Snapshots::open(&cache_directory())?;
    let shape = shaping
        .iter()
        .map(|(name, value)| format!("-{name}-{value}"));
    let key = SnapshotKey {
        flavor: binary.flavor,
        version: binary.version,
        workload: format!("empty{}", shape.collect::<String>()),
        tables: 0,
        rows: 0,
        seed: 0,
        page_bytes: 16384,
        format: 1,
        made_by: vec!["initialised".to_owned()],
    };
    if cache.find(&key).is_some() {
        return cache.restore(&key, target);
    }
    initialise(binary, target, shaping)?;
    cache.store(&key, target)
}
