//! Present names of each file: the memory that a path-less file system protocol needs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rustix::fs::RenameFlags;

use weir_model::FileKind;

use super::{Operation, Place};

/// The number of the drive's root (`FUSE_ROOT_ID`).
const ROOT: u64 = 1;
/// Directories within each other at most: the kernel takes no longer path (`PATH_MAX`).
const DEPTH_MAX: usize = 2048;

/// Names of files and directories; renaming a directory moves all that is in it.
#[derive(Debug, Clone, Default)]
pub struct Names {
    files: HashMap<Place, u64>,
    places: HashMap<u64, Vec<Place>>,
}

impl Names {
    /// The names of what is listed as number and path, directories before what is in them.
    pub(super) fn from_list(base: &[(u64, PathBuf)]) -> Self {
        let mut names = Self::default();
        let mut directories = HashMap::from([(Path::new(""), ROOT)]);
        for (file, path) in base {
            let parent = path.parent().and_then(|parent| directories.get(parent));
            if let (Some(parent), Some(name)) = (parent, path.file_name()) {
                names.add(*file, Place::new(*parent, name));
            }
            directories.insert(path, *file);
        }
        names
    }

    /// The path of `file` from the root, by the oldest of its names. `None` if it has none, such as a directory
    /// within itself in a damaged recording.
    pub fn path(&self, file: u64) -> Option<PathBuf> {
        let mut names = Vec::new();
        let mut file = file;
        while file != ROOT {
            let place = self.places.get(&file)?.first()?;
            if names.len() == DEPTH_MAX {
                return None;
            }
            names.push(&place.name);
            file = place.parent;
        }
        Some(names.into_iter().rev().collect())
    }

    /// Returns the purpose of `file`, by its path; [`FileKind::Other`] if it has no name.
    pub fn kind(&self, file: u64) -> FileKind {
        self.path(file)
            .map_or(FileKind::Other, |path| kind_of(&path))
    }

    /// Returns the purpose of a file at `place`.
    pub fn kind_at(&self, place: &Place) -> FileKind {
        self.path_of(place)
            .map_or(FileKind::Other, |path| kind_of(&path))
    }

    /// Follows an operation that changes names; all others change nothing.
    pub fn follow(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { file, at, .. } | Operation::Link { file, at } => {
                self.add(*file, at.clone());
            }
            Operation::Rename { from, to, flags } => drop(self.rename(from, to, *flags)),
            Operation::Remove { at, .. } => drop(self.remove(at)),
            _ => {}
        }
    }

    /// The path of a name, which need not be there; `None` if its directory is not.
    pub(super) fn path_of(&self, place: &Place) -> Option<PathBuf> {
        Some(self.path(place.parent)?.join(&place.name))
    }

    pub(super) fn add(&mut self, file: u64, place: Place) {
        self.remove(&place);
        self.files.insert(place.clone(), file);
        self.places.entry(file).or_default().push(place);
    }

    /// Returns the file whose last name it was.
    pub(super) fn remove(&mut self, place: &Place) -> Option<u64> {
        let file = self.files.remove(place)?;
        let places = self.places.get_mut(&file)?;
        places.retain(|other| other != place);
        if !places.is_empty() {
            return None;
        }
        self.places.remove(&file);
        Some(file)
    }

    /// As renameat2(2); returns the file that lost its last name by it.
    pub(super) fn rename(&mut self, from: &Place, to: &Place, flags: u32) -> Option<u64> {
        let (moved, replaced) = (self.files.get(from).copied(), self.files.get(to).copied());
        if moved == replaced {
            // Two names of one file: rename(2) then does nothing.
            return None;
        }
        let exchanges = flags & RenameFlags::EXCHANGE.bits() != 0;
        let lost = self.remove(to);
        self.remove(from);
        if let Some(file) = moved {
            self.add(file, to.clone());
        }
        if let (true, Some(file)) = (exchanges, replaced) {
            self.add(file, from.clone());
            return None;
        }
        lost
    }
}

fn kind_of(path: &Path) -> FileKind {
    FileKind::from_path(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(parent: u64, name: &str) -> Place {
        Place::new(parent, name.as_ref())
    }

    fn names() -> Names {
        let base = [
            (2, "d"),
            (3, "d/e"),
            (4, "d/e/t"),
            (4, "link"),
            (5, "other"),
        ];
        Names::from_list(&base.map(|(file, path)| (file, path.into())))
    }

    fn path(names: &Names, file: u64) -> String {
        names
            .path(file)
            .map_or("-".to_owned(), |path| path.display().to_string())
    }

    #[test]
    fn files_move_with_their_directories() {
        let mut names = names();
        assert_eq!(path(&names, 4), "d/e/t");
        assert_eq!(names.rename(&place(1, "d"), &place(1, "f"), 0), None);
        assert_eq!(path(&names, 4), "f/e/t");
        assert_eq!(names.remove(&place(3, "t")), None);
        assert_eq!(path(&names, 4), "link");
        assert_eq!(
            names.rename(&place(1, "other"), &place(1, "link"), 0),
            Some(4)
        );
        assert_eq!(
            (path(&names, 4), path(&names, 5)),
            ("-".into(), "link".into())
        );
    }

    #[test]
    fn a_directory_within_itself_has_no_path() {
        let mut names = names();
        names.add(8, place(9, "a"));
        names.add(9, place(8, "b"));
        names.add(10, place(10, "c"));
        assert_eq!((names.path(8), names.path(10)), (None, None));
        assert_eq!(names.path_of(&place(9, "t")), None);
        for depth in 0..=DEPTH_MAX as u64 {
            let parent = if depth == 0 { ROOT } else { 99 + depth };
            names.add(100 + depth, place(parent, "d"));
        }
        assert!(names.path(99 + DEPTH_MAX as u64).is_some());
        assert_eq!(names.path(100 + DEPTH_MAX as u64), None);
    }

    #[test]
    fn two_names_of_one_file_stay_and_others_are_exchanged() {
        let mut names = names();
        assert_eq!(names.rename(&place(3, "t"), &place(1, "link"), 0), None);
        assert_eq!(names.remove(&place(3, "t")), None);
        let exchange = RenameFlags::EXCHANGE.bits();
        assert_eq!(
            names.rename(&place(1, "d"), &place(1, "other"), exchange),
            None
        );
        assert_eq!(
            (path(&names, 3), path(&names, 5)),
            ("other/e".into(), "d".into())
        );
    }
}
