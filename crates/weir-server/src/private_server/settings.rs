//! Directories, socket and option file of a private server.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_model::{Flavor, Limits};
use weir_process::{WorkDirectory, runtime_directory};

use crate::option_file_writer::OptionFileWriter;
use crate::{ServerBinary, ServerError};
use weir_process::PathError;

/// The longest path of a Unix socket, without the final zero byte (unix(7)).
pub(crate) const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Lifetime of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Life {
    /// As long as the thread that started it, at most.
    #[default]
    Tied,
    /// Until it is stopped, once [`crate::PrivateServer::leave`] was called.
    Standing,
}

/// Options of a server's start.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// The data: made by [`crate::initialise`] or restored from a snapshot.
    pub data_dir: PathBuf,
    /// A directory for the option file, the error log, the process id and, if its path is short
    /// enough, the socket. Made if need be, with mode 0700.
    pub run_dir: PathBuf,
    /// Socket of the server; `None`: in `run_dir`, or in a short directory of its own.
    pub socket: Option<PathBuf>,
    /// Directory of temporary files: sorts, builds of indexes, caches of the binary log; made if need be. It must not
    /// be in the data directory. `None`: in `run_dir`.
    pub temporary_dir: Option<PathBuf>,
    /// Lifetime of the server.
    pub life: Life,
    /// Limits of the server on the machine.
    pub limits: Limits,
    /// True if its data lie on an emulated drive that flushes slowly: flushes do not hold up writes to the same file
    /// ([`weir_process::FlushCalls`]). For servers of [`Life::Tied`]: who makes the flushes must live as long.
    pub flushes_beside_writes: bool,
    /// Variables, in any flavour's names that [`crate::translate`] knows.
    pub variables: BTreeMap<String, String>,
    /// Time limit for the server to answer: crash recovery of a large redo log takes minutes.
    pub timeout: Duration,
}

impl StartOptions {
    /// The server's defaults, and two minutes to answer.
    pub fn new(data_dir: impl Into<PathBuf>, run_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            run_dir: run_dir.into(),
            socket: None,
            temporary_dir: None,
            life: Life::Tied,
            limits: Limits::default(),
            flushes_beside_writes: false,
            variables: BTreeMap::new(),
            timeout: Duration::from_mins(2),
        }
    }
}

/// `path` without links and relative parts: the server has another working directory.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, PathError> {
    path.canonicalize().map_err(PathError::on("find", path))
}

/// A socket in `run_dir`, or in a short directory of its own if that path would be too long.
pub(super) fn socket_path(run_dir: &Path) -> Result<(PathBuf, Option<WorkDirectory>), ServerError> {
    let socket = run_dir.join("mysql.sock");
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        free_socket(&socket)?;
        return Ok((socket, None));
    }
    let short = WorkDirectory::create(&runtime_directory()?, "socket")?;
    Ok((short.path().join("mysql.sock"), Some(short)))
}

/// Removes a socket that no process listens on any more; fails if one does. `MariaDB` would take
/// it over without a word, and its first owner could no longer be reached.
pub(super) fn free_socket(socket: &Path) -> Result<(), ServerError> {
    if UnixStream::connect(socket).is_ok() {
        return Err(ServerError::SocketInUse {
            path: socket.to_owned(),
        });
    }
    let _ = fs::remove_file(socket);
    Ok(())
}

/// The server's whole configuration: what makes it private, then what the caller wants.
pub(super) fn option_text(
    binary: &ServerBinary,
    data_dir: &Path,
    run_dir: &Path,
    temporary: &Path,
    socket: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<String, ServerError> {
    let mut file = OptionFileWriter::new();
    file.set_path("datadir", data_dir)?;
    file.set_path("socket", socket)?;
    file.set_path("pid_file", &run_dir.join("mysqld.pid"))?;
    file.set_path("log_error", &run_dir.join("error.log"))?;
    // Of its own: a server that starts removes the temporary tables of others from a shared one.
    file.set_path("tmpdir", temporary)?;
    file.flag("skip-networking");
    file.flag("skip-name-resolve");
    if binary.flavor == Flavor::Mysql {
        // The X plugin would listen on a port; `loose` because a build may come without it.
        file.set("loose_mysqlx", "OFF")?;
    }
    if rustix::process::geteuid().is_root() {
        // A server refuses to run as root unless it is told to.
        file.set("user", "root")?;
    }
    file.set_all(variables)?;
    Ok(file.text().to_owned())
}
