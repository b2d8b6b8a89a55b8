//! Data directory of Weir's own: a note in it names the server that made it and holds the account's
//! password.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use rand::distr::{Alphanumeric, SampleString};
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};
use serde::{Deserialize, Serialize};
use weir_model::{Flavor, Secret, ServerVersion};

use crate::{ServerBinary, ServerError};
use weir_process::{PathError, write_private};

/// The schema that every data directory has, for the workload's tables.
pub const DATABASE: &str = "sbtest";

/// The account that every data directory has.
pub(crate) const USER: &str = "weir";

/// The note's name. It lies among the data, not beside them, so that a copy of the directory is
/// complete. Servers ignore files that they do not know.
const NOTE: &str = "weir-data.json";

/// The file that a snapshot of an instance has beside the note.
const SETTINGS: &str = "weir-settings.json";

/// Maker of a data directory, and its login.
#[derive(Debug, Clone)]
pub(crate) struct DataNote {
    /// Flavour of the server that made it.
    pub(crate) flavor: Flavor,
    /// Version of the server that made it.
    pub(crate) version: ServerVersion,
    /// Password of [`USER`].
    pub(crate) password: Secret,
}

/// A new password: 24 letters and digits, which are 142 bits, and no character that SQL would have to quote.
pub fn random_password() -> Secret {
    Secret::new(Alphanumeric.sample_string(&mut rand::rng(), 24))
}

#[derive(Serialize, Deserialize)]
struct RawNote {
    flavor: Flavor,
    version: ServerVersion,
    password: String,
}

impl DataNote {
    /// A note for `server` with a new password.
    pub(crate) fn generate(server: &ServerBinary) -> Self {
        Self {
            flavor: server.flavor,
            version: server.version,
            password: random_password(),
        }
    }

    /// Writes the note into `data_dir`, readable by its owner only.
    pub(crate) fn write(&self, data_dir: &Path) -> Result<(), PathError> {
        let path = data_dir.join(NOTE);
        let raw = RawNote {
            flavor: self.flavor,
            version: self.version,
            password: self.password.reveal().to_owned(),
        };
        let text = serde_json::to_string(&raw).expect("invariant: a note is plain data");
        write_private(&path, &text)
    }

    /// Reads the note of `data_dir`.
    pub(crate) fn read(data_dir: &Path) -> Result<Self, ServerError> {
        let text = fs::read_to_string(data_dir.join(NOTE))
            .map_err(|error| foreign(data_dir, format!("no note of weir's in it: {error}")))?;
        let raw: RawNote = serde_json::from_str(&text)
            .map_err(|error| foreign(data_dir, format!("its note is damaged: {error}")))?;
        Ok(Self {
            flavor: raw.flavor,
            version: raw.version,
            password: Secret::new(raw.password),
        })
    }

    /// Reads the note of `data_dir` and checks that `server` may run on the data.
    pub(crate) fn read_for(server: &ServerBinary, data_dir: &Path) -> Result<Self, ServerError> {
        let note = Self::read(data_dir)?;
        let series = |version: ServerVersion| (version.major, version.minor);
        // A newer series would rewrite the system tables, an older one would refuse them.
        if note.flavor != server.flavor || series(note.version) != series(server.version) {
            let words = format!(
                "made by {} {}, the server is {} {}",
                note.flavor, note.version, server.flavor, server.version
            );
            return Err(foreign(data_dir, words));
        }
        Ok(note)
    }
}

fn foreign(data_dir: &Path, why: String) -> ServerError {
    ServerError::ForeignData {
        path: data_dir.to_owned(),
        why,
    }
}

/// Writes the variables that a server ran with into its data directory, so that a server that starts from a
/// copy of it inherits them.
pub(crate) fn write_settings(
    data_dir: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<(), PathError> {
    let text = serde_json::to_string(variables).expect("invariant: variables are plain data");
    write_private(&data_dir.join(SETTINGS), &text)
}

/// The variables that the server ran with whose data these are a copy of; none if they were not written.
pub(crate) fn read_settings(data_dir: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(data_dir.join(SETTINGS)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Removes the server's identity from a copy of a data directory. The server makes a new one at its next
/// start, and may then follow the original (MySQL manual, `server_uuid`).
///
/// # Errors
///
/// A file that cannot be removed.
pub fn forget_identity(data_dir: &Path) -> Result<(), PathError> {
    let path = data_dir.join("auto.cnf");
    match fs::remove_file(&path) {
        // MariaDB has none.
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(PathError::on("remove", &path)(error))
        }
        _ => Ok(()),
    }
}

/// Fails if a live server holds the data.
///
/// `InnoDB` locks its system tablespace (fcntl(2)) and, when another holds the lock, tries again
/// for 100 s before it gives up; asking the kernel takes no time and names the holder.
pub(crate) fn check_not_in_use(data_dir: &Path) -> Result<(), ServerError> {
    let path = data_dir.join("ibdata1");
    let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else {
        return Ok(()); // No such file, or not ours: the server itself will say what is wrong.
    };
    let wanted = Flock {
        start: 0,
        length: 0,
        pid: None,
        typ: FlockType::WriteLock,
        offset_type: FlockOffsetType::Set,
    };
    let holder = fcntl_getlk(&file, &wanted).ok().flatten();
    match holder.and_then(|lock| lock.pid) {
        Some(pid) => Err(ServerError::InUse {
            path: data_dir.to_owned(),
            pid: pid.as_raw_nonzero().get().cast_unsigned(),
        }),
        None => Ok(()),
    }
}

/// Returns true if `path` is absent or an empty directory.
pub(crate) fn is_free(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !path.exists(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn server(flavor: Flavor, version: &str) -> ServerBinary {
        ServerBinary {
            path: "/x/mysqld".into(),
            flavor,
            version: version.parse().unwrap(),
        }
    }

    #[test]
    fn a_note_is_private_and_read_back_by_the_same_series_only() {
        let directory = tempfile::tempdir().unwrap();
        let maker = server(Flavor::Mysql, "9.7.4");
        let note = DataNote::generate(&maker);
        note.write(directory.path()).unwrap();
        let mode = fs::metadata(directory.path().join(NOTE)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!format!("{note:?}").contains(note.password.reveal()));

        let patched = server(Flavor::Mysql, "9.7.5");
        let read = DataNote::read_for(&patched, directory.path()).unwrap();
        assert_eq!(read.password, note.password);
        for other in [
            server(Flavor::Mysql, "8.4.0"),
            server(Flavor::Mariadb, "10.11.19"),
        ] {
            let error = DataNote::read_for(&other, directory.path()).unwrap_err();
            assert!(error.to_string().contains("made by mysql 9.7.4"), "{error}");
        }
    }

    #[test]
    fn a_directory_without_a_note_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let error = DataNote::read_for(&server(Flavor::Mysql, "9.7.4"), directory.path());
        assert!(matches!(error, Err(ServerError::ForeignData { .. })));
    }
}
