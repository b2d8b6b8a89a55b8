//! Options of `weir flashback`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_model::Bytes;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[allow(clippy::struct_excessive_bools)] // each is an option of its own
pub(crate) struct FlashbackArguments {
    #[command(subcommand)]
    pub(crate) command: Option<FlashbackCommand>,
    /// The server, which is only read: mysql://USER@HOST:PORT/SCHEMA or mariadb://...
    #[arg(required = true)]
    pub(crate) url: Option<String>,
    /// A query with `FROM SCHEMA.TABLE AS OF TIMESTAMP 'YYYY-MM-DD HH:MM:SS'`
    pub(crate) sql: Option<String>,
    /// Tables, instead of those that the query names
    #[arg(long, value_name = "SCHEMA.TABLE", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    /// The time, the server's unless it has an offset, or `FILE:POSITION` in the binary log
    #[arg(long, value_name = "TIME", requires = "tables")]
    pub(crate) as_of: Option<String>,
    /// Right after this transaction
    #[arg(
        long,
        value_name = "GTID",
        requires = "tables",
        conflicts_with = "as_of"
    )]
    pub(crate) as_of_gtid: Option<String>,
    /// Right before this transaction
    #[arg(long, value_name = "GTID", requires = "tables", conflicts_with_all = ["as_of", "as_of_gtid"])]
    pub(crate) before_gtid: Option<String>,
    /// Only rows that meet this condition, such as "id BETWEEN 7 AND 90": as they were; with --undo as they were or are
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
    /// Write the statements that take changes back into this file; nothing runs them
    #[arg(long, value_name = "FILE", requires = "tables", conflicts_with_all = ["sql", "diff"])]
    pub(crate) undo: Option<PathBuf>,
    /// Take back only this transaction; repeatable
    #[arg(long, value_name = "GTID", requires = "undo")]
    pub(crate) gtid: Vec<String>,
    /// Take back only what this connection did
    #[arg(long, value_name = "ID", requires = "undo")]
    pub(crate) connection: Option<u32>,
    /// Take back only transactions whose statement has this text; needs logged statements
    #[arg(long, value_name = "TEXT", requires = "undo")]
    pub(crate) statement: Option<String>,
    /// Print what changed since, a line for each row
    #[arg(long, requires = "tables", conflicts_with = "sql")]
    pub(crate) diff: bool,
    /// Keep the private server with the tables as they were, for other clients, until Ctrl-C
    #[arg(long, requires = "tables", conflicts_with_all = ["sql", "into", "undo", "diff"])]
    pub(crate) serve: bool,
    #[command(flatten)]
    pub(crate) common: FlashbackCommon,
}

#[derive(Debug, Args)]
pub(crate) struct FlashbackCommon {
    /// Print JSON: a line for each row, change or result
    #[arg(long)]
    pub(crate) json: bool,
    /// Read at most so many bytes of log per second, such as 20M
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit: Option<Bytes>,
    /// Go on although foreign keys change rows that the server does not log
    #[arg(long)]
    pub(crate) ignore_cascades: bool,
    /// Program of the private server that holds the tables as they were: a mysqld or mariadbd
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,
    /// Put the private server's data here [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Ask for the password instead of taking that of an option file
    #[arg(long)]
    pub(crate) ask_password: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlashbackCommand {
    /// Show the history of one row: each change with its time, transaction and statement
    Log(FlashbackLogArguments),
}

#[derive(Debug, Args)]
pub(crate) struct FlashbackLogArguments {
    /// The server, which is only read
    pub(crate) url: String,
    /// The table
    pub(crate) table: String,
    /// The row's key; once for each of its columns
    #[arg(long, required = true)]
    pub(crate) key: Vec<String>,
    /// From this time on [default: the beginning of the log]
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Up to this time
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) common: FlashbackCommon,
}
