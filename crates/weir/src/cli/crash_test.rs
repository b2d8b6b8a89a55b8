//! `weir crash-test`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir_model::Bytes;

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
    #[arg(long, value_name = "PROFILE", default_value = "intel-p3700-400gb")]
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
    /// Also run order entry with this number of warehouses, and check its twelve conditions in each state [default:
    /// none]
    #[arg(long, value_name = "WAREHOUSES", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(crate) order_entry: Option<u32>,
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
    /// Verdict of `weir drive powercut check`: say if these cuts show the test's rules on that device
    #[arg(long, value_name = "FILE")]
    pub(crate) powercut: Option<PathBuf>,
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
    /// Power loss: each write that is not safe is lost, torn or kept
    Power,
    /// kill -9: all writes that the server issued are kept
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
