//! Cache of values that were made of files and may be asked for again, the latest few; forgotten when its file
//! changes.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Length and time of a file: what tells one content from the next.
pub(crate) type Stamp = (u64, Option<SystemTime>);

/// The stamp of `file` as it is now.
pub(crate) fn stamp(file: &Path) -> Stamp {
    let metadata = fs::metadata(file).ok();
    let length = metadata.as_ref().map_or(0, fs::Metadata::len);
    (
        length,
        metadata.and_then(|metadata| metadata.modified().ok()),
    )
}

/// Values by name, each made of a file with a stamp (or of several, with theirs); at most `most` of them.
#[derive(Debug)]
pub(crate) struct FileCache<T, S = Stamp> {
    most: usize,
    /// The one that was asked for last stands last.
    values: Mutex<Vec<(String, S, T)>>,
}

impl<T: Clone, S: PartialEq> FileCache<T, S> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            values: Mutex::default(),
        }
    }

    /// The value of `name`, if it was made of a file with this stamp.
    pub(crate) fn get(&self, name: &str, stamp: &S) -> Option<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let at = values.iter().position(|kept| kept.0 == name)?;
        let kept = values.remove(at);
        if kept.1 != *stamp {
            return None;
        }
        let value = kept.2.clone();
        values.push(kept);
        Some(value)
    }

    /// Keeps `value`, and forgets what was not asked for the longest.
    pub(crate) fn put(&self, name: &str, stamp: S, value: T) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.retain(|kept| kept.0 != name);
        if values.len() == self.most {
            values.remove(0);
        }
        values.push((name.to_owned(), stamp, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_until_their_file_changes() {
        let kept: FileCache<char> = FileCache::new(2);
        let (old, new) = ((1, None), (2, None));
        kept.put("a", old, 'a');
        kept.put("b", old, 'b');
        assert_eq!(kept.get("a", &old), Some('a'));
        kept.put("c", old, 'c');
        assert_eq!(kept.get("b", &old), None, "not asked for the longest");
        assert_eq!(kept.get("a", &old), Some('a'));
        assert_eq!(kept.get("c", &new), None, "another content");
    }
}
