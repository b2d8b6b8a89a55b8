//! What can go wrong with a load, in the user's words.

use thiserror::Error;

use crate::codec::ServerError;

/// No privilege on a schema or a table (`ER_DBACCESS_DENIED_ERROR`, `ER_TABLEACCESS_DENIED_ERROR`).
const DENIED: [u16; 2] = [1044, 1142];

/// Why a load could not be prepared, run or finished.
#[derive(Debug, Error)]
pub enum LoadError {
    /// Nobody answered, or the login failed.
    #[error("connect to {address}: {why}; check the address, the account and that the server runs")]
    Connect {
        /// Socket or host and port.
        address: String,
        /// What happened.
        why: String,
    },
    /// The server does not compress in the way that was asked for.
    #[error(
        "connect to {address}: the server does not offer {compression} compression; add \
         {compression} to its protocol_compression_algorithms if it has that variable (MySQL from \
         8.0.18 on; MariaDB and older MySQL have zlib at most), or leave --mysql-compression out"
    )]
    NotCompressed {
        /// Socket or host and port.
        address: String,
        /// What was asked for.
        compression: &'static str,
    },
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
        /// What did not come.
        waiting: String,
    },
    /// A file of certificates or keys cannot be used.
    #[error("TLS file {path}: {why}; give the path of a PEM file")]
    TlsFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A cipher that is not spoken.
    #[error("no TLS cipher `{name}`; choose from {known}")]
    Cipher {
        /// As given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The server went away in the middle.
    #[error("connection to {address} was lost ({why}); look into the server's error log")]
    ConnectionLost {
        /// Socket or host and port.
        address: String,
        /// What happened.
        why: String,
    },
    /// The server refused a statement, for a reason that trying again does not change.
    #[error("`{statement}` failed on {address}: error {code}: {message}")]
    Statement {
        /// Socket or host and port.
        address: String,
        /// The statement's text.
        statement: String,
        /// The server's error code.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// The account lacks a privilege.
    #[error(
        "`{statement}` is not permitted on {address}: {message}; GRANT {privilege} to the account"
    )]
    Privilege {
        /// Socket or host and port.
        address: String,
        /// The statement's text.
        statement: String,
        /// What is to be granted.
        privilege: String,
        /// The server's words, which name the account and the table or schema.
        message: String,
    },
    /// What came was not the MySQL protocol.
    #[error("reply from {address} is malformed ({why}); is this a MySQL server?")]
    Protocol {
        /// Socket or host and port.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// A limit of the server or of this process is too low for the load.
    #[error("{variable} = {value} is too low ({why} {needed}); set {variable} to {needed} or more")]
    Limit {
        /// The server's variable or the process's limit.
        variable: &'static str,
        /// What it is.
        value: u64,
        /// What the load needs.
        needed: u64,
        /// Why it needs that.
        why: String,
    },
    /// The tables are not what the load needs.
    #[error("table {table}: {why}; run `prepare` with the same number of tables and rows")]
    Table {
        /// Schema and table.
        table: String,
        /// What is wrong.
        why: String,
    },
    /// A table stands in the way of the one that is to be made, or was made wrong.
    #[error("table {table}: {why}; run `cleanup`, or `prepare` with the settings that made it")]
    Preparation {
        /// Schema and table.
        table: String,
        /// What is wrong.
        why: String,
    },
    /// A setting that no load can have.
    #[error("{setting} = {value} ({why})")]
    Setting {
        /// The field of the plan.
        setting: &'static str,
        /// What it holds.
        value: String,
        /// What it must be.
        why: &'static str,
    },
    /// A file that a load reads is not what it must be.
    #[error("{path}: {why}; {remedy}")]
    File {
        /// Its path.
        path: String,
        /// What is wrong.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// This host refused something that the load engine needs.
    #[error("{what}: {why}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// The system's words.
        why: String,
    },
    /// Transactions were still under way when the time to complete them was over.
    #[error(
        "{0} connections did not complete their last transaction within 3 s of the end; look what \
         the server was doing"
    )]
    Unfinished(u64),
    /// Stopped by the caller before it was done.
    #[error("{0} was interrupted; what it began is incomplete")]
    Interrupted(&'static str),
}

impl LoadError {
    /// The server's refusal of a statement.
    pub(crate) fn refused(address: String, statement: String, error: ServerError) -> Self {
        let ServerError { code, message } = error;
        if !DENIED.contains(&code) {
            return Self::Statement {
                address,
                statement,
                code,
                message,
            };
        }
        // Privileges on tables are called as the statements that need them.
        let verb = statement.split_whitespace().next().unwrap_or_default();
        Self::Privilege {
            privilege: verb.to_uppercase(),
            address,
            statement,
            message,
        }
    }
}
