//! The words of Weir as types: units, drive profiles, specs, plans and results; no I/O and no clock.
//! Change here: an option of the load: `spec/load_options.rs`; a kind of event: `spec/timeline.rs`; a drive's parameter: `drive/`, its limits: `drive/checks.rs`; a field of a result: `result.rs`; a metric's name: `metric/names.rs`; a rule's: `rule_id.rs`.
//!
//! Every other crate speaks in these types, so that none of them needs to know another.
//! Nothing here does I/O, starts a process or reads a clock.

mod analysis;
mod bottleneck;
mod claim;
mod cost_per_query;
mod crash_test;
mod design;
mod device;
mod drive;
mod endpoint;
mod estimate;
mod event_detail;
mod event_record;
mod file_kind;
mod gate_check;
mod judged_result;
mod judgement;
mod latency;
mod load_host;
mod metric;
mod plan;
mod replay_record;
mod resource_limits;
mod result;
mod rule_id;
#[cfg(feature = "schema")]
mod schema;
mod screen;
mod screen_ranking;
mod server_host;
mod server_url;
mod server_variables;
mod server_version;
mod short_interval;
mod spec;
mod stack_counts;
mod stack_profile;
mod suggest;
mod tls;
mod toml_text;
#[cfg(feature = "schema")]
mod typescript;
mod units;

pub use analysis::{
    Agreement, Analysis, ClaimVerdict, CostRow, Interaction, MemoryEquivalent, Noise,
    OverallEffect, PoolElasticity, ResultComparison, Scalability,
};
pub use bottleneck::{Bottleneck, ConnectionTime, OtherProcess, Utilization};
pub use claim::{Bound, Claim};
pub use cost_per_query::CostPerQuery;
pub use crash_test::{CrashTest, PagesInQuestion};
pub use design::{Factor, LatencyStatistic, Objective, Repetition, SearchGoal, SearchPlan, Until};
pub use device::{DeviceModel, Nanoseconds, Op, OpKind};
pub use drive::{
    Atomicity, BlockCost, COMPRESSED_BLOCK_BYTES, CacheFill, CacheStatistics, CachedWrites,
    CompressedSizes, Compression, Disks, DriveProfile, DriveStatistics, Endurance, FaultError,
    FaultStatistics, Faults, FileKindLatencies, FileKindStatistics, Flash, FlushTiming, FrontCache,
    FrontDrive, Grade, Latencies, Nand, Operations, Pieces, ProfileError, Provisioning,
    PublishedFigure, PublishedOperation, PublishedPoint, ReadTiming, SlcCache, SpaceState,
    Throttle, ThrottleRate, VALIDATED_WITHIN, Validation, WriteCache, WriteTiming, validation_line,
};
pub use endpoint::{Address, Endpoint, Secret};
pub use estimate::{
    data_size, known_row_bytes, planned_s, run_space, run_time, spent_s, with_headroom,
};
pub use event_detail::{
    Blocker, EventDetail, EventPhase, FailoverRecord, ServerRestart, TemporaryFiles,
};
pub use event_record::{EventEnding, EventRecord};
pub use file_kind::FileKind;
pub use gate_check::{GateCheck, GateOutcome};
pub use judged_result::{Confirmation, FoundPlace, JudgedResult, SearchAnswer};
pub use judgement::{
    Comparison, CostRatio, EqualityTest, Finding, Method, MetricRatio, Rank, Ratio, SecondOpinion,
    Severity, Verdict, less_is_better,
};
pub use latency::LatencySummary;
pub use load_host::LoadHost;
pub use metric::{Gap, Metric, MetricKind, Series, metrics};
pub use plan::{Cell, NegativeControl, Plan, PlannedRun, Price, Probe};
pub use replay_record::{
    DifferenceReason, FingerprintComparison, FingerprintRecord, FingerprintVerdict, LatenessUs,
    NotSent, ReplayComparison, ReplayFidelity, ReplayRecord,
};
pub use resource_limits::{CpuList, Limits};
pub use result::{
    Approach, DATA_PLACE, IntervalRecord, KindLatency, Provenance, RunRecord, RunResult,
    StudyResult,
};
pub use rule_id::{RuleId, UnknownRule};
pub use screen::{Candidate, ScreenPart, ScreenPlace, ScreenPlan, Winner};
pub use screen_ranking::{ScreenRanking, ScreenedEffect, ScreenedMetric};
pub use server_host::ServerHost;
pub use server_url::ServerUrl;
pub use server_variables::{
    Doublewrite, FlushMethod, PAGE_SIZE_DEFAULT, RedoFlush, ServerVariables, names as variables,
    option_spelling, option_variable, set_options, switch,
};
pub use server_version::{Flavor, LRU_SCAN_DEPTH, ServerVersion};
pub use short_interval::{ConnectionLosses, Outage, ShortInterval};
pub use spec::{
    AGENT_AUTO, ArrivalKind, ClosedLoop, CopyWay, DataChange, DataSource, DataSpec, Distribution,
    DistributionName, DistributionOptions, DriveSpec, EventKind, EventStatement, FileWorkload,
    LOAD_OPTIONS, LoadOption, LoadOptionKind, LoadSpec, LuaModule, LuaWorkload, Mix, Node,
    NodeRole, OrderEntryWorkload, Pace, PoolAction, PoolStart, ProtocolCompression, REPLAY_OPTIONS,
    Rate, RateRamp, ReplayFilter, ReplayOption, ReplayOrder, ReplayPace, ReplaySpec, Replication,
    RunSpec, ServerAgents, ServerChoice, Settings, SysbenchOptions, SysbenchWorkload, TableSize,
    ThinkKind, ThinkTime, TimelineEvent, Topology, Warm, Warmup, WorkloadName, WorkloadShare,
    WorkloadShares, WorkloadSpec, differing, is_label,
};
pub use stack_counts::StackCounts;
pub use stack_profile::StackProfile;
pub use suggest::nearest;
pub use tls::{Tls, TlsMode};
pub use toml_text::parse_toml;
#[cfg(feature = "schema")]
pub use typescript::TypeScript;
pub use units::{Bytes, Duration, Scale, UnitError, in_units};
