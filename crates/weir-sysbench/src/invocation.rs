//! A command line as a plan.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use weir_load::{LoadPlan, PreparePlan, ReactorKind, ToleratedErrors, reactors_for};
use weir_model::{
    Distribution, DistributionName, DistributionOptions, FileWorkload, LuaWorkload, Mix, Pace,
    ProtocolCompression, Secret, SysbenchWorkload, WorkloadSpec,
};
use weir_workload::{TableOptions, Workload};

use super::compat::Compat;
use super::own_options::OwnOptions;
use super::server::ServerSettings;
use super::value::UsageError;

/// Command of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Make the tables.
    Prepare,
    /// Read them into the server's memory.
    Prewarm,
    /// Load them.
    Run,
    /// Look whether they hold together.
    Check,
    /// Drop them.
    Cleanup,
    /// Show the options.
    Help,
    /// Show the version.
    Version,
}

/// Form of the printed result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In sysbench's words.
    Report,
    /// As JSON, and nothing else.
    Json,
}

/// A command line, understood.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub struct Invocation {
    /// Command of the line.
    pub command: Command,
    /// Version whose defaults and words are used.
    pub compat: Compat,
    /// Warnings on words that should be written otherwise.
    pub warnings: Vec<String>,
    /// The password is to be asked for.
    pub asks_password: bool,
    /// A transaction that does not end in time makes the run fail.
    pub forced_shutdown: bool,
    /// The run, for the command `run`; its endpoint and tables hold for all commands.
    pub plan: LoadPlan,
    /// The tables to be made.
    pub prepare: PreparePlan,
    /// The seed as given; 0: taken from the clock.
    pub rand_seed: u64,
    /// A line every so many seconds; 0 for none.
    pub report_interval_s: u32,
    /// Percentile of latency in reports; 0 for none.
    pub percentile: u32,
    /// Percentiles to report after sysbench's report.
    pub percentiles: Vec<f64>,
    /// Destination of the latencies of each interval.
    pub hdr_log: Option<PathBuf>,
    /// Destination of a row for each interval.
    pub csv: Option<PathBuf>,
    /// Address at which metrics of the run are served.
    pub metrics: Option<SocketAddr>,
    /// True if latencies by statement follow the report.
    pub statement_latency: bool,
    /// Form of the printed result.
    pub form: Form,
    /// Print a histogram.
    pub histogram: bool,
    /// True if reports have statistics of statements: not those of a script that asked for no database.
    pub uses_sql: bool,
    /// 0 to 5, see sysbench.
    pub verbosity: u32,
    /// True if also a server that is a replica or read-only is written to.
    pub allow_replica: bool,
    /// The agent that samples the server's host: its name, its host's, or `auto`.
    pub server_agent: Option<String>,
    /// Destination of a flame graph of the server's process.
    pub profile: Option<PathBuf>,
    /// Destination of a flame graph of this process.
    pub profile_self: Option<PathBuf>,
    /// True to list the changes, and change nothing.
    pub dry_run: bool,
}

impl Invocation {
    /// Takes the password that was asked for.
    pub fn set_password(&mut self, password: &Secret) {
        self.asks_password = false;
        self.plan.endpoint.password = password.clone();
        self.prepare.endpoint.password = password.clone();
    }
}

/// Options as given.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub(super) struct Settings {
    pub(super) threads: u32,
    pub(super) reactors: Option<u32>,
    pub(super) compat: Compat,
    pub(super) warnings: Vec<String>,
    pub(super) forced_shutdown: bool,
    pub(super) init_timeout_s: u32,
    pub(super) server: ServerSettings,
    pub(super) reactor: ReactorKind,
    pub(super) events: u64,
    pub(super) measure: Duration,
    /// The command line names the time: a script that ends before is an error.
    pub(super) time_is_given: bool,
    pub(super) rate_per_s: f64,
    pub(super) warmup: Duration,
    pub(super) report_interval_s: u32,
    pub(super) checkpoints_s: Vec<u32>,
    pub(super) percentile: u32,
    pub(super) prepared_statements: bool,
    pub(super) reconnect: bool,
    pub(super) reconnect_every: u64,
    pub(super) own: OwnOptions,
    pub(super) percentiles: Vec<f64>,
    pub(super) hdr_log: Option<PathBuf>,
    pub(super) csv: Option<PathBuf>,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) statement_latency: bool,
    pub(super) json: bool,
    pub(super) histogram: bool,
    pub(super) verbosity: u32,
    pub(super) rand_type: DistributionName,
    pub(super) rand_seed: u64,
    pub(super) keys: DistributionOptions,
    pub(super) tolerated: ToleratedErrors,
    pub(super) tables: u32,
    pub(super) table_size: u64,
    pub(super) mix: Mix,
    pub(super) create_secondary: bool,
    pub(super) auto_increment: bool,
    pub(super) secondary_key: bool,
    pub(super) table_options: String,
    pub(super) engine: String,
}

impl Settings {
    /// The defaults of a version.
    pub(super) fn new(compat: Compat) -> Self {
        let rand_type = match compat {
            Compat::Release => DistributionName::Special,
            Compat::Development => DistributionName::Uniform,
        };
        Self {
            threads: 1,
            reactors: None,
            compat,
            warnings: Vec::new(),
            forced_shutdown: false,
            init_timeout_s: 30,
            server: ServerSettings::default(),
            reactor: ReactorKind::default(),
            events: 0,
            measure: Duration::from_secs(10),
            time_is_given: false,
            rate_per_s: 0.0,
            warmup: Duration::ZERO,
            report_interval_s: 0,
            checkpoints_s: Vec::new(),
            percentile: 95,
            prepared_statements: true,
            reconnect: false,
            reconnect_every: 0,
            own: OwnOptions::default(),
            percentiles: Vec::new(),
            hdr_log: None,
            csv: None,
            metrics: None,
            statement_latency: false,
            json: false,
            histogram: false,
            verbosity: 3,
            rand_type,
            rand_seed: 0,
            keys: DistributionOptions::default(),
            tolerated: ToleratedErrors::default(),
            tables: 1,
            table_size: 10_000,
            mix: Mix::default(),
            create_secondary: true,
            auto_increment: true,
            secondary_key: false,
            table_options: String::new(),
            engine: "innodb".to_owned(),
        }
    }
}

impl Settings {
    /// Returns the invocation of these settings.
    pub(super) fn resolve(
        self,
        workload: WorkloadSpec,
        command: Command,
    ) -> Result<Invocation, UsageError> {
        let distribution = self.keys.distribution(self.rand_type);
        if !matches!(command, Command::Help | Command::Version) {
            self.own.fits(&workload)?;
        }
        let workload = Workload::try_from(&self.drawn(workload, distribution))
            .map_err(UsageError::Workload)?;
        let plan = self.load_plan(workload)?;
        let prepare = self.prepare_plan(&plan, distribution);
        Ok(Invocation {
            command,
            compat: self.compat,
            warnings: self.warnings,
            asks_password: self.server.asks_password,
            forced_shutdown: self.forced_shutdown,
            plan,
            prepare,
            rand_seed: self.rand_seed,
            report_interval_s: self.report_interval_s,
            percentile: self.percentile,
            percentiles: self.percentiles,
            hdr_log: self.hdr_log,
            csv: self.csv,
            metrics: self.metrics,
            statement_latency: self.statement_latency,
            form: if self.json { Form::Json } else { Form::Report },
            histogram: self.histogram,
            uses_sql: true,
            verbosity: self.verbosity,
            allow_replica: self.own.allow_replica,
            server_agent: self.own.server_agent,
            profile: self.own.profile,
            profile_self: self.own.profile_self,
            dry_run: self.own.dry_run,
        })
    }

    /// The run: its server, tables, connections and length.
    fn load_plan(&self, workload: Workload) -> Result<LoadPlan, UsageError> {
        let (endpoint, more_addresses) = self.server.endpoint();
        let mut plan = LoadPlan::new(endpoint, workload);
        plan.more_addresses = more_addresses;
        // sysbench's bulk_insert gives each thread a table and knows no number of tables.
        plan.tables = if plan.workload.is_bulk() {
            self.threads
        } else {
            self.tables
        };
        plan.rows = self.table_size;
        plan.auto_increment = self.auto_increment;
        plan.seed = match self.rand_seed {
            0 => seed_from_clock(),
            given => given,
        };
        plan.load.connections = self.threads;
        plan.reactors = self.reactors.unwrap_or_else(|| reactors_for(self.threads));
        plan.reactor = self.reactor;
        plan.load.warmup = self.warmup.into();
        plan.load.measure = self.measure.into();
        plan.ends_with_sessions = plan.workload.is_lua() && !self.time_is_given;
        plan.max_events = (self.events > 0).then_some(self.events);
        if self.rate_per_s > 0.0 {
            plan.load.pace = Pace::open(self.rate_per_s);
        }
        self.own.set_load(&mut plan.load)?;
        self.set_connections(&mut plan);
        self.set_reports(&mut plan);
        Ok(plan)
    }

    /// Sets the options of connections, of their statements and of tolerated errors.
    fn set_connections(&self, plan: &mut LoadPlan) {
        plan.init_timeout = Duration::from_secs(u64::from(self.init_timeout_s));
        plan.prepared_statements = self.prepared_statements;
        plan.reconnect = self.reconnect;
        plan.reconnect_every = (self.reconnect_every > 0).then_some(self.reconnect_every);
        let compression = self.server.compression();
        plan.load.compression = compression.map_or_else(ProtocolCompression::default, Into::into);
        plan.tolerated = self.tolerated.clone();
    }

    /// Sets the times of reports.
    fn set_reports(&self, plan: &mut LoadPlan) {
        plan.interval = Duration::from_secs(u64::from(self.report_interval_s.max(1)));
        let checkpoints = self.checkpoints_s.iter();
        plan.checkpoints = checkpoints
            .map(|second| Duration::from_secs(u64::from(*second)))
            .collect();
    }

    /// The tables of a run.
    fn prepare_plan(&self, plan: &LoadPlan, distribution: Distribution) -> PreparePlan {
        let mut prepare = PreparePlan::new(plan.endpoint.clone(), plan.workload.clone());
        prepare.tables = TableOptions {
            tables: plan.tables,
            rows: self.table_size,
            distribution,
            secondary_index: self.create_secondary,
            engine: self.engine.clone(),
            auto_increment: self.auto_increment,
            secondary_key: self.secondary_key,
            table_options: self.table_options.clone(),
        };
        prepare.threads = self.threads;
        // A loading that was interrupted must find its rows again, also without being told a seed.
        prepare.seed = self.rand_seed.max(1);
        prepare.compression = self.server.compression();
        self.own.complete(&mut prepare);
        prepare
    }

    /// The workload with its keys and what it takes of these settings.
    fn drawn(&self, workload: WorkloadSpec, distribution: Distribution) -> WorkloadSpec {
        match workload {
            WorkloadSpec::Sysbench(SysbenchWorkload { shares, .. }) => {
                WorkloadSpec::Sysbench(SysbenchWorkload {
                    shares,
                    mix: self.mix,
                    distribution,
                    text_file: self.own.text_file.clone(),
                })
            }
            WorkloadSpec::File(file) => WorkloadSpec::File(FileWorkload {
                distribution,
                ..file
            }),
            WorkloadSpec::Lua(lua) => WorkloadSpec::Lua(LuaWorkload {
                distribution,
                ..lua
            }),
            WorkloadSpec::OrderEntry(_) => WorkloadSpec::OrderEntry(self.own.order_entry),
        }
    }
}

fn seed_from_clock() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |time| time.as_nanos() as u64)
}
