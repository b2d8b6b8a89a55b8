//! Every command and option, declared once; the comments are the help.

mod flashback;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use weir_drive::RecordingOptions;
use weir_model::{Bytes, Duration, Objective, Scale};

pub(crate) use flashback::{
    FlashbackArguments, FlashbackCommand, FlashbackCommon, FlashbackLogArguments,
};
pub(crate) use server::{
    AdviseArguments, DoublewriteCommand, DownArguments, PoolArgument, PoolArguments, ServerCommand,
    SnapshotCommand, SwitchArguments, UpArguments,
};

/// Measure which storage, memory and InnoDB settings make your MySQL faster, safer or cheaper.
#[derive(Debug, Parser)]
#[command(name = "weir", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 failed, or a gate found a loss; 2 wrong usage (of `weir load` also: \
                          not started or ended in time); 3 done, but a rule makes a verdict invalid; 130 stopped \
                          by Ctrl-C (complete runs are kept).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a study: print the verdicts, write the result and its report
    Run(RunArguments),
    /// Show the combinations, order, time and space of a study; runs nothing
    Plan(PlanArguments),
    /// Write the report of a result
    Report(ReportArguments),
    /// Compare two results, or the levels of a factor within one
    Compare(CompareArguments),
    /// Show results and running studies in a browser; start and stop studies there
    Serve(ServeArguments),
    /// Predict misses, throughput and latency of buffer pools and drives that were not measured
    Predict {
        #[command(subcommand)]
        command: PredictCommand,
    },
    /// Write one page on the published claims of results: agrees, disagrees, cannot say
    Claims(ClaimsArguments),
    /// Explain a rule, such as R4: what it checks, why, and what to do [default: all rules]
    Explain(ExplainArguments),
    /// Load a server, with sysbench's options and report; also by Lua scripts for sysbench
    #[command(disable_help_flag = true)]
    Load(LoadArguments),
    /// Mount, watch and break emulated drives
    Drive {
        #[command(subcommand)]
        command: DriveCommand,
    },
    /// Start private servers, keep snapshots, switch the doublewrite buffer
    Server {
        #[command(subcommand)]
        command: ServerCommand,
    },
    /// Query tables of a server of yours as they were, see what changed since, and take it back
    Flashback(Box<FlashbackArguments>),
    /// Cut the power of an emulated drive under a server many times, and judge its recovery
    CrashTest {
        #[command(subcommand)]
        command: CrashTestCommand,
    },
    /// Check this machine: servers, FUSE, memory, limits, and packages to install
    Doctor(JsonArguments),
    /// End servers and mounts of a killed weir; never touches others
    Clean(CleanArguments),
}

#[derive(Debug, Args)]
pub(crate) struct JsonArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub(crate) struct CleanArguments {
    /// Put back settings that a killed weir left changed on your servers
    #[arg(long)]
    pub(crate) put_back: bool,
    /// Forget settings that were left changed, after you put them back yourself
    #[arg(long, conflicts_with = "put_back")]
    pub(crate) forget_settings: bool,
    /// Ask for the password of your server
    #[arg(long, requires = "put_back")]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub(crate) struct RunArguments {
    /// The study file
    pub(crate) study: PathBuf,
    /// Folder of the result and its report [default: results/STUDY-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run the shorter version in the study's [reduced] table
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Continue the result in --out where it stopped
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Server in place of the study's: mysql, mariadb, the path of a mysqld, or your server's URL
    /// (mysql://USER@HOST:PORT/SCHEMA)
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Change your server's settings as the study says; all are put back after each run
    #[arg(long)]
    pub(crate) allow_config: bool,
    /// Write tables also to a replica or a read-only server; it then differs from its source
    #[arg(long)]
    pub(crate) allow_replica: bool,
    /// Print the statements that would change your server; send none of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask for the password of your server, instead of the option file's
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Folder of data directories and mounts: the storage to measure [default: in memory if they fit,
    /// else the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Accept drives that are faster than this machine can emulate; results say so
    #[arg(long)]
    pub(crate) below_floor: bool,
    /// Print the whole result as JSON in place of the verdicts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The study file
    pub(crate) study: PathBuf,
    /// Plan the shorter version in the study's [reduced] table
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Server in place of the study's: mysql, mariadb, the path of a mysqld, or a URL
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Print the resolved plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// Predict misses, throughput, p99 and bottleneck from a result
    Result(Box<PredictResultArguments>),
    /// Predict misses from a study file, without a run
    Study(PredictStudyArguments),
    /// Predict misses from a trace (`weir drive trace`) of a run with a tiny pool
    Trace(PredictTraceArguments),
    /// Predict misses of other pools from the contents of a live server's pool
    Observe(ObserveArguments),
    /// Record predictions, run three to five of them (or all of --pool x --drive), and report the error
    Verify(VerifyArguments),
}

/// Which pools are asked about.
#[derive(Debug, Args)]
pub(crate) struct PoolsArgument {
    /// Buffer pools: `1G..64G` in doubling steps, or a list [default: the study's, or shares of the data]
    #[arg(long, value_name = "SIZES")]
    pub(crate) pool: Option<String>,
}

/// Which of what else a study varies is asked about.
#[derive(Debug, Args)]
pub(crate) struct LevelsArgument {
    /// Level of another factor, such as `workload=oltp_read_only`; repeatable [default: the first cell's]
    #[arg(long = "where", value_name = "FACTOR=LEVEL", value_parser = factor_and_level)]
    pub(crate) at: Vec<(String, String)>,
}

/// Which drives and connections are asked about.
#[derive(Debug, Args)]
pub(crate) struct PlacesArgument {
    /// Drives: names or paths of profiles [default: the first cell's]
    #[arg(long, value_name = "PROFILES", value_delimiter = ',')]
    pub(crate) drive: Vec<String>,
    /// Connections [default: the first cell's]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) threads: Vec<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct PredictResultArguments {
    /// The result to predict from: its folder or its result.sqlite
    pub(crate) result: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) places: PlacesArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Predict for the unscaled study: all rows, whole drives, pools as the study file has them
    #[arg(long)]
    pub(crate) full_size: bool,
    /// Cores of the host to predict for [default: the result's host]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Project the next 12 months of the first pool, for data that grow by this percent a month
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) growth: Option<f64>,
    /// Write the result's report with figures of the predictions to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Find the highest throughput of each pool and drive that keeps this latency, such as `p99 <= 10ms`
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Objective>,
    /// Prices in one currency: memory=4 for a GiB, intel-p4610=1200 for a drive [default: the study's
    /// prices of drives]
    #[arg(long, value_name = "NAME=AMOUNT", value_delimiter = ',', value_parser = name_and_amount)]
    pub(crate) price: Vec<(String, f64)>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictStudyArguments {
    /// The study file
    pub(crate) study: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictTraceArguments {
    /// The file of the trace
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub(crate) struct ObserveArguments {
    /// The server: the name of a private one, or your server's URL
    pub(crate) server: String,
    /// Number of looks at the pool
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u32).range(4..))]
    pub(crate) looks: u32,
    /// Time between two looks
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    /// Let your server dump its list of pages, and set the variables that this needs; all are put back
    #[arg(long)]
    pub(crate) allow_config: bool,
    /// Print the statements that would change your server; send none of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask for the password of your server
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The result to predict from: its folder or its result.sqlite
    pub(crate) result: PathBuf,
    /// Folder of predictions and runs [default: results/verify-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Runs of each prediction, in blocks of random order
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) runs: u32,
    /// Continue what was begun in --out
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) places: PlacesArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `10`, `10%` or `10 %`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("not a percentage above 0, up to 100; write it as `10`".to_owned()),
    }
}

/// `memory=4`.
fn name_and_amount(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=');
    let parts = parts.and_then(|(name, amount)| Some((name.trim(), amount.trim().parse().ok()?)));
    match parts {
        Some((name, amount)) if amount > 0.0 && f64::is_finite(amount) => {
            Ok((name.to_owned(), amount))
        }
        _ => Err("not a price above 0; write it as `memory=4`".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ClaimsArguments {
    /// The results: folders or result.sqlite files
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Write the page (Markdown) to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "out")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CrashTestCommand {
    /// Record a server at work, make crash states from it, and judge the recovery of each
    Run(Box<CrashTestArguments>),
    /// Make one state of a test again, byte by byte
    Replay(CrashReplayArguments),
    /// Print what kernel, file system and device promise of the storage below a folder
    Inspect(CrashInspectArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CrashTestArguments {
    /// Drive: name or path of a profile; +KEY=VALUE replaces a figure
    #[arg(long, value_name = "PROFILE", default_value = "intel-p4610")]
    pub(crate) drive: String,
    /// Server: mysql, mariadb, or the path of a mysqld
    #[arg(long, default_value = "mysql")]
    pub(crate) server: String,
    /// Doublewrite buffer: on, off, or `detect_only`
    #[arg(long, default_value = "off")]
    pub(crate) doublewrite: String,
    /// `innodb_flush_log_at_trx_commit`; with 1 a lost commit is a failure
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) flush_log_at_trx_commit: u8,
    /// Another server variable, NAME=VALUE; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Failure to simulate: power loss of the drive, or kill -9 of the server
    #[arg(long, value_enum, default_value = "power")]
    pub(crate) cut: CutArgument,
    /// Write cache in a power cut [default: the profile's]
    #[arg(long, value_enum)]
    pub(crate) cache: Option<CacheArgument>,
    /// Largest aligned write that is never torn [default: the profile's]
    #[arg(long, value_name = "SIZE")]
    pub(crate) atomic: Option<Bytes>,
    /// Number of crash states
    #[arg(long, default_value = "300", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) states: u32,
    /// Seed of writes, cuts and outcomes [default: from the clock]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Length of the recording (s)
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seconds: u64,
    /// Rows of each of the four tables
    #[arg(long, default_value = "150000", value_parser = clap::value_parser!(u32).range(1000..))]
    pub(crate) rows: u32,
    /// Connections that write
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) clients: u32,
    /// Judge all states, also after the first damaged one
    #[arg(long)]
    pub(crate) all: bool,
    /// Folder of recordings and results [default: results/crash-test-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Folder of servers, drives and crash states [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Largest recording
    #[arg(long, value_name = "SIZE", default_value = "2G")]
    pub(crate) recording_limit: Bytes,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrashReplayArguments {
    /// Folder of the test
    #[arg(value_name = "DIR")]
    pub(crate) test: PathBuf,
    /// Number of the state, as the test printed it
    #[arg(long, value_name = "N")]
    pub(crate) state: u32,
    /// Take a state of the positive control
    #[arg(long)]
    pub(crate) control: bool,
    /// Folder of the server and the state [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrashInspectArguments {
    /// A folder on the storage
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CutArgument {
    /// Power loss: writes that are not safe are lost, torn or there
    Power,
    /// kill -9: all writes that the server issued are there
    Process,
}

impl From<CutArgument> for weir_crash::Cut {
    fn from(cut: CutArgument) -> Self {
        match cut {
            CutArgument::Power => Self::Power,
            CutArgument::Process => Self::ProcessKill,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheArgument {
    /// Completed writes survive
    PowerProtected,
    /// Only flushed writes survive
    Volatile,
    /// A flush does nothing: no write is sure to survive
    Lying,
}

impl From<CacheArgument> for weir_crash::CacheRule {
    fn from(cache: CacheArgument) -> Self {
        match cache {
            CacheArgument::PowerProtected => Self::PowerProtected,
            CacheArgument::Volatile => Self::Volatile,
            CacheArgument::Lying => Self::Lying,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The result: its folder or its result.sqlite
    pub(crate) result: PathBuf,
    /// Format
    #[arg(long, value_enum, default_value = "html")]
    pub(crate) format: ReportFormat,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Folder of results
    #[arg(default_value = "results")]
    pub(crate) dir: PathBuf,
    /// Address and port. Other hosts need a token: weir prints a new one unless --token-file names
    /// one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,
    /// Folder of studies that can be started
    #[arg(long, value_name = "DIR", default_value = "studies")]
    pub(crate) studies: PathBuf,
    /// Require the token in the first line of this file, also on loopback
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Accept this host name from browsers, besides localhost; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host_name: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The result, or the first of two (A, the baseline): its folder or its result.sqlite
    pub(crate) first: PathBuf,
    /// The second result (B)
    #[arg(required_unless_present = "factor", conflicts_with = "factor")]
    pub(crate) second: Option<PathBuf>,
    /// Compare the levels of this factor within one result
    #[arg(long, value_name = "FACTOR")]
    pub(crate) factor: Option<String>,
    /// Only combinations with this level of another factor, such as threads=64; repeatable
    #[arg(long = "where", value_name = "FACTOR=LEVEL", requires = "factor", value_parser = factor_and_level)]
    pub(crate) at: Vec<(String, String)>,
    /// Exit with 1 if a throughput loss beyond this is established, such as -3%
    #[arg(long, value_name = "LOSS", allow_hyphen_values = true, value_parser = loss)]
    pub(crate) gate: Option<f64>,
    /// Write the verdicts as `JUnit` XML to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `threads=64`, taken apart.
fn factor_and_level(text: &str) -> Result<(String, String), String> {
    let (factor, level) = text
        .split_once('=')
        .ok_or("must be FACTOR=LEVEL, such as threads=64")?;
    Ok((factor.to_owned(), level.to_owned()))
}

/// `-3%` as a ratio: 0.97.
fn loss(text: &str) -> Result<f64, String> {
    let number = text
        .trim()
        .trim_end_matches('%')
        .trim()
        .trim_start_matches('-');
    match number.parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(1.0 - percent / 100.0),
        _ => Err("must be a loss in per cent, such as -3%".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The rule, such as R4
    pub(crate) rule: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page with interactive charts
    Html,
    /// All measurements, verdicts and findings
    Json,
    /// Text for a ticket or a pull request
    Md,
    /// One row for each run, for spreadsheets and data frames
    Csv,
    /// The rows of csv for `DuckDB`, `ClickHouse` or Spark; only in builds with the feature "parquet"
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// WORKLOAD [sysbench options] prepare|run|cleanup|help
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub(crate) arguments: Vec<String>,
    /// Called under the name of sysbench
    #[arg(skip)]
    pub(crate) is_drop_in: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DriveCommand {
    /// List the profiles
    List(JsonArguments),
    /// Show the data sheet of a drive, with the source of each figure
    Show {
        /// Drive: name or path of a profile; +KEY=VALUE replaces a figure
        profile: String,
    },
    /// Mount an emulated drive until Ctrl-C or `weir drive unmount`
    Mount(MountArguments),
    /// Show the counters of a mounted drive, each second on a terminal
    Stat {
        /// The mountpoint
        dir: PathBuf,
        /// Print all counters since the mount as JSON
        #[arg(long)]
        json: bool,
        /// Print the counters since the mount once
        #[arg(long)]
        once: bool,
    },
    /// Inject faults into a mounted drive, such as `error_rate=0.01` (keys: docs/drive.md)
    Set {
        /// The mountpoint
        dir: PathBuf,
        /// Faults, or `reset` to end all of them
        #[arg(required = true, value_name = "KEY=VALUE")]
        settings: Vec<String>,
    },
    /// Record the operations of a mounted drive, or summarise such a trace
    Trace(TraceArguments),
    /// Cut the power of a drive that was mounted with --record-base; unsafe writes are lost or torn
    Cut {
        /// The mountpoint
        dir: PathBuf,
        /// Seed that selects one of the outcomes that the drive's rules allow
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Unmount a drive
    Unmount {
        /// The mountpoint
        dir: PathBuf,
    },
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[derive(Debug, Args)]
pub(crate) struct MountArguments {
    /// Drive: name or path of a profile; +KEY=VALUE replaces a figure
    pub(crate) profile: String,
    /// The mountpoint: an empty folder
    pub(crate) dir: PathBuf,
    /// Folder of the drive's files; use memory-backed storage (/dev/shm)
    #[arg(long, value_name = "DIR")]
    pub(crate) backing: PathBuf,
    /// Scale of the capacity, such as 1/500
    #[arg(long, value_name = "SCALE", default_value_t)]
    pub(crate) data_scale: Scale,
    /// Scale of the throughput, such as 1/25; latency is never scaled
    #[arg(long, value_name = "SCALE", default_value_t)]
    pub(crate) drive_scale: Scale,
    /// Replace a figure of the profile, such as flash.fill=0.5; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Accept a drive that is faster than this machine can emulate
    #[arg(long)]
    pub(crate) below_floor: bool,
    /// Record all operations with their data in this empty folder
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Largest recording; the drive goes on without
    #[arg(long, value_name = "SIZE", requires = "record", default_value_t = RecordingOptions::LIMIT)]
    pub(crate) record_limit: Bytes,
    /// Also copy the drive's files at the mount; `weir drive cut` needs that
    #[arg(long, requires = "record")]
    pub(crate) record_base: bool,
    /// Remove the backing directory after the drive is unmounted
    #[arg(long, hide = true)]
    pub(crate) remove_backing: bool,
    /// Started by a program: print a line to standard output when the drive is mounted
    #[arg(long, hide = true)]
    pub(crate) foreground: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The mountpoint of a drive to record, or the file of a trace to read
    pub(crate) from: PathBuf,
    /// Record to this new file until Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Length of the recording (s)
    #[arg(long, value_name = "N", requires = "out")]
    pub(crate) seconds: Option<f64>,
    /// End the recording of a killed `weir`
    #[arg(long, conflicts_with = "out")]
    pub(crate) stop: bool,
    /// Print each operation, tab-separated, in place of a summary
    #[arg(long, conflicts_with_all = ["out", "stop"])]
    pub(crate) print: bool,
}
