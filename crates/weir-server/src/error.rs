//! Errors of this crate: each one line, with the remedy.

use std::path::PathBuf;

use thiserror::Error;
use weir_model::{Address, Bytes, Flavor};
use weir_mysql::ClientError;
use weir_process::{MAKE_ROOM, PathError, ProcessError};
use weir_variables::SettingError;

/// Errors of a server, its data or a snapshot.
#[derive(Debug, Error)]
pub enum ServerError {
    /// No binary of the flavour.
    #[error(
        "no {flavor} server found (looked in PATH, the usual places and `{prefix}`); run \
         scripts/setup.sh to install one, or name one's path"
    )]
    NotFound {
        /// The flavour that was asked for.
        flavor: Flavor,
        /// Directory into which `scripts/install-mysql.sh` unpacks servers.
        prefix: PathBuf,
    },
    /// A path that is not a server.
    #[error(
        "cannot use `{path}` as a server ({why}); name mysql, mariadb, or the path of a mysqld"
    )]
    NotAServer {
        /// The path.
        path: PathBuf,
        /// Failure of the program.
        why: String,
    },
    /// A file or directory could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Something is there already.
    #[error("cannot {action} `{path}` (it is not empty); name an empty or new directory")]
    NotEmpty {
        /// Thing that was to be put there.
        action: &'static str,
        /// The directory.
        path: PathBuf,
    },
    /// The server could not make its system tables.
    #[error("cannot initialise `{path}`: {words}")]
    Initialise {
        /// The data directory.
        path: PathBuf,
        /// The server's own words.
        words: String,
    },
    /// Data of another version that a server cannot take over.
    #[error("cannot bring data of {from} to {to} ({why}); {remedy}")]
    Upgrade {
        /// Flavor and version that wrote the data.
        from: String,
        /// Flavor and version that shall read them.
        to: String,
        /// Reason.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// A data directory that Weir did not make.
    #[error(
        "cannot use the data directory `{path}` ({why}); initialise a new one or restore a snapshot"
    )]
    ForeignData {
        /// The data directory.
        path: PathBuf,
        /// Problem of the file.
        why: String,
    },
    /// A backup that no server can run on a copy of.
    #[error("cannot use the backup `{path}` ({why}); {remedy}")]
    Backup {
        /// Folder of the backup.
        path: PathBuf,
        /// Problem of the backup.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// A dump that cannot be loaded.
    #[error("cannot load `{path}`, line {line}: {why}; {remedy}")]
    Dump {
        /// The file.
        path: PathBuf,
        /// The line on which the statement begins.
        line: u64,
        /// Problem.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// Another server runs on the same data.
    #[error("the data directory `{path}` is in use by process {pid}; stop that server first")]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Process that holds it.
        pid: u32,
    },
    /// Another server listens where this one would.
    #[error("the socket `{path}` is in use by another server; choose another run directory")]
    SocketInUse {
        /// The socket.
        path: PathBuf,
    },
    /// The server ended before it answered.
    #[error("the {flavor} server did not start: {words}")]
    Start {
        /// Flavor of the server.
        flavor: Flavor,
        /// The server's own words.
        words: String,
    },
    /// The server did not answer in time.
    #[error(
        "the {flavor} server did not answer within {seconds} s ({words}); allow more time if it \
         recovers a large redo log"
    )]
    StartTimeout {
        /// Flavor of the server.
        flavor: Flavor,
        /// Time waited, seconds.
        seconds: u64,
        /// The last that it wrote to its log.
        words: String,
    },
    /// The caller no longer wanted the server.
    #[error("the start of the server was interrupted")]
    Interrupted,
    /// The server did not shut down in time and was killed.
    #[error(
        "the server (process {pid}) did not stop within {seconds} s and was killed; its data \
         directory needs crash recovery"
    )]
    StopTimeout {
        /// Process id of the server.
        pid: u32,
        /// Time waited, seconds.
        seconds: u64,
    },
    /// No server answers, or it refuses the login.
    #[error(
        "cannot log in to `{address}` as `{user}` ({why}); check address, account and password"
    )]
    Connect {
        /// Address of the server.
        address: Address,
        /// The account.
        user: String,
        /// Words of the server or the system.
        why: String,
    },
    /// No such instance.
    #[error(
        "no private server `{name}`; {}",
        nearest_or(.suggestion.as_deref(), "`weir server list` shows them")
    )]
    NoInstance {
        /// Name that was asked for.
        name: String,
        /// The nearest that there is.
        suggestion: Option<String>,
    },
    /// The name is taken.
    #[error(
        "there is a private server `{name}` already; choose another name, or start it with its name alone"
    )]
    InstanceExists {
        /// The name.
        name: String,
    },
    /// A folder of data that is not empty.
    #[error(
        "the folder {path} for the server's data is not empty; choose another name or another `--work`"
    )]
    InstanceStorage {
        /// The folder.
        path: PathBuf,
    },
    /// Not a name.
    #[error(
        "`{name}` is no name for a private server (letters, digits, - and _, at most {length_max}); \
         choose another"
    )]
    InstanceName {
        /// Name that was given.
        name: String,
        /// Longest name.
        length_max: usize,
    },
    /// It runs, and should not.
    #[error(
        "the private server `{name}` runs already (process {pid}); `weir server down {name}` stops it"
    )]
    InstanceRuns {
        /// Name of the instance.
        name: String,
        /// Process of the instance.
        pid: u32,
    },
    /// Another command changes the instance.
    #[error("another weir is at work on `{path}`; try again when it is done")]
    InstanceBusy {
        /// The instance's folder.
        path: PathBuf,
    },
    /// A port that cannot be listened on.
    #[error("cannot listen on port {port} of 127.0.0.1 ({source}); choose another")]
    Port {
        /// The port.
        port: u16,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A server that takes long to shut down.
    #[error(
        "the server (process {pid}) is still shutting down after {seconds} s; wait, or end it with \
         --now, after which it recovers at its next start"
    )]
    StillStopping {
        /// Process of the instance.
        pid: u32,
        /// Time waited, seconds.
        seconds: u64,
    },
    /// The name of a snapshot is taken.
    #[error("there is a snapshot `{name}` already; remove it, or choose another name with --as")]
    SnapshotExists {
        /// Name of the variable.
        name: String,
    },
    /// A buffer pool of another size than was asked for.
    #[error(
        "the buffer pool is {actual} instead of {wanted} ({why}); ask for less, or restart the server"
    )]
    PoolSize {
        /// Size that was asked for.
        wanted: Bytes,
        /// Size that was read back.
        actual: Bytes,
        /// Reason, as far as the server names it.
        why: String,
    },
    /// A buffer pool that was not brought to its state.
    #[error(
        "the buffer pool was not {what} within {seconds} s (the server says `{told}`); look at its error log"
    )]
    PoolWait {
        /// Resized, loaded or dumped.
        what: &'static str,
        /// Time waited at most, seconds.
        seconds: u64,
        /// The server's status.
        told: String,
    },
    /// A URL whose scheme is not the server's flavour.
    #[error("`{url}` is a {flavor} server; write {flavor}:// instead")]
    OtherFlavor {
        /// As the user named it.
        url: String,
        /// Flavor of the server.
        flavor: Flavor,
    },
    /// A server of the user's that was not to be changed.
    #[error(
        "`{url}` is not Weir's and is not changed without --allow-config ({variables}); allow it, or \
         leave these settings out"
    )]
    ConfigNotAllowed {
        /// As the user named it.
        url: String,
        /// Variables that would be set.
        variables: String,
    },
    /// A setting that a running server does not change.
    #[error(
        "`{name}` of `{url}` needs a restart, which Weir leaves to its owner; set it in the server's option \
         file, restart it, and leave it out here"
    )]
    NeedsRestart {
        /// As the user named the server.
        url: String,
        /// The variable.
        name: String,
    },
    /// A server of the user's that was left changed.
    #[error("cannot put a setting of `{url}` back ({why}); do it by hand: {statement}")]
    PutBack {
        /// As the user named it.
        url: String,
        /// Statement that would set them.
        statement: String,
        /// Reason that it was not done.
        why: String,
    },
    /// A setting of the doublewrite buffer that would not be safe.
    #[error("innodb_doublewrite = {wanted} is refused: {why}; {remedy}")]
    Doublewrite {
        /// `ON` or `OFF`.
        wanted: &'static str,
        /// Reason.
        why: String,
        /// Remedy.
        remedy: String,
    },
    /// A server that cannot take the place of another.
    #[error("cannot make `{name}` a primary ({why}); {remedy}")]
    NotPromoted {
        /// Name of the instance.
        name: String,
        /// Reason.
        why: String,
        /// Remedy.
        remedy: String,
    },
    /// A replica that is not where it should be.
    #[error("the replica {what} ({words}); look at its error log")]
    Replication {
        /// Thing that it does not do.
        what: &'static str,
        /// The server's own words.
        words: String,
    },
    /// A statement or a connection failed.
    #[error("cannot {action}: {}", .source.words())]
    Query {
        /// Action that was tried.
        action: &'static str,
        /// Error of the server or the connection.
        source: Box<ClientError>,
    },
    /// A variable that the server does not have.
    #[error(
        "the server has no variable `{name}`; {}",
        nearest_or(.suggestion.as_deref(), "`SHOW GLOBAL VARIABLES` lists those that it has")
    )]
    UnknownVariable {
        /// Name that was asked for.
        name: String,
        /// The nearest that it has.
        suggestion: Option<String>,
    },
    /// A value that this flavour or version does not take.
    #[error("`{name}` = `{value}` ({why})")]
    Value {
        /// The variable.
        name: String,
        /// Value of the variable.
        value: String,
        /// Reason and remedy.
        why: String,
    },
    /// The file system is too small.
    #[error("not enough space in `{path}`: {needed} needed, {available} free{MAKE_ROOM}")]
    Space {
        /// Path of the file.
        path: PathBuf,
        /// Bytes that would be written.
        needed: Bytes,
        /// Bytes that a user may still write.
        available: Bytes,
    },
    /// The file system is too small for all copies that a command makes.
    #[error(
        "not enough space for the copies of the data in `{path}` and on the same disk: {needed} needed, {available} free; \
         choose another disk, for the runs by --work, for snapshots by XDG_CACHE_HOME"
    )]
    SpaceOfCopies {
        /// Folder of one of them.
        path: PathBuf,
        /// Bytes that would be written.
        needed: Bytes,
        /// Bytes that a user may still write.
        available: Bytes,
    },
    /// No such snapshot.
    #[error(
        "no snapshot `{name}`; {}",
        nearest_or(.suggestion.as_deref(), "`weir server snapshot list` shows them")
    )]
    NoSnapshot {
        /// Name that was asked for.
        name: String,
        /// The nearest that there is.
        suggestion: Option<String>,
    },
    /// A snapshot that is being read.
    #[error("the snapshot `{name}` is in use by another weir; try again when it is done")]
    SnapshotInUse {
        /// Name of the variable.
        name: String,
    },
    /// Not a size.
    #[error("`{variable}` is `{value}` ({why}); write a size such as 50G")]
    Limit {
        /// The environment's variable.
        variable: &'static str,
        /// Value of the variable.
        value: String,
        /// Reason that it is not valid.
        why: String,
    },
    /// A record or a directory of Weir's own.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl From<SettingError> for ServerError {
    fn from(error: SettingError) -> Self {
        let SettingError { name, value, why } = error;
        Self::Value { name, value, why }
    }
}

impl ServerError {
    /// For `map_err`: `action` failed on a connection.
    pub(crate) fn query(action: &'static str) -> impl FnOnce(ClientError) -> Self {
        move |source| Self::Query {
            action,
            source: Box::new(source),
        }
    }
}

/// The nearest name, or else where the names are.
fn nearest_or(suggestion: Option<&str>, otherwise: &str) -> String {
    suggestion.map_or_else(
        || otherwise.to_owned(),
        |name| format!("did you mean `{name}`?"),
    )
}
