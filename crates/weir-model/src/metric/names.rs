//! Every metric there is, grouped by where it comes from: the one long table of this crate.

/// Every metric there is.
pub mod metrics {
    use crate::Metric;
    use crate::MetricKind::{Counter, Gauge};

    macro_rules! metrics {
        ($(per $per:literal from $source:literal {
            $($constant:ident = $name:literal, $title:literal, $unit:literal, $kind:ident;)*
        })*) => {
            $($(#[doc = $title] pub const $constant: Metric = Metric {
                name: $name, title: $title, unit: $unit, kind: $kind, per: $per, source: $source,
            };)*)*
            /// All metrics, in the order in which they are declared.
            pub const ALL: &[Metric] = &[$($($constant),*),*];
        };
    }

    metrics! {
        per "" from "/proc/stat" {
            HOST_CPU_USER = "host.cpu_user_s", "CPU time in user mode, all cores", "s", Counter;
            HOST_CPU_SYSTEM = "host.cpu_system_s", "CPU time in the kernel, all cores", "s", Counter;
            HOST_CPU_IDLE = "host.cpu_idle_s", "CPU time idle, all cores", "s", Counter;
            HOST_CPU_IOWAIT = "host.cpu_iowait_s", "CPU time idle with I/O pending, all cores", "s", Counter;
            HOST_CPU_STEAL = "host.cpu_steal_s", "CPU time taken by the hypervisor, all cores", "s", Counter;
            HOST_CONTEXT_SWITCHES = "host.context_switches", "Context switches", "switches", Counter;
            HOST_THREADS_RUNNABLE = "host.threads_runnable", "Threads that run or wait for a core", "threads", Gauge;
            HOST_THREADS_BLOCKED = "host.threads_blocked", "Threads that wait for I/O in the kernel", "threads", Gauge;
        }
        per "core" from "/proc/stat" {
            HOST_CORE_CPU_USER = "host.core_cpu_user_s", "CPU time of a core in user mode", "s", Counter;
            HOST_CORE_CPU_SYSTEM = "host.core_cpu_system_s", "CPU time of a core in the kernel", "s", Counter;
            HOST_CORE_CPU_IOWAIT = "host.core_cpu_iowait_s", "CPU time of a core idle with I/O pending", "s", Counter;
            HOST_CORE_CPU_STEAL = "host.core_cpu_steal_s", "CPU time of a core taken by the hypervisor", "s", Counter;
        }
        per "" from "/proc/*/stat" {
            HOST_RUN_CPU = "host.run_cpu_s", "CPU time of the run: server, load engine, drive emulation", "s", Counter;
            HOST_KERNEL_CPU = "host.kernel_threads_cpu_s", "CPU time of the kernel's own threads", "s", Counter;
        }
        per "process name" from "/proc/*/stat" {
            HOST_OTHER_CPU = "host.other_cpu_s", "CPU time of processes that are not the run's", "s", Counter;
        }
        per "" from "/proc/pressure" {
            HOST_PRESSURE_CPU_SOME = "host.pressure_cpu_some_s", "Time in which a task waited for a core", "s", Counter;
            HOST_PRESSURE_IO_SOME = "host.pressure_io_some_s", "Time in which a task waited for a block device", "s", Counter;
            HOST_PRESSURE_IO_FULL = "host.pressure_io_full_s", "Time in which all tasks waited for block devices", "s", Counter;
            HOST_PRESSURE_MEMORY_SOME = "host.pressure_memory_some_s", "Time in which a task waited for memory", "s", Counter;
            HOST_PRESSURE_MEMORY_FULL = "host.pressure_memory_full_s", "Time in which all tasks waited for memory", "s", Counter;
        }
        per "" from "/proc/meminfo" {
            HOST_MEMORY_AVAILABLE = "host.memory_available_bytes", "Memory available", "bytes", Gauge;
            HOST_MEMORY_CACHED = "host.memory_cached_bytes", "Memory in the page cache", "bytes", Gauge;
            HOST_MEMORY_DIRTY = "host.memory_dirty_bytes", "Page cache waiting to be written", "bytes", Gauge;
            HOST_SWAP_USED = "host.swap_used_bytes", "Swap space in use", "bytes", Gauge;
        }
        per "" from "/proc/vmstat" {
            HOST_SWAP_IN = "host.swap_in_bytes", "Bytes swapped in", "bytes", Counter;
            HOST_SWAP_OUT = "host.swap_out_bytes", "Bytes swapped out", "bytes", Counter;
            HOST_MAJOR_FAULTS = "host.major_faults", "Page faults that read from storage", "faults", Counter;
        }
        per "block device" from "/proc/diskstats" {
            HOST_DEVICE_READS = "host.device_reads", "Reads of a block device", "operations", Counter;
            HOST_DEVICE_READ_BYTES = "host.device_read_bytes", "Bytes read from a block device", "bytes", Counter;
            HOST_DEVICE_READ_TIME = "host.device_read_time_s", "Time that reads of a block device took, summed", "s", Counter;
            HOST_DEVICE_WRITES = "host.device_writes", "Writes of a block device", "operations", Counter;
            HOST_DEVICE_WRITE_BYTES = "host.device_write_bytes", "Bytes written to a block device", "bytes", Counter;
            HOST_DEVICE_WRITE_TIME = "host.device_write_time_s", "Time that writes of a block device took, summed", "s", Counter;
            HOST_DEVICE_FLUSHES = "host.device_flushes", "Flushes of a block device", "operations", Counter;
            HOST_DEVICE_FLUSH_TIME = "host.device_flush_time_s", "Time that flushes of a block device took, summed", "s", Counter;
            HOST_DEVICE_BUSY = "host.device_busy_s", "Time in which a block device had work", "s", Counter;
            HOST_DEVICE_IN_FLIGHT = "host.device_in_flight", "Operations in flight on a block device", "operations", Gauge;
        }
        per "network interface" from "/proc/net/dev" {
            HOST_NETWORK_RECEIVED = "host.network_received_bytes", "Bytes received", "bytes", Counter;
            HOST_NETWORK_SENT = "host.network_sent_bytes", "Bytes sent", "bytes", Counter;
            HOST_NETWORK_RECEIVED_PACKETS = "host.network_received_packets", "Packets received", "packets", Counter;
            HOST_NETWORK_SENT_PACKETS = "host.network_sent_packets", "Packets sent", "packets", Counter;
            HOST_NETWORK_DROPPED = "host.network_dropped_packets", "Packets dropped, both ways", "packets", Counter;
        }
        per "" from "statvfs of the data directory" {
            HOST_STORAGE_AVAILABLE = "host.storage_available_bytes", "Space left for the data", "bytes", Gauge;
        }
        per "" from "/proc/PID/stat" {
            SERVER_CPU = "server.cpu_s", "CPU time of the server", "s", Counter;
            SERVER_MEMORY = "server.memory_bytes", "Resident memory of the server", "bytes", Gauge;
            SERVER_THREADS = "server.threads", "Threads of the server", "threads", Gauge;
            SERVER_CORES = "server.cores_allowed", "Cores that the server may run on", "cores", Gauge;
            SERVER_MAJOR_FAULTS = "server.major_faults", "Page faults of the server that read from storage", "faults", Counter;
            CLIENT_CPU = "client.cpu_s", "CPU time of the load generator, with what the probes cost", "s", Counter;
            CLIENT_MEMORY = "client.memory_bytes", "Resident memory of the load generator, with what the probes cost", "bytes", Gauge;
            DRIVE_CPU = "drive.cpu_s", "CPU time of the drive emulation", "s", Counter;
            DRIVE_MEMORY = "drive.memory_bytes", "Resident memory of the drive emulation", "bytes", Gauge;
        }
        per "" from "SHOW GLOBAL STATUS" {
            STATUS_QUESTIONS = "status.questions", "Statements received", "1", Counter;
            STATUS_THREADS_CONNECTED = "status.threads_connected", "Connections", "connections", Gauge;
            STATUS_THREADS_RUNNING = "status.threads_running", "Connections that run a statement", "connections", Gauge;
            STATUS_RECEIVED = "status.received_bytes", "Bytes that the server received from clients", "bytes", Counter;
            STATUS_SENT = "status.sent_bytes", "Bytes that the server sent to clients", "bytes", Counter;
            STATUS_TEMPORARY_TABLES_ON_DISK = "status.temporary_tables_on_disk", "Internal temporary tables made on disk", "tables", Counter;
            STATUS_ROWS_INSERTED = "status.rows_inserted", "InnoDB rows inserted", "rows", Counter;
            STATUS_ROWS_UPDATED = "status.rows_updated", "InnoDB rows updated", "rows", Counter;
            STATUS_ROWS_DELETED = "status.rows_deleted", "InnoDB rows deleted", "rows", Counter;
            STATUS_ROWS_READ = "status.rows_read", "InnoDB rows read", "rows", Counter;
            STATUS_POOL_READ_REQUESTS = "status.pool_read_requests", "Page reads from the buffer pool", "pages", Counter;
            STATUS_POOL_READS = "status.pool_reads", "Page reads that missed the buffer pool", "pages", Counter;
            STATUS_POOL_WRITE_REQUESTS = "status.pool_write_requests", "Page changes in the buffer pool", "pages", Counter;
            STATUS_POOL_READ_AHEAD = "status.pool_read_ahead_pages", "Pages read ahead", "pages", Counter;
            STATUS_POOL_READ_AHEAD_EVICTED = "status.pool_read_ahead_evicted_pages", "Pages read ahead and evicted unused", "pages", Counter;
            STATUS_POOL_WAIT_FREE = "status.pool_waits_for_free_page", "Waits for a free page in the buffer pool", "waits", Counter;
            STATUS_POOL_PAGES_TOTAL = "status.pool_pages_total", "Pages of the buffer pool", "pages", Gauge;
            STATUS_POOL_PAGES_DATA = "status.pool_pages_data", "Buffer pool pages with data", "pages", Gauge;
            STATUS_POOL_PAGES_FREE = "status.pool_pages_free", "Free pages in the buffer pool", "pages", Gauge;
            STATUS_POOL_PAGES_DIRTY = "status.pool_pages_dirty", "Dirty pages in the buffer pool", "pages", Gauge;
            STATUS_POOL_PAGES_FLUSHED = "status.pool_pages_flushed", "Pages flushed from the buffer pool", "pages", Counter;
        }
        per "" from "INNODB_BUFFER_POOL_STATS" {
            STATUS_POOL_PAGES_OLD = "status.pool_pages_old", "Buffer pool pages in the old part of the LRU list", "pages", Gauge;
            STATUS_POOL_MADE_YOUNG = "status.pool_pages_made_young", "Pages made young in the LRU list", "pages", Counter;
            STATUS_POOL_NOT_MADE_YOUNG = "status.pool_pages_not_made_young", "Pages read again too soon to be made young", "pages", Counter;
        }
        per "" from "SHOW GLOBAL STATUS" {
            STATUS_PAGES_CREATED = "status.pages_created", "InnoDB pages created", "pages", Counter;
            STATUS_PAGES_READ = "status.pages_read", "InnoDB pages read", "pages", Counter;
            STATUS_PAGES_WRITTEN = "status.pages_written", "InnoDB pages written", "pages", Counter;
            STATUS_DATA_READ = "status.data_read_bytes", "Bytes that InnoDB read", "bytes", Counter;
            STATUS_DATA_WRITTEN = "status.data_written_bytes", "Bytes that InnoDB wrote", "bytes", Counter;
            STATUS_DATA_READS = "status.data_reads", "Reads by InnoDB", "operations", Counter;
            STATUS_DATA_WRITES = "status.data_writes", "Writes by InnoDB", "operations", Counter;
            STATUS_DATA_SYNCS = "status.data_syncs", "fsync calls by InnoDB", "operations", Counter;
            STATUS_DATA_PENDING_READS = "status.data_pending_reads", "InnoDB reads in flight", "operations", Gauge;
            STATUS_DATA_PENDING_WRITES = "status.data_pending_writes", "InnoDB writes in flight", "operations", Gauge;
            STATUS_DATA_PENDING_SYNCS = "status.data_pending_syncs", "InnoDB fsync calls in flight", "operations", Gauge;
            STATUS_DOUBLEWRITE_PAGES = "status.doublewrite_pages", "Pages written to the doublewrite buffer", "pages", Counter;
            STATUS_DOUBLEWRITE_WRITES = "status.doublewrite_writes", "Writes to the doublewrite buffer", "operations", Counter;
            STATUS_REDO_WRITTEN = "status.redo_written_bytes", "Bytes written to the redo log", "bytes", Counter;
            STATUS_REDO_WRITES = "status.redo_writes", "Writes to the redo log", "operations", Counter;
            STATUS_REDO_WRITE_REQUESTS = "status.redo_write_requests", "Requests to write to the redo log", "operations", Counter;
            STATUS_REDO_SYNCS = "status.redo_syncs", "fsync calls on the redo log", "operations", Counter;
            STATUS_REDO_WAITS = "status.redo_buffer_waits", "Waits because the log buffer was full", "waits", Counter;
            STATUS_REDO_LSN = "status.redo_lsn_bytes", "Bytes of redo ever generated (the log sequence number)", "bytes", Counter;
            STATUS_CHECKPOINT_AGE = "status.checkpoint_age_bytes", "Redo since the last checkpoint", "bytes", Gauge;
        }
        per "" from "INNODB_METRICS; MariaDB: SHOW GLOBAL STATUS" {
            STATUS_HISTORY = "status.history_list_length", "Transactions whose undo purge has not removed yet", "transactions", Gauge;
            STATUS_DEADLOCKS = "status.deadlocks", "Deadlocks", "deadlocks", Counter;
            STATUS_LOCK_TIMEOUTS = "status.lock_timeouts", "Row lock waits that timed out", "waits", Counter;
        }
        per "" from "SHOW GLOBAL STATUS" {
            STATUS_ROW_LOCK_WAITS = "status.row_lock_waits", "Waits for row locks", "waits", Counter;
            STATUS_ROW_LOCKS_WAITING = "status.row_lock_waiting", "Transactions that wait for a row lock", "transactions", Gauge;
            STATUS_ROW_LOCK_TIME = "status.row_lock_time_s", "Time spent waiting for row locks", "s", Counter;
        }
        per "" from "COM_PING on the probe's connection" {
            STATUS_ROUND_TRIP = "status.round_trip_us", "Time that the server took to answer a ping", "us", Gauge;
        }
        per "kind of file" from "performance_schema.file_summary_by_event_name" {
            FILE_READS = "file.reads", "Reads of files, as the server counts them", "operations", Counter;
            FILE_READ_BYTES = "file.read_bytes", "Bytes read from files, as the server counts them", "bytes", Counter;
            FILE_READ_TIME = "file.read_time_s", "Time that reads of files took, summed", "s", Counter;
            FILE_WRITES = "file.writes", "Writes of files, as the server counts them", "operations", Counter;
            FILE_WRITE_BYTES = "file.write_bytes", "Bytes written to files, as the server counts them", "bytes", Counter;
            FILE_WRITE_TIME = "file.write_time_s", "Time that writes of files took, summed", "s", Counter;
            FILE_SYNCS = "file.syncs", "fsync and other calls on files", "operations", Counter;
            FILE_SYNC_TIME = "file.sync_time_s", "Time that fsync and other calls on files took, summed", "s", Counter;
        }
        per "class of wait" from "performance_schema.events_waits_summary_global_by_event_name" {
            WAIT_COUNT = "wait.waits", "Waits inside the server", "waits", Counter;
            WAIT_TIME = "wait.time_s", "Time of waits inside the server, summed", "s", Counter;
        }
        per "channel" from "SHOW REPLICA STATUS; MariaDB SHOW ALL SLAVES STATUS" {
            REPLICATION_LAG = "replication.lag_s", "How far a replica is behind its source", "s", Gauge;
            REPLICATION_RUNNING = "replication.running", "Whether a replica's two threads run (1) or not (0)", "1", Gauge;
        }
        per "replica" from "a row that the primary writes every 50 ms (`heartbeat` of a study)" {
            REPLICATION_HEARTBEAT_LAG = "replication.heartbeat_lag_ms", "Age of the newest heartbeat that a replica has applied", "ms", Gauge;
        }
        per "replica" from "weir drive stat of the replica's own drive" {
            REPLICA_DRIVE_READS = "replica_drive.reads", "Reads on a replica's drive", "operations", Counter;
            REPLICA_DRIVE_READ_BYTES = "replica_drive.read_bytes", "Bytes read from a replica's drive", "bytes", Counter;
            REPLICA_DRIVE_WRITES = "replica_drive.writes", "Writes on a replica's drive", "operations", Counter;
            REPLICA_DRIVE_WRITE_BYTES = "replica_drive.write_bytes", "Bytes written to a replica's drive", "bytes", Counter;
        }
        per "" from "weir drive stat" {
            DRIVE_READS = "drive.reads", "Reads on the drive", "operations", Counter;
            DRIVE_WRITES = "drive.writes", "Writes on the drive", "operations", Counter;
            DRIVE_FLUSHES = "drive.flushes", "Flushes on the drive", "operations", Counter;
            DRIVE_READ_BYTES = "drive.read_bytes", "Bytes read from the drive", "bytes", Counter;
            DRIVE_WRITE_BYTES = "drive.write_bytes", "Bytes written to the drive", "bytes", Counter;
            DRIVE_HOST_BYTES = "drive.host_written_bytes", "Bytes that hosts asked the drive to write", "bytes", Counter;
            DRIVE_MEDIA_BYTES = "drive.media_written_bytes", "Bytes that the drive's media wrote", "bytes", Counter;
            DRIVE_READ_BUSY = "drive.read_busy_s", "Time for which the drive's read units were busy", "s", Counter;
            DRIVE_WRITE_BUSY = "drive.write_busy_s", "Time for which the drive's media was busy writing", "s", Counter;
            DRIVE_QUEUE_DEPTH = "drive.queue_depth", "Operations in flight on the drive", "operations", Gauge;
            DRIVE_COMPRESSED_SHARE = "drive.compressed_share", "Bytes stored / bytes written, since the mount", "1", Gauge;
            DRIVE_USED = "drive.used_bytes", "Bytes that files occupy on the drive", "bytes", Gauge;
            DRIVE_PHYSICAL_USED = "drive.physical_used_bytes", "Flash in use after compression", "bytes", Gauge;
            DRIVE_PHYSICAL_CAPACITY = "drive.physical_capacity_bytes", "Flash that there is for data", "bytes", Gauge;
            DRIVE_ENDURANCE_USED = "drive.endurance_used_share", "Share of the guaranteed life used since the mount", "1", Counter;
            DRIVE_CACHE_HITS = "drive.cache_hits", "Reads answered by the cache in front of the drive", "operations", Counter;
            DRIVE_CACHE_MISSES = "drive.cache_misses", "Reads that went past the cache in front of the drive", "operations", Counter;
            DRIVE_CACHE_DIRTY = "drive.cache_dirty_share", "Share of the cache that is dirty", "1", Gauge;
            DRIVE_CACHE_FILLED = "drive.cache_filled_share", "Share of the cache that is filled", "1", Gauge;
            DRIVE_DESTAGED_BYTES = "drive.cache_destaged_bytes", "Bytes written from the cache to the slow drive", "bytes", Counter;
            DRIVE_LATENESS_P50 = "drive.lateness_us_p50", "Median by which replies came later than modelled", "us", Gauge;
            DRIVE_LATENESS_P99 = "drive.lateness_us_p99", "99th percentile of the same", "us", Gauge;
            DRIVE_LATE_SHARE = "drive.late_share", "Share of operations that were late", "1", Gauge;
            DRIVE_CORRECTION = "drive.correction_us", "How much longer the way to the drive takes than at the mount", "us", Gauge;
            DRIVE_FAULT_ERRORS = "drive.fault_errors", "Operations failed on purpose", "operations", Counter;
            DRIVE_FAULT_SPIKES = "drive.fault_spikes", "Operations delayed on purpose", "operations", Counter;
        }
        per "kind of file" from "weir drive stat" {
            DRIVE_FILE_READS = "drive.file_reads", "Reads on the drive", "operations", Counter;
            DRIVE_FILE_READ_BYTES = "drive.file_read_bytes", "Bytes read from the drive", "bytes", Counter;
            DRIVE_FILE_READ_TIME = "drive.file_read_time_s", "Time that reads took on the drive, summed", "s", Counter;
            DRIVE_FILE_CACHE_HITS = "drive.file_cache_hits", "Reads answered by the cache in front of the drive", "operations", Counter;
            DRIVE_FILE_WRITES = "drive.file_writes", "Writes on the drive", "operations", Counter;
            DRIVE_FILE_WRITE_BYTES = "drive.file_write_bytes", "Bytes written to the drive", "bytes", Counter;
            DRIVE_FILE_WRITE_TIME = "drive.file_write_time_s", "Time that writes took on the drive, summed", "s", Counter;
            DRIVE_FILE_FLUSHES = "drive.file_flushes", "Flushes on the drive", "operations", Counter;
            DRIVE_FILE_FLUSH_TIME = "drive.file_flush_time_s", "Time that flushes took on the drive, summed", "s", Counter;
            DRIVE_FILE_READ_P50 = "drive.file_read_us_p50", "Median of the latency of reads since the sample before", "us", Gauge;
            DRIVE_FILE_READ_P99 = "drive.file_read_us_p99", "99th percentile of the latency of reads since the sample before", "us", Gauge;
            DRIVE_FILE_WRITE_P50 = "drive.file_write_us_p50", "Median of the latency of writes since the sample before", "us", Gauge;
            DRIVE_FILE_WRITE_P99 = "drive.file_write_us_p99", "99th percentile of the latency of writes since the sample before", "us", Gauge;
            DRIVE_FILE_FLUSH_P50 = "drive.file_flush_us_p50", "Median of the latency of flushes since the sample before", "us", Gauge;
            DRIVE_FILE_FLUSH_P99 = "drive.file_flush_us_p99", "99th percentile of the latency of flushes since the sample before", "us", Gauge;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::metrics;

    #[test]
    fn names_are_unique_and_end_with_the_unit() {
        let mut names: Vec<_> = metrics::ALL.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), metrics::ALL.len());
        for metric in metrics::ALL {
            let marked = match metric.unit {
                "bytes" => metric.name.ends_with("_bytes"),
                "s" => metric.name.ends_with("_s"),
                "us" => metric.name.contains("_us"),
                _ => true,
            };
            assert!(marked, "{metric:?}");
        }
    }
}
