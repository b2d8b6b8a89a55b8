//! The size of the cache: the least recently used snapshots go when it would become too large.

use std::path::Path;

use weir_model::Bytes;

use super::{Snapshots, space::space_total};
use crate::ServerError;

/// The environment's word on it.
const VARIABLE: &str = "WEIR_SNAPSHOT_LIMIT";

/// Without a word on it: a tenth of the file system, and no less than this.
const LEAST: Bytes = Bytes(10 << 30);

/// Returns the size limit of the cache in `directory`.
pub(super) fn limit(directory: &Path) -> Result<Bytes, ServerError> {
    match std::env::var(VARIABLE) {
        Ok(value) if !value.is_empty() => value.parse().map_err(|why| ServerError::Limit {
            variable: VARIABLE,
            why: format!("{why}"),
            value,
        }),
        _ => Ok(Bytes(space_total(directory)?.0 / 10).max(LEAST)),
    }
}

impl Snapshots {
    /// Removes what no process uses, the least recently used first, until `needed` fits. Snapshots of users stay.
    ///
    /// What is needed now is kept even if it alone is larger than the limit: a study could not go
    /// on without it.
    pub(super) fn make_room(&self, needed: Bytes) -> Result<(), ServerError> {
        let mut kept = self.list()?;
        kept.sort_by_key(|snapshot| snapshot.used);
        let mut total: u64 = kept.iter().map(|snapshot| snapshot.size.0).sum();
        kept.retain(|snapshot| !snapshot.key.is_of_user());
        for snapshot in kept {
            if total.saturating_add(needed.0) <= self.limit.0 {
                break;
            }
            match self.remove(&snapshot.name) {
                Ok(()) => total -= snapshot.size.0,
                // In use, or gone already.
                Err(ServerError::SnapshotInUse { .. } | ServerError::NoSnapshot { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::super::key::tests::example;
    use super::*;
    use crate::SnapshotKey;

    /// A cache of one megabyte with three snapshots of a quarter each; the first is the oldest.
    fn cache(directory: &Path) -> (Snapshots, [SnapshotKey; 3]) {
        let mut cache = Snapshots::open(&directory.join("cache")).unwrap();
        cache.limit = Bytes(1 << 20);
        let data = directory.join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("ibdata1"), vec![1; 256 << 10]).unwrap();
        let keys = [1, 2, 3].map(|seed| SnapshotKey { seed, ..example() });
        for (age_h, key) in keys.iter().rev().enumerate() {
            cache.store(key, &data).unwrap();
            let file = cache.directory.join(key.name()).join("snapshot.json");
            let then = SystemTime::now() - Duration::from_hours(age_h as u64 + 1);
            let file = fs::File::options().append(true).open(file).unwrap();
            file.set_modified(then).unwrap();
        }
        (cache, keys)
    }

    fn kept(cache: &Snapshots, keys: &[SnapshotKey; 3]) -> [bool; 3] {
        [0, 1, 2].map(|index| cache.find(&keys[index]).is_some())
    }

    #[test]
    fn the_least_recently_used_go_first_and_no_more_than_must() {
        let directory = tempfile::tempdir().unwrap();
        let (cache, keys) = cache(directory.path());
        cache.make_room(Bytes(128 << 10)).unwrap();
        assert_eq!(kept(&cache, &keys), [true, true, true]);
        cache.make_room(Bytes(400 << 10)).unwrap();
        assert_eq!(kept(&cache, &keys), [false, true, true]);

        // A restore is a use.
        let target = directory.path().join("target");
        cache.restore(&keys[1], &target).unwrap();
        cache.make_room(Bytes(600 << 10)).unwrap();
        assert_eq!(kept(&cache, &keys), [false, true, false]);
    }

    #[test]
    fn one_of_a_user_stays_whatever_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let (cache, keys) = cache(directory.path());
        let own = SnapshotKey {
            tables: 0,
            ..example()
        };
        cache.store(&own, &directory.path().join("data")).unwrap();
        let made = own.after(own.flavor, own.version, vec!["ANALYZE TABLE t".to_owned()]);
        cache.store(&made, &directory.path().join("data")).unwrap();
        cache.make_room(Bytes(1 << 30)).unwrap();
        assert_eq!(kept(&cache, &keys), [false; 3]);
        assert!(cache.find(&own).is_some() && cache.find(&made).is_none());
    }

    #[test]
    fn one_in_use_stays_whatever_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let (cache, keys) = cache(directory.path());
        let held = cache.hold(&keys[0]).unwrap().unwrap();
        cache.make_room(Bytes(1 << 30)).unwrap();
        assert_eq!(kept(&cache, &keys), [true, false, false]);
        assert!(held.data_dir().join("ibdata1").exists());
    }
}
