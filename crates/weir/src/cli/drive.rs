//! `weir drive`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_drive::RecordingOptions;
use weir_model::{Bytes, Duration, Scale};

use super::{JsonArguments, PowercutCommand};

#[derive(Debug, Subcommand)]
pub(crate) enum DriveCommand {
    /// List the profiles
    List(JsonArguments),
    /// Show the data sheet of a drive, with the source of each figure
    Show {
        /// Drive: name or path of a profile; +KEY=VALUE replaces a figure
        profile: String,
    },
    /// Measure your own drive and print its profile
    ///
    /// Reads and writes one new file, and removes it. First prints how much it writes at most. Ctrl-C ends it and
    /// prints the figures that it has.
    Measure(MeasureArguments),
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
    /// Test the power loss of a real device: a writer, a witness on another host, a check after the cut
    ///
    /// Run `witness` on another host and `write` on the host of the device, and cut the power while it writes. After
    /// the restart `check` reports lost and torn writes (docs/powercut.md).
    Powercut {
        #[command(subcommand)]
        command: PowercutCommand,
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
    /// Largest recording; beyond it the recording ends, and the drive goes on
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
pub(crate) struct MeasureArguments {
    /// A folder on the drive, or a new file on it
    #[arg(value_name = "DIR|FILE")]
    pub(crate) target: PathBuf,
    /// Time that the measurement takes, about, such as 10m
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub(crate) budget: Duration,
    /// Largest amount that it writes
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(32 << 30))]
    pub(crate) write_limit: Bytes,
    /// Largest size of its file; at most a quarter of the free space
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(8 << 30))]
    pub(crate) size: Bytes,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The mountpoint of a drive to record, or the file of a trace to read
    pub(crate) from: PathBuf,
    /// Record to this new file until Ctrl-C, or until the drive is unmounted
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
