//! `weir init` and what writes files about the command line itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The study file to write
    #[arg(default_value = "study.toml")]
    pub(crate) study: PathBuf,
    /// mysql, mariadb, "mysql 8.4", the path of a mysqld, or your server's URL
    /// (mysql://USER@HOST:PORT/SCHEMA) [default: asked]
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// What to find out [default: asked]
    #[arg(long, value_enum)]
    pub(crate) question: Option<Question>,
    /// host (the folder of `weir run --work`), or emulated drives, such as
    /// intel-p3700-400gb,aws-gp3 [default: asked]
    #[arg(long, value_name = "STORAGE", value_delimiter = ',')]
    pub(crate) storage: Vec<String>,
}

/// What a study can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Question {
    /// What does `innodb_doublewrite = OFF` gain?
    Doublewrite,
    /// What does a commit without a flush gain (`innodb_flush_log_at_trx_commit = 2`)?
    Flush,
    /// What does a larger buffer pool gain?
    Pool,
    /// How many connections does the server use?
    Threads,
    /// Which of two emulated drives is faster?
    Drives,
    /// Which is faster, MySQL or MariaDB?
    Servers,
    /// What does an index do to all statements?
    Index,
    /// Which statements get slower on another version? (`weir upgrade` writes that study)
    Upgrade,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArguments {
    /// Folder of the pages; it is made if it is missing
    pub(crate) dir: PathBuf,
}
