//! Metrics that probes sample: one constant per metric, with unit and kind.

use serde::{Deserialize, Serialize};

/// How a metric's values are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Only grows: the difference of two samples over their distance in time is a rate.
    Counter,
    /// A level at an instant.
    Gauge,
}

/// A metric: what is measured, in which unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name, unit last: `server.cpu_s`.
    pub name: &'static str,
    /// What it says, for a reader of the report.
    pub title: &'static str,
    /// Unit of the stored values.
    pub unit: &'static str,
    /// Counter or gauge.
    pub kind: MetricKind,
}

/// One value of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The metric's name.
    pub metric: String,
    /// Seconds since the measurement began, as in [`crate::IntervalRecord`]; negative in the warm-up.
    pub time_s: f64,
    /// The value, in the metric's unit.
    pub value: f64,
}

/// Every metric there is.
pub mod metrics {
    use super::{Metric, MetricKind::Counter, MetricKind::Gauge};

    macro_rules! metrics {
        ($($constant:ident = $name:literal, $title:literal, $unit:literal, $kind:ident;)*) => {
            $(#[doc = $title] pub const $constant: Metric =
                Metric { name: $name, title: $title, unit: $unit, kind: $kind };)*
            /// All metrics, in the order in which they are declared.
            pub const ALL: &[Metric] = &[$($constant),*];
        };
    }

    metrics! {
        HOST_CPU_USER = "host.cpu_user_s", "CPU time in user mode, all cores", "s", Counter;
        HOST_CPU_SYSTEM = "host.cpu_system_s", "CPU time in the kernel, all cores", "s", Counter;
        HOST_CPU_IDLE = "host.cpu_idle_s", "CPU time idle, all cores", "s", Counter;
        HOST_CPU_IOWAIT = "host.cpu_iowait_s", "CPU time idle with I/O pending, all cores", "s", Counter;
        HOST_CPU_STEAL = "host.cpu_steal_s", "CPU time taken by the hypervisor, all cores", "s", Counter;
        HOST_MEMORY_AVAILABLE = "host.memory_available_bytes", "Memory available", "bytes", Gauge;
        SERVER_CPU = "server.cpu_s", "CPU time of the server", "s", Counter;
        SERVER_MEMORY = "server.memory_bytes", "Resident memory of the server", "bytes", Gauge;
        DRIVE_CPU = "drive.cpu_s", "CPU time of the drive emulation", "s", Counter;
        CLIENT_CPU = "client.cpu_s", "CPU time of the load engine", "s", Counter;
        STATUS_QUESTIONS = "status.questions", "Statements received", "1", Counter;
        STATUS_ROWS_INSERTED = "status.rows_inserted", "InnoDB rows inserted", "rows", Counter;
        STATUS_ROWS_UPDATED = "status.rows_updated", "InnoDB rows updated", "rows", Counter;
        STATUS_ROWS_DELETED = "status.rows_deleted", "InnoDB rows deleted", "rows", Counter;
        STATUS_ROWS_READ = "status.rows_read", "InnoDB rows read", "rows", Counter;
        STATUS_POOL_READ_REQUESTS = "status.pool_read_requests", "Page reads from the buffer pool", "pages", Counter;
        STATUS_POOL_READS = "status.pool_reads", "Page reads that missed the buffer pool", "pages", Counter;
        STATUS_POOL_PAGES_DIRTY = "status.pool_pages_dirty", "Dirty pages in the buffer pool", "pages", Gauge;
        STATUS_POOL_PAGES_FLUSHED = "status.pool_pages_flushed", "Pages flushed from the buffer pool", "pages", Counter;
        STATUS_DATA_READ = "status.data_read_bytes", "Bytes that InnoDB read", "bytes", Counter;
        STATUS_DATA_WRITTEN = "status.data_written_bytes", "Bytes that InnoDB wrote", "bytes", Counter;
        STATUS_REDO_WRITTEN = "status.redo_written_bytes", "Bytes written to the redo log", "bytes", Counter;
        STATUS_DOUBLEWRITE_PAGES = "status.doublewrite_pages", "Pages written to the doublewrite buffer", "pages", Counter;
        STATUS_ROW_LOCK_TIME = "status.row_lock_time_s", "Time spent waiting for row locks", "s", Counter;
        DRIVE_READS = "drive.reads", "Reads on the drive", "operations", Counter;
        DRIVE_WRITES = "drive.writes", "Writes on the drive", "operations", Counter;
        DRIVE_FLUSHES = "drive.flushes", "Flushes on the drive", "operations", Counter;
        DRIVE_READ_BYTES = "drive.read_bytes", "Bytes read from the drive", "bytes", Counter;
        DRIVE_WRITE_BYTES = "drive.write_bytes", "Bytes written to the drive", "bytes", Counter;
        DRIVE_MEDIA_BYTES = "drive.media_written_bytes", "Bytes that the drive's media wrote", "bytes", Counter;
        DRIVE_READ_BUSY = "drive.read_busy_s", "Time for which the drive's read units were busy", "s", Counter;
        DRIVE_WRITE_BUSY = "drive.write_busy_s", "Time for which the drive's media was busy writing", "s", Counter;
        DRIVE_QUEUE_DEPTH = "drive.queue_depth", "Operations in flight on the drive", "operations", Gauge;
    }
}

#[cfg(test)]
mod tests {
    use super::metrics;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = metrics::ALL.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), metrics::ALL.len());
    }
}
