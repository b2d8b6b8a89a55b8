//! Result of a study: runs, and the program, host and drives that made them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::variables::{LOG_FILE_SIZE, LOG_FILES_IN_GROUP, REDO_LOG_CAPACITY};
use crate::{
    Bottleneck, Bytes, ConnectionLosses, DriveProfile, DriveStatistics, EventRecord, Flavor, Gap,
    LatencySummary, LoadHost, Metric, MetricKind, Plan, ReplayRecord, Series, ServerHost,
    ServerVariables, ServerVersion, ShortInterval, StackProfile, Utilization,
};

/// Label of [`StudyResult::host`] below which stands where the data of private servers lay, `on disk: /var/tmp (ext4)`.
pub const DATA_PLACE: &str = "data";

/// Measurements of a study, as the store holds them: evidence, which [`crate::JudgedResult`] judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyResult {
    /// The resolved plan.
    pub plan: Plan,
    /// Start of the study, RFC 3339.
    pub started_at: String,
    /// Version of Weir that ran it.
    pub weir_version: String,
    /// Flavour of the server.
    pub flavor: Flavor,
    /// Version of the server.
    pub server_version: ServerVersion,
    /// The host, as label -> text: processor, cores, memory, kernel.
    pub host: BTreeMap<String, String>,
    /// Profiles of the drives that were used.
    pub drives: Vec<DriveProfile>,
    /// Bytes of the data set as loaded.
    pub data_bytes: u64,
    /// Runs that were completed, in the order in which they were made.
    pub runs: Vec<RunResult>,
    /// Facts that are needed to make the result again.
    pub provenance: Provenance,
}

impl StudyResult {
    /// The result of a plan of which nothing is measured yet.
    pub fn new(plan: Plan, flavor: Flavor, server_version: ServerVersion) -> Self {
        Self {
            plan,
            started_at: String::new(),
            weir_version: String::new(),
            flavor,
            server_version,
            host: BTreeMap::new(),
            drives: Vec::new(),
            data_bytes: 0,
            runs: Vec::new(),
            provenance: Provenance::default(),
        }
    }

    /// The same study without its runs, none of which is copied.
    #[must_use]
    pub fn without_runs(&self) -> Self {
        Self {
            started_at: self.started_at.clone(),
            weir_version: self.weir_version.clone(),
            host: self.host.clone(),
            drives: self.drives.clone(),
            data_bytes: self.data_bytes,
            provenance: self.provenance.clone(),
            ..Self::new(self.plan.clone(), self.flavor, self.server_version)
        }
    }
}

/// Origin of a result: with its plan, its host and its drives all that a reader needs to make it
/// again. Empty in results of Weir 0.1 before schema 2, which did not keep it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The text of the study file.
    pub study_file: String,
    /// Commit that Weir was built from, with `+` if it was changed since.
    pub weir_commit: String,
    /// The command line that made the result.
    pub command: Vec<String>,
}

/// A completed run with all that was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunResult {
    /// Identity and summary.
    pub record: RunRecord,
    /// Throughput and latency, second by second, warm-up included (negative times).
    pub intervals: Vec<IntervalRecord>,
    /// Samples of the probes.
    pub series: Vec<Series>,
    /// Gaps in the samples, with reasons.
    #[serde(default)]
    pub gaps: Vec<Gap>,
    /// The server's variables before the load: hundreds, and most runs have the same, so they are shared.
    pub variables: Arc<BTreeMap<String, String>>,
    /// Variables that the load left different: name -> value after.
    pub variables_changed: BTreeMap<String, String>,
    /// Counters of the drive during the measurement; `None` without a drive. Shared: a result is compared without
    /// copying it.
    pub drive: Option<Arc<DriveStatistics>>,
    /// Every command of the run, in order: the mount, the server, the load; without secrets.
    pub commands: Vec<String>,
    /// The end of the server's error log when the run was over; empty in results of schemas that did
    /// not keep it.
    #[serde(default)]
    pub server_log: String,
    /// Latency by kind of transaction and by statement: those that occurred. Empty in results of schemas
    /// that did not keep it.
    #[serde(default)]
    pub kinds: Vec<KindLatency>,
    /// Records of the events of the run's timeline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// Tenths of a second around the beginning and the end of each event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_intervals: Vec<ShortInterval>,
    /// Connections that the load lost and made again.
    #[serde(default, skip_serializing_if = "ConnectionLosses::are_none")]
    pub losses: ConnectionLosses,
    /// Share of each load host, where several shared the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<LoadHost>,
    /// The server's host, where an agent there sampled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_host: Option<ServerHost>,
    /// Stacks of the server's process, where the load asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<StackProfile>,
    /// Record of the capture that was sent again, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayRecord>,
    /// Latency histogram of the measurement's transactions, HdrHistogram V2, microseconds.
    #[serde(skip)]
    pub histogram: Vec<u8>,
}

impl RunResult {
    /// Variables that say the size of the redo log: MySQL from 8.0.30 on has one capacity, others have files.
    pub const REDO_LOG_VARIABLES: [&str; 3] =
        [REDO_LOG_CAPACITY, LOG_FILE_SIZE, LOG_FILES_IN_GROUP];

    /// Capacity of the redo log, by whichever of these variables the server has.
    pub fn redo_log_capacity(&self) -> Option<Bytes> {
        // It is said in the same way by both.
        ServerVariables::said(Flavor::Mysql, &self.variables).redo_log_capacity()
    }

    /// A counter's rate per second or a gauge's mean during the measurement, which begins at time 0;
    /// the sum over the instances of a metric that has several. `None` where too little was sampled.
    #[must_use]
    pub fn level(&self, metric: &Metric) -> Option<f64> {
        let measured_s = self.record.measured_s;
        // Half a second of grace: probes and load generator tick independently.
        let levels =
            Series::instances(&self.series, *metric).filter_map(|series| match metric.kind {
                MetricKind::Counter => series.rate(0.0, measured_s),
                MetricKind::Gauge => series.mean(-0.5, measured_s + 0.5),
            });
        levels.reduce(|sum, level| sum + level)
    }
}

/// Identity and summary of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// Index of the cell in the plan.
    pub cell: usize,
    /// Repetition, from 1.
    pub repetition: u32,
    /// Start of the run, RFC 3339.
    pub started_at: String,
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// Statements completed per second.
    pub queries_per_s: f64,
    /// Transactions completed per second.
    pub transactions_per_s: f64,
    /// Latency of transactions.
    pub latency: LatencySummary,
    /// Transactions that failed and were tried again (deadlocks, lock timeouts).
    pub errors: u64,
    /// Connections that had no reply within seconds of the end: the server stalled.
    pub unfinished: u64,
    /// Utilization of each resource.
    pub utilization: Utilization,
    /// Bottleneck of the run.
    pub bottleneck: Bottleneck,
    /// Warm-up of the run.
    #[serde(default)]
    pub approach: Approach,
}

/// Warm-up of a run before its measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approach {
    /// Length of the warm-up, seconds; 0 in results of versions that did not tell.
    pub warmup_s: f64,
    /// True if the warm-up ended because throughput was steady; `None`: its length was given.
    pub steady: Option<bool>,
    /// Runs on the same server process before this one: it found their data and their pages.
    pub runs_before: u32,
}

/// Throughput and latency of one second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalRecord {
    /// End of the interval, seconds since the measurement began; 0 or less in the warm-up.
    pub time_s: f64,
    /// Length of the interval, seconds.
    pub length_s: f64,
    /// Transactions completed.
    pub transactions: u64,
    /// Statements completed, of any kind.
    pub queries: u64,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Failed tries.
    pub errors: u64,
    /// Median latency of transactions, microseconds; 0 with none.
    pub latency_us_p50: f64,
    /// 95th percentile.
    pub latency_us_p95: f64,
    /// 99th percentile.
    pub latency_us_p99: f64,
    /// Largest.
    pub latency_us_max: f64,
}

/// Latency of one kind of transaction, or of one statement, within the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindLatency {
    /// Name in the workload.
    pub name: String,
    /// A statement; otherwise a transaction.
    pub is_statement: bool,
    /// Number of completions.
    pub count: u64,
    /// From its request, or a transaction's due time, to its last reply.
    pub latency: LatencySummary,
}
