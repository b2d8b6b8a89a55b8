//! Options of `weir capture`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_capture::{Literals, LogFormat};
use weir_model::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum CaptureCommand {
    /// Stand between clients and a server, and write down what they ask and what comes of it
    Proxy(CaptureProxyArguments),
    /// Make a capture of a slow query log, a general query log, or packets (pcap)
    Import(CaptureImportArguments),
    /// Say what a capture has, what its source guarantees, and what is missing
    Show(CaptureShowArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CaptureProxyArguments {
    /// Address and port for clients; they log in to the server with their own accounts
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// The server: mysql://HOST:PORT or mariadb://HOST:PORT; ssl-mode as for clients
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// The new file, such as tuesday.weircap; only you can read it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Values of statements: keep them, hash each to another of its kind, or drop them (no replay)
    #[arg(long, value_name = "keep|hash|drop", default_value = "keep")]
    pub(crate) literals: Literals,
    /// Certificate for clients that encrypt, in PEM form [default: one that is made anew]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of that certificate, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// End after this time [default: until Ctrl-C]; connections are closed then
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct CaptureImportArguments {
    /// The log's file, of MySQL, Percona Server or MariaDB; or a pcap or pcapng file
    pub(crate) log: PathBuf,
    /// What it is [default: by its contents]
    #[arg(long, value_name = "slow|general|table|pcap")]
    pub(crate) format: Option<LogFormat>,
    /// The new file, such as tuesday.weircap; only you can read it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Values of statements: keep them, hash each to another of its kind, or drop them (no replay)
    #[arg(long, value_name = "keep|hash|drop", default_value = "keep")]
    pub(crate) literals: Literals,
}

#[derive(Debug, Args)]
pub(crate) struct CaptureShowArguments {
    /// The capture, which may still be written
    pub(crate) capture: PathBuf,
    /// Kinds of statements to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
