//! Server that wrote a backup, by the files in its folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use weir_model::{Flavor, ServerVersion};

use crate::{ServerBinary, ServerError};

/// Files that backup programs leave with their progress.
const CHECKPOINTS: [&str; 2] = ["xtrabackup_checkpoints", "mariadb_backup_checkpoints"];
/// And of which server it is.
const INFO: [&str; 2] = ["xtrabackup_info", "mariadb_backup_info"];
/// Files that `mariadb-upgrade` and servers leave.
const UPGRADED: [&str; 2] = ["mariadb_upgrade_info", "mysql_upgrade_info"];
/// Settings that shape files, in the option file of a backup.
const SHAPING: [&str; 3] = [
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_undo_tablespaces",
];
/// States of a backup that is prepared.
const PREPARED: [&str; 2] = ["full-prepared", "log-applied"];

/// Server that wrote a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupOrigin {
    /// Flavor of the server.
    pub flavor: Flavor,
    /// Version, if the folder has it.
    pub version: Option<ServerVersion>,
    /// Settings that shape its files.
    pub variables: BTreeMap<String, String>,
}

impl BackupOrigin {
    /// Reads a folder.
    pub(super) fn read(directory: &Path) -> Result<Self, ServerError> {
        let refused = |why: &str, remedy: &'static str| ServerError::Backup {
            path: directory.to_owned(),
            why: why.to_owned(),
            remedy,
        };
        let has = |name: &str| directory.join(name).exists();
        if !has("ibdata1") && !has("mysql.ibd") {
            return Err(refused(
                "it has no ibdata1",
                "name the folder of a prepared backup, or a copied data directory",
            ));
        }
        let state = text_of(directory, &CHECKPOINTS).and_then(|text| setting(&text, "backup_type"));
        if state.is_some_and(|state| !PREPARED.contains(&state.as_str())) {
            return Err(refused(
                "it is not prepared",
                "run `mariadb-backup --prepare` or `xtrabackup --prepare` on it first",
            ));
        }
        let flavor = if has("mysql.ibd") {
            Flavor::Mysql
        } else if has("mysql/global_priv.MAI") || has("mysql/db.MAI") {
            Flavor::Mariadb
        } else if has("mysql/user.MYI") {
            // MySQL 5.7, or MariaDB before 10.4.
            Flavor::Mysql
        } else {
            return Err(refused(
                "it has no tables of accounts",
                "name a backup of all schemas",
            ));
        };
        Ok(Self {
            flavor,
            version: version(directory, flavor),
            variables: variables(directory),
        })
    }

    /// Checks that a server may run on a copy: one of another series would rewrite the system tables, or refuse them.
    pub(super) fn check(&self, directory: &Path, binary: &ServerBinary) -> Result<(), ServerError> {
        let series = |version: ServerVersion| (version.major, version.minor);
        let differs = self
            .version
            .is_some_and(|version| series(version) != series(binary.version));
        if self.flavor == binary.flavor && !differs {
            return Ok(());
        }
        let version = self
            .version
            .map_or(String::new(), |version| format!(" {version}"));
        Err(ServerError::Backup {
            path: directory.to_owned(),
            why: format!(
                "made by {}{version}, the server is {} {}",
                self.flavor, binary.flavor, binary.version
            ),
            remedy: "name a server of the same series with --server, or load a logical dump",
        })
    }
}

fn text_of(directory: &Path, names: &[&str]) -> Option<String> {
    let texts = names
        .iter()
        .filter_map(|name| fs::read(directory.join(name)).ok());
    texts
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .next()
}

/// The value of `name = value`.
fn setting(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn version(directory: &Path, flavor: Flavor) -> Option<ServerVersion> {
    let told = text_of(directory, &INFO).and_then(|text| setting(&text, "server_version"));
    if let Some(version) = told.and_then(|text| leading_version(&text)) {
        return Some(version);
    }
    match flavor {
        Flavor::Mysql => version_of_pages(&directory.join("mysql.ibd")),
        Flavor::Mariadb => text_of(directory, &UPGRADED).and_then(|text| leading_version(&text)),
    }
}

fn leading_version(text: &str) -> Option<ServerVersion> {
    let is_of_version = |c: &char| c.is_ascii_digit() || *c == '.';
    let number: String = text.trim().chars().take_while(is_of_version).collect();
    number.parse().ok()
}

/// `MySQL` 8.0 and later write their version into the first page of each tablespace, in the place of the previous page's
/// number (`FIL_PAGE_SRV_VERSION` in `fil0types.h`).
fn version_of_pages(path: &Path) -> Option<ServerVersion> {
    const AT: usize = 8;
    let mut head = [0; AT + 4];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut head))
        .ok()?;
    let number = u32::from_be_bytes(*head.last_chunk()?);
    let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100);
    format!("{major}.{minor}.{patch}")
        .parse()
        .ok()
        .filter(|_| (8..100).contains(&major))
}

/// Settings of the backup's own option file.
fn variables(directory: &Path) -> BTreeMap<String, String> {
    let text = text_of(directory, &["backup-my.cnf"]).unwrap_or_default();
    let found = SHAPING
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), setting(&text, name)?)));
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_wherever_they_stand() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        assert!(BackupOrigin::read(directory.path()).is_err());
        fs::write(at("ibdata1"), b"").unwrap();
        fs::create_dir(at("mysql")).unwrap();
        fs::write(at("mysql/global_priv.MAI"), b"").unwrap();
        fs::write(at("mariadb_upgrade_info"), "10.11.19-MariaDB").unwrap();
        fs::write(
            at("backup-my.cnf"),
            "[mysqld]\ninnodb_page_size=8192\nother=1\n",
        )
        .unwrap();
        let origin = BackupOrigin::read(directory.path()).unwrap();
        assert_eq!(origin.flavor, Flavor::Mariadb);
        assert_eq!(origin.version.unwrap().to_string(), "10.11.19");
        assert_eq!(origin.variables["innodb_page_size"], "8192");
        fs::write(
            at("mysql.ibd"),
            [&[0; 8][..], &90_704_u32.to_be_bytes()].concat(),
        )
        .unwrap();
        let origin = BackupOrigin::read(directory.path()).unwrap();
        assert_eq!(
            (origin.flavor, origin.version.unwrap().to_string()),
            (Flavor::Mysql, "9.7.4".to_owned())
        );
        fs::write(
            at("xtrabackup_checkpoints"),
            "backup_type = full-backuped\n",
        )
        .unwrap();
        let refused = BackupOrigin::read(directory.path())
            .unwrap_err()
            .to_string();
        assert!(refused.contains("--prepare"), "{refused}");
    }
}
