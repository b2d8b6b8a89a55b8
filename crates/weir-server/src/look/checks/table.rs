//! The table of checks: name, counters, settings, condition and sentence.

use super::super::evidence::Evidence;
use super::super::finding::Unit;
use super::Check;
use super::Counter::{Most, Rate, Share};

/// An event that is a problem by itself is one if it comes once in ten seconds.
const ONCE_IN_TEN_S: f64 = 0.1;

/// A redo log that is written once in this time leaves pages no time to be changed again before they are flushed, seconds.
const REDO_TURN_S: f64 = 120.0;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "buffer pool",
        counters: &[
            Rate("Innodb_buffer_pool_reads"),
            Share(
                "Innodb_buffer_pool_reads",
                "Innodb_buffer_pool_read_requests",
            ),
            Rate("Innodb_pages_read"),
        ],
        settings: &["innodb_buffer_pool_size"],
        condition: pool_is_small,
        sentence: "statements read pages from disk that do not stay: the pool is smaller than what they use",
        is_cumulative: false,
    },
    Check {
        name: "free pages",
        counters: &[Rate("Innodb_buffer_pool_wait_free")],
        settings: &[
            "innodb_buffer_pool_size",
            "innodb_lru_scan_depth",
            "innodb_io_capacity",
        ],
        condition: |evidence| Some(evidence.rate("Innodb_buffer_pool_wait_free")? >= ONCE_IN_TEN_S),
        sentence: "reads wait until a page of the pool is written and free",
        is_cumulative: true,
    },
    Check {
        name: "redo log",
        counters: &[
            Most("Innodb_checkpoint_age", Unit::Bytes),
            Rate("Innodb_os_log_written"),
        ],
        settings: &[
            "innodb_redo_log_capacity",
            "innodb_log_file_size",
            "innodb_log_files_in_group",
        ],
        condition: redo_is_full,
        sentence: "the redo log is nearly full of changes that are not in the data files: pages are flushed in a hurry",
        is_cumulative: false,
    },
    Check {
        name: "log buffer",
        counters: &[Rate("Innodb_log_waits"), Rate("Innodb_log_write_requests")],
        settings: &["innodb_log_buffer_size"],
        condition: |evidence| Some(evidence.rate("Innodb_log_waits")? >= ONCE_IN_TEN_S),
        sentence: "transactions wait until the log buffer has room",
        is_cumulative: true,
    },
    Check {
        name: "row locks",
        counters: &[
            Rate("Innodb_row_lock_waits"),
            Rate("Innodb_row_lock_time"),
            Most("Innodb_row_lock_current_waits", Unit::Count),
        ],
        settings: &["innodb_lock_wait_timeout"],
        // The counter has milliseconds: a tenth of a session waits all the time.
        condition: |evidence| Some(evidence.rate("Innodb_row_lock_time")? >= 100.0),
        sentence: "transactions wait for rows that others have locked (Innodb_row_lock_time is in ms)",
        is_cumulative: true,
    },
    Check {
        name: "temporary tables",
        counters: &[
            Rate("Created_tmp_disk_tables"),
            Share("Created_tmp_disk_tables", "Created_tmp_tables"),
        ],
        settings: &[
            "tmp_table_size",
            "max_heap_table_size",
            "temptable_max_ram",
            "internal_tmp_mem_storage_engine",
        ],
        condition: |evidence| {
            let share = evidence.share("Created_tmp_disk_tables", "Created_tmp_tables")?;
            Some(evidence.rate("Created_tmp_disk_tables")? >= 1.0 && share >= 0.1)
        },
        sentence: "temporary tables of statements go to disk",
        is_cumulative: true,
    },
    Check {
        name: "sorts",
        counters: &[Rate("Sort_merge_passes"), Rate("Sort_rows")],
        settings: &["sort_buffer_size"],
        condition: |evidence| Some(evidence.rate("Sort_merge_passes")? >= 1.0),
        sentence: "sorts do not fit into their buffer and are merged from files",
        is_cumulative: true,
    },
    Check {
        name: "joins",
        counters: &[Rate("Select_full_join")],
        settings: &["join_buffer_size"],
        condition: |evidence| Some(evidence.rate("Select_full_join")? >= 1.0),
        sentence: "joins read whole tables, since no index fits",
        is_cumulative: true,
    },
    Check {
        name: "table cache",
        counters: &[
            Rate("Table_open_cache_overflows"),
            Rate("Opened_tables"),
            Most("Open_tables", Unit::Count),
        ],
        settings: &["table_open_cache", "table_open_cache_instances"],
        condition: table_cache_is_small,
        sentence: "tables are closed for others and opened again",
        is_cumulative: false,
    },
    Check {
        name: "thread cache",
        counters: &[Rate("Threads_created"), Rate("Connections")],
        settings: &["thread_cache_size", "thread_handling"],
        condition: |evidence| {
            let share = evidence.share("Threads_created", "Connections")?;
            Some(evidence.rate("Threads_created")? >= 2.0 && share >= 0.1)
        },
        sentence: "threads are created for new connections, since none waits in the cache",
        is_cumulative: true,
    },
    Check {
        name: "connections",
        counters: &[
            Most("Threads_connected", Unit::Count),
            Rate("Connection_errors_max_connections"),
        ],
        settings: &["max_connections"],
        condition: |evidence| {
            let refused = evidence
                .grown("Connection_errors_max_connections")
                .unwrap_or(0.0);
            let most = evidence.most("Threads_connected")?;
            Some(refused > 0.0 || most >= 0.85 * evidence.setting("max_connections")?)
        },
        sentence: "connections are near the limit, or were refused by it",
        is_cumulative: false,
    },
    Check {
        name: "refused logins",
        counters: &[Rate("Aborted_connects")],
        settings: &[],
        condition: |evidence| Some(evidence.rate("Aborted_connects")? >= 1.0),
        sentence: "logins fail: a wrong account, or something else than a client",
        is_cumulative: true,
    },
    Check {
        name: "binlog cache",
        counters: &[
            Rate("Binlog_cache_disk_use"),
            Share("Binlog_cache_disk_use", "Binlog_cache_use"),
        ],
        settings: &["binlog_cache_size"],
        condition: |evidence| {
            let share = evidence.share("Binlog_cache_disk_use", "Binlog_cache_use")?;
            Some(evidence.rate("Binlog_cache_disk_use")? >= 1.0 && share >= 0.05)
        },
        sentence: "transactions are larger than the binary log's cache and go through a file",
        is_cumulative: true,
    },
    Check {
        name: "query cache",
        counters: &[Rate("Qcache_lowmem_prunes"), Rate("Qcache_hits")],
        settings: &["query_cache_type", "query_cache_size"],
        condition: |evidence| Some(evidence.rate("Qcache_lowmem_prunes")? >= 10.0),
        sentence: "results are thrown out of the query cache, under a lock that all statements take",
        is_cumulative: true,
    },
    Check {
        name: "old row versions",
        counters: &[Most("Innodb_history_list_length", Unit::Count)],
        settings: &["innodb_purge_threads"],
        condition: |evidence| Some(evidence.most("Innodb_history_list_length")? >= 1e6),
        sentence: "purge is behind: old versions of rows fill undo logs and slow reads down",
        is_cumulative: false,
    },
];

/// Pages are read for statements in most seconds, and push others out. A pool that fills up has reads, too, and one whose
/// statements have turned to other rows has them for a while.
fn pool_is_small(evidence: &Evidence) -> Option<bool> {
    let read = evidence.grown("Innodb_pages_read")?;
    let stayed = evidence.last("Innodb_buffer_pool_pages_data")?
        - evidence.first("Innodb_buffer_pool_pages_data")?;
    let misses = evidence.share(
        "Innodb_buffer_pool_reads",
        "Innodb_buffer_pool_read_requests",
    )?;
    let rate = evidence.lasting_rate("Innodb_buffer_pool_reads")?;
    Some(rate >= 20.0 && misses >= 0.001 && stayed < 0.5 * read)
}

/// Both flavours begin to flush as fast as they can at 7/8 of the log's room. A log that is written slowly may be as
/// full: MariaDB lets it.
fn redo_is_full(evidence: &Evidence) -> Option<bool> {
    let room = evidence
        .last("Innodb_checkpoint_max_age")
        .or_else(|| evidence.redo_bytes())?;
    let written = evidence.lasting_rate("Innodb_os_log_written")?;
    let is_fast = written * REDO_TURN_S >= room;
    Some(is_fast && evidence.most("Innodb_checkpoint_age")? >= 0.8 * room)
}

fn table_cache_is_small(evidence: &Evidence) -> Option<bool> {
    let opened = evidence.rate("Opened_tables")?;
    let is_full = evidence.most("Open_tables")? >= 0.95 * evidence.setting("table_open_cache")?;
    let overflows = evidence.rate("Table_open_cache_overflows");
    Some(overflows.map_or(opened >= 5.0 && is_full, |overflows| {
        overflows >= 1.0 && opened >= 1.0
    }))
}
