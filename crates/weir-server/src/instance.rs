//! Instances: private servers with a name, which stay up beyond the command that started them.
//!
//! Each has a folder of mode 0700 with its settings (`instance.json`), its data, and its run directory
//! with option file, socket and error log. `client.cnf` in it (mode 0600) lets the user's own client
//! log in. A running instance's process stands in `process.json` with its start time, so that no
//! other process with the same id is taken for it.

mod change;
mod folder;
mod record;
mod replica;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_model::{Address, Bytes, Endpoint, nearest, option_spelling, set_options, variables};
use weir_process::{EntryKind, PathError, ProcessIdentity, SweptItem, create_private_directory};

use crate::data_directory::{is_free, read_settings};
use crate::{
    Backup, Life, PrivateServer, ServerBinary, ServerError, SnapshotKey, Snapshots, StartOptions,
    copy_directory, forget_identity, initialise, space_occupied,
};

use folder::Folder;
pub use folder::{grant_loopback_login, let_in_load};
pub use record::{Instance, InstanceState};

/// Crash recovery of a large redo log takes minutes.
const START_LIMIT: Duration = Duration::from_mins(10);
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// All instances of this user.
#[derive(Debug, Clone)]
pub struct Instances {
    directory: PathBuf,
}

/// Origin of the data of a new instance.
#[derive(Debug)]
pub enum DataSource<'a> {
    /// A new data directory, with the variables that shape its files.
    Empty,
    /// A snapshot.
    Snapshot(&'a Snapshots, &'a SnapshotKey),
    /// Another instance, which is stopped.
    Instance(&'a str),
    /// A physical backup, which is copied.
    Backup(&'a Backup),
}

/// An instance as a reader sees it.
#[derive(Debug, Clone)]
pub struct InstanceInfo {
    /// Record of the instance.
    pub instance: Instance,
    /// State of the instance.
    pub state: InstanceState,
    /// Socket on which it listens when it runs.
    pub socket: PathBuf,
    /// The option file for clients.
    pub client_options: PathBuf,
    /// Folder of the instance.
    pub folder: PathBuf,
    /// Folder on whose storage its data lie; the same without one of the user's choice.
    pub storage: PathBuf,
    /// Bytes that its data occupy.
    pub size: Bytes,
}

impl Instances {
    /// The user's: `$XDG_STATE_HOME/weir/instances`, else `~/.local/state/weir/instances` (XDG Base
    /// Directory Specification).
    ///
    /// # Errors
    ///
    /// As [`Self::at`].
    pub fn open() -> Result<Self, ServerError> {
        Self::at(&crate::state_directory().join("instances"))
    }

    /// Instances in a directory of the caller's choice.
    ///
    /// # Errors
    ///
    /// A directory that cannot be made.
    pub fn at(directory: &Path) -> Result<Self, ServerError> {
        create_private_directory(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    /// Makes the instance and starts it. On failure nothing of it stays.
    ///
    /// # Errors
    ///
    /// A name that is taken, a source that cannot be copied, or a server that does not start.
    pub fn create(
        &self,
        binary: &ServerBinary,
        instance: &Instance,
        source: &DataSource<'_>,
    ) -> Result<InstanceInfo, ServerError> {
        record::check_name(&instance.name)?;
        let path = self.directory.join(&instance.name);
        let folder = Folder::new(path, instance.storage.clone());
        if !is_free(folder.path()) {
            return Err(ServerError::InstanceExists {
                name: instance.name.clone(),
            });
        }
        if !is_free(folder.storage()) {
            return Err(ServerError::InstanceStorage {
                path: folder.storage().to_owned(),
            });
        }
        let made = self.make(binary, instance, source, &folder);
        if made.is_err() {
            let _ = fs::remove_dir_all(folder.storage());
            let _ = fs::remove_dir_all(folder.path());
        }
        made
    }

    fn make(
        &self,
        binary: &ServerBinary,
        instance: &Instance,
        source: &DataSource<'_>,
        folder: &Folder,
    ) -> Result<InstanceInfo, ServerError> {
        folder.make()?;
        let _lock = folder.lock()?;
        // Half of it is of no use to others.
        instance.for_this_process().write(folder.path())?;
        let mut instance = instance.clone();
        let data = folder.data();
        match source {
            DataSource::Empty => initialise(binary, &data, &shaping(&instance.variables))?,
            DataSource::Snapshot(snapshots, key) => {
                snapshots.restore(key, &data)?;
                // Options of the clone override inherited ones.
                let mut inherited = read_settings(&data);
                set_options(&mut inherited, std::mem::take(&mut instance.variables));
                instance.variables = inherited;
            }
            DataSource::Instance(name) => {
                let from = self.folder(name).data();
                copy_directory(&from, &data)?;
                forget_identity(&data)?;
            }
            DataSource::Backup(backup) => {
                let mut variables = backup.variables();
                set_options(&mut variables, std::mem::take(&mut instance.variables));
                instance.variables = variables;
                backup.adopt(binary, &data, &instance.start_variables(binary))?;
            }
        }
        launch(binary, &instance, folder)?;
        instance.write(folder.path())?;
        self.info(&instance.name)
    }

    /// Starts an instance that is stopped.
    ///
    /// # Errors
    ///
    /// No instance of this name, or a server that does not start.
    pub fn start(&self, name: &str) -> Result<InstanceInfo, ServerError> {
        let instance = self.instance(name)?;
        let folder = self.folder(name);
        let _lock = folder.lock()?;
        if let Some(process) = folder.process() {
            return Err(ServerError::InstanceRuns {
                name: name.to_owned(),
                pid: process.pid,
            });
        }
        launch(&instance.binary()?, &instance, &folder)?;
        self.info(name)
    }

    /// Shuts an instance down cleanly; one that does not run stays as it is. With `now` it is killed,
    /// and recovers at its next start.
    ///
    /// # Errors
    ///
    /// No instance of this name, or a server that had to be killed.
    pub fn stop(&self, name: &str, now: bool) -> Result<(), ServerError> {
        self.instance(name)?;
        let folder = self.folder(name);
        let _lock = folder.lock()?;
        folder.stop(now)
    }

    /// Removes a stopped instance with its data.
    ///
    /// # Errors
    ///
    /// No instance of this name, or one that runs.
    pub fn remove(&self, name: &str) -> Result<(), ServerError> {
        self.instance(name)?;
        let folder = self.folder(name);
        if let Some(process) = folder.process() {
            return Err(ServerError::InstanceRuns {
                name: name.to_owned(),
                pid: process.pid,
            });
        }
        Ok(folder.remove()?)
    }

    /// Gives an instance to another process, or to the user.
    ///
    /// # Errors
    ///
    /// No instance of this name.
    pub fn hand_over(&self, name: &str, owner: Option<ProcessIdentity>) -> Result<(), ServerError> {
        let mut instance = self.instance(name)?;
        instance.made_for = owner;
        Ok(instance.write(self.folder(name).path())?)
    }

    /// Kills and removes the instances that were made for a process which is gone; returns what went.
    ///
    /// # Errors
    ///
    /// A server that does not end, or files that cannot be removed.
    pub fn sweep(&self) -> Result<Vec<SweptItem>, ServerError> {
        let mut swept = Vec::new();
        for name in self.names()? {
            let folder = self.folder(&name);
            let is_left = || {
                let maker = Instance::read(folder.path())?.made_for?;
                Some(!maker.is_alive())
            };
            let (Some(true), Ok(_lock)) = (is_left(), folder.lock()) else {
                continue;
            };
            let process = folder.process();
            swept.extend(process.map(|found| SweptItem::Process(EntryKind::Server, found.pid)));
            folder.stop(true)?;
            folder.remove()?;
            swept.push(SweptItem::Directory(folder.path().to_owned()));
        }
        Ok(swept)
    }

    /// All instances, by name.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read.
    pub fn list(&self) -> Result<Vec<InstanceInfo>, ServerError> {
        self.names()?.iter().map(|name| self.info(name)).collect()
    }

    /// The instance called `name`.
    ///
    /// # Errors
    ///
    /// No instance of this name.
    pub fn info(&self, name: &str) -> Result<InstanceInfo, ServerError> {
        let instance = self.instance(name)?;
        let folder = self.folder(name);
        Ok(InstanceInfo {
            instance,
            state: match folder.process() {
                Some(process) => InstanceState::Running { pid: process.pid },
                None => InstanceState::Stopped,
            },
            socket: folder.socket()?,
            client_options: folder.client_options(),
            folder: folder.path().to_owned(),
            storage: folder.storage().to_owned(),
            size: space_occupied(&folder.data()).unwrap_or_default(),
        })
    }

    /// Returns the endpoint of the instance called `name`.
    ///
    /// # Errors
    ///
    /// No instance of this name, or one without its password.
    pub fn endpoint(&self, name: &str) -> Result<Endpoint, ServerError> {
        let instance = self.instance(name)?;
        let folder = self.folder(name);
        let mut endpoint = folder.endpoint(&instance.binary()?)?;
        endpoint.address = Address::Socket(folder.socket()?);
        Ok(endpoint)
    }

    /// The settings of the instance called `name`.
    ///
    /// # Errors
    ///
    /// No instance of this name.
    pub fn instance(&self, name: &str) -> Result<Instance, ServerError> {
        match Instance::read(self.folder(name).path()) {
            Some(instance) => Ok(instance),
            None => Err(ServerError::NoInstance {
                name: name.to_owned(),
                suggestion: nearest(name, self.names()?.iter().map(String::as_str))
                    .map(str::to_owned),
            }),
        }
    }

    fn names(&self) -> Result<Vec<String>, ServerError> {
        let entries = fs::read_dir(&self.directory);
        let entries = entries.map_err(PathError::on("read", &self.directory))?;
        let mut names: Vec<_> = entries
            .flatten()
            .filter(|entry| Instance::read(&entry.path()).is_some())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        Ok(names)
    }

    fn folder(&self, name: &str) -> Folder {
        let path = self.directory.join(name);
        let storage = Instance::read(&path).and_then(|instance| instance.storage);
        Folder::new(path, storage)
    }
}

/// Starts the server of an instance and lets it go on without this process.
fn launch(binary: &ServerBinary, instance: &Instance, folder: &Folder) -> Result<(), ServerError> {
    let mut options = StartOptions {
        socket: Some(folder.socket()?),
        life: Life::Standing,
        timeout: START_LIMIT,
        ..StartOptions::new(folder.data(), folder.run())
    };
    options.variables = instance.start_variables(binary);
    options.limits = instance.limits.clone();
    if let Some(port) = instance.port {
        check_port(port)?;
    }
    let server = PrivateServer::start(binary, &options)?;
    let endpoint = server.endpoint();
    if instance.port.is_some() {
        folder::grant_loopback_login(&endpoint)?;
    }
    folder.write_client_options(&endpoint, instance.port)?;
    // Before it is let go, so that it is never without a record.
    if let Some(process) = ProcessIdentity::for_pid(server.pid()) {
        folder.write_process(process)?;
    }
    server.leave()
}

/// Of `variables`, those that shape the files of a new data directory.
fn shaping(variables: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    const SHAPING: [&str; 3] = [
        variables::PAGE_SIZE,
        "innodb_data_file_path",
        "lower_case_table_names",
    ];
    let shapes = |(name, _): &(&String, &String)| SHAPING.contains(&option_spelling(name).as_str());
    variables
        .iter()
        .filter(shapes)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A port of the loopback that no process listens on: asked for before a server fails on it.
fn check_port(port: u16) -> Result<(), ServerError> {
    match free_port_of(LOOPBACK, port) {
        Ok(_) => Ok(()),
        Err(source) => Err(ServerError::Port { port, source }),
    }
}

/// The variables with which a server listens on `port` of the loopback, and nowhere else.
pub fn loopback_variables(port: u16) -> [(String, String); 3] {
    listening_variables(LOOPBACK, port)
}

/// The variables with which a server listens on `port` of `address`, and nowhere else.
pub fn listening_variables(address: IpAddr, port: u16) -> [(String, String); 3] {
    [
        ("skip_networking", "OFF".to_owned()),
        ("bind_address", address.to_string()),
        ("port", port.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// `port` of `address`, if no process listens on it, or one that is free now for 0.
///
/// # Errors
///
/// A port that is taken, or an address that is none of this host's.
pub fn free_port_of(address: IpAddr, port: u16) -> io::Result<u16> {
    let listener = TcpListener::bind((address, port))?;
    Ok(listener.local_addr()?.port())
}

/// A port of the loopback that is free now.
///
/// # Errors
///
/// A loopback that gives no port.
pub fn free_port() -> Result<u16, ServerError> {
    free_port_of(LOOPBACK, 0).map_err(|source| ServerError::Port { port: 0, source })
}
