//! Snapshots: prepared data directories, kept under everything that made them.
//!
//! A snapshot is written aside and renamed into place, so one that can be seen is whole. A process that
//! reads a snapshot holds a shared lock on it, and removing needs the lock alone; writers hold a
//! shared lock on the cache, and tidying up needs that alone. Several weir processes may therefore
//! share one cache. When it grows beyond its limit, the least recently used snapshots go first.

mod cold;
mod copy;
mod hold;
mod key;
mod limit;
mod space;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use weir_model::{Bytes, nearest};

pub use cold::make_cold;
pub use copy::{check_space_together, copy_directory};
pub use hold::SnapshotHold;
pub use key::SnapshotKey;
pub use space::{check_space, space_available, space_occupied};

use crate::ServerError;
use crate::data_directory::is_free;
use weir_process::{PathError, create_private_directory};

/// Directories of unfinished or half-removed snapshots start with this.
const ASIDE: &str = ".aside-";

/// A cache of snapshots.
#[derive(Debug, Clone)]
pub struct Snapshots {
    directory: PathBuf,
    limit: Bytes,
}

/// A snapshot that there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Name, as [`SnapshotKey::name`] returns it and [`Snapshots::remove`] takes it.
    pub name: String,
    /// Key of the snapshot.
    pub key: SnapshotKey,
    /// Bytes that it occupies.
    pub size: Bytes,
    /// Time at which it was last stored or restored.
    pub used: SystemTime,
    /// A process reads it now.
    pub in_use: bool,
}

/// Returns the default directory of snapshots: `$XDG_CACHE_HOME/weir/snapshots`, else
/// `~/.cache/weir/snapshots` (XDG Base Directory Specification), else below the directory for
/// temporary files.
pub fn cache_directory() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    cache.join("weir/snapshots")
}

impl Snapshots {
    /// The cache in `directory`, made if need be. Removes what an interrupted writer left, unless
    /// another process uses the cache now.
    ///
    /// # Errors
    ///
    /// A directory that cannot be made or read.
    pub fn open(directory: &Path) -> Result<Self, ServerError> {
        create_private_directory(directory)?;
        let cache = Self {
            directory: directory.to_owned(),
            limit: limit::limit(directory)?,
        };
        let lock = cache.lock_file()?;
        if lock.try_lock().is_ok() {
            cache.remove_leftovers();
        }
        Ok(cache)
    }

    /// The data directory of the snapshot of `key`, if there is one. Read it, never start a server
    /// on it.
    pub fn find(&self, key: &SnapshotKey) -> Option<PathBuf> {
        let directory = self.directory.join(key.name());
        // A name is shortened for reading; the key inside is the proof.
        let stored = key::read(&directory)?;
        (stored == *key).then(|| directory.join("data"))
    }

    /// Keeps a copy of `data_dir`, whose server has stopped, as the snapshot of `key`.
    ///
    /// If another process stored the same key meanwhile, that one stays. Others that no process uses
    /// go if the cache would grow beyond its limit, the least recently used first.
    ///
    /// # Errors
    ///
    /// Files that cannot be copied, or no room for them.
    pub fn store(&self, key: &SnapshotKey, data_dir: &Path) -> Result<(), ServerError> {
        let _lock = self.lock_shared()?;
        self.make_room(space_occupied(data_dir)?)?;
        let aside = Aside(self.aside());
        let data = aside.0.join("data");
        create_private_directory(&data)?;
        copy::copy_tree(data_dir, &data)?;
        key::write(key, &aside.0)?;
        let target = self.directory.join(key.name());
        match fs::rename(&aside.0, &target) {
            Ok(()) => Ok(()),
            Err(_) if self.find(key).is_some() => Ok(()),
            Err(error) => Err(PathError::on("create", &target)(error).into()),
        }
    }

    /// Copies the snapshot of `key` to `target`, an absent or empty directory: by reflink where the
    /// file system can, else byte by byte with holes kept. The copy is on the medium on return, so
    /// that its write-back does not run into a measurement.
    ///
    /// On failure nothing stays in `target`.
    ///
    /// # Errors
    ///
    /// No such snapshot, a `target` that is not empty, or no room.
    pub fn restore(&self, key: &SnapshotKey, target: &Path) -> Result<(), ServerError> {
        let held = self
            .hold(key)?
            .ok_or_else(|| self.no_snapshot(&key.name()))?;
        if !is_free(target) {
            return Err(ServerError::NotEmpty {
                action: "restore to",
                path: target.to_owned(),
            });
        }
        create_private_directory(target)?;
        copy::copy_tree(held.data_dir(), target)
    }

    /// All snapshots, by name.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read.
    pub fn list(&self) -> Result<Vec<SnapshotInfo>, ServerError> {
        let entries = fs::read_dir(&self.directory);
        let entries = entries.map_err(PathError::on("read", &self.directory))?;
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            if let Some(key) = key::read(&entry.path()) {
                found.push(SnapshotInfo {
                    name,
                    key,
                    size: space_occupied(&entry.path())?,
                    used: hold::last_used(&entry.path()),
                    in_use: hold::is_in_use(&entry.path()),
                });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The snapshot called `name`, or the only one that a user took under this label.
    ///
    /// # Errors
    ///
    /// No snapshot of this name.
    pub fn named(&self, name: &str) -> Result<SnapshotInfo, ServerError> {
        let mut all = self.list()?;
        if let Some(at) = all.iter().position(|snapshot| snapshot.name == name) {
            return Ok(all.swap_remove(at));
        }
        all.retain(|snapshot| snapshot.key.workload == name && snapshot.key.is_of_user());
        match all.len() {
            1 => Ok(all.swap_remove(0)),
            _ => Err(self.no_snapshot(name)),
        }
    }

    /// Bytes that the cache may occupy.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// Removes the snapshot called `name`, unless it is being read.
    ///
    /// # Errors
    ///
    /// No snapshot of this name, or one that is being read.
    pub fn remove(&self, name: &str) -> Result<(), ServerError> {
        let name = &self.named(name)?.name;
        let target = self.directory.join(name);
        let Some(_lock) = hold::lock_alone(&target)? else {
            return Err(ServerError::SnapshotInUse {
                name: name.to_owned(),
            });
        };
        // Renamed first: a half-removed snapshot is never seen as one.
        let aside = Aside(self.aside());
        Ok(fs::rename(&target, &aside.0).map_err(PathError::on("remove", &target))?)
    }

    fn no_snapshot(&self, name: &str) -> ServerError {
        let known: Vec<String> = self
            .list()
            .unwrap_or_default()
            .into_iter()
            .map(|snapshot| snapshot.name)
            .collect();
        ServerError::NoSnapshot {
            name: name.to_owned(),
            suggestion: nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
        }
    }

    fn lock_file(&self) -> Result<File, PathError> {
        let path = self.directory.join(".lock");
        File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(PathError::on("open", &path))
    }

    /// Keeps what a writer has begun from being tidied up; writers do not wait for one another.
    fn lock_shared(&self) -> Result<File, ServerError> {
        let lock = self.lock_file()?;
        lock.lock_shared()
            .map_err(PathError::on("lock", &self.directory))?;
        Ok(lock)
    }

    fn aside(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.directory
            .join(format!("{ASIDE}{}-{number}", std::process::id()))
    }

    fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            if entry.file_name().to_string_lossy().starts_with(ASIDE) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// A directory that goes unless it was renamed away.
struct Aside(PathBuf);

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interrupted_writer_left_goes_at_the_next_open() {
        let directory = tempfile::tempdir().unwrap();
        let leftover = directory.path().join(format!("{ASIDE}1-0"));
        fs::create_dir_all(leftover.join("data")).unwrap();
        let cache = Snapshots::open(directory.path()).unwrap();
        assert!(!leftover.exists());

        // While a reader or writer is at work, its directory stays.
        fs::create_dir(&leftover).unwrap();
        let lock = cache.lock_shared().unwrap();
        Snapshots::open(directory.path()).unwrap();
        assert!(leftover.exists());
        drop(lock);
    }

    #[test]
    fn an_unfinished_snapshot_is_not_seen() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Snapshots::open(directory.path()).unwrap();
        let key = key::tests::example();
        fs::create_dir_all(directory.path().join(key.name()).join("data")).unwrap();
        assert_eq!(cache.find(&key), None);
        assert_eq!(cache.list().unwrap(), []);
    }

    #[test]
    fn a_snapshot_is_stored_restored_listed_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Snapshots::open(&directory.path().join("cache")).unwrap();
        let data = directory.path().join("data");
        fs::create_dir_all(data.join("mysql")).unwrap();
        fs::write(data.join("ibdata1"), [7; 10_000]).unwrap();
        fs::write(data.join("mysql/user.frm"), "user").unwrap();
        let key = key::tests::example();

        let target = directory.path().join("target");
        let missing = cache.restore(&key, &target).unwrap_err();
        assert!(matches!(missing, ServerError::NoSnapshot { .. }));
        cache.store(&key, &data).unwrap();
        cache.store(&key, &data).unwrap();
        cache.restore(&key, &target).unwrap();
        assert_eq!(fs::read(target.join("ibdata1")).unwrap(), [7; 10_000]);
        assert_eq!(fs::read(target.join("mysql/user.frm")).unwrap(), b"user");
        let again = cache.restore(&key, &target).unwrap_err();
        assert!(matches!(again, ServerError::NotEmpty { .. }));

        let listed = cache.list().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!((&listed[0].name, &listed[0].key), (&key.name(), &key));
        assert!(listed[0].size.0 >= 10_000);
        let typo = cache.remove(&format!("{}x", key.name())).unwrap_err();
        assert!(typo.to_string().contains("did you mean"), "{typo}");
        let reader = cache.hold(&key).unwrap().unwrap();
        assert!(cache.list().unwrap()[0].in_use);
        let busy = cache.remove(&key.name()).unwrap_err();
        assert!(matches!(busy, ServerError::SnapshotInUse { .. }));
        drop(reader);
        cache.remove(&key.name()).unwrap();
        assert_eq!(cache.find(&key), None);
    }

    #[test]
    fn two_writers_of_one_key_leave_one_whole_snapshot() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("ibdata1"), vec![1; 1 << 20]).unwrap();
        let key = key::tests::example();
        let place = directory.path().join("cache");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| Snapshots::open(&place).unwrap().store(&key, &data).unwrap());
            }
        });
        let cache = Snapshots::open(&place).unwrap();
        let found = cache.find(&key).unwrap();
        assert_eq!(fs::read(found.join("ibdata1")).unwrap().len(), 1 << 20);
        let names = fs::read_dir(&place).unwrap().count();
        assert_eq!(names, 2, "the snapshot and the lock");
    }
}
