//! Options of `weir workload`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_model::ServerUrl;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// Write a workload file from a capture: statements, weights and distributions, without the texts of its values
    Fit(WorkloadFitArguments),
    /// Compare a workload file with a capture; exit with 1 if a distance is beyond its limit
    Check(WorkloadCheckArguments),
    /// List the workloads that `weir load` and studies know by name, and the files of a folder
    List(WorkloadListArguments),
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadFitArguments {
    /// The capture, such as tuesday.weircap
    pub(crate) capture: PathBuf,
    /// A server with the capture's tables, mysql://USER@HOST:PORT/SCHEMA: the file then makes tables
    /// like them. Weir only reads; on large tables this takes a while
    pub(crate) url: Option<ServerUrl>,
    /// The new file, such as tuesday.toml
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Ask for the password of the server
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadCheckArguments {
    /// The capture
    pub(crate) capture: PathBuf,
    /// The workload file
    pub(crate) workload: PathBuf,
    /// Schema of the capture's tables, if statements name it [default: that of most sessions]
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Largest distance of shares: statements, transactions, repeated values (0 to 1)
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.10)]
    pub(crate) limit_shares: f64,
    /// Largest distance of distributions of values, in addition to chance (0 to 1)
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.05)]
    pub(crate) limit_values: f64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadListArguments {
    /// Folder of workload files
    #[arg(default_value = "workloads")]
    pub(crate) folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
