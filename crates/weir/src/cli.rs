//! Every command and option, declared once; the comments are the help.

mod advise;
mod agents;
mod capture;
mod crash_test;
mod ddl;
mod drive;
mod help;
mod init;
mod look;
mod powercut;
mod predict;
mod server;
mod upgrade;
mod values;
mod workload;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub(crate) use advise::AdviceArguments;
pub(crate) use agents::{
    AgentArguments, AgentsArguments, AgentsCommand, AgentsUpArguments, BusCommand, BusUpArguments,
    OwnerArguments,
};
pub(crate) use capture::{
    CaptureCommand, CaptureImportArguments, CapturePollArguments, CaptureProxyArguments,
    CaptureShowArguments,
};
pub(crate) use crash_test::{CrashReplayArguments, CrashTestArguments, CrashTestCommand};
pub(crate) use ddl::{DdlAdviseArguments, DdlCommand, FactsCommand, FactsDdlArguments};
pub(crate) use drive::{DriveCommand, MeasureArguments, MountArguments, TraceArguments};
pub(crate) use help::{HelpArguments, all_commands, first_screen};
pub(crate) use init::{CompletionsArguments, InitArguments, ManualArguments, Question};
pub(crate) use look::LookArguments;
pub(crate) use powercut::{
    PowercutCheckArguments, PowercutCommand, PowercutWitnessArguments, PowercutWriteArguments,
};
pub(crate) use predict::{
    LevelsArgument, ObserveArguments, PredictCommand, PredictResultArguments,
    PredictStudyArguments, PredictTraceArguments, VerifyArguments,
};
pub(crate) use server::{
    AdviseArguments, DoublewriteCommand, DownArguments, PoolArgument, PoolArguments, PoolCommand,
    ServerCommand, ShipArguments, ShipMode, SnapshotCommand, SwitchArguments, UpArguments,
};
pub(crate) use upgrade::UpgradeArguments;
pub(crate) use values::growth;
use values::{factor_and_level, listen_address, loss, margin};
pub(crate) use workload::{
    WorkloadCheckArguments, WorkloadCommand, WorkloadFitArguments, WorkloadListArguments,
};

/// Tells you which version, setting, memory or storage makes your MySQL or MariaDB faster, safer or cheaper
#[derive(Debug, Parser)]
#[command(
    name = "weir",
    version = VERSION,
    override_help = first_screen(),
    after_help = EXIT_CODES,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// Colour the text; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        display_order = 900
    )]
    pub(crate) color: clap::ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Ends the program as clap does where an argument is missing: exit code 2.
    pub(crate) fn no_study() -> ! {
        let message =
            "no study was named; `weir init` makes one, and studies/first-look.toml is an example";
        Self::command()
            .error(ErrorKind::MissingRequiredArgument, message)
            .exit()
    }
}

/// The release, and the commit that it was built from.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("WEIR_COMMIT"), ")");

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 failed, or a gate found a loss; 2 wrong usage (of `weir load` also: not
started or ended in time); 3 done, but a rule makes a verdict invalid; 4 done, but too few runs for
a gate; 130 stopped by Ctrl-C (complete runs are kept).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show waits, heavy statements and stalls of a running server, and the next command
    Look(LookArguments),
    /// Ask which settings could matter on a running server, and try them on a copy
    Advise(AdviceArguments),
    /// Write a commented study file: asks three questions, or takes options
    Init(InitArguments),
    /// Run a study: print the verdicts, write the result and its report
    Run(RunArguments),
    /// Compare two servers with your statements: which get slower, or answer differently
    Upgrade(UpgradeArguments),
    /// Show order, time and space of a study, and what the rules object to; runs nothing
    Plan(PlanArguments),
    /// Write the report of a result
    Report(ReportArguments),
    /// Compare two results, or the levels of a factor within one
    Compare(CompareArguments),
    /// Show results and running studies in a browser; start and stop studies there
    Serve(ServeArguments),
    /// Predict misses, throughput and latency of other buffer pools and drives
    Predict {
        #[command(subcommand)]
        command: PredictCommand,
    },
    /// Write one page on the published claims of results: agrees, disagrees, cannot say
    ///
    /// Several results of the same study are sessions of it. Their claims are judged together, with the spread between
    /// sessions in the interval.
    Claims(ClaimsArguments),
    /// Explain a rule, such as R4: what it checks, why, and what to do [default: all rules]
    Explain(ExplainArguments),
    /// Load a server with sysbench's options and report; run Lua scripts, replay captures
    #[command(disable_help_flag = true)]
    Load(LoadArguments),
    /// Record the statements of clients in a file that `weir load` can replay
    Capture {
        #[command(subcommand)]
        command: CaptureCommand,
    },
    /// Start the bus that load hosts join, to share the load of a run
    Bus {
        #[command(subcommand)]
        command: BusCommand,
    },
    /// Take a share of the load of runs, or start servers of studies, until Ctrl-C
    Agent(AgentArguments),
    /// Start, list, check and end agents on load hosts
    Agents {
        #[command(subcommand)]
        command: AgentsCommand,
    },
    /// Fit workload files to captures, check how close they are, and list workloads
    Workload {
        #[command(subcommand)]
        command: WorkloadCommand,
    },
    /// Mount, watch and break emulated drives
    Drive {
        #[command(subcommand)]
        command: DriveCommand,
    },
    /// Start private servers, keep snapshots, warm a replica, promote it, switch doublewrite
    Server {
        #[command(subcommand)]
        command: ServerCommand,
    },
    /// Show what an ALTER TABLE would do to your table, before it runs
    Ddl {
        #[command(subcommand)]
        command: DdlCommand,
    },
    /// Check Weir's facts about servers against the servers of this machine
    Facts {
        #[command(subcommand)]
        command: FactsCommand,
    },
    /// Query tables of your server as they were, print the changes since then, and undo them
    #[cfg(feature = "flashback")]
    Flashback(Box<weir_flashback::command::Arguments>),
    /// Cut the power of an emulated drive under a server many times, and judge its recovery
    CrashTest {
        #[command(subcommand)]
        command: CrashTestCommand,
    },
    /// Check this machine: servers, FUSE, memory, limits, and packages to install
    Doctor(JsonArguments),
    /// End servers and mounts of a killed weir; never touches others
    Clean(CleanArguments),
    /// Print the completion script of a shell
    Completions(CompletionsArguments),
    /// Write the manual pages (roff) to a folder
    Manual(ManualArguments),
    /// Print the first screen, all commands, or the help of one
    Help(HelpArguments),
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
    /// The study file [default: on a terminal, Weir offers to make one]
    pub(crate) study: Option<PathBuf>,
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
    /// Also write how to put each changed setting back to the end of this file, such as one on another host
    #[arg(long, value_name = "FILE", requires = "allow_config")]
    pub(crate) note_to: Option<PathBuf>,
    /// Write tables also to a replica or a read-only server; it then differs from its source
    #[arg(long)]
    pub(crate) allow_replica: bool,
    /// Print the statements that would change your server; send none of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask for the password of your server, instead of the option file's
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Folder of data directories and mounts: the storage to measure [default: the temporary directory;
    /// the files of emulated drives lie in memory if they fit]
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
    /// Say for each claim that does not agree which figure of a drive it hangs on, by prediction
    #[arg(long)]
    pub(crate) what_must_be_true: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The result: its folder or its result.sqlite
    pub(crate) result: PathBuf,
    /// Format [default: html; text on a terminal without --out]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
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
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878", value_parser = listen_address)]
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
    /// The second result (B); with --factor, another session of the same study
    #[arg(required_unless_present = "factor")]
    pub(crate) second: Option<PathBuf>,
    /// With --factor, more sessions of the same study: intervals then have the spread between sessions
    #[arg(requires = "factor", value_name = "SESSION")]
    pub(crate) more: Vec<PathBuf>,
    /// Compare the levels of this factor within one result
    #[arg(long, value_name = "FACTOR")]
    pub(crate) factor: Option<String>,
    /// Only combinations with this level of another factor, such as threads=64; repeatable
    #[arg(long = "where", value_name = "FACTOR=LEVEL", requires = "factor", value_parser = factor_and_level)]
    pub(crate) at: Vec<(String, String)>,
    /// Compare in this metric of a run, instead of queries per second
    #[arg(long, value_name = "METRIC", value_parser = PossibleValuesParser::new(weir_judge::recorded_metrics()))]
    pub(crate) metric: Option<String>,
    /// A loss beyond this fails (exit code 1), such as -3%; 4: it is not excluded, more runs are needed
    #[arg(long, value_name = "LOSS", allow_hyphen_values = true, value_parser = loss)]
    pub(crate) gate: Option<f64>,
    /// p99 latency may grow by this, such as +10%
    #[arg(long, value_name = "GROWTH", allow_hyphen_values = true, value_parser = growth)]
    pub(crate) gate_p99: Option<f64>,
    /// Statements with this text may take so much longer, such as 'from orders' +5%; repeatable
    #[arg(long, num_args = 2, value_names = ["TEXT", "GROWTH"], allow_hyphen_values = true)]
    pub(crate) gate_statement: Vec<String>,
    /// Both must be equal within this, such as 5%
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub(crate) gate_equal: Option<f64>,
    /// Write the verdicts as `JUnit` XML to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
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
    /// The answer as `weir run` prints it
    Text,
    /// Text for a ticket or a pull request
    Md,
    /// One row for each run, for spreadsheets, data frames and `DuckDB`, which reads result.sqlite, too
    Csv,
    /// Written once; its error says what to use instead
    #[value(hide = true)]
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// WORKLOAD [sysbench options] prepare|run|cleanup|help, or CAPTURE.weircap run|help
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
