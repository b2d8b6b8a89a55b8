//! `weir server`: its commands and options.

mod pool;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir_model::{Bytes, CpuList, ServerUrl};

use super::JsonArguments;
pub(crate) use pool::{PoolArguments, PoolCommand, ShipArguments, ShipMode};

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Start a private server that stays up: a new one, or a stopped one
    Up(UpArguments),
    /// Stop a private server
    Down(DownArguments),
    /// List the private servers, and where they listen
    List(JsonArguments),
    /// Take, list and remove snapshots of servers' data
    Snapshot {
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// Show, resize, dump or load the buffer pool of a server; compare it with another server's, or load its pages
    /// there
    Pool(PoolArguments),
    /// Make a replica a primary, when it has applied all that it has received; its primary must be down
    Promote {
        /// The replica
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Turn the doublewrite buffer on or off, if the storage allows it
    Doublewrite {
        #[command(subcommand)]
        command: DoublewriteCommand,
    },
    /// Restore a server's data from a snapshot (restarts the server)
    Restore {
        /// The server
        name: String,
        /// Name of the snapshot (`weir server snapshot list`)
        snapshot: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct UpArguments {
    /// Name [default: the flavour, or the flavour with a number]
    pub(crate) name: Option<String>,
    /// Program of a new server: mysql, mariadb, or the path of a mysqld [default: mysql]
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Start a new server from this snapshot [default: empty data]
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) snapshot: Option<String>,
    /// Start a new server from a copy of this backup: the folder of a prepared physical backup, a copied
    /// data directory, or a dump (.sql, .sql.gz, .sql.zst). The backup is not changed
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["snapshot", "replica_of"])]
    pub(crate) from_backup: Option<PathBuf>,
    /// Settings of a new server: the server's groups of this option file, such as a copy of your my.cnf,
    /// without folders, socket, port and account
    #[arg(long, value_name = "FILE")]
    pub(crate) option_file: Option<PathBuf>,
    /// Server variable of a new server, NAME=VALUE, in any version's name; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Folder on the storage that the data of a new server are to lie on: they go to DIR/NAME [default: the
    /// server's own folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Also listen on this port of 127.0.0.1; 0: a free port
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Processors of a new server, such as 0-1,3 [default: all]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<CpuList>,
    /// Memory limit (cgroup) of a new server, including its page cache [default: none]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Start a new server as a replica of this one, which is stopped during the copy
    #[arg(long, value_name = "NAME", conflicts_with_all = ["snapshot", "server"])]
    pub(crate) replica_of: Option<String>,
    /// Semi-synchronous: the primary waits until the replica has received each commit
    #[arg(long, requires = "replica_of")]
    pub(crate) semi_sync: bool,
    /// Contents of the buffer pool after the start
    #[arg(long, value_enum, default_value = "cold")]
    pub(crate) pool: PoolArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PoolArgument {
    /// The pages that the start itself reads
    Cold,
    /// The pages of the pool's last dump; a snapshot keeps it
    Warm,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DoublewriteCommand {
    /// Show the setting, the promises of the storage, and the cost of a restart
    Status {
        /// The server: its name, or your server's URL
        name: String,
        /// Ask for the password of your server
        #[arg(long)]
        ask_password: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Turn doublewrite on (restarts the server). For your own server, prints the steps to take
    On(SwitchArguments),
    /// Turn doublewrite off if the storage is known to tear no pages (restarts the server). For your own
    /// server, prints the steps to take
    Off(SwitchArguments),
    /// Measure the gain of OFF on a copy of the server's settings, on the same storage
    Advise(AdviseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SwitchArguments {
    /// The server: its name, or your server's URL (mysql://USER@HOST:PORT/)
    pub(crate) name: String,
    /// URL of the primary, if your server is a replica
    #[arg(long, value_name = "URL")]
    pub(crate) primary: Option<ServerUrl>,
    /// Ask for the password of your server
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Crash test that held: the JSON of `weir crash-test run --doublewrite off --json`. It counts for the same server
    /// and settings, on storage that is known to keep the tested drive's rules
    #[arg(long, value_name = "FILE")]
    pub(crate) verdict: Option<PathBuf>,
    /// Verdict of `weir drive powercut check` on this storage, beside --verdict. It shows rules that the storage does
    /// not promise
    #[arg(long, value_name = "FILE", requires = "verdict")]
    pub(crate) powercut: Option<PathBuf>,
    /// Print the decision and the cost; change nothing
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
    /// Length of each measurement (s), after a warm-up of half of it
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// Runs of each setting
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Rows of each of four tables
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
    /// Also remove its data
    #[arg(long)]
    pub(crate) remove: bool,
    /// Kill it; it recovers at its next start
    #[arg(long)]
    pub(crate) now: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Keep a copy of a server's data (restarts a running server)
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
    /// List the snapshots with size, last use and contents
    List(JsonArguments),
    /// Remove snapshots that are not in use
    Rm {
        /// Names of snapshots (`weir server snapshot list`)
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
