//! All panels. Times of counters are rates: seconds of CPU per second are cores.

#[allow(
    clippy::wildcard_imports,
    reason = "this is the table of all of them, and a test asserts it"
)]
use weir_model::metrics::*;

use super::{FIRST, Panel};
use crate::timeline::curves::Source::{Metric, Seconds};

const SERVER: &str = "More of the server";
const FILES: &str = "Files and waits as the server counts them";
const HOST: &str = "More of the host";
const DRIVE: &str = "More of the drive";
const KINDS: &str = "The drive by kind of file";

const MEGA: f64 = 1e-6;
const PERCENT: f64 = 100.0;
const MILLI: f64 = 1e3;

macro_rules! panels {
    ($($group:ident, $title:literal, $unit:literal: { $($name:literal = $source:expr),* $(,)? })*) => {
        pub(super) const PANELS: &[Panel] = &[$(Panel {
            group: $group,
            title: $title,
            unit: $unit,
            series: &[$(($name, $source)),*],
        }),*];
    };
}

panels! {
    FIRST, "Throughput", "queries/s": {
        "queries" = Seconds(|second| Some(second.queries as f64 / second.length_s)),
    }
    FIRST, "Latency of transactions", "ms": {
        "p50" = Seconds(|second| (second.transactions > 0).then_some(second.latency_us_p50 / 1e3)),
        "p95" = Seconds(|second| (second.transactions > 0).then_some(second.latency_us_p95 / 1e3)),
        "p99" = Seconds(|second| (second.transactions > 0).then_some(second.latency_us_p99 / 1e3)),
    }
    FIRST, "CPU of the host", "cores": {
        "user" = Metric(HOST_CPU_USER, 1.0),
        "system" = Metric(HOST_CPU_SYSTEM, 1.0),
        "idle, I/O pending" = Metric(HOST_CPU_IOWAIT, 1.0),
        "stolen" = Metric(HOST_CPU_STEAL, 1.0),
    }
    FIRST, "CPU by program", "cores": {
        "server" = Metric(SERVER_CPU, 1.0),
        "load generator" = Metric(CLIENT_CPU, 1.0),
        "drive emulation" = Metric(DRIVE_CPU, 1.0),
    }
    FIRST, "InnoDB rows", "rows/s": {
        "read" = Metric(STATUS_ROWS_READ, 1.0),
        "inserted" = Metric(STATUS_ROWS_INSERTED, 1.0),
        "updated" = Metric(STATUS_ROWS_UPDATED, 1.0),
        "deleted" = Metric(STATUS_ROWS_DELETED, 1.0),
    }
    FIRST, "Buffer pool", "pages/s": {
        "reads that missed" = Metric(STATUS_POOL_READS, 1.0),
        "flushed" = Metric(STATUS_POOL_PAGES_FLUSHED, 1.0),
    }
    FIRST, "Dirty pages in the buffer pool", "pages": {
        "dirty" = Metric(STATUS_POOL_PAGES_DIRTY, 1.0),
    }
    FIRST, "Redo since the last checkpoint", "MB": {
        "checkpoint age" = Metric(STATUS_CHECKPOINT_AGE, MEGA),
    }
    FIRST, "Bytes of InnoDB", "MB/s": {
        "read" = Metric(STATUS_DATA_READ, MEGA),
        "written" = Metric(STATUS_DATA_WRITTEN, MEGA),
        "redo log" = Metric(STATUS_REDO_WRITTEN, MEGA),
    }
    FIRST, "Waiting for row locks", "connections": {
        "waiting" = Metric(STATUS_ROW_LOCK_TIME, 1.0),
    }
    FIRST, "Operations on the drive", "per s": {
        "reads" = Metric(DRIVE_READS, 1.0),
        "writes" = Metric(DRIVE_WRITES, 1.0),
        "flushes" = Metric(DRIVE_FLUSHES, 1.0),
    }
    FIRST, "Bytes on the drive", "MB/s": {
        "read" = Metric(DRIVE_READ_BYTES, MEGA),
        "written" = Metric(DRIVE_WRITE_BYTES, MEGA),
        "written to its media" = Metric(DRIVE_MEDIA_BYTES, MEGA),
    }
    FIRST, "How busy the drive was", "%": {
        "reading" = Metric(DRIVE_READ_BUSY, PERCENT),
        "writing" = Metric(DRIVE_WRITE_BUSY, PERCENT),
    }
    FIRST, "Queue of the drive", "operations": {
        "in flight" = Metric(DRIVE_QUEUE_DEPTH, 1.0),
    }
    FIRST, "Memory", "MB": {
        "server" = Metric(SERVER_MEMORY, MEGA),
        "load generator" = Metric(CLIENT_MEMORY, MEGA),
        "drive emulation" = Metric(DRIVE_MEMORY, MEGA),
        "available on the host" = Metric(HOST_MEMORY_AVAILABLE, MEGA),
    }

    SERVER, "Statements", "per s": {
        "received" = Metric(STATUS_QUESTIONS, 1.0),
        "temporary tables on disk" = Metric(STATUS_TEMPORARY_TABLES_ON_DISK, 1.0),
    }
    SERVER, "Connections", "connections": {
        "open" = Metric(STATUS_THREADS_CONNECTED, 1.0),
        "at work" = Metric(STATUS_THREADS_RUNNING, 1.0),
    }
    SERVER, "Answer to a ping", "\u{b5}s": { "round trip" = Metric(STATUS_ROUND_TRIP, 1.0) }
    SERVER, "Bytes between clients and server", "MB/s": {
        "received" = Metric(STATUS_RECEIVED, MEGA),
        "sent" = Metric(STATUS_SENT, MEGA),
    }
    SERVER, "Requests to the buffer pool", "pages/s": {
        "reads" = Metric(STATUS_POOL_READ_REQUESTS, 1.0),
        "changes" = Metric(STATUS_POOL_WRITE_REQUESTS, 1.0),
    }
    SERVER, "Read ahead and waits for free pages", "per s": {
        "read ahead" = Metric(STATUS_POOL_READ_AHEAD, 1.0),
        "read ahead, evicted unused" = Metric(STATUS_POOL_READ_AHEAD_EVICTED, 1.0),
        "waits for a free page" = Metric(STATUS_POOL_WAIT_FREE, 1.0),
    }
    SERVER, "Pages in the buffer pool", "pages": {
        "all" = Metric(STATUS_POOL_PAGES_TOTAL, 1.0),
        "with data" = Metric(STATUS_POOL_PAGES_DATA, 1.0),
        "free" = Metric(STATUS_POOL_PAGES_FREE, 1.0),
        "in the old part" = Metric(STATUS_POOL_PAGES_OLD, 1.0),
    }
    SERVER, "Pages made young", "pages/s": {
        "made young" = Metric(STATUS_POOL_MADE_YOUNG, 1.0),
        "read again too soon" = Metric(STATUS_POOL_NOT_MADE_YOUNG, 1.0),
    }
    SERVER, "Pages of InnoDB", "pages/s": {
        "created" = Metric(STATUS_PAGES_CREATED, 1.0),
        "read" = Metric(STATUS_PAGES_READ, 1.0),
        "written" = Metric(STATUS_PAGES_WRITTEN, 1.0),
        "to the doublewrite buffer" = Metric(STATUS_DOUBLEWRITE_PAGES, 1.0),
    }
    SERVER, "Operations of InnoDB on files", "per s": {
        "reads" = Metric(STATUS_DATA_READS, 1.0),
        "writes" = Metric(STATUS_DATA_WRITES, 1.0),
        "fsync" = Metric(STATUS_DATA_SYNCS, 1.0),
        "doublewrite" = Metric(STATUS_DOUBLEWRITE_WRITES, 1.0),
    }
    SERVER, "Operations of InnoDB in flight", "operations": {
        "reads" = Metric(STATUS_DATA_PENDING_READS, 1.0),
        "writes" = Metric(STATUS_DATA_PENDING_WRITES, 1.0),
        "fsync" = Metric(STATUS_DATA_PENDING_SYNCS, 1.0),
    }
    SERVER, "Operations on the redo log", "per s": {
        "write requests" = Metric(STATUS_REDO_WRITE_REQUESTS, 1.0),
        "writes" = Metric(STATUS_REDO_WRITES, 1.0),
        "fsync" = Metric(STATUS_REDO_SYNCS, 1.0),
        "waits for the log buffer" = Metric(STATUS_REDO_WAITS, 1.0),
    }
    SERVER, "Redo generated", "MB/s": { "redo" = Metric(STATUS_REDO_LSN, MEGA) }
    SERVER, "Undo not purged yet", "transactions": { "history" = Metric(STATUS_HISTORY, 1.0) }
    SERVER, "Row locks", "per s": {
        "waits" = Metric(STATUS_ROW_LOCK_WAITS, 1.0),
        "timeouts" = Metric(STATUS_LOCK_TIMEOUTS, 1.0),
        "deadlocks" = Metric(STATUS_DEADLOCKS, 1.0),
    }
    SERVER, "Transactions that wait for a row lock", "transactions": {
        "waiting" = Metric(STATUS_ROW_LOCKS_WAITING, 1.0),
    }
    SERVER, "Threads of the server, and its cores", "number": {
        "threads" = Metric(SERVER_THREADS, 1.0),
        "cores allowed" = Metric(SERVER_CORES, 1.0),
    }
    SERVER, "Page faults of the server that read from storage", "per s": {
        "major faults" = Metric(SERVER_MAJOR_FAULTS, 1.0),
    }
    SERVER, "How far replicas are behind", "s": { "" = Metric(REPLICATION_LAG, 1.0) }
    SERVER, "Age of the newest heartbeat on replicas", "ms": { "" = Metric(REPLICATION_HEARTBEAT_LAG, 1.0) }
    SERVER, "Whether replicas run", "1: yes": { "" = Metric(REPLICATION_RUNNING, 1.0) }
    SERVER, "Reads of replicas from their drives", "per s": { "" = Metric(REPLICA_DRIVE_READS, 1.0) }
    SERVER, "Writes of replicas to their drives", "per s": { "" = Metric(REPLICA_DRIVE_WRITES, 1.0) }
    SERVER, "Bytes that replicas read from their drives", "MB/s": { "" = Metric(REPLICA_DRIVE_READ_BYTES, MEGA) }
    SERVER, "Bytes that replicas write to their drives", "MB/s": { "" = Metric(REPLICA_DRIVE_WRITE_BYTES, MEGA) }

    FILES, "Reads of files", "per s": { "" = Metric(FILE_READS, 1.0) }
    FILES, "Writes of files", "per s": { "" = Metric(FILE_WRITES, 1.0) }
    FILES, "fsync of files", "per s": { "" = Metric(FILE_SYNCS, 1.0) }
    FILES, "Bytes read from files", "MB/s": { "" = Metric(FILE_READ_BYTES, MEGA) }
    FILES, "Bytes written to files", "MB/s": { "" = Metric(FILE_WRITE_BYTES, MEGA) }
    FILES, "Time in reads of files", "ms per s": { "" = Metric(FILE_READ_TIME, MILLI) }
    FILES, "Time in writes of files", "ms per s": { "" = Metric(FILE_WRITE_TIME, MILLI) }
    FILES, "Time in fsync of files", "ms per s": { "" = Metric(FILE_SYNC_TIME, MILLI) }
    FILES, "Waits by class", "per s": { "" = Metric(WAIT_COUNT, 1.0) }
    FILES, "Time of waits by class", "ms per s": { "" = Metric(WAIT_TIME, MILLI) }

    HOST, "Idle CPU", "cores": { "idle" = Metric(HOST_CPU_IDLE, 1.0) }
    HOST, "Cores that the run used, and the kernel's own threads", "cores": {
        "the run" = Metric(HOST_RUN_CPU, 1.0),
        "the kernel" = Metric(HOST_KERNEL_CPU, 1.0),
    }
    HOST, "Cores that other processes used", "cores": { "" = Metric(HOST_OTHER_CPU, 1.0) }
    HOST, "Cores in user mode", "cores": { "" = Metric(HOST_CORE_CPU_USER, 1.0) }
    HOST, "Cores in the kernel", "cores": { "" = Metric(HOST_CORE_CPU_SYSTEM, 1.0) }
    HOST, "Cores idle with I/O pending", "cores": { "" = Metric(HOST_CORE_CPU_IOWAIT, 1.0) }
    HOST, "Cores stolen by the hypervisor", "cores": { "" = Metric(HOST_CORE_CPU_STEAL, 1.0) }
    HOST, "Threads of the host", "threads": {
        "run or wait for a core" = Metric(HOST_THREADS_RUNNABLE, 1.0),
        "wait for I/O" = Metric(HOST_THREADS_BLOCKED, 1.0),
    }
    HOST, "Context switches", "per s": { "switches" = Metric(HOST_CONTEXT_SWITCHES, 1.0) }
    HOST, "Time in which tasks waited (pressure)", "%": {
        "a task for a core" = Metric(HOST_PRESSURE_CPU_SOME, PERCENT),
        "a task for storage" = Metric(HOST_PRESSURE_IO_SOME, PERCENT),
        "all tasks for storage" = Metric(HOST_PRESSURE_IO_FULL, PERCENT),
        "a task for memory" = Metric(HOST_PRESSURE_MEMORY_SOME, PERCENT),
        "all tasks for memory" = Metric(HOST_PRESSURE_MEMORY_FULL, PERCENT),
    }
    HOST, "Page cache and swap", "MB": {
        "page cache" = Metric(HOST_MEMORY_CACHED, MEGA),
        "to be written" = Metric(HOST_MEMORY_DIRTY, MEGA),
        "swap in use" = Metric(HOST_SWAP_USED, MEGA),
    }
    HOST, "Swapping", "MB/s": {
        "in" = Metric(HOST_SWAP_IN, MEGA),
        "out" = Metric(HOST_SWAP_OUT, MEGA),
    }
    HOST, "Page faults that read from storage", "per s": {
        "major faults" = Metric(HOST_MAJOR_FAULTS, 1.0),
    }
    HOST, "Operations on block devices", "per s": {
        "reads" = Metric(HOST_DEVICE_READS, 1.0),
        "writes" = Metric(HOST_DEVICE_WRITES, 1.0),
        "flushes" = Metric(HOST_DEVICE_FLUSHES, 1.0),
    }
    HOST, "Bytes on block devices", "MB/s": {
        "read" = Metric(HOST_DEVICE_READ_BYTES, MEGA),
        "written" = Metric(HOST_DEVICE_WRITE_BYTES, MEGA),
    }
    HOST, "Time in operations on block devices", "ms per s": {
        "reads" = Metric(HOST_DEVICE_READ_TIME, MILLI),
        "writes" = Metric(HOST_DEVICE_WRITE_TIME, MILLI),
        "flushes" = Metric(HOST_DEVICE_FLUSH_TIME, MILLI),
    }
    HOST, "How busy block devices were", "%": { "" = Metric(HOST_DEVICE_BUSY, PERCENT) }
    HOST, "Queue of block devices", "operations": { "" = Metric(HOST_DEVICE_IN_FLIGHT, 1.0) }
    HOST, "Network", "MB/s": {
        "received" = Metric(HOST_NETWORK_RECEIVED, MEGA),
        "sent" = Metric(HOST_NETWORK_SENT, MEGA),
    }
    HOST, "Packets", "per s": {
        "received" = Metric(HOST_NETWORK_RECEIVED_PACKETS, 1.0),
        "sent" = Metric(HOST_NETWORK_SENT_PACKETS, 1.0),
        "dropped" = Metric(HOST_NETWORK_DROPPED, 1.0),
    }
    HOST, "Space left for the data", "MB": { "available" = Metric(HOST_STORAGE_AVAILABLE, MEGA) }

    DRIVE, "Bytes that hosts asked the drive to write", "MB/s": {
        "asked" = Metric(DRIVE_HOST_BYTES, MEGA),
        "from the cache to the slow drive" = Metric(DRIVE_DESTAGED_BYTES, MEGA),
    }
    DRIVE, "Reads and the cache in front of the drive", "per s": {
        "answered by the cache" = Metric(DRIVE_CACHE_HITS, 1.0),
        "past the cache" = Metric(DRIVE_CACHE_MISSES, 1.0),
    }
    DRIVE, "The cache in front of the drive", "%": {
        "filled" = Metric(DRIVE_CACHE_FILLED, PERCENT),
        "dirty" = Metric(DRIVE_CACHE_DIRTY, PERCENT),
    }
    DRIVE, "Stored of what was written", "%": {
        "compressed to" = Metric(DRIVE_COMPRESSED_SHARE, PERCENT),
    }
    DRIVE, "Space on the drive", "MB": {
        "files" = Metric(DRIVE_USED, MEGA),
        "flash in use" = Metric(DRIVE_PHYSICAL_USED, MEGA),
        "flash for data" = Metric(DRIVE_PHYSICAL_CAPACITY, MEGA),
    }
    DRIVE, "Guaranteed life that is used", "% per s": {
        "endurance" = Metric(DRIVE_ENDURANCE_USED, PERCENT),
    }
    DRIVE, "Later than modelled", "\u{b5}s": {
        "p50" = Metric(DRIVE_LATENESS_P50, 1.0),
        "p99" = Metric(DRIVE_LATENESS_P99, 1.0),
        "correction" = Metric(DRIVE_CORRECTION, 1.0),
    }
    DRIVE, "Late operations", "%": { "late" = Metric(DRIVE_LATE_SHARE, PERCENT) }
    DRIVE, "Faults on purpose", "per s": {
        "errors" = Metric(DRIVE_FAULT_ERRORS, 1.0),
        "delays" = Metric(DRIVE_FAULT_SPIKES, 1.0),
    }
    KINDS, "Reads", "per s": { "" = Metric(DRIVE_FILE_READS, 1.0) }
    KINDS, "Writes", "per s": { "" = Metric(DRIVE_FILE_WRITES, 1.0) }
    KINDS, "Flushes", "per s": { "" = Metric(DRIVE_FILE_FLUSHES, 1.0) }
    KINDS, "Bytes read", "MB/s": { "" = Metric(DRIVE_FILE_READ_BYTES, MEGA) }
    KINDS, "Bytes written", "MB/s": { "" = Metric(DRIVE_FILE_WRITE_BYTES, MEGA) }
    KINDS, "Latency of reads, p50", "\u{b5}s": { "" = Metric(DRIVE_FILE_READ_P50, 1.0) }
    KINDS, "Latency of reads, p99", "\u{b5}s": { "" = Metric(DRIVE_FILE_READ_P99, 1.0) }
    KINDS, "Latency of writes, p50", "\u{b5}s": { "" = Metric(DRIVE_FILE_WRITE_P50, 1.0) }
    KINDS, "Latency of writes, p99", "\u{b5}s": { "" = Metric(DRIVE_FILE_WRITE_P99, 1.0) }
    KINDS, "Latency of flushes, p50", "\u{b5}s": { "" = Metric(DRIVE_FILE_FLUSH_P50, 1.0) }
    KINDS, "Latency of flushes, p99", "\u{b5}s": { "" = Metric(DRIVE_FILE_FLUSH_P99, 1.0) }
    KINDS, "Time in reads", "ms per s": { "" = Metric(DRIVE_FILE_READ_TIME, MILLI) }
    KINDS, "Time in writes", "ms per s": { "" = Metric(DRIVE_FILE_WRITE_TIME, MILLI) }
    KINDS, "Time in flushes", "ms per s": { "" = Metric(DRIVE_FILE_FLUSH_TIME, MILLI) }
    KINDS, "Reads from the cache", "per s": { "" = Metric(DRIVE_FILE_CACHE_HITS, 1.0) }
}
