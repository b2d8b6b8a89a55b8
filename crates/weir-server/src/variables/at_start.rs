//! What a server decides when it starts, and its help does not say: foretold by the manual's rule.

use std::collections::BTreeMap;

use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{Bytes, Flavor};

use crate::ServerBinary;

const CHUNK: &str = "innodb_buffer_pool_chunk_size";
const INSTANCES: &str = "innodb_buffer_pool_instances";

const MEBIBYTE: u64 = 1 << 20;

/// The smallest pool of `MySQL`.
const POOL_MIN: u64 = 5 * MEBIBYTE;

/// Smaller pools have one instance, whatever is asked for.
const ONE_INSTANCE_BELOW: u64 = 1 << 30;

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
