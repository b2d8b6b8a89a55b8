//! `weir server up --from-backup`: a new server with the data of a backup.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::bail;
use weir_model::Flavor;
use weir_mysql::{Connection, Connector, Gate, Patience};
use weir_server::{
    Backup, DATABASE, DataSource, Instance, InstanceInfo, Instances, ServerBinary, is_dump,
    load_dump,
};

/// Source that a user names.
pub(in crate::commands) enum Source {
    Physical(Backup),
    Dump(PathBuf),
}

/// Looks at what a user names.
pub(in crate::commands) fn open(path: &Path) -> anyhow::Result<Source> {
    if path.is_dir() {
        return Ok(Source::Physical(Backup::open(path)?));
    }
    if !path.is_file() || !is_dump(path) {
        bail!(
            "cannot use the backup `{}` (there is no such folder or file); name a backup's folder or a dump",
            path.display()
        );
    }
    Ok(Source::Dump(path.to_owned()))
}

impl Source {
    /// The flavour of the server that it is from, if it tells.
    pub(super) fn flavor(&self) -> Option<Flavor> {
        match self {
            Self::Physical(backup) => Some(backup.origin().flavor),
            Self::Dump(path) => {
                let file = std::fs::File::open(path).ok()?;
                let mut first = Vec::new();
                let mut lines = BufReader::new(file).split(b'\n').take(2);
                while let Some(Ok(line)) = lines.next() {
                    first.extend(line);
                }
                let says_mariadb = first.windows(7).any(|word| word == b"MariaDB");
                says_mariadb.then_some(Flavor::Mariadb)
            }
        }
    }

    /// Makes the server.
    pub(in crate::commands) fn create(
        &self,
        instances: &Instances,
        binary: &ServerBinary,
        instance: &Instance,
    ) -> anyhow::Result<InstanceInfo> {
        match self {
            Self::Physical(backup) => {
                Ok(instances.create(binary, instance, &DataSource::Backup(backup))?)
            }
            Self::Dump(path) => {
                let name = &instance.name;
                let unloaded = instance.for_this_process();
                let info = instances.create(binary, &unloaded, &DataSource::Empty)?;
                let loaded = load(instances, name, path);
                if loaded.is_err() {
                    // Half of a dump is no server to measure on.
                    instances.stop(name, true)?;
                    instances.remove(name)?;
                }
                loaded?;
                instances.hand_over(name, instance.made_for)?;
                Ok(info)
            }
        }
    }
}

fn load(instances: &Instances, name: &str, path: &Path) -> anyhow::Result<()> {
    let connector = Connector::new(instances.endpoint(name)?, None, Gate::own())?;
    let mut connection = Connection::connect(&connector, true, Patience::Endless)?;
    let loaded = load_dump(path, &mut connection)?;
    eprintln!(
        "{} statements loaded; tables without a schema of their own are in {DATABASE}",
        loaded.statements
    );
    if loaded.left_out > 0 {
        eprintln!(
            "note: {} statements about replication and the server's own accounts were left out",
            loaded.left_out
        );
    }
    Ok(())
}
