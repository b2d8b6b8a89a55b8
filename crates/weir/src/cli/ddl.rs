//! Options of `weir ddl` and `weir facts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_model::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum DdlCommand {
    /// Try an ALTER TABLE on an empty copy: algorithm, lock, rebuild, space and obstacles; your server is only read
    Advise(DdlAdviseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DdlAdviseArguments {
    /// The statement, as in "ALTER TABLE shop.orders ADD INDEX k (status)"
    pub(crate) statement: String,
    /// The server, which is only read: mysql://USER@HOST:PORT/SCHEMA or mariadb://...
    pub(crate) url: String,
    /// Try on this mysqld or mariadbd [default: one of this machine with your server's version]
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,
    /// Watch the rate of writes for this time
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) observe: Duration,
    /// Folder for the data of the private server [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Ask for the password of your server, instead of the option file's
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FactsCommand {
    /// Run each kind of ALTER TABLE on installed servers, and compare algorithm, lock and rebuild with Weir's table
    Ddl(FactsDdlArguments),
}

#[derive(Debug, Args)]
pub(crate) struct FactsDdlArguments {
    /// Check this mysqld or mariadbd; repeatable [default: all of this machine]
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Vec<PathBuf>,
    /// Check this table (TOML) instead of Weir's
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
