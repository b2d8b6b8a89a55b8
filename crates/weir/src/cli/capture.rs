//! Options of `weir capture`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_capture::{Literals, LogFormat};
use weir_model::{Duration, ServerUrl};

use super::values::listen_address;

#[derive(Debug, Subcommand)]
pub(crate) enum CaptureCommand {
    /// Record the statements of clients and their results, as a proxy in front of the server
    Proxy(CaptureProxyArguments),
    /// Record the statements that a server remembers, in its performance schema or processlist, with SELECT and SHOW only
    Poll(CapturePollArguments),
    /// Make a capture from a slow query log, a general query log, packets (pcap), or a report of digests
    Import(CaptureImportArguments),
    /// Show the contents of a capture, the guarantees of its source, and what is missing
    Show(CaptureShowArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CaptureProxyArguments {
    /// Address and port for clients; they log in to the server with their own accounts
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
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
    /// Certificate for clients that encrypt, in PEM form [default: a new self-signed one]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of that certificate, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// End after this time, and close the connections [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct CapturePollArguments {
    /// The server: mysql://USER@HOST:PORT or mariadb://USER@HOST:PORT; it is only read, and no setting is changed
    pub(crate) url: ServerUrl,
    /// The new file, such as tuesday.weircap; only you can read it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// End after this time [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<Duration>,
    /// Time between two polls [default: 1s, and longer where a poll takes more than 1 % of it]
    #[arg(long, value_name = "TIME")]
    pub(crate) every: Option<Duration>,
    /// Values of statements: keep them, hash each to another of its kind, or drop them (no replay)
    #[arg(long, value_name = "keep|hash|drop", default_value = "keep")]
    pub(crate) literals: Literals,
    /// Ask for the password of the server
    #[arg(long)]
    pub(crate) ask_password: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CaptureImportArguments {
    /// The log's file, of MySQL, Percona Server or MariaDB, or several of one server in any order; or a pcap or pcapng file, or JSON of
    /// pt-query-digest or PMM
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Format of the log [default: recognised by its contents]
    #[arg(long, value_name = "slow|general|table|pcap|digests")]
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
    /// The capture, also while it is being written
    pub(crate) capture: PathBuf,
    /// Kinds of statements to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
