//! `weir drive powercut`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir_drive::powercut::CutKind;

#[derive(Debug, Subcommand)]
pub(crate) enum PowercutCommand {
    /// Write to the device until its power is cut, and report each acknowledged flush to the witness
    ///
    /// Makes one new folder in --dir, and first prints the space that it needs. Other files stay untouched, and no file
    /// is removed.
    Write(PowercutWriteArguments),
    /// Keep the acknowledged flushes of writers in a log, on a host that keeps its power
    Witness(PowercutWitnessArguments),
    /// After the restart, compare the files of each run with the witness's log
    ///
    /// Exit codes: 0 no finding; 1 acknowledged writes are lost or out of order, pages are damaged, or direct writes are
    /// torn.
    Check(PowercutCheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PowercutWriteArguments {
    /// A folder on the device
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Address of the witness
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) witness: String,
    /// Pages in each of the 21 files, a power of two
    #[arg(long, value_name = "N", default_value = "256")]
    pub(crate) pages: u32,
}

#[derive(Debug, Args)]
pub(crate) struct PowercutWitnessArguments {
    /// Address to listen on; port 0 takes any free port
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: String,
    /// Log of the acknowledged flushes; an existing log is continued
    #[arg(long, value_name = "FILE")]
    pub(crate) log: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PowercutCheckArguments {
    /// The folder that the writer was given
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Log of the witness, or a copy of it
    #[arg(long, value_name = "FILE")]
    pub(crate) log: PathBuf,
    /// Kind of the cut
    #[arg(long, value_enum, default_value = "power")]
    pub(crate) cut: CutKindArgument,
    /// Verdict over all cuts; later checks continue it [default: weir-powercut.json in --dir]
    #[arg(long, value_name = "FILE")]
    pub(crate) verdict: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CutKindArgument {
    /// Host and device lost their power
    Power,
    /// The host was reset; the device kept its power
    Reset,
    /// The device was taken from a running host
    Detach,
}

impl From<CutKindArgument> for CutKind {
    fn from(kind: CutKindArgument) -> Self {
        match kind {
            CutKindArgument::Power => Self::Power,
            CutKindArgument::Reset => Self::Reset,
            CutKindArgument::Detach => Self::Detach,
        }
    }
}
