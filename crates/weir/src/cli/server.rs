//! `weir server`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir_model::{Bytes, CpuList, ServerUrl};

use super::JsonArguments;

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Start a private server that stays up: a new one, or one that was stopped
    Up(UpArguments),
    /// Stop a private server
    Down(DownArguments),
    /// The private servers, and where they listen
    List(JsonArguments),
    /// Keep a server's data, list and remove what is kept
    Snapshot {
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// What is in a server's buffer pool; change its size, dump it, load it
    Pool(PoolArguments),
    /// The doublewrite buffer of a server as a managed switch
    Doublewrite {
        #[command(subcommand)]
        command: DoublewriteCommand,
    },
    /// Bring a server's data back to a snapshot; one that runs is stopped for it and started again
    Restore {
        /// The server
        name: String,
        /// The snapshot, as `weir server snapshot list` shows it
        snapshot: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct UpArguments {
    /// Its name [default: the flavour, or the flavour with a number]
    pub(crate) name: Option<String>,
    /// The server program of a new one: mysql, mariadb, or the path of a mysqld [default: mysql]
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Start a new one from this snapshot instead of from empty data
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) snapshot: Option<String>,
    /// The settings of a new one: those for the server in this option file, a copy of your my.cnf; what
    /// makes it private is left out
    #[arg(long, value_name = "FILE")]
    pub(crate) option_file: Option<PathBuf>,
    /// A variable of a new one, NAME=VALUE, in any flavour's name; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Listen on this port of 127.0.0.1 as well; 0: on a free one
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// The processors that a new one may run on, as in 0-1,3
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<CpuList>,
    /// The memory that a new one may have, with the files that it reads
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Start a new one as a replica of this server, which is stopped while its data are copied
    #[arg(long, value_name = "NAME", conflicts_with_all = ["snapshot", "server"])]
    pub(crate) replica_of: Option<String>,
    /// The replica's primary waits until it has received each commit
    #[arg(long, requires = "replica_of")]
    pub(crate) semi_sync: bool,
    /// What is in the buffer pool when this returns
    #[arg(long, value_enum, default_value = "cold")]
    pub(crate) pool: PoolArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PoolArgument {
    /// What a start reads
    Cold,
    /// The pages of the pool's last dump, which a snapshot keeps
    Warm,
}

#[derive(Debug, Args)]
pub(crate) struct PoolArguments {
    /// The server
    pub(crate) name: String,
    /// Change its size while the server runs, and read back what it then is
    #[arg(long, value_name = "SIZE")]
    pub(crate) resize: Option<Bytes>,
    /// Write down which pages it holds
    #[arg(long)]
    pub(crate) dump: bool,
    /// Read the pages that were written down, and wait until that is done
    #[arg(long)]
    pub(crate) load: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DoublewriteCommand {
    /// Whether it is on, what it does, what the storage promises, what a restart would cost
    Status {
        /// The server: its name, or the URL of one of yours
        name: String,
        /// Ask for the password of a server of yours
        #[arg(long)]
        ask_password: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch it on: the server is started again; for one of yours, what its owner is to do
    On(SwitchArguments),
    /// Switch it off, if the storage is known to tear no pages: the server is started again;
    /// for one of yours, what its owner is to do
    Off(SwitchArguments),
    /// Measure on a copy of the settings and in the same place what off would gain
    Advise(AdviseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SwitchArguments {
    /// The server: its name, or the URL of one of yours, mysql://USER@HOST:PORT/
    pub(crate) name: String,
    /// The primary of a server of yours that is a replica: its URL
    #[arg(long, value_name = "URL")]
    pub(crate) primary: Option<ServerUrl>,
    /// Ask for the password of a server of yours
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// A crash test that held: the JSON of `weir crash-test run --doublewrite off`. It counts for the tested server and
    /// settings, on storage that is known to keep the tested drive's rules
    #[arg(long, value_name = "FILE")]
    pub(crate) verdict: Option<PathBuf>,
    /// Say what would be done and what it costs; do nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AdviseArguments {
    /// The server
    pub(crate) name: String,
    /// How long each run is measured, after half as long a warm-up
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// Runs of each setting
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Rows in each of four tables
    #[arg(long, value_name = "N", default_value = "200000", value_parser = clap::value_parser!(u64).range(1000..))]
    pub(crate) rows: u64,
    /// Connections
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: u32,
    /// Print the whole result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DownArguments {
    /// The server
    pub(crate) name: String,
    /// Remove its data as well
    #[arg(long)]
    pub(crate) remove: bool,
    /// Kill it instead of shutting it down: it recovers at its next start
    #[arg(long)]
    pub(crate) now: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Keep a server's data; one that runs is stopped for it and started again
    Take {
        /// The server
        name: String,
        /// The snapshot's name [default: the server's]
        #[arg(long = "as", value_name = "LABEL")]
        label: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// The snapshots: what made them, their size, when they were last used
    List(JsonArguments),
    /// Remove snapshots that nobody uses
    Rm {
        /// Snapshots, as `weir server snapshot list` shows them
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// `NAME=VALUE`.
pub(crate) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("must be NAME=VALUE, such as innodb_buffer_pool_size=1G".to_owned()),
    }
}
