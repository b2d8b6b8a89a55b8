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

/// Which storage, memory and InnoDB settings make your MySQL faster, safer or cheaper, with
/// evidence.
#[derive(Debug, Parser)]
#[command(name = "weir", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage (of `weir load`: not \
                          begun or ended in time), 3 done but a verdict is \
                          invalid by a rule, 130 stopped by Ctrl-C (what was complete is kept).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a study end to end: print the verdicts, write the result and its report
    Run(RunArguments),
    /// Show what a study would do: cells, order, time, space; runs nothing
    Plan(PlanArguments),
    /// Write the report of a result
    Report(ReportArguments),
    /// Verdict between two results, or between the levels of a factor within one
    Compare(CompareArguments),
    /// Results and running studies in a browser: history, comparison, live view, start and stop
    Serve(ServeArguments),
    /// What a study would measure: misses, throughput and latency of pools and drives that nobody ran
    Predict {
        #[command(subcommand)]
        command: PredictCommand,
    },
    /// What became of the published claims that results were held against, on one page
    Claims(ClaimsArguments),
    /// What a rule asks, why, and what to do: `weir explain R4`; without a rule, all of them
    Explain(ExplainArguments),
    /// Load a server, with sysbench's options and report
    #[command(disable_help_flag = true)]
    Load(LoadArguments),
    /// Emulated drives
    Drive {
        #[command(subcommand)]
        command: DriveCommand,
    },
    /// Private servers that stay up, and the snapshots of their data
    Server {
        #[command(subcommand)]
        command: ServerCommand,
    },
    /// Tables of a server of yours as they were, what changed since, and the way back
    Flashback(Box<FlashbackArguments>),
    /// Cut the power of an emulated drive under a server, many times, and judge what is left
    CrashTest {
        #[command(subcommand)]
        command: CrashTestCommand,
    },
    /// What this machine can do: servers, FUSE, memory, limits, and what to install
    Doctor(JsonArguments),
    /// End servers and mounts that a killed weir left behind; never touches others
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
    /// Put settings back that a killed weir left changed on servers of yours
    #[arg(long)]
    pub(crate) put_back: bool,
    /// Forget settings that were left changed: you have put them back yourself
    #[arg(long, conflicts_with = "put_back")]
    pub(crate) forget_settings: bool,
    /// Ask for the password of a server of yours
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
    /// Folder for the result and its report [default: results/STUDY-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run the shorter version that the study's [reduced] table describes
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Go on with the result in --out where it stopped
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Run on this server instead of the study's: mysql, mariadb, the path of a mysqld, or the URL of a
    /// server of yours, mysql://USER@HOST:PORT/SCHEMA
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Change settings of a server of yours where the study asks for it; all are put back
    #[arg(long)]
    pub(crate) allow_config: bool,
    /// Write tables also on a server of yours that is a replica or read-only
    #[arg(long)]
    pub(crate) allow_replica: bool,
    /// Print the statements that would change a server of yours, and send none of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask for the password of a server of yours instead of taking that of its option file
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Put data directories and mounts here [default: in memory if they fit, else the temporary
    /// directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Emulate also drives that are faster than this machine can emulate; results say so
    #[arg(long)]
    pub(crate) below_floor: bool,
    /// Print the whole result as JSON instead of the verdicts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The study file
    pub(crate) study: PathBuf,
    /// Plan the shorter version that the study's [reduced] table describes
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Plan for this server instead of the study's: mysql, mariadb, the path of a mysqld, or a URL
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Print the resolved plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// Misses, throughput, p99 and the limit of pools, drives and connections that a result's study did not run
    Result(Box<PredictResultArguments>),
    /// Misses of pools for a study that was not run yet
    Study(PredictStudyArguments),
    /// Misses of pools, from what `weir drive trace` recorded of a run with a tiny pool
    Trace(PredictTraceArguments),
    /// What other pools of a live server would miss, from looks at what its pool holds
    Observe(ObserveArguments),
    /// Write predictions down, run three to five of them (or all of --pool x --drive), and say how far off they were
    Verify(VerifyArguments),
}

/// Which pools are asked about.
#[derive(Debug, Args)]
pub(crate) struct PoolsArgument {
    /// Buffer pools: `1G..64G` in doubling steps, or a list; by default shares of the data
    #[arg(long, value_name = "SIZES")]
    pub(crate) pool: Option<String>,
}

/// Which of what else a study varies is asked about.
#[derive(Debug, Args)]
pub(crate) struct LevelsArgument {
    /// Of what else the study varies, this level, as in `workload=oltp_read_only`; by default the first
    /// cell's; may be given several times
    #[arg(long = "where", value_name = "FACTOR=LEVEL", value_parser = factor_and_level)]
    pub(crate) at: Vec<(String, String)>,
}

/// Which drives and connections are asked about.
#[derive(Debug, Args)]
pub(crate) struct PlacesArgument {
    /// Drives: names of profiles, or paths; by default the first cell's
    #[arg(long, value_name = "PROFILES", value_delimiter = ',')]
    pub(crate) drive: Vec<String>,
    /// Connections; by default the first cell's
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) threads: Vec<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct PredictResultArguments {
    /// A result, whose runs say what a transaction takes
    pub(crate) result: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) places: PlacesArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Ask about the study at its full size: all rows, whole drives, pools times as large
    #[arg(long)]
    pub(crate) full_size: bool,
    /// Cores of the host that is asked about; by default those of the result's host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// What a year brings when the data grow by so many percent a month
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) growth: Option<f64>,
    /// Write the result's report here, with the predictions as figures in it
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// The most transactions that keep this latency, as in `p99 <= 10ms`: for each pool and drive
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Objective>,
    /// What things cost in one currency: `memory=4` for a GiB, `intel-p4610=1200` for a drive; drives'
    /// prices are by default those of the study
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
    /// The trace's file
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
    /// The server to look at: a private one's name, or the URL of one of yours
    pub(crate) server: String,
    /// How often to look at the pool
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u32).range(4..))]
    pub(crate) looks: u32,
    /// Time between two looks
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    /// Let a server of yours dump its list of pages, and set for it what has to be set
    #[arg(long)]
    pub(crate) allow_config: bool,
    /// Print the statements that would change a server of yours, and send none of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask for the password of a server of yours
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// A result, whose runs say what a transaction takes
    pub(crate) result: PathBuf,
    /// Folder of what is written and run [default: results/verify-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How often each prediction is run, in blocks of a random order
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) runs: u32,
    /// Go on with what was begun in --out
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
    /// Results, or their folders
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Write the page, in Markdown, here instead of to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "out")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CrashTestCommand {
    /// Record a server at work once, make crash states of it, and judge what the server recovers
    Run(Box<CrashTestArguments>),
    /// Make one state of a test once more, byte by byte
    Replay(CrashReplayArguments),
    /// What the storage below a folder promises, as far as it can be known without cutting its power
    Inspect(CrashInspectArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CrashTestArguments {
    /// Name of a drive's profile, or the path of one; +KEY=VALUE replaces a figure
    #[arg(long, value_name = "PROFILE", default_value = "intel-p4610")]
    pub(crate) drive: String,
    /// mysql, mariadb, or the path of a mysqld
    #[arg(long, default_value = "mysql")]
    pub(crate) server: String,
    /// The server's doublewrite buffer: on, off, or `detect_only`
    #[arg(long, default_value = "off")]
    pub(crate) doublewrite: String,
    /// The server's `innodb_flush_log_at_trx_commit`; with 1 a lost commit is a failure
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) flush_log_at_trx_commit: u8,
    /// A further variable of the server, NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// What ends: the drive's power, or only the server's process
    #[arg(long, value_enum, default_value = "power")]
    pub(crate) cut: CutArgument,
    /// What the drive keeps in a power cut, other than its profile says
    #[arg(long, value_enum)]
    pub(crate) cache: Option<CacheArgument>,
    /// Largest aligned write that the drive never tears, other than its profile says
    #[arg(long, value_name = "SIZE")]
    pub(crate) atomic: Option<Bytes>,
    /// How many crash states
    #[arg(long, default_value = "300", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) states: u32,
    /// Seed of writes, cuts and outcomes [default: from the clock]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// How long the clients write while the drive records
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seconds: u64,
    /// Rows in each of the four tables
    #[arg(long, default_value = "150000", value_parser = clap::value_parser!(u32).range(1000..))]
    pub(crate) rows: u32,
    /// Connections that write
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) clients: u32,
    /// Judge all states, also after the first that failed
    #[arg(long)]
    pub(crate) all: bool,
    /// Folder for recordings and results [default: results/crash-test-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Servers, drives and crash states live here [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// A recording ends when it has grown to this
    #[arg(long, value_name = "SIZE", default_value = "2G")]
    pub(crate) recording_limit: Bytes,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrashReplayArguments {
    /// The folder of a test
    #[arg(value_name = "DIR")]
    pub(crate) test: PathBuf,
    /// The state to make once more: the number that the test printed
    #[arg(long, value_name = "N")]
    pub(crate) state: u32,
    /// It is a state of the positive control
    #[arg(long)]
    pub(crate) control: bool,
    /// The server and the state live here [default: in memory]
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
    /// What was not yet safe is lost, torn or there
    Power,
    /// kill -9: what the server had handed over is there
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
    /// What it has completed
    PowerProtected,
    /// What was flushed
    Volatile,
    /// Nothing for sure: its flushes do nothing
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
    /// The result: the folder that `weir run` named, or its result.sqlite
    pub(crate) result: PathBuf,
    /// Kind of report
    #[arg(long, value_enum, default_value = "html")]
    pub(crate) format: ReportFormat,
    /// Write here instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Folder of the results
    #[arg(default_value = "results")]
    pub(crate) dir: PathBuf,
    /// Address and port. Beyond this host a token is needed: a new one is printed unless
    /// --token-file names one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,
    /// Folder of the studies that can be started
    #[arg(long, value_name = "DIR", default_value = "studies")]
    pub(crate) studies: PathBuf,
    /// Ask for the token in the first line of this file, also on loopback
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A name by which browsers may ask for this server, besides localhost; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host_name: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The result, or the first of two (A): its folder or its result.sqlite
    pub(crate) first: PathBuf,
    /// The second result (B), which is compared with the first
    #[arg(required_unless_present = "factor", conflicts_with = "factor")]
    pub(crate) second: Option<PathBuf>,
    /// Compare the levels of this factor within one result
    #[arg(long, value_name = "FACTOR")]
    pub(crate) factor: Option<String>,
    /// Only where another factor has this level, as in threads=64; may be given several times
    #[arg(long = "where", value_name = "FACTOR=LEVEL", requires = "factor", value_parser = factor_and_level)]
    pub(crate) at: Vec<(String, String)>,
    /// Exit with 1 when a loss of throughput beyond this is established, as in -3%
    #[arg(long, value_name = "LOSS", allow_hyphen_values = true, value_parser = loss)]
    pub(crate) gate: Option<f64>,
    /// Write the verdicts as `JUnit` XML, for the report of a build
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
    /// The rule, as findings name it: R4
    pub(crate) rule: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One self-contained page with interactive charts
    Html,
    /// Everything that was measured
    Json,
    /// Text for a ticket or a pull request
    Md,
    /// One row per run, for spreadsheets and data frames
    Csv,
    /// The same rows for `DuckDB`, `ClickHouse` or Spark; only in builds with the feature "parquet"
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
    /// The drives that there are profiles of
    List(JsonArguments),
    /// A drive's data sheet, each figure with its source
    Show {
        /// Name of a profile in drives/, or the path of a profile file; +KEY=VALUE replaces a figure
        profile: String,
    },
    /// Mount an emulated drive and serve it until it is unmounted or interrupted
    Mount(MountArguments),
    /// What a mounted drive is doing, refreshed each second on a terminal
    Stat {
        /// The mountpoint
        dir: PathBuf,
        /// Print all that was counted since the mount once, as JSON
        #[arg(long)]
        json: bool,
        /// Print what was counted since the mount once, also on a terminal
        #[arg(long)]
        once: bool,
    },
    /// Make a mounted drive misbehave: KEY=VALUE..., or `reset`; docs/drive.md lists the keys
    Set {
        /// The mountpoint
        dir: PathBuf,
        /// Faults as KEY=VALUE, or the word `reset`
        #[arg(required = true, value_name = "KEY=VALUE")]
        settings: Vec<String>,
    },
    /// Record what a mounted drive is asked, or read such a recording
    Trace(TraceArguments),
    /// Cut the power of a drive that was mounted with --record-base: what was not safe is lost or torn
    Cut {
        /// The mountpoint
        dir: PathBuf,
        /// Which of the outcomes that the drive's rules allow
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Print what the cut did as JSON
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
    /// Name of a profile in drives/, or the path of a profile file; +KEY=VALUE replaces a figure
    pub(crate) profile: String,
    /// The mountpoint: an empty directory
    pub(crate) dir: PathBuf,
    /// Directory that holds the drive's files; use memory-backed storage
    #[arg(long, value_name = "DIR")]
    pub(crate) backing: PathBuf,
    /// Shrink the drive's capacity, as in 1/500
    #[arg(long, value_name = "SCALE", default_value_t)]
    pub(crate) data_scale: Scale,
    /// Shrink the drive's throughput, as in 1/25; latencies stay
    #[arg(long, value_name = "SCALE", default_value_t)]
    pub(crate) drive_scale: Scale,
    /// Replace a figure of the profile, as in flash.fill=0.5 or advertise=true; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Emulate it also if it is faster than this machine can emulate
    #[arg(long)]
    pub(crate) below_floor: bool,
    /// Record all that reaches the drive, with its data, in this empty directory
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// End the recording when it has grown to this; the drive goes on
    #[arg(long, value_name = "SIZE", requires = "record", default_value_t = RecordingOptions::LIMIT)]
    pub(crate) record_limit: Bytes,
    /// Also keep a copy of what the drive holds now, so that `weir drive cut` can cut its power
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
    /// The mountpoint of a drive to record, or the file of a recording to read
    pub(crate) from: PathBuf,
    /// Record into this new file until Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// End the recording after so many seconds
    #[arg(long, value_name = "N", requires = "out")]
    pub(crate) seconds: Option<f64>,
    /// End a recording whose `weir` was killed
    #[arg(long, conflicts_with = "out")]
    pub(crate) stop: bool,
    /// Print each operation of a recording, tab-separated, instead of a summary
    #[arg(long, conflicts_with_all = ["out", "stop"])]
    pub(crate) print: bool,
}
