//! Errors of a load, in the user's words.

use thiserror::Error;

use weir_mysql::ClientError;
use weir_workload::WorkloadError;

/// Reason that a load could not be prepared, run or finished.
#[derive(Debug, Error)]
pub enum LoadError {
    /// A server that could not be reached, asked or loaded.
    #[error(transparent)]
    Client(ClientError),
    /// The time to connect was over before all connections were ready.
    #[error(
        "connect to {address}: no answer within {limit_s} s: {waiting}; look whether the server is \
         overloaded, or allow more time with --thread-init-timeout"
    )]
    InitTimeout {
        /// Socket or host and port.
        address: String,
        /// The time that there was, seconds.
        limit_s: f64,
        /// Thing that did not come.
        waiting: String,
    },
    /// A limit of the server or of this process is too low for the load.
    #[error("{variable} = {value} is too low ({why} {needed}); set {variable} to {needed} or more")]
    Limit {
        /// The server's variable or the process's limit.
        variable: &'static str,
        /// Present value of the limit.
        value: u64,
        /// Value that the load needs.
        needed: u64,
        /// Reason for that need.
        why: String,
    },
    /// The tables are not what the load needs.
    #[error("table {table}: {why}; run `prepare` with the same number of tables and rows")]
    Table {
        /// Schema and table.
        table: String,
        /// Problem.
        why: String,
    },
    /// A table stands in the way of the one that is to be made, or was made wrong.
    #[error("table {table}: {why}; run `cleanup`, or `prepare` with the settings that made it")]
    Preparation {
        /// Schema and table.
        table: String,
        /// Problem.
        why: String,
    },
    /// Writes to a table would also reach elsewhere.
    #[error("table {table}: {why}, which lies outside of the schema; name a table without it")]
    Reach {
        /// Schema and table.
        table: String,
        /// Object that reaches further.
        why: String,
    },
    /// A setting that no load can have.
    #[error("{setting} = {value} ({why})")]
    Setting {
        /// The field of the plan.
        setting: &'static str,
        /// Value of the option.
        value: String,
        /// Permitted values.
        why: &'static str,
    },
    /// A workload that has no transactions or no tables.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A Lua script that failed, or its process.
    #[error("script {script}: {why}")]
    Script {
        /// Path of the script.
        script: String,
        /// Last words of the script or its process.
        why: String,
    },
    /// Agents that could not be led, or one that failed or was lost.
    #[error("{0}")]
    Agents(String),
    /// This host refused something that the load engine needs.
    #[error("{what}: {why}")]
    Host {
        /// Action that was tried.
        what: &'static str,
        /// The system's words.
        why: String,
    },
    /// Transactions were still under way when the time to complete them was over.
    #[error(
        "{0} connections had a transaction in flight 3 s after the end; check the server for a stall"
    )]
    Unfinished(u64),
    /// Less was done than asked for.
    #[error(
        "the load is incomplete: {} of {} {what} ({why}); it does not count",
        rounded(*done), rounded(*asked)
    )]
    Incomplete {
        /// The quantity that is missing.
        what: String,
        /// Amount that was asked for.
        asked: f64,
        /// Amount that was done.
        done: f64,
        /// Reason that the load ended.
        why: String,
    },
    /// The load engine had no processor time for so many seconds on end.
    #[error(
        "the load engine stood still for {0:.1} s: it was stopped, or had no processor; the load does \
         not count; run it again on a host with free cores"
    )]
    Standstill(f64),
    /// Stopped by the caller before it was done.
    #[error("{0} was interrupted before its end")]
    Interrupted(&'static str),
    /// The server made another table than it was asked for; it was dropped at once.
    #[error("table {table}: {how}; it was dropped again; ask for what this server has")]
    NotAsAsked {
        /// Schema and table.
        table: String,
        /// In what it differs.
        how: String,
    },
    /// Another connection works on a table that is half loaded.
    #[error(
        "table {table}: in use by another connection for {limit_s} s (a statement of an earlier \
         `prepare` runs or is undone, or a transaction is open); look at SHOW PROCESSLIST, then \
         run `prepare` again"
    )]
    InUse {
        /// Schema and table.
        table: String,
        /// Time that the load waited, seconds.
        limit_s: u64,
    },
}

/// A quantity for a reader, to a thousandth.
fn rounded(quantity: f64) -> f64 {
    (quantity * 1e3).round() / 1e3
}

impl From<ClientError> for LoadError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Timeout {
                address,
                limit_s,
                waiting,
            } => Self::InitTimeout {
                address,
                limit_s,
                waiting,
            },
            error => Self::Client(error),
        }
    }
}
