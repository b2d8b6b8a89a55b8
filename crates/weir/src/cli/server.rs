//! `weir server`: its commands and options.

use clap::{Args, Subcommand};

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
    /// A variable of a new one, NAME=VALUE, in any flavour's name; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Listen on this port of 127.0.0.1 as well; 0: on a free one
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Print JSON
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
