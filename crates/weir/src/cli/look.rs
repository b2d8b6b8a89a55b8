//! Options of `weir look`.

use std::path::PathBuf;

use clap::Args;
use weir_model::{Duration, ServerUrl};

#[derive(Debug, Args)]
pub(crate) struct LookArguments {
    /// The server: mysql://USER@HOST:PORT or mariadb://USER@HOST:PORT; it is only read
    pub(crate) url: ServerUrl,
    /// Look for so many seconds [default: 60, or 10 if the server shows no waits]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=86_400), conflicts_with = "watch")]
    pub(crate) seconds: Option<u64>,
    /// Look for a longer time, such as 1h: finds stalls that come seldom, and their period
    #[arg(long, value_name = "TIME")]
    pub(crate) watch: Option<Duration>,
    /// Write the report also as a page (HTML) to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Ask for the password of the server, instead of the option file's
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
