//! The table of questions: name, reason, cost, counters, candidates.
//!
//! Candidates are what published advice and the servers' manuals suggest; which of them help is what the runs are for.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::super::evidence::Evidence;
use super::Row;

const MEBIBYTE: f64 = 1_048_576.0;
const GIBIBYTE: f64 = 1_024.0 * MEBIBYTE;
/// Largest buffer pool, as a part of the memory of the host on which the copy runs.
const POOL_PART_MAX: f64 = 0.7;

/// Settings for many cores or many connections.
pub(super) const MANY_CORES: [&str; 4] = [
    "innodb_buffer_pool_instances",
    "table_open_cache_instances",
    "thread_handling",
    "thread_pool_size",
];

const RESTART: &str = "a restart on older servers";
const PER_SESSION: &str = "memory for each session that needs it";

pub(super) const QUESTIONS: &[Row] = &[
    Row {
        name: "buffer_pool",
        reason: "pages are read from disk",
        cost: "memory, by the difference",
        counters: &["Innodb_buffer_pool_reads"],
        candidates: |evidence| {
            grown(
                evidence,
                "innodb_buffer_pool_size",
                4.0,
                0.0..=POOL_PART_MAX * evidence.memory_bytes,
            )
        },
        matters: |evidence| {
            share_above(
                evidence,
                "Innodb_buffer_pool_reads",
                "Innodb_buffer_pool_read_requests",
                1e-4,
            )
        },
        is_always_asked: false,
    },
    Row {
        name: "redo_log",
        reason: "the redo log is written round in less than an hour",
        cost: "disk space, a longer recovery after a crash",
        counters: &["Innodb_os_log_written"],
        candidates: redo_log,
        matters: |evidence| redo_hours(evidence).is_some_and(|hours| hours < 1.0),
        is_always_asked: false,
    },
    Row {
        name: "log_buffer",
        reason: "transactions waited for room in the log buffer",
        cost: "memory, by the difference",
        counters: &["Innodb_log_waits"],
        candidates: |evidence| {
            grown(
                evidence,
                "innodb_log_buffer_size",
                4.0,
                16.0 * MEBIBYTE..=GIBIBYTE,
            )
        },
        matters: |evidence| has_grown(evidence, "Innodb_log_waits"),
        is_always_asked: false,
    },
    Row {
        name: "io_capacity",
        reason: "pages are flushed, and the limit is one for disks",
        cost: "none",
        counters: &["Innodb_buffer_pool_pages_flushed"],
        candidates: io_capacity,
        matters: |evidence| has_grown(evidence, "Innodb_buffer_pool_pages_flushed"),
        is_always_asked: false,
    },
    Row {
        name: "flush_neighbors",
        reason: "pages are flushed with their neighbours, which helps disks",
        cost: "none",
        counters: &["Innodb_buffer_pool_pages_flushed"],
        candidates: |evidence| turned(evidence, "innodb_flush_neighbors", &["0"]),
        matters: |evidence| has_grown(evidence, "Innodb_buffer_pool_pages_flushed"),
        is_always_asked: false,
    },
    Row {
        name: "flush_method",
        reason: "the kernel keeps a second copy of pages",
        cost: RESTART,
        counters: &[],
        candidates: |evidence| {
            let present = evidence.settings.get("innodb_flush_method")?;
            let is_buffered = ["fsync", "O_DSYNC", ""].contains(&present.as_str());
            is_buffered.then(|| one("innodb_flush_method", "O_DIRECT".to_owned()))
        },
        matters: |_| false,
        is_always_asked: true,
    },
    Row {
        name: "adaptive_hash_index",
        reason: "",
        cost: "memory of the pool when it is on",
        counters: &[],
        candidates: |evidence| turned(evidence, "innodb_adaptive_hash_index", &["ON", "OFF"]),
        matters: |_| false,
        is_always_asked: true,
    },
    Row {
        name: "change_buffering",
        reason: "pages are read from disk and changed",
        cost: "none",
        counters: &["Innodb_buffer_pool_reads"],
        candidates: |evidence| turned(evidence, "innodb_change_buffering", &["all", "none"]),
        matters: |evidence| {
            has_grown(evidence, "Innodb_buffer_pool_reads")
                && has_grown(evidence, "Innodb_rows_inserted")
        },
        is_always_asked: false,
    },
    Row {
        name: "log_writer_threads",
        reason: "",
        cost: "none",
        counters: &[],
        candidates: |evidence| turned(evidence, "innodb_log_writer_threads", &["ON", "OFF"]),
        matters: |_| false,
        is_always_asked: true,
    },
    Row {
        name: "lru_scan_depth",
        reason: "reads waited for a free page of the pool",
        cost: "none",
        counters: &["Innodb_buffer_pool_wait_free"],
        candidates: |evidence| grown(evidence, "innodb_lru_scan_depth", 4.0, 0.0..=16_384.0),
        matters: |evidence| has_grown(evidence, "Innodb_buffer_pool_wait_free"),
        is_always_asked: false,
    },
    Row {
        name: "sort_buffer",
        reason: "sorts were merged from files",
        cost: PER_SESSION,
        counters: &["Sort_merge_passes"],
        candidates: |evidence| {
            grown(
                evidence,
                "sort_buffer_size",
                8.0,
                2.0 * MEBIBYTE..=32.0 * MEBIBYTE,
            )
        },
        matters: |evidence| has_grown(evidence, "Sort_merge_passes"),
        is_always_asked: false,
    },
    Row {
        name: "join_buffer",
        reason: "joins read whole tables; an index may be the better answer",
        cost: PER_SESSION,
        counters: &["Select_full_join"],
        candidates: |evidence| grown(evidence, "join_buffer_size", 16.0, 0.0..=32.0 * MEBIBYTE),
        matters: |evidence| has_grown(evidence, "Select_full_join"),
        is_always_asked: false,
    },
    Row {
        name: "temporary_tables",
        reason: "temporary tables went to disk",
        cost: PER_SESSION,
        counters: &["Created_tmp_disk_tables"],
        candidates: |evidence| {
            let mut both = grown(evidence, "tmp_table_size", 8.0, 16.0 * MEBIBYTE..=GIBIBYTE)?;
            both.extend(grown(
                evidence,
                "max_heap_table_size",
                8.0,
                16.0 * MEBIBYTE..=GIBIBYTE,
            )?);
            Some(both)
        },
        matters: |evidence| has_grown(evidence, "Created_tmp_disk_tables"),
        is_always_asked: false,
    },
    Row {
        name: "table_cache",
        reason: "tables were closed for others and opened again",
        cost: "memory and file descriptors for each table",
        counters: &["Opened_tables"],
        candidates: |evidence| grown(evidence, "table_open_cache", 4.0, 0.0..=65_536.0),
        matters: |evidence| has_grown(evidence, "Table_open_cache_overflows"),
        is_always_asked: false,
    },
    Row {
        name: "thread_cache",
        reason: "threads were created for new connections",
        cost: "memory for each idle thread",
        counters: &["Threads_created"],
        candidates: |evidence| grown(evidence, "thread_cache_size", 8.0, 0.0..=1_024.0),
        matters: |evidence| share_above(evidence, "Threads_created", "Connections", 0.01),
        is_always_asked: false,
    },
    Row {
        name: "binlog_cache",
        reason: "transactions went through a file on their way to the binary log",
        cost: PER_SESSION,
        counters: &["Binlog_cache_disk_use"],
        candidates: |evidence| grown(evidence, "binlog_cache_size", 16.0, 0.0..=64.0 * MEBIBYTE),
        matters: |evidence| has_grown(evidence, "Binlog_cache_disk_use"),
        is_always_asked: false,
    },
    Row {
        name: "query_cache",
        reason: "each statement takes the query cache's lock",
        cost: "statements that it answers run again",
        counters: &["Qcache_hits", "Qcache_inserts"],
        candidates: |evidence| turned(evidence, "query_cache_type", &["OFF"]),
        matters: |evidence| {
            evidence
                .setting("query_cache_size")
                .is_some_and(|size| size > 0.0)
        },
        is_always_asked: false,
    },
    Row {
        name: "binlog_compression",
        reason: "row events are written to the binary log uncompressed",
        cost: "CPU time of the server and its replicas",
        counters: &["Binlog_cache_use"],
        candidates: |evidence| turned(evidence, "binlog_transaction_compression", &["ON"]),
        matters: |evidence| has_grown(evidence, "Binlog_cache_use"),
        is_always_asked: false,
    },
];

fn one(name: &'static str, value: String) -> BTreeMap<&'static str, String> {
    BTreeMap::from([(name, value)])
}

fn has_grown(evidence: &Evidence, counter: &str) -> bool {
    evidence.grown(counter).is_some_and(|grown| grown > 0.0)
}

fn share_above(evidence: &Evidence, part: &str, whole: &str, share: f64) -> bool {
    has_grown(evidence, part)
        && evidence
            .share(part, whole)
            .is_some_and(|found| found >= share)
}

/// A number times `factor`, within `bounds`; nothing to ask where it is that large.
fn grown(
    evidence: &Evidence,
    name: &'static str,
    factor: f64,
    bounds: RangeInclusive<f64>,
) -> Option<BTreeMap<&'static str, String>> {
    let present = evidence.setting(name)?;
    let candidate = (present * factor).max(*bounds.start()).min(*bounds.end());
    (candidate > present).then(|| one(name, format!("{candidate:.0}")))
}

/// Another of `values` than the present one; nothing to ask of a server without the setting.
fn turned(
    evidence: &Evidence,
    name: &'static str,
    values: &[&str],
) -> Option<BTreeMap<&'static str, String>> {
    let present = evidence.settings.get(name)?;
    let other = values
        .iter()
        .find(|value| !value.eq_ignore_ascii_case(present))?;
    Some(one(name, (*other).to_owned()))
}

/// 2,000 pages a second, and twice as many at most.
fn io_capacity(evidence: &Evidence) -> Option<BTreeMap<&'static str, String>> {
    const CANDIDATE: f64 = 2_000.0;
    if evidence.setting("innodb_io_capacity")? >= CANDIDATE {
        return None;
    }
    let mut both = one("innodb_io_capacity", format!("{CANDIDATE:.0}"));
    if evidence.setting("innodb_io_capacity_max")? < 2.0 * CANDIDATE {
        both.insert("innodb_io_capacity_max", format!("{:.0}", 2.0 * CANDIDATE));
    }
    Some(both)
}

/// Hours in which the redo log is written once.
fn redo_hours(evidence: &Evidence) -> Option<f64> {
    let size = evidence.redo_bytes()?;
    let written = evidence
        .rate("Innodb_os_log_written")
        .filter(|rate| *rate > 0.0)?;
    Some(size / written / 3_600.0)
}

/// An hour of what is written, four times the present size at least, 16 GiB at most.
fn redo_log(evidence: &Evidence) -> Option<BTreeMap<&'static str, String>> {
    let size = evidence.redo_bytes()?;
    let names = ["innodb_redo_log_capacity", "innodb_log_file_size"];
    let name = names
        .into_iter()
        .find(|name| evidence.setting(name).is_some())?;
    let hour = evidence.rate("Innodb_os_log_written").unwrap_or(0.0) * 3_600.0;
    let wanted = hour.clamp(4.0 * size, (16.0 * GIBIBYTE).max(4.0 * size));
    let files = wanted / size * evidence.setting(name)?;
    // Whole mebibytes: servers round.
    Some(one(
        name,
        format!("{:.0}", (files / MEBIBYTE).ceil() * MEBIBYTE),
    ))
}
