//! The folder of an instance: its parts, its process and its lock.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Address, Endpoint, Secret, Tls};
use weir_mysql::{Gate, text_literal};
use weir_process::{
    PathError, ProcessIdentity, Signal, create_private_directory, create_users_folder,
    runtime_directory, write_private,
};

use crate::data_directory::{DATABASE, DataNote, USER, check_not_in_use};
use crate::private_server::SOCKET_PATH_BYTES_MAX;
use crate::{ServerBinary, ServerError, Session};

/// A clean shutdown writes what is dirty.
const STOP_LIMIT: Duration = Duration::from_mins(10);

/// The folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Folder of the data; the same, or one on another storage.
    storage: PathBuf,
}

impl Folder {
    pub(super) fn new(path: PathBuf, storage: Option<PathBuf>) -> Self {
        let storage = storage.unwrap_or_else(|| path.clone());
        Self { path, storage }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn storage(&self) -> &Path {
        &self.storage
    }

    pub(super) fn data(&self) -> PathBuf {
        self.storage.join("data")
    }

    /// Makes both folders, and the one of the user's choice around the data.
    pub(super) fn make(&self) -> Result<(), ServerError> {
        create_private_directory(&self.path)?;
        if let Some(work) = self.storage.parent().filter(|_| self.storage != self.path) {
            create_users_folder(work)?;
        }
        Ok(create_private_directory(&self.storage)?)
    }

    /// Removes both with all that is in them.
    pub(super) fn remove(&self) -> Result<(), PathError> {
        fs::remove_dir_all(&self.storage).map_err(PathError::on("remove", &self.storage))?;
        if self.storage != self.path {
            fs::remove_dir_all(&self.path).map_err(PathError::on("remove", &self.path))?;
        }
        Ok(())
    }

    pub(super) fn run(&self) -> PathBuf {
        self.path.join("run")
    }

    pub(super) fn client_options(&self) -> PathBuf {
        self.path.join("client.cnf")
    }

    /// In the run directory if its path is short enough, else among the user's sockets.
    pub(super) fn socket(&self) -> Result<PathBuf, ServerError> {
        let near = self.run().join("mysql.sock");
        if near.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
            return Ok(near);
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(runtime_directory()?.join(format!("instance-{name}.sock")))
    }

    /// One command at a time changes an instance.
    pub(super) fn lock(&self) -> Result<File, ServerError> {
        let path = self.path.join(".lock");
        let file = File::create(&path).map_err(PathError::on("create", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(_) => Err(ServerError::InstanceBusy {
                path: self.path.clone(),
            }),
        }
    }

    /// The process, if it runs.
    pub(super) fn process(&self) -> Option<ProcessIdentity> {
        let text = fs::read_to_string(self.path.join("process.json")).ok()?;
        let process: ProcessIdentity = serde_json::from_str(&text).ok()?;
        process.is_alive().then_some(process)
    }

    pub(super) fn write_process(&self, process: ProcessIdentity) -> Result<(), ServerError> {
        let text = serde_json::to_string(&process).expect("invariant: an identity is plain data");
        Ok(write_private(&self.path.join("process.json"), &text)?)
    }

    /// Ends the process, if it runs, and waits for its end.
    pub(super) fn stop(&self, now: bool) -> Result<(), ServerError> {
        let Some(process) = self.process() else {
            return Ok(());
        };
        process.signal(if now { Signal::KILL } else { Signal::TERM })?;
        let deadline = Instant::now() + STOP_LIMIT;
        // A killed process may be gone while its threads still hold the data.
        while process.is_alive() || check_not_in_use(&self.data()).is_err() {
            if Instant::now() >= deadline {
                return Err(ServerError::StillStopping {
                    pid: process.pid,
                    seconds: STOP_LIMIT.as_secs(),
                });
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = fs::remove_file(self.path.join("process.json"));
        if now {
            let _ = fs::remove_file(self.socket()?);
        }
        Ok(())
    }

    /// Returns the endpoint of the socket.
    pub(super) fn endpoint(&self, binary: &ServerBinary) -> Result<Endpoint, ServerError> {
        let note = DataNote::read_for(binary, &self.data())?;
        Ok(Endpoint {
            address: Address::Socket(self.socket()?),
            user: USER.to_owned(),
            password: note.password,
            database: DATABASE.to_owned(),
            tls: Tls::default(),
        })
    }

    /// An option file for the user's own client: `mysql --defaults-file=...`.
    pub(super) fn write_client_options(
        &self,
        endpoint: &Endpoint,
        port: Option<u16>,
    ) -> Result<(), ServerError> {
        let Address::Socket(socket) = &endpoint.address else {
            return Ok(());
        };
        let by_tcp = port.map_or_else(String::new, |port| {
            format!("# Or by TCP: host = 127.0.0.1, port = {port}, without the socket.\n")
        });
        let text = format!(
            "[client]\nuser = {}\npassword = {}\nsocket = {}\n{by_tcp}",
            endpoint.user,
            endpoint.password.reveal(),
            socket.display()
        );
        Ok(write_private(&self.client_options(), &text)?)
    }
}

/// The account that may log in from 127.0.0.1, with the password of the one for the socket.
///
/// # Errors
///
/// A server that refuses or is gone.
pub fn grant_loopback_login(endpoint: &Endpoint) -> Result<(), ServerError> {
    let action = "make the account for the loopback";
    let mut session = Session::open(endpoint, &Gate::own())?;
    // What belongs to this server alone is not told to its replicas: they have a copy or need none.
    session.run(action, "SET SESSION sql_log_bin = 0")?;
    let account = format!("'{USER}'@'127.0.0.1'");
    let password = endpoint.password.reveal();
    let statements = [
        format!("CREATE USER IF NOT EXISTS {account} IDENTIFIED BY '{password}'"),
        format!("GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION"),
    ];
    statements
        .iter()
        .try_for_each(|statement| session.run(action, statement))
}

/// The account `user` for a load from other hosts, which must encrypt: all of the schema [`DATABASE`], nothing else.
///
/// # Errors
///
/// A server that refuses or is gone.
pub fn let_in_load(endpoint: &Endpoint, user: &str, password: &Secret) -> Result<(), ServerError> {
    let action = "make the account of the load";
    let mut session = Session::open(endpoint, &Gate::own())?;
    let (account, password) = (format!("'{user}'@'%'"), text_literal(password.reveal()));
    let statements = [
        // Neither log may have the password.
        "SET SESSION sql_log_bin = 0".to_owned(),
        "SET SESSION sql_log_off = 1".to_owned(),
        format!("CREATE USER {account} IDENTIFIED BY {password} REQUIRE SSL"),
        format!("GRANT ALL PRIVILEGES ON {DATABASE}.* TO {account}"),
    ];
    statements
        .iter()
        .try_for_each(|statement| session.run(action, statement))
}
