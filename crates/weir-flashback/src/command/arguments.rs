//! Options of `weir flashback`, and of the program `weir-flashback`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_model::Bytes;

/// The command line, without the program's name.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[allow(clippy::struct_excessive_bools)] // each is an option of its own
pub struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The server, which is only read: mysql://USER@HOST:PORT/SCHEMA or mariadb://...
    #[arg(required = true)]
    pub(crate) url: Option<String>,
    /// A query with `FROM SCHEMA.TABLE AS OF TIMESTAMP 'YYYY-MM-DD HH:MM:SS'`
    pub(crate) sql: Option<String>,
    /// Tables, in place of those that the query names; with --undo one script for all
    #[arg(long, value_name = "SCHEMA.TABLE", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    /// The tables at this time, the server's unless it has an offset; or at `FILE:POSITION` of the binary log
    #[arg(long, value_name = "TIME", requires = "tables")]
    pub(crate) as_of: Option<String>,
    /// The tables right after this transaction
    #[arg(
        long,
        value_name = "GTID",
        requires = "tables",
        conflicts_with = "as_of"
    )]
    pub(crate) as_of_gtid: Option<String>,
    /// The tables right before this transaction
    #[arg(long, value_name = "GTID", requires = "tables", conflicts_with_all = ["as_of", "as_of_gtid"])]
    pub(crate) before_gtid: Option<String>,
    /// Only rows that met this condition then, such as "id BETWEEN 7 AND 90"; with --undo, then or now
    #[arg(long = "where", value_name = "CONDITION", conflicts_with = "sql")]
    pub(crate) condition: Option<String>,
    /// Copy the table as it was into this new table on the server; needs --allow-write
    #[arg(long, value_name = "SCHEMA.TABLE", requires = "tables", conflicts_with_all = ["sql", "undo", "diff"])]
    pub(crate) into: Option<String>,
    /// Let --into make its table
    #[arg(long, requires = "into")]
    pub(crate) allow_write: bool,
    /// Let --into write also on a server that is a replica or read-only
    #[arg(long, requires = "into")]
    pub(crate) allow_replica: bool,
    /// Write the statements that undo the changes to this file, as one transaction; Weir never runs them on your server
    #[arg(long, value_name = "FILE", requires = "tables", conflicts_with_all = ["sql", "diff"])]
    pub(crate) undo: Option<PathBuf>,
    /// Write the script also for tables with triggers, which will fire again when it runs
    #[arg(long, requires = "undo")]
    pub(crate) with_triggers: bool,
    /// Undo only this transaction; repeatable
    #[arg(long, value_name = "GTID", requires = "undo")]
    pub(crate) gtid: Vec<String>,
    /// Undo only the changes of this connection
    #[arg(long, value_name = "ID", requires = "undo")]
    pub(crate) connection: Option<u32>,
    /// Undo only transactions whose statement has this text; needs statements in the binary log
    #[arg(long, value_name = "TEXT", requires = "undo")]
    pub(crate) statement: Option<String>,
    /// Print the changes since then, a line for each row
    #[arg(long, requires = "tables", conflicts_with = "sql")]
    pub(crate) diff: bool,
    /// Keep a private server with the tables as they were, for any client, until Ctrl-C
    #[arg(long, requires = "tables", conflicts_with_all = ["sql", "into", "undo", "diff"])]
    pub(crate) serve: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON: a line for each row, change or result
    #[arg(long)]
    pub(crate) json: bool,
    /// Largest rate at which the binary log is read (bytes per second), such as 20M
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit: Option<Bytes>,
    /// Accept foreign keys with CASCADE or SET NULL, whose changes the server does not log
    #[arg(long)]
    pub(crate) ignore_cascades: bool,
    /// Program of the private server: a mysqld or mariadbd [default: one with your server's version]
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,
    /// Folder for the data of the private server [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Ask for the password of your server, instead of the option file's
    #[arg(long)]
    pub(crate) ask_password: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the history of one row: each change with its time, transaction and statement
    Log(LogArguments),
}

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// The server, which is only read
    pub(crate) url: String,
    /// The table
    pub(crate) table: String,
    /// Value of the row's key; repeat it for each column of the key
    #[arg(long, required = true)]
    pub(crate) key: Vec<String>,
    /// From this time on [default: the beginning of the log]
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Up to this time
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}
