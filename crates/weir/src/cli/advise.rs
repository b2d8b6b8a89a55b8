//! Options of `weir advise`.

use std::path::PathBuf;

use clap::Args;
use weir_model::{Duration, ServerUrl};

#[derive(Debug, Args)]
pub(crate) struct AdviceArguments {
    /// The server: mysql://USER@HOST:PORT or mariadb://USER@HOST:PORT; it is only read
    pub(crate) url: ServerUrl,
    /// Statements of your application: a capture of `weir capture`
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(crate) capture: Option<PathBuf>,
    /// Data of the server: a backup's folder, a dump, a snapshot, or a private server
    #[arg(long, value_name = "DATA", requires = "capture")]
    pub(crate) data: Option<String>,
    /// Run the study on a private copy below --work; without it, it is only written
    #[arg(long, requires = "capture", requires = "work")]
    pub(crate) run: bool,
    /// The copy's program: mysql, "mysql 8.0", or the path of a mysqld [default: the server's version, if installed]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) server: Option<String>,
    /// Part of the capture that warms the copy up and is not measured
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) warmup: Duration,
    /// Look at the server for so many seconds [default: 60, or 10 if it shows no waits]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=86_400))]
    pub(crate) seconds: Option<u64>,
    /// Folder of the study, the result and the report [default: results/advise-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Folder of the copy while it is measured, on the kind of storage that the server has
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Ask for the password of the server, instead of the option file's
    #[arg(long)]
    pub(crate) ask_password: bool,
}
