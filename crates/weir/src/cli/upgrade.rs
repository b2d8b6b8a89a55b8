//! `weir upgrade`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct UpgradeArguments {
    /// The server of today: mysql, mariadb, "mysql 8.0", or the path of a mysqld
    pub(crate) from: String,
    /// The server to go to, named in the same way
    pub(crate) to: String,
    /// Statements of your application: a capture of `weir capture`
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// Data of today's server: a backup's folder, a dump, a snapshot, or a private server
    #[arg(long, value_name = "DATA")]
    pub(crate) data: String,
    /// A copy of your server's option file: its settings hold for both
    #[arg(long, value_name = "FILE")]
    pub(crate) option_file: Option<PathBuf>,
    /// Part of the capture that warms both servers up and is not measured
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) warmup: weir_model::Duration,
    /// Runs of each server, 3 or more
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) runs: u32,
    /// Runs on from the third until each kind of statement is surely equal within 5 %, or differs by more; 10 at most
    #[arg(long, conflicts_with = "runs")]
    pub(crate) until_decided: bool,
    /// Folder of the study, the result and the report [default: results/upgrade-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Folder of the data while they are measured: your storage [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Write the study, tell the space that it needs and what the new server lacks; run nothing
    #[arg(long)]
    pub(crate) plan: bool,
}
