//! The panels of a run's page: what a DBA looks at first, in that order.

use serde::Serialize;
use weir_model::metrics::{
    CLIENT_CPU, DRIVE_CPU, DRIVE_FLUSHES, DRIVE_MEDIA_BYTES, DRIVE_QUEUE_DEPTH, DRIVE_READ_BUSY,
    DRIVE_READ_BYTES, DRIVE_READS, DRIVE_WRITE_BUSY, DRIVE_WRITE_BYTES, DRIVE_WRITES,
    HOST_CPU_IOWAIT, HOST_CPU_STEAL, HOST_CPU_SYSTEM, HOST_CPU_USER, HOST_MEMORY_AVAILABLE,
    SERVER_CPU, SERVER_MEMORY, STATUS_DATA_READ, STATUS_DATA_WRITTEN, STATUS_POOL_PAGES_DIRTY,
    STATUS_POOL_PAGES_FLUSHED, STATUS_POOL_READS, STATUS_REDO_WRITTEN, STATUS_ROW_LOCK_TIME,
    STATUS_ROWS_DELETED, STATUS_ROWS_INSERTED, STATUS_ROWS_READ, STATUS_ROWS_UPDATED,
};

use super::curves::{Curve, Source};

/// A panel: curves of one unit.
#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) series: &'static [Curve],
}

/// What the page writes over a panel.
#[derive(Debug, Serialize)]
pub(crate) struct PanelHead {
    title: &'static str,
    unit: &'static str,
    series: Vec<&'static str>,
    #[serde(skip)]
    panel: &'static Panel,
}

impl PanelHead {
    pub(crate) fn of(panel: &'static Panel) -> Self {
        Self {
            title: panel.title,
            unit: panel.unit,
            series: panel.series.iter().map(|curve| curve.name).collect(),
            panel,
        }
    }

    pub(crate) fn panel(&self) -> &'static Panel {
        self.panel
    }
}

const MEGA: f64 = 1e-6;

macro_rules! panels {
    ($($title:literal, $unit:literal: { $($name:literal = $source:expr),* $(,)? })*) => {
        /// All panels.
        pub(crate) const PANELS: &[Panel] = &[$(Panel {
            title: $title,
            unit: $unit,
            series: &[$(Curve { name: $name, source: $source }),*],
        }),*];
    };
}

use Source::{Metric, Seconds};

panels! {
    "Throughput", "queries/s": {
        "queries" = Seconds(|second| Some(second.queries as f64 / second.length_s)),
    }
    "Latency of transactions", "ms": {
        "p50" = Seconds(|second| (second.transactions > 0).then_some(second.latency_us_p50 / 1e3)),
        "p95" = Seconds(|second| (second.transactions > 0).then_some(second.latency_us_p95 / 1e3)),
        "p99" = Seconds(|second| (second.transactions > 0).then_some(second.latency_us_p99 / 1e3)),
    }
    "CPU of the host", "cores": {
        "user" = Metric(HOST_CPU_USER, 1.0),
        "system" = Metric(HOST_CPU_SYSTEM, 1.0),
        "idle, I/O pending" = Metric(HOST_CPU_IOWAIT, 1.0),
        "stolen" = Metric(HOST_CPU_STEAL, 1.0),
    }
    "CPU by program", "cores": {
        "server" = Metric(SERVER_CPU, 1.0),
        "load engine" = Metric(CLIENT_CPU, 1.0),
        "drive emulation" = Metric(DRIVE_CPU, 1.0),
    }
    "InnoDB rows", "rows/s": {
        "read" = Metric(STATUS_ROWS_READ, 1.0),
        "inserted" = Metric(STATUS_ROWS_INSERTED, 1.0),
        "updated" = Metric(STATUS_ROWS_UPDATED, 1.0),
        "deleted" = Metric(STATUS_ROWS_DELETED, 1.0),
    }
    "Buffer pool", "pages/s": {
        "reads that missed" = Metric(STATUS_POOL_READS, 1.0),
        "flushed" = Metric(STATUS_POOL_PAGES_FLUSHED, 1.0),
    }
    "Dirty pages in the buffer pool", "pages": {
        "dirty" = Metric(STATUS_POOL_PAGES_DIRTY, 1.0),
    }
    "Bytes of InnoDB", "MB/s": {
        "read" = Metric(STATUS_DATA_READ, MEGA),
        "written" = Metric(STATUS_DATA_WRITTEN, MEGA),
        "redo log" = Metric(STATUS_REDO_WRITTEN, MEGA),
    }
    "Waiting for row locks", "connections": {
        "waiting" = Metric(STATUS_ROW_LOCK_TIME, 1.0),
    }
    "Operations on the drive", "per s": {
        "reads" = Metric(DRIVE_READS, 1.0),
        "writes" = Metric(DRIVE_WRITES, 1.0),
        "flushes" = Metric(DRIVE_FLUSHES, 1.0),
    }
    "Bytes on the drive", "MB/s": {
        "read" = Metric(DRIVE_READ_BYTES, MEGA),
        "written" = Metric(DRIVE_WRITE_BYTES, MEGA),
        "written to its media" = Metric(DRIVE_MEDIA_BYTES, MEGA),
    }
    "How busy the drive was", "%": {
        "reading" = Metric(DRIVE_READ_BUSY, 100.0),
        "writing" = Metric(DRIVE_WRITE_BUSY, 100.0),
    }
    "Queue of the drive", "operations": {
        "in flight" = Metric(DRIVE_QUEUE_DEPTH, 1.0),
    }
    "Memory", "MB": {
        "server" = Metric(SERVER_MEMORY, MEGA),
        "available on the host" = Metric(HOST_MEMORY_AVAILABLE, MEGA),
    }
}
