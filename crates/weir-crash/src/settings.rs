//! What the tested server is told, and what its settings mean.

use std::collections::BTreeMap;

use weir_model::{Bytes, Flavor};

pub(crate) const DOUBLEWRITE: &str = "innodb_doublewrite";
pub(crate) const FLUSH_LOG: &str = "innodb_flush_log_at_trx_commit";
pub(crate) const PAGE_SIZE: &str = "innodb_page_size";
/// InnoDB's pages unless it is told otherwise.
pub(crate) const PAGE_BYTES: u64 = 16 * 1024;

const POOL: &str = "innodb_buffer_pool_size";
/// The pool of the recorded server unless it is told otherwise, and the least of a judged one.
const POOL_DEFAULT: &str = "32M";

/// Variables of a server.
pub(crate) type Variables = BTreeMap<String, String>;

pub(crate) fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Small pool and redo log: pages are flushed and the log wraps all the time.
pub(crate) fn of_the_test(flavor: Flavor) -> Variables {
    let mut all = variables(&[
        (POOL, POOL_DEFAULT),
        ("innodb_redo_log_capacity", "10M"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_max_undo_log_size", "10M"),
        ("innodb_purge_rseg_truncate_frequency", "1"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
    ]);
    all.extend(variables(match flavor {
        // Without the performance schema a state is recovered in two thirds of the time.
        Flavor::Mysql => &[("skip_log_bin", "1"), ("performance_schema", "OFF")],
        Flavor::Mariadb => &[
            ("innodb_undo_tablespaces", "3"),
            ("innodb_undo_log_truncate", "ON"),
        ],
    }));
    all
}

/// Small logs, since every state is a copy of them, and undo tablespaces that can be truncated.
pub(crate) fn of_the_loading(flavor: Flavor) -> Variables {
    let mut all = variables(&[
        (POOL, "512M"),
        ("innodb_redo_log_capacity", "32M"),
        (FLUSH_LOG, "0"),
    ]);
    all.extend(variables(match flavor {
        Flavor::Mysql => &[("skip_log_bin", "1")],
        // In 10.11 undo logs lie in the system tablespace unless they are told not to.
        Flavor::Mariadb => &[("innodb_undo_tablespaces", "3")],
    }));
    all
}

/// What a state is recovered with: the recorded server's `variables`, with a pool that is no smaller
/// than the lab's own. `MySQL` 9.7 can wait for ever for a free page when it recovers in one of 6 MiB
/// ("Difficult to find free blocks in the buffer pool"), which says nothing about the drive.
pub(crate) fn of_the_judgement(variables: &Variables) -> Variables {
    let size = |text: &str| text.parse::<Bytes>().ok();
    let mut all = variables.clone();
    let asked = all.get(POOL).and_then(|asked| size(asked));
    if asked < size(POOL_DEFAULT) {
        all.insert(POOL.to_owned(), POOL_DEFAULT.to_owned());
    }
    all
}

/// Bytes of a page of a server with these variables.
pub(crate) fn page_bytes(variables: &Variables) -> u64 {
    let asked = variables.get(PAGE_SIZE);
    let asked = asked.and_then(|size| size.parse::<Bytes>().ok());
    asked.map_or(PAGE_BYTES, |size| size.0)
}

/// Whether the server copies pages whole before it writes them; mere detection does not.
pub(crate) fn keeps_copies(variables: &Variables) -> bool {
    let doublewrite = variables.get(DOUBLEWRITE);
    doublewrite.is_some_and(|value| means_the_same(value, "ON"))
}

/// Whether `innodb_doublewrite` is off.
pub(crate) fn is_off(variables: &Variables) -> bool {
    let doublewrite = variables.get(DOUBLEWRITE);
    doublewrite.is_some_and(|value| means_the_same(value, "OFF"))
}

/// Whether two values of a variable are spellings of one.
pub(crate) fn means_the_same(wanted: &str, found: &str) -> bool {
    let plain = |value: &str| match value.to_ascii_uppercase().as_str() {
        "1" | "TRUE" | "ON" | "DETECT_AND_RECOVER" => "ON".to_owned(),
        "0" | "FALSE" | "OFF" => "OFF".to_owned(),
        other => other.to_owned(),
    };
    plain(wanted) == plain(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_mean() {
        let pool = |asked| of_the_judgement(&variables(&[(POOL, asked)]))[POOL].clone();
        assert_eq!([pool("6M"), pool("1G")], [POOL_DEFAULT, "1G"]);
        let doublewrite = |value| variables(&[(DOUBLEWRITE, value)]);
        assert!(keeps_copies(&doublewrite("on")) && keeps_copies(&doublewrite("1")));
        assert!(is_off(&doublewrite("FALSE")) && !is_off(&doublewrite("ON")));
        let detecting = doublewrite("DETECT_ONLY");
        assert!(!keeps_copies(&detecting) && !is_off(&detecting));
        assert_eq!(page_bytes(&detecting), 16_384);
        for (asked, bytes) in [("8K", 8192), ("4096", 4096), ("64k", 65_536)] {
            assert_eq!(page_bytes(&variables(&[(PAGE_SIZE, asked)])), bytes);
        }
    }
}
