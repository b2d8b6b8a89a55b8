//! A physical backup as the data of a new instance: what mariadb-backup or xtrabackup have prepared, or the copied data
//! directory of a server that was stopped.
//!
//! The backup is copied and never changed. The copy loses what would make it act as its original: identity, persisted
//! settings, the files of a replica. It gets an account of Weir's by an init file, at a start of its own.

mod origin;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_process::{PathError, WorkDirectory, runtime_directory, write_private};

use crate::data_directory::{DATABASE, DataNote, USER, check_not_in_use};
use crate::{
    PrivateServer, ServerBinary, ServerError, StartOptions, copy_directory, forget_identity,
};

pub use origin::BackupOrigin;

/// Recovery of a data directory that was copied after a crash takes minutes.
const START_LIMIT: Duration = Duration::from_mins(10);
/// Time limit for the first start to shut down.
const STOP_LIMIT: Duration = Duration::from_mins(5);
/// Files that make a copy act as its original.
const OF_THE_ORIGINAL: [&str; 4] = [
    "mysqld-auto.cnf",
    "master.info",
    "relay-log.info",
    "multi-master.info",
];

/// A physical backup.
#[derive(Debug, Clone)]
pub struct Backup {
    directory: PathBuf,
    origin: BackupOrigin,
}

impl Backup {
    /// Looks at a folder.
    ///
    /// # Errors
    ///
    /// A folder that is no data directory, that is not prepared, or that a server uses.
    pub fn open(directory: &Path) -> Result<Self, ServerError> {
        let origin = BackupOrigin::read(directory)?;
        check_not_in_use(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
            origin,
        })
    }

    /// Returns the server and folder that it was made from.
    pub fn origin(&self) -> &BackupOrigin {
        &self.origin
    }

    /// Returns the variables that a server needs to run on a copy: the form of the files, and no activity of its own.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let mut variables = self.origin.variables.clone();
        for (name, value) in [("event_scheduler", "OFF"), ("skip_replica_start", "ON")] {
            variables.insert(name.to_owned(), value.to_owned());
        }
        variables
    }

    /// Copies it to `data`, and lets Weir's account in.
    pub(crate) fn adopt(
        &self,
        binary: &ServerBinary,
        data: &Path,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), ServerError> {
        self.origin.check(&self.directory, binary)?;
        copy_directory(&self.directory, data)?;
        forget_identity(data)?;
        for name in OF_THE_ORIGINAL {
            let path = data.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(PathError::on("remove", &path)(error).into());
                }
                _ => {}
            }
        }
        let note = DataNote::generate(binary);
        note.write(data)?;
        let work = WorkDirectory::create(&runtime_directory()?, "backup")?;
        let init_file = work.path().join("accounts.sql");
        write_private(&init_file, &accounts(&note))?;
        let mut options = StartOptions {
            timeout: START_LIMIT,
            ..StartOptions::new(data, work.path().join("run"))
        };
        options.variables = variables.clone();
        options
            .variables
            .insert("init_file".to_owned(), init_file.display().to_string());
        // The account is in a backup of one of Weir's servers, too: a login shows that its password is new.
        PrivateServer::start(binary, &options)?.stop(STOP_LIMIT)
    }
}

/// The account and the schema, one statement a line as servers read them.
fn accounts(note: &DataNote) -> String {
    let password = note.password.reveal();
    format!(
        "CREATE USER IF NOT EXISTS '{USER}'@'localhost' IDENTIFIED BY '{password}';\n\
         ALTER USER '{USER}'@'localhost' IDENTIFIED BY '{password}' ACCOUNT UNLOCK;\n\
         GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'localhost' WITH GRANT OPTION;\n\
         CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
    )
}
