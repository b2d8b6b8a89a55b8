//! Reason that a server could not be reached or asked, in the user's words.

use thiserror::Error;
use weir_model::Address;

use crate::ServerError;

/// Longest part of a statement that an error shows, in characters.
const SHOWN: usize = 60;
/// No privilege on a schema or a table (`ER_DBACCESS_DENIED_ERROR`, `ER_TABLEACCESS_DENIED_ERROR`).
const DENIED: [u16; 2] = [1044, 1142];

/// Remedy for a full file system.
const SPACE: &str = "the disk space of the server's data and its tmpdir";
/// Directory in which a server sorts the rows of a new index.
const SPACE_TO_SORT: &str =
    "the disk space of tmpdir (MySQL: innodb_tmpdir), where indexes are sorted";
/// The server's word that a table is full (`ER_RECORD_FILE_FULL`).
const TABLE_FULL: u16 = 1114;

/// Errors whose words do not say which of the server's variables or which resource makes them, and that.
const VARIABLES: &[(u16, &str)] = &[
    (1021, SPACE),
    (1034, SPACE_TO_SORT),
    (1040, "max_connections"),
    (1067, "sql_mode"),
    (1071, "innodb_default_row_format and innodb_page_size"),
    (1104, "max_join_size and sql_big_selects"),
    (
        1114,
        "the disk space of the server's data (of a MEMORY table: at max_heap_table_size)",
    ),
    (1173, "innodb_force_primary_key"),
    (1184, "init_connect"),
    (1203, "max_user_connections"),
    (1205, "innodb_lock_wait_timeout and lock_wait_timeout"),
    (1206, "innodb_buffer_pool_size"),
    (1317, "max_execution_time (or a KILL QUERY)"),
    (1709, "innodb_default_row_format"),
    (1792, "transaction_read_only (tx_read_only)"),
    (1845, "alter_algorithm"),
    (1846, "alter_algorithm"),
    (1878, SPACE_TO_SORT),
    (1969, "max_statement_time"),
    (3024, "max_execution_time"),
    (3032, "offline_mode"),
    (3161, "disabled_storage_engines"),
    (3185, "default_table_encryption"),
    (4109, "sql_generate_invisible_primary_key"),
];

/// Returns the server's variables or resources to look at.
fn variable_of(code: Option<u16>) -> String {
    let found = VARIABLES.iter().find(|(known, _)| Some(*known) == code);
    found.map_or_else(String::new, |(_, variable)| format!("; look at {variable}"))
}

/// Returns the place to look for the cause of a refused statement. Only tables of the server's own have `#sql` in
/// their names.
fn advice(code: u16, message: &str) -> String {
    if code == TABLE_FULL && message.contains("#sql") {
        return format!("; look at {SPACE}, and at tmp_table_size and max_heap_table_size");
    }
    variable_of(Some(code))
}

/// Reason that a connection could not be made, or a statement not be run.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No server answered, or the login failed.
    #[error("connect to {address}: {why}; check the address, the account and that the server runs{}", variable_of(*code))]
    Connect {
        /// Socket or host and port.
        address: String,
        /// Reason.
        why: String,
        /// The server's error code, if it refused.
        code: Option<u16>,
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
        /// Compression that was asked for.
        compression: &'static str,
    },
    /// The server was silent for too long.
    #[error(
        "{address}: no answer within {limit_s} s: {waiting}; look whether the server is overloaded"
    )]
    Timeout {
        /// Socket or host and port.
        address: String,
        /// The time that there was, seconds.
        limit_s: f64,
        /// Reply that did not come.
        waiting: String,
    },
    /// A file of certificates or keys cannot be used.
    #[error("TLS file {path}: {why}; give the path of a PEM file")]
    TlsFile {
        /// The file.
        path: String,
        /// Problem of the URL.
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
    /// A setting of TLS that no connection can have.
    #[error("{setting} = {value} ({why})")]
    TlsSetting {
        /// The setting.
        setting: &'static str,
        /// Present value.
        value: String,
        /// Permitted values.
        why: String,
    },
    /// The server went away in the middle.
    #[error("connection to {address} was lost ({why}); look into the server's error log")]
    Lost {
        /// Socket or host and port.
        address: String,
        /// Reason.
        why: String,
    },
    /// The server refused a statement, for a reason that trying again does not change.
    #[error("`{statement}` failed on {address}: error {code}: {message}{}", advice(*code, message))]
    Statement {
        /// Socket or host and port.
        address: String,
        /// The start of the statement's text.
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
        /// The start of the statement's text.
        statement: String,
        /// Privilege that is to be granted.
        privilege: String,
        /// The server's error code.
        code: u16,
        /// The server's words, which name the account and the table or schema.
        message: String,
    },
    /// Bytes that are not the MySQL protocol.
    #[error("reply from {address} is malformed ({why}); is this a MySQL server?")]
    Protocol {
        /// Socket or host and port.
        address: String,
        /// Problem of the bytes.
        why: String,
    },
    /// A statement that this command may not send to a server of the user's.
    #[error("`{statement}` is not sent to {address}: {why}")]
    Forbidden {
        /// Socket or host and port.
        address: String,
        /// The start of the statement's text.
        statement: String,
        /// Forbidden effect, and the remedy.
        why: String,
    },
    /// A server that is to be what another one is, or that is not to be written to.
    #[error(
        "nothing is written to {address}: {why}; name the server that it gets its data from, or pass --allow-replica"
    )]
    Follower {
        /// Socket or host and port.
        address: String,
        /// Problem.
        why: String,
    },
    /// A change could not be written to the log first.
    #[error("`{statement}` is not sent to {address}: {path} cannot be written ({why}); {remedy}")]
    Unlogged {
        /// Socket or host and port.
        address: String,
        /// The start of the statement's text.
        statement: String,
        /// The log of changes.
        path: String,
        /// Words of the system.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
}

impl ClientError {
    /// The server's refusal of a statement.
    pub fn refused(address: String, statement: &str, error: ServerError) -> Self {
        let ServerError { code, message, .. } = error;
        // Privileges on tables are called as the statements that need them.
        let verb = statement.split_whitespace().next().unwrap_or_default();
        let privilege = verb.to_uppercase();
        let statement = shorten(statement);
        if DENIED.contains(&code) {
            return Self::Privilege {
                address,
                statement,
                privilege,
                code,
                message,
            };
        }
        Self::Statement {
            address,
            statement,
            code,
            message,
        }
    }

    /// The server's answer to each of these statements, its refusals as errors.
    pub(crate) fn of_each<T>(
        address: &Address,
        statements: &[impl AsRef<str>],
        answers: Vec<Result<T, ServerError>>,
    ) -> Vec<Result<T, Self>> {
        let each = statements.iter().zip(answers);
        each.map(|(sql, answer)| {
            answer.map_err(|error| Self::refused(address.to_string(), sql.as_ref(), error))
        })
        .collect()
    }

    /// The server's error code, if the server refused a login or a statement.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Statement { code, .. } | Self::Privilege { code, .. } => Some(*code),
            Self::Connect { code, .. } => *code,
            _ => None,
        }
    }

    /// Returns true if the connection is of no use any more.
    pub fn is_lost(&self) -> bool {
        matches!(
            self,
            Self::Lost { .. } | Self::Timeout { .. } | Self::Connect { .. } | Self::Protocol { .. }
        )
    }

    /// Returns the words of the server or the system, without address and statement: for messages that name both.
    pub fn words(&self) -> String {
        match self {
            Self::Statement { code, message, .. } | Self::Privilege { code, message, .. } => {
                format!("{message}, error {code}")
            }
            Self::Connect { why, .. } | Self::Lost { why, .. } => why.clone(),
            Self::Timeout {
                limit_s, waiting, ..
            } => format!("{waiting} within {limit_s} s"),
            other => other.to_string(),
        }
    }
}

/// The start of a statement, for messages.
pub fn shorten(sql: &str) -> String {
    match sql.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &sql[..end]),
        None => sql.to_owned(),
    }
}
