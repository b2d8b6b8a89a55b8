//! The words of Weir as types: units, drive profiles, plans and results.
//!
//! Every other crate speaks in these types, so that none of them needs to know another.
//! Nothing here does I/O, starts a process or reads a clock.

mod device;
mod drive;
mod endpoint;
mod file_kind;
mod metric;
mod plan;
mod result;
mod server;
mod suggest;
mod tls;
mod toml_text;
mod units;

pub use device::{DeviceModel, Nanoseconds, Op, OpKind};
pub use drive::{
    Atomicity, CacheFill, CacheStatistics, CachedWrites, CompressedSizes, Compression, Disks,
    DriveProfile, DriveStatistics, Endurance, FaultError, FaultStatistics, Faults,
    FileKindLatencies, FileKindStatistics, Flash, FlushTiming, FrontCache, FrontDrive, Latencies,
    Nand, Operations, Pieces, ProfileError, Provisioning, ReadTiming, SlcCache, SpaceState,
    Throttle, ThrottleRate, WriteCache, WriteTiming,
};
pub use endpoint::{Address, Endpoint, Secret};
pub use file_kind::FileKind;
pub use metric::{Metric, MetricKind, Sample, metrics};
pub use plan::{
    Cell, Claim, DataPlan, DistributionName, LoadSettings, Plan, PlannedRun, ServerSettings,
    WorkloadName,
};
pub use result::{
    Comparison, Finding, IntervalRecord, LatencySummary, Limiter, RunRecord, RunResult, Severity,
    StudyResult, Utilization, Verdict,
};
pub use server::{Flavor, ServerVersion};
pub use suggest::nearest;
pub use tls::{Tls, TlsMode};
pub use toml_text::parse_toml;
pub use units::{Bytes, Duration, Scale, UnitError};
