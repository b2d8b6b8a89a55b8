//! The folder of a bus: keys, join files, configuration, what is stored.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nkeys::KeyPair;
use weir_process::{PathError, write_private};

use crate::bus::authority::{Certificates, SERVER_NAME};
use crate::bus::configuration::{Configuration, Member};
use crate::bus::subjects::Subjects;
use crate::bus::{BusError, JoinFile, PROTOCOL};

/// The name of the process that leads.
pub const CONDUCTOR: &str = "conductor";

/// The folder of a bus, for its owner alone.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The one at `path`, or the user's own: `weir/bus` in the directory for state.
    pub fn at(path: Option<&Path>) -> Self {
        Self {
            path: path.map_or_else(
                || weir_server::state_directory().join("bus"),
                Path::to_owned,
            ),
        }
    }

    /// The one at `path`.
    pub fn at_path(path: &Path) -> Self {
        Self::at(Some(path))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The join file of a member.
    pub fn join_file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.join"))
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.path.join("nats-server.conf")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("nats-server.log")
    }

    /// Names of the agents that have join files.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn agents(&self) -> Result<Vec<String>, BusError> {
        let entries = fs::read_dir(&self.path).map_err(PathError::on("read", &self.path))?;
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".join")?.to_owned())
        });
        let mut names: Vec<_> = names.filter(|name| name != CONDUCTOR).collect();
        // load-2 before load-10.
        names.sort_by_key(|name| (name.len(), name.clone()));
        Ok(names)
    }

    /// Makes what is missing: authority, certificate, keys of the conductor and of `agents`. Existing keys stay, with
    /// the new address.
    pub(crate) fn fill(&self, address: &str, agents: &[String]) -> Result<(), BusError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        let made = builder.create(&self.path);
        made.map_err(PathError::on("create", &self.path))?;
        let authority = self.authority()?;
        let crew = match JoinFile::read(&self.join_file(CONDUCTOR)) {
            Ok(existing) => existing.crew,
            Err(_) => crew_name()?,
        };
        let mut names = self.agents()?;
        for name in agents {
            check_name(name)?;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names.push(CONDUCTOR.to_owned());
        for name in &names {
            let path = self.join_file(name);
            let seed = match JoinFile::read(&path) {
                Ok(existing) => existing.seed,
                Err(_) => KeyPair::new_user().seed().map_err(keys_failed)?,
            };
            let file = JoinFile {
                protocol: PROTOCOL,
                address: address.to_owned(),
                crew: crew.clone(),
                name: name.clone(),
                authority: authority.clone(),
                seed,
            };
            file.write(&path)?;
        }
        Ok(())
    }

    /// The authority's certificate; made with the server's the first time.
    fn authority(&self) -> Result<String, BusError> {
        let path = self.path.join("authority.pem");
        if let Ok(existing) = fs::read_to_string(&path) {
            return Ok(existing);
        }
        let made = Certificates::make(SERVER_NAME)?;
        write_private(&self.path.join("certificate.pem"), &made.certificate)?;
        write_private(&self.path.join("key.pem"), &made.key)?;
        write_private(&path, &made.authority)?;
        Ok(made.authority)
    }

    /// Writes the server's configuration for the keys that are there.
    pub(crate) fn configure(&self, host: &str, port: u16) -> Result<(), BusError> {
        let member = |name: &str| -> Result<Member, BusError> {
            let file = JoinFile::read(&self.join_file(name))?;
            let key = KeyPair::from_seed(&file.seed).map_err(keys_failed)?;
            Ok(Member {
                name: file.name,
                public: key.public_key(),
            })
        };
        let conductor = JoinFile::read(&self.join_file(CONDUCTOR))?;
        let agents = self.agents()?;
        let agents: Vec<_> = agents
            .iter()
            .map(|name| member(name))
            .collect::<Result<_, _>>()?;
        let configuration = Configuration {
            host,
            port,
            folder: &self.path,
            store: &self.path.join("store"),
            subjects: &Subjects::new(&conductor.crew),
            conductor: &member(CONDUCTOR)?,
            agents: &agents,
        };
        Ok(write_private(&self.configuration(), &configuration.text())?)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "what map_err calls")]
fn keys_failed(error: nkeys::error::Error) -> BusError {
    BusError::Keys {
        why: error.to_string(),
    }
}

/// Names are parts of subjects and of file names.
fn check_name(name: &str) -> Result<(), BusError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.is_empty() && name != CONDUCTOR && name.bytes().all(fits) {
        return Ok(());
    }
    Err(BusError::Name {
        name: name.to_owned(),
    })
}

/// A name that no other crew of a shared server has.
fn crew_name() -> Result<String, BusError> {
    // Random letters and digits behind the prefix of a public key.
    let public = KeyPair::new_user().public_key();
    public
        .get(2..10)
        .map(str::to_lowercase)
        .ok_or_else(|| BusError::Keys {
            why: "a public key is too short".to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_keeps_its_keys_and_shows_them_to_its_owner_alone() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(Some(&parent.path().join("bus")));
        folder
            .fill("10.0.0.5:4222", &["load-1".to_owned()])
            .unwrap();
        let before = JoinFile::read(&folder.join_file("load-1")).unwrap();
        let more = ["load-1", "load-2"].map(str::to_owned);
        folder.fill("10.0.0.6:4222", &more).unwrap();
        let after = JoinFile::read(&folder.join_file("load-1")).unwrap();
        assert_eq!((&after.seed, &after.crew), (&before.seed, &before.crew));
        assert_eq!(after.address, "10.0.0.6:4222");
        assert_eq!(folder.agents().unwrap(), more);
        let other = JoinFile::read(&folder.join_file("load-2")).unwrap();
        assert!(other.seed != after.seed && other.crew == after.crew);
        assert!(!format!("{after:?}").contains(&after.seed));
        for entry in fs::read_dir(folder.path()).unwrap().flatten() {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{:?}", entry.path());
        }
        for wrong in ["", "Load", "a.b", "conductor", "a/b", "*"] {
            assert!(folder.fill("x:1", &[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
